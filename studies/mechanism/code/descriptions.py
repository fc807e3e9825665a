"""Descriptions of the logits as functions of product q and candidate c, by least squares.

y(q, c) is the mean over the pairs with product q of z, the logit less its mean over all candidates.
A description has a table for each of some partitions of the residues, columns [q ∈ A][c ∈ B] for
all its blocks A and B, and characters. Each column is centred over c. For every single q, functions
of c from different tables are orthogonal by the Chinese remainder theorem, and characters sum to 0
over every block and are orthogonal to one another. So weighted least squares, of least norm, is a
mean for each cell of a table and one inner product for each character.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from jaxtyping import Float, Int
from sympy.ntheory import factorint

from strata.monoid import classes
from strata.patch.projections import Masks
from studies.mechanism.code import characters
from studies.mechanism.code.characters import Characters, valuations
from studies.mechanism.code.records import Description as Name

Indicators = tuple[Float[np.ndarray, "n _"], ...]  # a partition each: 1 in the block, else 0


@dataclass(frozen=True)
class Description:
    """Tables over partitions, and characters."""

    tables: Indicators
    characters: Characters


@cache
def class_indicators(n: int) -> Float[np.ndarray, "n classes"]:
    """Column i is 1 on the i-th class."""
    return np.equal.outer(np.gcd(np.arange(n), n), [J.d for J in classes(n)]).astype(np.float64)


@cache
def prime_indicators(n: int) -> Indicators:
    """For each prime p of n, column i is 1 where the valuation at p is i."""
    return tuple(
        np.equal.outer(valuations(n, p), np.arange(k + 1)).astype(np.float64)
        for p, k in sorted(factorint(n).items())
    )


def describe(n: int, key: Masks) -> dict[Name, Description]:
    """S, strata: pairs of classes, and the key characters of each class. C, primes: pairs of
    valuations for each prime, and characters shared by classes. C+: C with characters of several
    primes."""
    by_prime, shared = prime_indicators(n), characters.of_primes(n, key)
    return {
        "S": Description((class_indicators(n),), characters.of_strata(n, key)),
        "C": Description(by_prime, shared),
        "C+": Description(by_prime, shared + characters.mixed(n, key)),
    }


def fit(
    y: Float[np.ndarray, "n n"], weight: Float[np.ndarray, " n"], description: Description
) -> Float[np.ndarray, "n n"]:
    """Fit y, centred over c, with these weights of q, 0 where it is not fitted, and predict every
    q. A block of no weight predicts 0."""
    predicted = np.zeros_like(y)
    for block in description.tables:
        by_q = y @ (block / block.sum(axis=0))
        total = weight @ block
        cells = block.T @ (weight[:, None] * by_q) / np.where(total > 0, total, 1)[:, None]
        predicted = predicted + block @ cells @ block.T
    f, whole = description.characters, np.ones((len(y), 1))
    squares, inner = (weight @ x[:, 0] for x in (f.squares(whole), f.inner(y, whole)))
    beta = np.divide(inner, squares, out=np.zeros_like(inner), where=squares > 0)
    return predicted + 2 * np.real((f.values * beta) @ f.values.conj().T)


def weights_of(n: int) -> Float[np.ndarray, " n"]:
    """N(q): how many ordered pairs have product q."""
    of = np.arange(n)
    return np.bincount(np.outer(of, of).ravel() % n, minlength=n).astype(np.float64)


def held_out(
    y: Float[np.ndarray, "n n"],
    weight: Float[np.ndarray, " n"],
    description: Description,
    fold: Int[np.ndarray, " n"],
) -> Float[np.ndarray, "n n"]:
    """Each product predicted by the fit of the other folds; 0 for a product in no fold."""
    predicted = np.zeros_like(y)
    for i in range(int(fold.max()) + 1):
        here = fold == i
        predicted[here] = fit(y, np.where(here, 0, weight), description)[here]
    return predicted
