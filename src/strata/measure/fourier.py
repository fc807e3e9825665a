"""Compute the discrete Fourier transform of the rows of one class over the axes of its group.

A row of x stands for one element of C_q1 × … × C_qr and rows are in algebraic order, so the
transform over the axes, flattened, lists the frequencies in lexicographic order: entry i belongs to
frequencies(orders)[i], entry 0 is the constant. Terras, Fourier Analysis on Finite Groups and
Applications, 1999, ch. 10.
"""

from collections.abc import Iterable

import numpy as np
from jaxtyping import Bool, Complex, Float, Int

from strata.monoid import frequencies
from strata.task import AnyClass

THRESHOLD = 0.5  # key: at least this times the uniform share


def spectrum(
    x: Float[np.ndarray, "size d_model"], orders: tuple[int, ...]
) -> Complex[np.ndarray, "size d_model"]:
    """Return x_hat(k) = Σ_t x(t) exp(−2πi Σ_j k_j t_j / q_j), column by column."""
    grid = x.astype(np.float64).reshape(*orders, x.shape[1])
    return np.fft.fftn(grid, axes=range(len(orders))).reshape(x.shape)


def conjugate(orders: tuple[int, ...]) -> Int[np.ndarray, " size"]:
    """Return the index of −k for each frequency k.

    >>> conjugate((4,)).tolist(), conjugate((2, 3)).tolist()
    ([0, 3, 2, 1], [0, 2, 1, 3, 5, 4])
    """
    return np.asarray(np.ravel_multi_index(tuple((-frequencies(orders) % orders).T), orders))


def energy(
    x: Float[np.ndarray, "size d_model"], orders: tuple[int, ...]
) -> Float[np.ndarray, " size"]:
    """Return Σ over the columns of |x_hat(k)|², with the constant set to 0.

    x is real, so k and −k have one energy; here they have it to the last bit, so that no threshold
    parts them.
    """
    e = (np.abs(spectrum(x, orders)) ** 2).sum(axis=1)
    e[0] = 0
    return (e + e[conjugate(orders)]) / 2


def energy_share(
    x: Float[np.ndarray, "size d_model"], orders: tuple[int, ...]
) -> Float[np.ndarray, " size"]:
    """Return the share of the non-constant Fourier energy at each frequency; entry 0, of the
    constant, is 0.

    Raises ValueError where x is constant, as for a class of one element, or not finite.
    """
    if not np.isfinite(x).all() or (x == x[0]).all():
        raise ValueError("no energy to share: the rows are all equal, or not finite")
    e = energy(x, orders)
    return e / e.sum()


def key_frequencies(
    share: Float[np.ndarray, " size"], threshold: float = THRESHOLD
) -> Bool[np.ndarray, " size"]:
    """Mark the frequencies but 0 of at least `threshold` times the uniform share 1/(size − 1)."""
    key = share >= threshold / max(len(share) - 1, 1)
    key[0] = False
    return key


def atomic(orders: tuple[int, ...]) -> Bool[np.ndarray, " size"]:
    """Return the frequencies that are nonzero on exactly one axis.

    >>> atomic((2, 2)).tolist()
    [False, True, True, False]
    """
    return (frequencies(orders) != 0).sum(axis=1) == 1


def fve(share: Float[np.ndarray, " size"], mask: Bool[np.ndarray, " size"]) -> float:
    """Return the fraction of the non-constant energy that falls on the frequencies in the mask."""
    return float(share[mask].sum())


def strongest_dimension(W_E: Float[np.ndarray, "rows d_model"], classes: Iterable[AnyClass]) -> int:
    """Return the column of W_E with the largest non-constant |x_hat| over classes with two axes.

    Row a of W_E embeds the element a. Raises ValueError where no class has exactly two axes.
    """
    two_axes = [J for J in classes if len(J.orders) == 2]
    if not two_axes:
        raise ValueError("no class has exactly two axes")
    peaks = [np.abs(spectrum(W_E[J.elements], J.orders)[1:]).max(axis=0) for J in two_axes]
    return int(np.max(peaks, axis=0).argmax())
