"""What an embedding knows of a modulo the prime powers of n, and the plain Fourier transform of it.

A frequency k has the period n / gcd(k, n). Those whose period is a power of one prime span the sums
Σ f_p(a mod p^e) over the prime powers p^e of n.
"""

import numpy as np
from jaxtyping import Float, Int
from sympy.ntheory import factorint

from strata.result import Result


class TokenOrder(Result):
    """Energy of the plain Fourier transform over a = 0 … n − 1 with a prime power for a period."""

    share: float
    uniform: float
    """If energy were even."""


def bands(n: int) -> dict[int, Int[np.ndarray, " frequencies"]]:
    """The frequencies 1 … n − 1 that span the functions of a modulo each prime power of n.

    >>> bands(12)
    {4: array([3, 6, 9]), 3: array([4, 8])}
    """
    return {p**e: n // p**e * np.arange(1, p**e) for p, e in factorint(n).items()}


def token_order(W_E: Float[np.ndarray, "n d_model"]) -> TokenOrder | None:
    """The share of the energy on the bands, the constant left out, and the bands' share of all
    frequencies. None where all rows are equal."""
    n = len(W_E)
    if not np.ptp(W_E, axis=0).any():
        return None
    energy = (np.abs(np.fft.fft(W_E.astype(float), axis=0)) ** 2).sum(axis=1)
    known = np.concatenate([*bands(n).values(), np.arange(0)])
    share = float(energy[known].sum() / energy[1:].sum())
    return TokenOrder(share=share, uniform=len(known) / (n - 1))
