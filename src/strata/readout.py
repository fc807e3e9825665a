"""How much of the logits within one class the characters of its group explain.

A prompt is a pair (a, b) whose product lies in J_d, a candidate c an element of J_d. Each frequency
k gives one feature, 2 cos θ_k(u(ab) u(c)^−1) with θ_k(x) = 2π Σ_j k_j t_j(x)/q_j. It is the
character of the real representation that k and −k share, at ab c^♯ where the class is regular.
Chughtai, Chan and Nanda, A Toy Model of Universality, 2023.
"""

from dataclasses import dataclass
from math import prod

import numpy as np
from jaxtyping import Bool, Complex, Float, Int
from sympy.ntheory import factorint

from .fourier import conjugate
from .monoid import chi, frequencies


@dataclass(frozen=True)
class Fit:
    """Least squares of centred logits on one feature for each pair ±k of frequencies."""

    r2: float
    prompts: int
    frequencies: tuple[tuple[int, ...], ...]
    coefficients: tuple[float, ...]


def half(mask: Bool[np.ndarray, " size"], orders: tuple[int, ...]) -> Bool[np.ndarray, " size"]:
    """One of each pair ±k in the mask, the lexicographically smaller; a k = −k stays, 0 does not.

    >>> half(np.array([True, True, True, True]), (4,)).tolist()
    [False, True, True, False]
    """
    minus = conjugate(orders)
    kept = (mask | mask[minus]) & (np.arange(len(mask)) <= minus)
    kept[0] = False
    return kept


def centred(logits: Float[np.ndarray, "prompts size"]) -> Float[np.ndarray, "prompts size"]:
    """The logits less their mean over the candidates, prompt by prompt."""
    logits = logits.astype(np.float64)
    return logits - logits.mean(axis=1, keepdims=True)


def _characters(
    k: tuple[tuple[int, ...], ...], orders: tuple[int, ...]
) -> Complex[np.ndarray, "size count"]:
    columns = np.array([chi(i, orders) for i in k], dtype=np.complex128)
    return columns.reshape(len(k), prod(orders)).T


def fit(
    logits: Float[np.ndarray, "prompts size"],
    product: Int[np.ndarray, " prompts"],
    orders: tuple[int, ...],
    key: Bool[np.ndarray, " size"],
) -> Fit:
    """Fit logits over the candidates, in algebraic order, by the features of the key frequencies.

    `product` is the index of ab in its class. Over the candidates of any prompt the features are
    centred and orthogonal, of squared length 2 size, or 4 size where k = −k. So the least squares
    solution, with intercept 0, is one inner product for each k. Without key frequencies R² is 0.
    Raises ValueError where no prompt tells its candidates apart, or a logit is not finite.
    """
    if not np.isfinite(logits).all() or (logits == logits[:, :1]).all():
        raise ValueError("nothing to fit: logits constant within every prompt, or not finite")
    y = centred(logits)
    kept = half(key, orders)
    k = tuple(map(tuple, frequencies(orders)[kept].tolist()))
    X = _characters(k, orders)
    inner = 2 * np.real(X[product] * (y @ X.conj())).sum(axis=0)
    own_inverse = (conjugate(orders) == np.arange(len(kept)))[kept]
    coefficients = inner / (y.size * np.where(own_inverse, 4, 2))
    rest = y - _prediction(coefficients, X, product)
    r2 = 1 - float((rest**2).sum() / (y**2).sum())
    return Fit(r2, len(y), k, tuple(coefficients.tolist()))


def _prediction(coefficients: np.ndarray, X: np.ndarray, product: np.ndarray) -> np.ndarray:
    return 2 * np.real((X[product] * coefficients) @ X.conj().T)


def predicted(
    fitted: Fit, product: Int[np.ndarray, " prompts"], orders: tuple[int, ...]
) -> Float[np.ndarray, "prompts size"]:
    """The centred logits of a fit, Σ_k β_k 2 cos θ_k(u(ab) u(c)^−1)."""
    X = _characters(fitted.frequencies, orders)
    return _prediction(np.array(fitted.coefficients), X, product)


def default_pair(d: int, n: int) -> tuple[int, int]:
    """Two classes of Z_n whose products all lie in J_d.

    The smallest prime-power part of d and the rest where both exceed 1, else (1, d). Raises
    ValueError unless d divides n.

    >>> default_pair(15, 165), default_pair(11, 165), default_pair(12, 36)
    ((3, 5), (1, 11), (3, 4))
    """
    if n < 2 or d < 1 or n % d:
        raise ValueError(f"d = {d}: must be one of the divisors of n = {n}")
    parts = [p**k for p, k in factorint(d).items()]
    return (min(parts), d // min(parts)) if len(parts) > 1 else (1, d)
