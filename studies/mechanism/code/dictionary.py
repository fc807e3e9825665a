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
from studies.mechanism.code.characters import of_labels, valuations
from studies.mechanism.code.descriptions import prime_indicators
from studies.mechanism.code.profile import Profile
from studies.mechanism.code.records import Label

ZERO = 1e-10  # singular values below this times the largest, and parts of functions, count as 0


class Gate(NamedTuple):
    """The character of these primes where another prime divides q, 0 elsewhere."""

    p: int
    label: Label


def zeros(n: int) -> Float[np.ndarray, "n some"]:
    """1, and for each prime power p^κ ‖ n a function for each valuation 1 … κ."""
    return np.concatenate([np.ones((n, 1)), *(x[:, 1:] for x in prime_indicators(n))], axis=1)


def real(values: Complex[np.ndarray, "n count"]) -> Float[np.ndarray, "n some"]:
    """Real and imaginary parts of complex functions, without those that are 0."""
    both = np.stack([np.real(values), np.imag(values)], axis=2).reshape(len(values), -1)
    return np.compress(np.abs(both).max(axis=0, initial=0) > ZERO, both, axis=1)


def gated(n: int, gates: Sequence[Gate]) -> Float[np.ndarray, "n some"]:
    """The functions of gated characters."""
    divides = np.array([valuations(n, gate.p) > 0 for gate in gates]).reshape(-1, n).T
    return real(of_labels(n, [gate.label for gate in gates]).values * divides)


def energy(x: np.ndarray) -> float:
    """Σ x²."""
    return float((x**2).sum())


def basis(columns: Float[np.ndarray, "n some"]) -> Float[np.ndarray, "n rank"]:
    """An orthonormal basis of their span, most energy first."""
    left, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return left[:, sizes > ZERO * sizes.max(initial=1e-300)]


def beside(
    x: Float[np.ndarray, "n width"], span: Float[np.ndarray, "n rank"]
) -> Float[np.ndarray, "n width"]:
    """What the span of an orthonormal basis leaves of x."""
    return x - span @ (span.T @ x)


def fitted(
    design: Float[np.ndarray, "n some"],
    y: Float[np.ndarray, "n width"],
    weight: Float[np.ndarray, " n"],
) -> Float[np.ndarray, "some width"]:
    """Coefficients of the weighted least squares fit, of least norm."""
    root = np.sqrt(weight)[:, None]
    return np.linalg.lstsq(design * root, y * root, rcond=ZERO)[0]


def determined(
    rows: Float[np.ndarray, "n some"], design: Float[np.ndarray, "fitted some"]
) -> Bool[np.ndarray, " n"]:
    """Whether a fit to the rows of the design says what it predicts for each other row: whether
    that is a combination of them."""
    outside = beside(rows.T, basis(design.T))
    return np.linalg.norm(outside, axis=0) <= 1e-6 * np.maximum(np.linalg.norm(rows, axis=1), 1)


def held_out(
    design: Float[np.ndarray, "n some"], y: Profile, group: Int[np.ndarray, " n"]
) -> tuple[Float[np.ndarray, "n n"], Bool[np.ndarray, " n"]]:
    """The products of each group predicted by the fit to all others, and which of them that fit
    determines. Those of group −1 are always fitted."""
    predicted, known = np.zeros_like(y.y), np.zeros(len(y.y), dtype=bool)
    for i in range(int(group.max()) + 1):
        here = group == i
        predicted[here] = design[here] @ fitted(design, y.y, np.where(here, 0, y.N))
        known[here] = determined(design[here], design[~here])
    return predicted, known


def by_class(n: int) -> Int[np.ndarray, " n"]:
    """The number of the class of each residue among those of two elements or more, else −1."""
    found = np.full(n, -1)
    for i, J in enumerate(J for J in classes(n) if len(J) > 1):
        found[J.elements] = i
    return found


def explained(y: Profile, design: Float[np.ndarray, "n some"]) -> Float[np.ndarray, "n n"]:
    """What functions of q predict of y, each with any function of c."""
    return design @ fitted(design, y.y, y.N)
