"""The functions that a code of the product is made of, and what they explain of the logits.

For each prime power p^κ ‖ n one function for each p-adic valuation 1 … κ (1 where q has it), and
the real and imaginary part of each key character of one prime, or of several. Definitions:
criteria.md.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Complex, Float, Int

from strata.monoid import classes
from studies.mechanism.code.characters import characters_of, valuations
from studies.mechanism.code.descriptions import prime_indicators
from studies.mechanism.code.profile import Profile
from studies.mechanism.code.records import Label

ZERO = 1e-10  # singular values below this times the largest, and parts of functions, count as 0


class Gate(NamedTuple):
    """The character of these primes where another prime divides q, 0 elsewhere."""

    p: int
    label: Label


def zeros(n: int) -> Float[np.ndarray, "n some"]:
    """Return ones, and for each prime power p^κ ‖ n a function for each valuation 1 … κ."""
    return np.concatenate([np.ones((n, 1)), *(x[:, 1:] for x in prime_indicators(n))], axis=1)


def real(values: Complex[np.ndarray, "n count"]) -> Float[np.ndarray, "n some"]:
    """Return the real and imaginary parts of complex functions, without those that are 0."""
    parts = np.stack([np.real(values), np.imag(values)], axis=2).reshape(len(values), -1)
    return np.compress(np.abs(parts).max(axis=0, initial=0) > ZERO, parts, axis=1)


def gate_functions(n: int, gates: Sequence[Gate]) -> Float[np.ndarray, "n some"]:
    """Return the functions of gated characters."""
    divides = np.array([valuations(n, gate.p) > 0 for gate in gates]).reshape(-1, n).T
    return real(characters_of(n, [gate.label for gate in gates]).values * divides)


def energy(x: np.ndarray) -> float:
    """Return Σ x²."""
    return float((x**2).sum())


def basis(columns: Float[np.ndarray, "n some"]) -> Float[np.ndarray, "n rank"]:
    """Return an orthonormal basis of the span of columns, most energy first."""
    vectors, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return vectors[:, sizes > ZERO * sizes.max(initial=1e-300)]


def residual(
    x: Float[np.ndarray, "n width"], span: Float[np.ndarray, "n rank"]
) -> Float[np.ndarray, "n width"]:
    """Return what the span of an orthonormal basis leaves of x."""
    return x - span @ (span.T @ x)


def least_squares(
    design: Float[np.ndarray, "n some"],
    y: Float[np.ndarray, "n width"],
    weight: Float[np.ndarray, " n"],
) -> Float[np.ndarray, "some width"]:
    """Return the coefficients of the weighted least squares fit, of least norm."""
    root = np.sqrt(weight)[:, None]
    return np.linalg.lstsq(design * root, y * root, rcond=ZERO)[0]


def determined(
    rows: Float[np.ndarray, "n some"], design: Float[np.ndarray, "fitted some"]
) -> Bool[np.ndarray, " n"]:
    """Whether a fit to the rows of the design determines its prediction of each other row, which
    must be a combination of them."""
    outside = residual(rows.T, basis(design.T))
    return np.linalg.norm(outside, axis=0) <= 1e-6 * np.maximum(np.linalg.norm(rows, axis=1), 1)


def predict_held_out(
    design: Float[np.ndarray, "n some"], y: Profile, group: Int[np.ndarray, " n"]
) -> tuple[Float[np.ndarray, "n n"], Bool[np.ndarray, " n"]]:
    """Predict the products of each group from the fit to all others, and say which of them that fit
    determines. Products of group −1 are always fitted."""
    predicted, certain = np.zeros_like(y.y), np.zeros(len(y.y), dtype=bool)
    for i in range(int(group.max()) + 1):
        fold = group == i
        predicted[fold] = design[fold] @ least_squares(design, y.y, np.where(fold, 0, y.N))
        certain[fold] = determined(design[fold], design[~fold])
    return predicted, certain


def by_class(n: int) -> Int[np.ndarray, " n"]:
    """Number the classes of two elements or more, and return the number of each residue's class, −1
    outside of these."""
    class_numbers = np.full(n, -1)
    for i, J in enumerate(J for J in classes(n) if len(J) > 1):
        class_numbers[J.elements] = i
    return class_numbers


def prediction(y: Profile, design: Float[np.ndarray, "n some"]) -> Float[np.ndarray, "n n"]:
    """Predict y by functions of q, each times any function of c."""
    return design @ least_squares(design, y.y, y.N)
