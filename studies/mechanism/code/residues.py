"""The functions of a residue that statements 6 to 9 of criteria-3.md are about: 1, zeros, and
characters of one prime or of two."""

from collections.abc import Iterable
from functools import cache

import numpy as np
from jaxtyping import Bool, Complex, Float

from strata.monoid import JClass, classes
from studies.mechanism.code import characters
from studies.mechanism.code.characters import characters_of
from studies.mechanism.code.dictionary import real
from studies.mechanism.code.records import Label, Part


@cache
def all_labels(n: int) -> tuple[Label, ...]:
    """Return every character of one prime or of two, one of each pair of conjugates."""
    all_masks = {J.d: np.arange(len(J)) > 0 for J in classes(n)}
    labels = characters.key_in_any_class(n, all_masks).labels
    return tuple(label for label in labels if len(label) <= 2)


def labels_of_one_prime(n: int) -> tuple[Label, ...]:
    """Return every character of one prime, one of each pair of conjugates."""
    return tuple(label for label in all_labels(n) if len(label) == 1)


@cache
def values(n: int, label: Label) -> Complex[np.ndarray, " n"]:
    """Return a character at every residue; it is 0 where a prime of it divides."""
    return characters_of(n, [label]).values[:, 0]


@cache
def waves(n: int, label: Label) -> Float[np.ndarray, "n waves"]:
    """Return the cosine and the sine of a character, or its sign where it is real."""
    return real(values(n, label)[:, None])


def primes_of(label: Label) -> tuple[int, ...]:
    """Return the primes of a character, ascending."""
    return tuple(part.p for part in label)


def square_of(n: int, label: Label) -> Label | None:
    """Return the square of a character, as ``all_labels`` names it; None where it is 1."""
    parts, conjugate = [], []
    for part in label:
        orders = _orders(n, part)
        twice = tuple(2 * k % order for k, order in zip(part.k, orders, strict=True))
        if any(twice):
            parts.append(part._replace(k=twice))
            minus = tuple(-k % order for k, order in zip(twice, orders, strict=True))
            conjugate.append(part._replace(k=minus))
    return min(tuple(parts), tuple(conjugate)) if parts else None


def divides(n: int, p: int) -> Bool[np.ndarray, " n"]:
    """Whether a prime divides each residue."""
    return np.arange(n) % p == 0


def zero_functions(n: int, primes: Iterable[int]) -> Float[np.ndarray, "n primes"]:
    """Return [p | x] for these primes."""
    return np.stack([divides(n, p) for p in primes], axis=1).astype(np.float64)


def _orders(n: int, part: Part) -> tuple[int, ...]:
    power = 1
    while n % (power * part.p) == 0:
        power *= part.p
    return JClass(power // part.p**part.v, 1).orders
