"""Which primes the characters in the embedding of the units feel, one by one or together.

A character of the units of Z_n, n a product of odd primes, is a product of one character of the
units modulo each prime. It feels p where that of p is not constant. The units are those of every
submonoid of Z_n in which only some primes divide (``task.Residues``).
"""

from itertools import combinations, product
from math import lcm

import numpy as np
from jaxtyping import Bool, Float

from strata.measure.character_fit import half
from strata.measure.fourier import energy_share, key_frequencies
from strata.monoid import JClass, axis_primes
from strata.result import Result
from strata.task import Residues, primes

Shares = Float[np.ndarray, " size"]  # of the energy, at each character
Selection = Bool[np.ndarray, " size"]  # of the characters, in the order of ``frequencies``


class Energy(Result):
    """Energy of the embedding at some characters, the constant apart."""

    share: float
    even: float
    """The share of these among all characters but the constant."""

    @property
    def over_even(self) -> float:
        """Return the energy in even shares: 1 if energy were even."""
        return self.share / self.even


class Pair(Energy):
    """Energy of the characters that feel both primes, and perhaps others."""

    primes: tuple[int, int]
    zeros: int
    """How many of the two have zeros."""


class KeyCharacter(Result):
    """A key character of the units and the primes that it feels."""

    frequency: tuple[int, ...]
    share: float
    primes: tuple[int, ...]


def units_share(W_E: Float[np.ndarray, "tokens d_model"], task: Residues) -> Shares:
    """Return the share of the energy of the units' rows at each character; 0 of the constant."""
    J = task.jclass(1)
    return energy_share(W_E[J.elements], J.orders)


def pairs(share: Shares, task: Residues) -> tuple[Pair, ...]:
    """Return the energy for each two primes of n. No automorphism of the task changes the energy of
    two primes that both have zeros."""
    J, zeros = JClass(task.modulus, 1), {*task.zeros}
    factors = primes(task.modulus)
    masks = {p: depends_on(J, p) for p in factors}
    return tuple(
        Pair(primes=(p, q), zeros=len({p, q} & zeros), **energy(share, masks[p] & masks[q]))
        for p, q in combinations(factors, 2)
    )


def depends_on(J: JClass, p: int) -> Selection:
    """Mark the characters that are not constant on the axes of p."""
    return (J.coordinates[:, np.array(axis_primes(J), dtype=int) == p] != 0).any(axis=1)


def energy(share: Shares, characters: Selection) -> dict[str, float]:
    """Return the fields of ``Energy`` at these characters."""
    even = float(characters.sum() / (len(characters) - 1))
    return {"share": float(share[characters].sum()), "even": even}


def keys(share: Shares, n: int, threshold: float) -> tuple[KeyCharacter, ...]:
    """Return the key characters, one of each ±k, the strongest first. A character is key from
    ``threshold`` times the even share of one on."""
    J = JClass(n, 1)
    key = np.flatnonzero(half(key_frequencies(share, threshold), J.orders))
    masks = {p: depends_on(J, p) for p in primes(n)}
    return tuple(
        KeyCharacter(
            frequency=tuple(J.coordinates[i].tolist()),
            share=float(share[i]),
            primes=tuple(p for p in masks if masks[p][i]),
        )
        for i in key[np.argsort(-share[key], kind="stable")].tolist()
    )


def images(n: int) -> list[dict[int, Selection]]:
    """Return the images of the usual decomposition of the units of Z_n, into those modulo each
    prime, under all automorphisms of the group: for each image, the characters that feel each
    prime.

    A decomposition is a cyclic subgroup of order p − 1 for each p which together generate the
    group; two such have the same orders, so an automorphism leads from one to the other. A
    character feels p where it is not 1 on a generator of that of p. Subgroups generate all if the
    constant alone is 1 on each.

    >>> len(images(15)), len(images(165))
    (4, 96)
    """
    J = JClass(n, 1)
    q, L = np.array(J.orders), lcm(*J.orders)
    trivial = J.coordinates * (L // q) @ J.coordinates.T % L == 0  # (characters, elements)
    period = np.lcm.reduce(q // np.gcd(J.coordinates, q), axis=1)
    # A cyclic subgroup is known by the characters that are 1 on it.
    kinds = np.unique(trivial, axis=1, return_index=True)[1]
    cyclic = [[h for h in kinds if period[h] == p - 1] for p in primes(n)]
    tuples = (trivial[:, subgroups] for subgroups in product(*cyclic))
    generating = [x for x in tuples if x.all(axis=1).sum() == 1]
    return [dict(zip(primes(n), ~x.T, strict=True)) for x in generating]


def at_most(share: Shares, n: int, level: float) -> dict[tuple[int, int], float]:
    """Return for each two primes of n the share of the images in which the characters that feel
    both have at most ``level`` of their even share."""
    shares, by_image = {}, images(n)
    for p, q in combinations(primes(n), 2):
        pairs = (Energy(**energy(share, masks[p] & masks[q])) for masks in by_image)
        shares[p, q] = float(np.mean([x.over_even <= level for x in pairs]))
    return shares
