"""Characters between and inside classes: does a coefficient depend on the class?

A character of primes has one column over all products q and candidates c. Split by the classes of q
and c, its parts are orthogonal to one another, to those of other characters and to all tables. So
each coefficient is Σ N y X / Σ N X² over its cells.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from strata.monoid import classes
from studies.mechanism.code.characters import Characters
from studies.mechanism.code.descriptions import class_indicators, weights_of
from studies.mechanism.code.records import SharedCharacter


class Cells(NamedTuple):
    """Σ y X and Σ X² over products of one class and candidates of another, and the weight N of
    each product of a class."""

    inner: Float[np.ndarray, "classes classes count"]
    squares: Float[np.ndarray, "classes classes count"]
    weight: Float[np.ndarray, " classes"]


def cells(y: Float[np.ndarray, "n n"], f: Characters) -> Cells:
    """The sums over the cells of every pair of classes."""
    n, of = len(y), class_indicators(len(y))
    inner, squares = (np.tensordot(of, x, axes=(0, 0)) for x in (f.inner(y, of), f.squares(of)))
    # Cells outside a character's support are exact zeros: it is 0 there.
    return Cells(inner, squares, weights_of(n)[[J.d % n for J in classes(n)]])


def shared(y: Float[np.ndarray, "n n"], f: Characters, total: float) -> list[SharedCharacter]:
    """The characters that are defined in two classes or more; `total` is Σ z²."""
    n, of = len(y), cells(y, f)
    d, none = np.array([J.d for J in classes(n)]), np.full_like(of.inner, np.nan)
    beta = np.divide(of.inner, of.squares, out=none, where=of.squares > 0)
    inner, squares = (np.tensordot(of.weight, x, axes=(0, 0)) for x in of[:2])
    own_inner, own_squares = (np.einsum("d,ddk->k", of.weight, x) for x in (of.inner, of.squares))
    found = []
    for i, parts in enumerate(f.labels):
        here = np.flatnonzero(np.diagonal(of.squares[:, :, i]))
        if len(here) > 1:
            rest = inner[:, i].sum() - own_inner[i], squares[:, i].sum() - own_squares[i]
            found.append(
                SharedCharacter(
                    parts=parts,
                    same=float(own_inner[i] / own_squares[i]),
                    different=float(rest[0] / rest[1]),
                    explained=float(own_inner[i] ** 2 / own_squares[i] / total),
                    classes=tuple(d[here].tolist()),
                    beta=tuple(map(tuple, beta[np.ix_(here, here)][:, :, i].tolist())),
                )
            )
    return found


def counted(characters: Iterable[SharedCharacter], smallest: float) -> list[SharedCharacter]:
    """The characters that explain at least a share of what all of them explain by their parts of
    one class."""
    known = list(characters)
    least = smallest * sum(x.explained for x in known)
    return [x for x in known if x.same and x.explained >= least]


def balanced(characters: Iterable[SharedCharacter]) -> float | None:
    """The median over characters and pairs of classes d, e whose own coefficients are positive of
    sign(β_de + β_ed) √|β_de β_ed| / √(β_dd β_ee)."""
    ratios = []
    for beta in (np.array(x.beta) for x in characters):
        own = np.diagonal(beta)
        for d, e in zip(*np.triu_indices(len(own), 1), strict=True):
            if own[d] > 0 and own[e] > 0:
                size = np.sqrt(abs(beta[d, e] * beta[e, d]) / (own[d] * own[e]))
                ratios.append(float(np.sign(beta[d, e] + beta[e, d]) * size))
    return float(np.median(ratios)) if ratios else None


def cost(y: Float[np.ndarray, "n n"], f: Characters) -> float | None:
    """What one set of coefficients for all classes explains less of the logits inside a class than
    the class's own coefficients, as a share of it: the mean over classes with a character."""
    of = cells(y, f)
    inner, squares = (np.einsum("ddk->dk", x) for x in of[:2])
    weight = of.weight[:, None]
    common = (weight * inner).sum(axis=0) / (weight * squares).sum(axis=0)
    explained = np.divide(inner**2, squares, out=np.zeros_like(inner), where=squares > 0)
    own = explained.sum(axis=1)
    # One coefficient in the place of the best one explains less by its distance from it.
    together = (2 * common * inner - common**2 * squares).sum(axis=1)
    here = own > 0
    return float(np.mean((own - together)[here] / own[here])) if here.any() else None
