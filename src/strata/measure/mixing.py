"""Which primes the characters in the embedding of the units feel, one by one or together.

A character of the units of Z_n is a product of characters of the units modulo the prime powers of
n. It feels p where that of p is not constant. The units are those of every submonoid of Z_n that
has them (``task.Residues``), in which only the primes ``zeros`` divide some element.
"""

from itertools import combinations

import numpy as np
from jaxtyping import Bool, Float

from strata.inputs import InputError
from strata.measure.fourier import energy_share, key_frequencies
from strata.monoid import JClass, axis_primes
from strata.result import Result
from strata.task import Residues, Task, primes, task_of


class Energy(Result):
    """Energy of the units' embedding at some characters, the constant apart."""

    share: float
    even: float
    """The share of these among all characters but the constant."""

    @property
    def over_even(self) -> float | None:
        """share / even; None where there is no such character."""
        return self.share / self.even if self.even else None


class KeyCharacter(Result):
    """A key character of the units and the primes that it feels."""

    frequency: tuple[int, ...]
    share: float
    primes: tuple[int, ...]


class Mixing(Result):
    """How much energy lies on characters that feel several primes."""

    zeros: Energy | None
    """Characters that feel two or more primes with zeros: ``over_even`` is F. No automorphism of
    the task changes it. None where fewer than two primes have zeros."""
    pairs: dict[tuple[int, int], Energy]
    """Characters that feel both primes, and perhaps others; for each pair of primes of n."""
    keys: tuple[KeyCharacter, ...]
    """One of each ±k, the strongest first."""


def mixing(
    W_E: Float[np.ndarray, "tokens d_model"], n: Task | int, threshold: float = 0.5
) -> Mixing:
    """Raises InputError for a task that is not of residues, or with one unit, or where the rows of
    the units are all equal. ``threshold``: of key characters, times the even share."""
    task = task_of(n)
    if not isinstance(task, Residues):
        raise InputError(f"{task}: its elements are no residues, and so feel no prime")
    J, known = JClass(task.modulus, 1), primes(task.modulus)
    rows = W_E[task.jclass(1).elements]
    if (rows == rows[0]).all():
        raise InputError(f"{task}: the rows of its units are all equal, and have no character")
    share = energy_share(rows, J.orders)
    felt = {p: feels(J, p) for p in known}
    several = np.sum([felt[p] for p in task.zeros], axis=0) > 1
    return Mixing(
        zeros=energy(share, several) if len(task.zeros) > 1 else None,
        pairs={(p, q): energy(share, felt[p] & felt[q]) for p, q in combinations(known, 2)},
        keys=keys(J, share, threshold),
    )


def feels(J: JClass, p: int) -> Bool[np.ndarray, " size"]:
    """The characters, in the order of ``frequencies``, that are not constant on the axes of p."""
    return (J.coordinates[:, np.array(axis_primes(J), dtype=int) == p] != 0).any(axis=1)


def energy(share: Float[np.ndarray, " size"], of: Bool[np.ndarray, " size"]) -> Energy:
    """The energy at these characters."""
    return Energy(share=float(share[of].sum()), even=float(of.sum() / (len(of) - 1)))


def keys(
    J: JClass, share: Float[np.ndarray, " size"], threshold: float
) -> tuple[KeyCharacter, ...]:
    """The key characters, one of each ±k."""
    k, minus = J.coordinates, -J.coordinates % J.orders
    first = [tuple(a) <= tuple(b) for a, b in zip(k.tolist(), minus.tolist(), strict=True)]
    key = np.flatnonzero(key_frequencies(share, threshold) & first)
    felt = {p: feels(J, p) for p in sorted({*axis_primes(J)})}
    return tuple(
        KeyCharacter(
            frequency=tuple(k[i].tolist()),
            share=float(share[i]),
            primes=tuple(p for p in felt if felt[p][i]),
        )
        for i in key[np.argsort(-share[key], kind="stable")].tolist()
    )
