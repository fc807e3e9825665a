"""The characters that the two accounts of the logits are made of.

A character is a complex function f on the residues, 0 outside its support; its column over products
q and candidates c is X(q, c) = 2 Re f(q) f̄(c). Strata have χ_k of the unit coordinate on one class
J_d. Primes have χ_k of w_p(x) = (x mod p^κ)/p^v on all x with p-adic valuation v, where p^κ ‖ n,
and products of these over several primes.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from jaxtyping import Bool, Complex, Int

from strata.arithmetic import factorint
from strata.measure.character_fit import half
from strata.monoid import JClass, axes, chi, classes, frequencies, jclass, position
from strata.patch.projections import Masks
from studies.mechanism.code.records import Label, Part


@dataclass(frozen=True)
class Characters:
    """Characters side by side, with what each is made of. Those of strata belong to one class, and
    have no values outside it."""

    labels: tuple[Label, ...]
    values: Complex[np.ndarray, "n count"]

    def __add__(self, other: "Characters") -> "Characters":
        values = np.concatenate([self.values, other.values], axis=1)
        return Characters(self.labels + other.labels, values)


@cache
def valuations(n: int, p: int) -> Int[np.ndarray, " n"]:
    """Return min(κ, p-adic valuation) of every residue, where p^κ ‖ n; that of 0 is κ.

    >>> valuations(12, 2).tolist()
    [2, 0, 1, 0, 2, 0, 1, 0, 2, 0, 1, 0]
    """
    powers = p ** np.arange(1, factorint(n)[p] + 1)
    return (np.arange(n)[:, None] % powers == 0).sum(axis=1)


def local_character(n: int, part: Part) -> Complex[np.ndarray, " n"]:
    """Return the character of one prime at every residue: χ_k(w_p(x)) where v_p(x) = v, else 0."""
    p, v, k = part
    group = JClass(p ** (factorint(n)[p] - v), 1)
    x = np.flatnonzero(valuations(n, p) == v)
    values = np.zeros(n, dtype=np.complex128)
    w = x % p ** factorint(n)[p] // p**v
    values[x] = chi(k, group.orders)[position(group.n)[w]]
    return values


def labels(J: JClass, mask: Bool[np.ndarray, " size"]) -> list[Label]:
    """Return the key frequencies of a class, one of each pair ±k: a label says what the character
    is at each prime where it is not 1.

    >>> labels(JClass(165, 3), (frequencies((4, 10)) == [1, 7]).all(axis=1))
    [(Part(p=5, v=0, k=(1,)), Part(p=11, v=0, k=(7,)))]
    """
    kappa, powers = factorint(J.n), sorted(factorint(J.m).items())
    ends = np.cumsum([len(axes(p**power)) for p, power in powers])[:-1]

    def label(k: Int[np.ndarray, " r"]) -> Label:
        parts = zip(powers, np.split(k, ends), strict=True)
        return tuple(Part(p, kappa[p] - v, tuple(x.tolist())) for (p, v), x in parts if x.any())

    key_frequencies = frequencies(J.orders)[half(mask, J.orders)]
    return [min(label(k), label(-k % np.array(J.orders))) for k in key_frequencies]


def strata_characters(n: int, key: Masks) -> Characters:
    """Return the key characters of every class, each on its own class."""
    key_labels, columns = [], [np.zeros((n, 0), dtype=np.complex128)]
    for J in (jclass(d, n) for d in key):
        mask = half(key[J.d], J.orders)
        values = np.zeros((n, int(mask.sum())), dtype=np.complex128)
        for i, k in enumerate(frequencies(J.orders)[mask]):
            values[J.elements, i] = chi(k, J.orders)
        key_labels += labels(J, key[J.d])
        columns.append(values)
    return Characters(tuple(key_labels), np.concatenate(columns, axis=1))


def mixed(n: int, key: Masks) -> Characters:
    """Return the key frequencies of any class that are not zero on several primes, once each."""
    key_labels = (x for J in classes(n) if J.d in key for x in labels(J, key[J.d]))
    return characters_of(n, [*dict.fromkeys(x for x in key_labels if len(x) > 1)])


def characters_of(n: int, labels: list[Label]) -> Characters:
    """Return the characters of these labels: products over their primes."""
    columns = [np.prod([local_character(n, part) for part in x], axis=0) for x in labels]
    return Characters(tuple(labels), np.array(columns, dtype=np.complex128).reshape(-1, n).T)


def key_in_any_class(n: int, key: Masks) -> Characters:
    """Return the key frequencies of any class, once each: those of one prime, then of several."""
    key_labels = (x for J in classes(n) if J.d in key for x in labels(J, key[J.d]))
    single = sorted(dict.fromkeys(x for x in key_labels if len(x) == 1))
    return characters_of(n, single) + mixed(n, key)
