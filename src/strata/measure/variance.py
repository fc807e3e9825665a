"""Measure how much variance lies between groups: η², of rows in groups and of a matrix in blocks.

The moments of neurons (module neurons) give the same share for a matrix that is never whole.
Fisher, Statistical Methods for Research Workers, 1925.
"""

import numpy as np
from jaxtyping import Float, Shaped

Labels = Shaped[np.ndarray, " rows"]


def eta_squared(values: Float[np.ndarray, "rows k"], labels: Labels) -> float:
    """Return η², the share of the variance of the rows that the means of each label explain.

    With labels shuffled it is (labels − 1) / (rows − 1) on average: the expected between-group sum
    of squares of a random partition. It is 0 where all rows are equal.

    >>> eta_squared(np.array([[0.0], [2.0], [4.0], [6.0]]), np.array([0, 0, 1, 1]))
    0.8
    """
    centred = values - values.mean(axis=0)
    groups = [centred[labels == label] for label in np.unique(labels)]
    between = sum(len(rows) * float((rows.mean(axis=0) ** 2).sum()) for rows in groups)
    total = float((centred**2).sum())
    return between / total if total else 0.0


def block_eta_squared(
    x: Float[np.ndarray, "rows columns"],
    labels: Labels,
    across: Shaped[np.ndarray, " columns"] | None = None,
) -> float:
    """Return η² of the entries of x in the groups (label of the row, label of the column).

    ``across`` are the labels of the columns where they are not those of the rows. η² is 0 where all
    entries are equal.
    """
    by_row, by_column = (_member(x) for x in (labels, labels if across is None else across))
    sizes = np.outer(by_row.sum(axis=0), by_column.sum(axis=0))
    centred = x - x.mean(dtype=float)
    means = by_row.T @ centred @ by_column / sizes
    total = float((centred**2).sum())
    return float((means**2 * sizes).sum()) / total if total else 0.0


def block_means(
    x: Float[np.ndarray, "rows rows"], labels: Labels
) -> Float[np.ndarray, "rows rows"]:
    """Replace each entry by the mean over its block (label of the row, label of the column)."""
    member = _member(labels)
    sizes = member.sum(axis=0)
    means = member.T @ x @ member / np.outer(sizes, sizes)
    return member @ means @ member.T


def _member(labels: Labels) -> Float[np.ndarray, "rows labels"]:
    """Return 1.0 where a row has a label, labels ascending."""
    return (labels[:, None] == np.unique(labels)).astype(float)
