"""Spaces of functions on a class, as projections: of key characters, and of their controls.

A projection is a symmetric matrix over the elements of J_d in algebraic order. It acts on anything
that has a row for each element. All of them are orthogonal to the constants, so class means stay.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from strata.measure.fourier import atomic, conjugate, energy_share, key_frequencies
from strata.monoid import JClass, axis_primes, chi, frequencies
from strata.task import Task, task_of

Subspace = Literal["other", "random", "additive"]  # the controls of key characters
Spans = dict[int, Float[np.ndarray, "size size"]]  # by the d of the class
Controls = Sequence[dict[Subspace, Spans]]  # a draw of each
Masks = dict[int, Bool[np.ndarray, " size"]]


class Split(NamedTuple):
    """A table of one row for each residue, class by class, with and without a span."""

    keep: Float[np.ndarray, "n width"]
    remove: Float[np.ndarray, "n width"]


def keys(W_E: Float[np.ndarray, "rows d_model"], n: Task | int, threshold: float) -> Masks:
    """The key frequencies of every class whose rows differ."""
    tables = {J.d: (J, W_E[J.elements]) for J in task_of(n).classes}
    return {
        d: key_frequencies(energy_share(rows, J.orders), threshold)
        for d, (J, rows) in tables.items()
        if (rows != rows[0]).any()
    }


def characters(
    mask: Bool[np.ndarray, " size"], orders: tuple[int, ...]
) -> Float[np.ndarray, "size size"]:
    """The projection onto the span of these characters: Σ_k χ_k χ_k^* / size.

    It is real because the mask holds −k with every k. Entry 0, the constant, must not be in it.
    """
    columns = [chi(k, orders) for k in frequencies(orders)[mask]]
    X = np.array(columns).reshape(-1, len(mask))
    return np.real(X.T @ X.conj()) / len(mask)


def on_axis(J: JClass, p: int) -> Bool[np.ndarray, " size"]:
    """The frequencies that are nonzero on axes of the prime p and on no other."""
    here = np.array(axis_primes(J)) == p
    k = frequencies(J.orders) != 0
    return k[:, here].any(axis=1) & ~k[:, ~here].any(axis=1)


def others(
    mask: Bool[np.ndarray, " size"], orders: tuple[int, ...], rng: np.random.Generator
) -> Bool[np.ndarray, " size"]:
    """As many random characters that are not in the mask, each with its conjugate.

    Where no choice of them has that number, the next lower one that there is; 0, the constant, is
    never among them.
    """
    minus, chosen = conjugate(orders), np.zeros_like(mask)
    free = ~mask & (np.arange(len(mask)) > 0)
    real = rng.permutation(np.flatnonzero(free & (minus == np.arange(len(mask)))))
    pairs = rng.permutation(np.flatnonzero(free & (minus > np.arange(len(mask)))))
    counts = [(k, min((mask.sum() - k) // 2, len(pairs))) for k in range(len(real) + 1)]
    counts = [(k, twice) for k, twice in counts if k <= mask.sum()]
    most = max(k + 2 * twice for k, twice in counts)
    k, twice = rng.choice([c for c in counts if c[0] + 2 * c[1] == most])
    chosen[np.concatenate([real[:k], pairs[:twice], minus[pairs[:twice]]])] = True
    return chosen


def random(size: int, dimension: int, rng: np.random.Generator) -> Float[np.ndarray, "size size"]:
    """The projection onto a random subspace, uniform among those orthogonal to the constants."""
    return spanned(rng.normal(size=(size, size)), dimension)


def additive(J: JClass, dimension: int, rng: np.random.Generator) -> Float[np.ndarray, "size size"]:
    """The projection onto random additive modes cos, sin(2π j a / n) of the index, on the class."""
    j = 1 + rng.permutation(J.m // 2)
    turns = 2 * np.pi * np.outer(J.elements, j) / J.n
    return spanned(np.stack([np.cos(turns), np.sin(turns)], axis=2).reshape(len(J), -1), dimension)


def draw_controls(n: int, masks: Masks, draws: int, rng: np.random.Generator) -> Controls:
    """Draws of each control: a span for each class, of the dimension of its key characters."""
    return [control_spans(n, masks, rng) for _ in range(draws)]


def control_spans(n: int, masks: Masks, rng: np.random.Generator) -> dict[Subspace, Spans]:
    """One draw of each control: a span of the same dimension for each class."""
    drawn: dict[Subspace, Spans] = {"other": {}, "random": {}, "additive": {}}
    for d, mask in masks.items():
        J, size = JClass(n, d), int(mask.sum())
        drawn["other"][d] = characters(others(mask, J.orders, rng), J.orders)
        drawn["random"][d] = random(len(J), size, rng)
        drawn["additive"][d] = additive(J, size, rng)
    return drawn


def spanned(
    columns: Float[np.ndarray, "size count"], dimension: int
) -> Float[np.ndarray, "size size"]:
    """The projection onto the first `dimension` independent columns, each centred."""
    basis = np.empty((len(columns), 0))
    for column in (columns - columns.mean(axis=0)).T:
        if basis.shape[1] == dimension:
            break
        rest = column - basis @ (basis.T @ column)
        rest -= basis @ (basis.T @ rest)
        if np.linalg.norm(rest) > 1e-6 * np.sqrt(len(rest)):
            basis = np.column_stack([basis, rest / np.linalg.norm(rest)])
    return basis @ basis.T


def dimension(span: Float[np.ndarray, "size size"]) -> int:
    """The dimension of the space that a projection is onto: its trace."""
    return round(float(np.trace(span)))


def split(table: Float[np.ndarray, "n width"], spans: Spans, n: Task | int) -> Split:
    """The table without what is outside the spans, and without what is inside; class means stay.

    Rows of a class without a span stay as they are.
    """
    keep, remove = table.copy(), table.copy()
    for d, P in spans.items():
        rows = task_of(n).jclass(d).elements
        inside = P.astype(table.dtype) @ table[rows]  # P removes the mean
        keep[rows], remove[rows] = table[rows].mean(axis=0) + inside, table[rows] - inside
    return Split(keep, remove)


def atomic_key(J: JClass, key: Bool[np.ndarray, " size"], p: int) -> Bool[np.ndarray, " size"]:
    """The key frequencies on the axis of p alone. Where it is one cyclic axis they are atomic."""
    mask = key & on_axis(J, p)
    assert len(set(axis_primes(J))) < len(axis_primes(J)) or not (mask & ~atomic(J.orders)).any()
    return mask
