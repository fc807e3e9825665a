"""How few directions hold an embedding or a head, and how far the two share them.

Principal components are those of mean-centred rows, computed in double precision. Row vectors:
a head maps x to x @ W_OV, so the left singular vectors of W_OV span what it reads and the right
ones what it writes. Jolliffe, Principal Component Analysis, 2002; Björck and Golub, Numerical
Methods for Computing Angles Between Linear Subspaces, 1973; Elhage et al., A Mathematical Framework
for Transformer Circuits, 2021.
"""

from typing import Literal

import numpy as np
from jaxtyping import Float, Int


def _centred(x: np.ndarray) -> np.ndarray:
    x = x.astype(np.float64)
    return x - x.mean(axis=0)


def _constant(x: np.ndarray) -> bool:
    return bool((x == x[0]).all())


def cumulative_variance(x: Float[np.ndarray, "rows d"]) -> Float[np.ndarray, " k"]:
    """Share of the variance of the rows in the first 1, 2, … k = min(rows, d) principal components.

    Raises ValueError where the rows are all equal.
    """
    if _constant(x):
        raise ValueError("no variance to share: the rows are all equal")
    x = _centred(x)
    gram = x @ x.T if len(x) <= x.shape[1] else x.T @ x  # one spectrum, the smaller matrix
    variances = np.linalg.eigvalsh(gram)[::-1].clip(min=0)
    return np.cumsum(variances) / variances.sum()


def count_for(cumulative: Float[np.ndarray, " k"], variance: float) -> int:
    """The smallest count whose cumulative share is at least `variance`; all of them if none is."""
    return min(int(np.searchsorted(cumulative, variance)) + 1, len(cumulative))


def components_for(x: Float[np.ndarray, "rows d"], variance: float = 0.95) -> int:
    """The smallest number of principal components with that share of the variance of the rows.

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
    """components_for of random sets of `size` rows, drawn without replacement: the baseline."""
    sets = (rng.choice(len(W_E), size, replace=False) for _ in range(draws))
    return np.array([components_for(W_E[rows], variance) for rows in sets], dtype=np.int64)


def project(x: Float[np.ndarray, "rows d"], k: int = 3) -> Float[np.ndarray, "rows k"]:
    """Scores of the rows on their first k principal components; columns beyond min(rows, d) are 0.

    The largest loading of each component is positive.
    """
    U, S, Vt = np.linalg.svd(_centred(x), full_matrices=False)
    sign = np.sign(Vt[np.arange(len(Vt)), np.abs(Vt).argmax(axis=1)])
    scores = (U * S * sign)[:, :k]
    return np.pad(scores, ((0, 0), (0, k - scores.shape[1])))


def W_OV(
    W_V: Float[np.ndarray, "d d_head"], W_O: Float[np.ndarray, "d_head d"]
) -> Float[np.ndarray, "d d"]:
    """What a head moves from where it attends to where it writes: x ↦ x @ W_OV."""
    return W_V.astype(np.float64) @ W_O.astype(np.float64)


def ov_shares(
    W_V: Float[np.ndarray, "d d_head"], W_O: Float[np.ndarray, "d_head d"]
) -> Float[np.ndarray, " k"]:
    """Squared singular values of W_OV over their sum, descending, k = min(d, d_head) of them.

    Raises ValueError where W_OV is zero.
    """
    squares = np.linalg.svd(W_OV(W_V, W_O), compute_uv=False)[: min(W_V.shape)] ** 2
    if not squares.any():
        raise ValueError("no variance to share: W_OV is zero")
    return squares / squares.sum()


def alignment(
    W_OV: Float[np.ndarray, "d d"],
    x: Float[np.ndarray, "size d"],
    side: Literal["read", "write"],
    directions: int = 16,
) -> Float[np.ndarray, " k"]:
    """Cosines of the principal angles between a head and the rows of a class, descending.

    The head's subspace is that of its top `directions` singular vectors, left ones on the read side
    and right ones on the write side; the class's that of the top k = min(directions, size, d) right
    singular vectors of its centred rows. Centring leaves them rank size − 1 at most, so where
    size ≤ directions the last of those vectors is an arbitrary one orthogonal to the rows. Empty
    where the rows are all equal and span no direction at all.
    """
    if _constant(x):
        return np.empty(0)
    U, _, Vt = np.linalg.svd(W_OV.astype(np.float64))
    head = U[:, :directions] if side == "read" else Vt[:directions].T
    rows = np.linalg.svd(_centred(x), full_matrices=False)[2][:directions]
    return np.linalg.svd(rows @ head, compute_uv=False).clip(max=1)
