"""Measure how few directions hold an embedding or a head, and how far the two share them.

Principal components are those of mean-centred rows, computed in double precision. Vectors are rows:
a head maps x to x @ W_OV, so the left singular vectors of W_OV span what it reads and the right
ones what it writes. Jolliffe, Principal Component Analysis, 2002; Björck and Golub, Numerical
Methods for Computing Angles Between Linear Subspaces, 1973; Elhage et al., A Mathematical Framework
for Transformer Circuits, 2021.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int


class Directions(NamedTuple):
    """``Directions`` are orthonormal columns: those that a head reads and those that it writes."""

    read: Float[np.ndarray, "d k"]
    write: Float[np.ndarray, "d k"]


def _centred(x: np.ndarray) -> np.ndarray:
    x = x.astype(np.float64)
    return x - x.mean(axis=0)


def _constant(x: np.ndarray) -> bool:
    return bool((x == x[0]).all())


def cumulative_variance(x: Float[np.ndarray, "rows d"]) -> Float[np.ndarray, " k"]:
    """Return the share of the variance of rows in the first 1, 2, … k = min(rows, d) components.

    Raises ValueError where the rows are all equal.
    """
    if _constant(x):
        raise ValueError("no variance to share: the rows are all equal")
    x = _centred(x)
    gram = x @ x.T if len(x) <= x.shape[1] else x.T @ x  # both have one spectrum; this is smaller
    variances = np.linalg.eigvalsh(gram)[::-1].clip(min=0)
    return np.cumsum(variances) / variances.sum()


def count_for(cumulative: Float[np.ndarray, " k"], variance: float) -> int:
    """Return the least count whose cumulative share is at least `variance`, else all of them."""
    return min(int(np.searchsorted(cumulative, variance)) + 1, len(cumulative))


def components_for(x: Float[np.ndarray, "rows d"], variance: float = 0.95) -> int:
    """Return the least number of principal components with that share of the variance of rows.

    It is 0 where the rows are all equal.
    """
    return 0 if _constant(x) else count_for(cumulative_variance(x), variance)


def random_components(
    W_E: Float[np.ndarray, "n d"],
    size: int,
    draws: int,
    rng: np.random.Generator,
    variance: float = 0.95,
) -> Int[np.ndarray, " draws"]:
    """Return components_for of random sets of `size` rows, without replacement: the baseline."""
    sets = (rng.choice(len(W_E), size, replace=False) for _ in range(draws))
    return np.array([components_for(W_E[rows], variance) for rows in sets], dtype=np.int64)


def project(x: Float[np.ndarray, "rows d"], k: int = 3) -> Float[np.ndarray, "rows k"]:
    """Return the scores of the rows on their first k principal components.

    Columns beyond min(rows, d) are 0. The largest loading of each component is positive.
    """
    U, S, Vt = np.linalg.svd(_centred(x), full_matrices=False)
    sign = np.sign(Vt[np.arange(len(Vt)), np.abs(Vt).argmax(axis=1)])
    scores = (U * S * sign)[:, :k]
    return np.pad(scores, ((0, 0), (0, k - scores.shape[1])))


def W_OV(
    W_V: Float[np.ndarray, "d d_head"], W_O: Float[np.ndarray, "d_head d"]
) -> Float[np.ndarray, "d d"]:
    """Return W_OV, by which a head moves x from where it attends to where it writes, x @ W_OV."""
    return W_V.astype(np.float64) @ W_O.astype(np.float64)


def ov_shares(
    W_V: Float[np.ndarray, "d d_head"], W_O: Float[np.ndarray, "d_head d"]
) -> Float[np.ndarray, " k"]:
    """Return the k = min(d, d_head) squared singular values of W_OV over their sum, descending.

    Raises ValueError where W_OV is zero.
    """
    squares = np.linalg.svd(W_OV(W_V, W_O), compute_uv=False)[: min(W_V.shape)] ** 2
    if not squares.any():
        raise ValueError("no variance to share: W_OV is zero")
    return squares / squares.sum()


def head_directions(W_OV: Float[np.ndarray, "d d"], k: int = 16) -> Directions:
    """Return the top k singular vectors of a head as columns: left ones on the read side, right
    ones on the write side."""
    U, _, Vt = np.linalg.svd(W_OV.astype(np.float64))
    return Directions(U[:, :k], Vt[:k].T)


def leading(x: Float[np.ndarray, "size d"], k: int = 16) -> Float[np.ndarray, "count d"]:
    """Return the top min(k, size, d) right singular vectors of the centred rows.

    Centring leaves the rows rank size − 1 at most, so where size ≤ k the last of these is an
    arbitrary one orthogonal to the rows. There is none where the rows are all equal and span no
    direction.
    """
    return np.linalg.svd(_centred(x), full_matrices=False)[2][: 0 if _constant(x) else k]


def cosines(
    rows: Float[np.ndarray, "count d"], directions: Float[np.ndarray, "d k"]
) -> Float[np.ndarray, " cosines"]:
    """Return the cosines of the principal angles between two subspaces, descending. Orthonormal
    bases give the subspaces, one as rows and one as columns."""
    return np.linalg.svd(rows @ directions, compute_uv=False).clip(max=1)
