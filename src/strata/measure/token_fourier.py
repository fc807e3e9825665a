"""Measure what an embedding knows of a modulo the prime powers of n, by its Fourier transform.

A frequency k has the period n / gcd(k, n). Those whose period is a power of one prime span the sums
Σ f_p(a mod p^e) over the prime powers p^e of n.
"""

import numpy as np
from jaxtyping import Float, Int

from strata.arithmetic import factorint
from strata.result import Result


class TokenOrder(Result):
    """``TokenOrder`` is the Fourier energy of the embedding at periods that are prime powers."""

    share: float
    uniform: float
    """If energy were even."""


def bands(n: int) -> dict[int, Int[np.ndarray, " frequencies"]]:
    """Return the frequencies 1 … n − 1 that span the functions of a modulo each prime power of n.

    >>> bands(12)
    {4: array([3, 6, 9]), 3: array([4, 8])}
    """
    return {p**e: n // p**e * np.arange(1, p**e) for p, e in factorint(n).items()}


def token_order(W_E: Float[np.ndarray, "n d_model"]) -> TokenOrder | None:
    """Return the share of the energy on the bands, without the constant, and the bands' share of
    all frequencies; None where all rows are equal."""
    n = len(W_E)
    if not np.ptp(W_E, axis=0).any():
        return None
    energy = (np.abs(np.fft.fft(W_E.astype(float), axis=0)) ** 2).sum(axis=1)
    band_frequencies = np.concatenate([*bands(n).values(), np.arange(0)])
    share = float(energy[band_frequencies].sum() / energy[1:].sum())
    return TokenOrder(share=share, uniform=len(band_frequencies) / (n - 1))
