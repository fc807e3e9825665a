"""Project functions on a class onto key characters.

A projection is a symmetric matrix over the elements of J_d in algebraic order. It acts on anything
that has a row for each element. All of them are orthogonal to the constants, so class means stay.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from strata.measure.fourier import atomic, energy_share, key_frequencies
from strata.monoid import JClass, axis_primes, chi, frequencies
from strata.task import Task, task_of

Spans = dict[int, Float[np.ndarray, "size size"]]  # by the d of the class
Masks = dict[int, Bool[np.ndarray, " size"]]


class Split(NamedTuple):
    """A ``Split`` is a table of one row for each residue, class by class, without what is outside a
    span and without what is inside."""

    keep: Float[np.ndarray, "n width"]
    remove: Float[np.ndarray, "n width"]


def key_masks(W_E: Float[np.ndarray, "rows d_model"], n: Task | int, threshold: float) -> Masks:
    """Return the key frequencies of every class whose rows differ."""
    tables = {J.d: (J, W_E[J.elements]) for J in task_of(n).classes}
    return {
        d: key_frequencies(energy_share(rows, J.orders), threshold)
        for d, (J, rows) in tables.items()
        if (rows != rows[0]).any()
    }


def characters(
    mask: Bool[np.ndarray, " size"], orders: tuple[int, ...]
) -> Float[np.ndarray, "size size"]:
    """Return the projection onto the span of these characters: Σ_k χ_k χ_k^* / size.

    It is real because the mask holds −k with every k. Entry 0, the constant, must not be in it.
    """
    columns = [chi(k, orders) for k in frequencies(orders)[mask]]
    X = np.array(columns).reshape(-1, len(mask))
    return np.real(X.T @ X.conj()) / len(mask)


def axis_mask(J: JClass, p: int) -> Bool[np.ndarray, " size"]:
    """Return the frequencies that are nonzero on axes of the prime p and on no other."""
    of_p = np.array(axis_primes(J)) == p
    k = frequencies(J.orders) != 0
    return k[:, of_p].any(axis=1) & ~k[:, ~of_p].any(axis=1)


def split(table: Float[np.ndarray, "n width"], spans: Spans, n: Task | int) -> Split:
    """Return the table without what is outside the spans, and without what is inside; class means
    stay.

    Rows of a class without a span stay as they are.
    """
    keep, remove = table.copy(), table.copy()
    for d, P in spans.items():
        rows = task_of(n).jclass(d).elements
        inside = P.astype(table.dtype) @ table[rows]  # P removes the mean
        keep[rows], remove[rows] = table[rows].mean(axis=0) + inside, table[rows] - inside
    return Split(keep, remove)


def atomic_key(J: JClass, key: Bool[np.ndarray, " size"], p: int) -> Bool[np.ndarray, " size"]:
    """Return the key frequencies on the axis of p alone. Where p has one cyclic axis they are
    atomic."""
    mask = key & axis_mask(J, p)
    assert len(set(axis_primes(J))) < len(axis_primes(J)) or not (mask & ~atomic(J.orders)).any()
    return mask
