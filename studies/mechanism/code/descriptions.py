"""Descriptions of the logits as functions of product q and candidate c, by least squares.

y(q, c) is the mean over the pairs with product q of z, the logit less its mean over all candidates.
A description has a table for each of some partitions of the residues, columns [q ∈ A][c ∈ B] for
all its blocks A and B, and characters. Each column is centred over c. For every single q, functions
of c from different tables are orthogonal by the Chinese remainder theorem, and characters sum to 0
over every block and are orthogonal to one another. So weighted least squares, of least norm, is a
mean for each cell of a table and one inner product for each character, and the rank is a count.
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
ZERO = 1e-10  # singular values below this times the largest count as 0


@dataclass(frozen=True)
class Description:
    """Tables over partitions, and characters."""

    tables: Indicators
    characters: Characters

    def rank(self, bias: bool = False) -> int:
        """The rank of all columns, centred over c, over all q; with a bias for each candidate, of
        which the tables hold what is constant on their blocks."""
        n, count = self.characters.values.shape
        sizes = np.array([table.shape[1] for table in self.tables])
        extra = n - 1 - int((sizes - 1).sum()) if bias else 0
        return int((sizes * (sizes - 1)).sum()) + count + extra


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


def tables(
    y: Float[np.ndarray, "n n"], weight: Float[np.ndarray, " n"], partitions: Indicators
) -> tuple[Float[np.ndarray, "n n"], Float[np.ndarray, "n n"]]:
    """What the tables of a fit predict, and what is left of each y(q, ·) beside any table's row.

    `weight` is that of each q, 0 where it is not fitted. A block of no weight predicts 0.
    """
    predicted, rest = np.zeros_like(y), y
    for block in partitions:
        by_q = y @ (block / block.sum(axis=0))
        total = weight @ block
        cells = block.T @ (weight[:, None] * by_q) / np.where(total > 0, total, 1)[:, None]
        predicted, rest = predicted + block @ cells @ block.T, rest - by_q @ block.T
    return predicted, rest


def fit(
    y: Float[np.ndarray, "n n"],
    weight: Float[np.ndarray, " n"],
    description: Description,
    bias: bool = False,
) -> Float[np.ndarray, "n n"]:
    """Fit y, centred over c, with these weights of q, and predict every q."""
    predicted, rest = tables(y, weight, description.tables)
    f, whole = description.characters, np.ones((len(y), 1))
    squares, inner = (weight @ x[:, 0] for x in (f.squares(whole), f.inner(y, whole)))
    if not bias:
        found = np.divide(inner, squares, out=np.zeros_like(inner), where=squares > 0)
        return predicted + columns(f, found)
    # What is left of a bias beside the tables has the weight of all q. Eliminated, it takes their
    # mean over q from the columns of characters.
    mean, total = weight @ rest / weight.sum(), weight.sum()
    sums = 2 * np.real(f.values.conj() * (weight @ f.values))
    normal = np.diag(squares) - sums.T @ sums / total
    found = np.linalg.lstsq(normal, inner - sums.T @ mean, rcond=ZERO)[0]
    return predicted + columns(f, found) + mean - sums @ found / total


def columns(f: Characters, coefficients: Float[np.ndarray, " count"]) -> Float[np.ndarray, "n n"]:
    """Σ_φ β_φ X_φ(q, c)."""
    return 2 * np.real((f.values * coefficients) @ f.values.conj().T)


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
