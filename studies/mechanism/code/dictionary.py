"""The functions that a code of the product is made of, and what they explain of the logits.

For each prime power p^κ ‖ n one function for each p-adic valuation 1 … κ (1 where q has it), and
the real and imaginary part of each key character of one prime, or of several. Definitions:
criteria.md.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Complex, Float, Int
from sympy.ntheory import factorint

from strata.monoid import classes
from strata.patch.projections import Masks
from studies.mechanism.code import characters
from studies.mechanism.code.characters import Characters, local, valuations
from studies.mechanism.code.descriptions import prime_indicators
from studies.mechanism.code.profile import Profile
from studies.mechanism.code.records import Label

ZERO = 1e-10  # singular values below this times the largest, and parts of functions, count as 0


class Gate(NamedTuple):
    """The character of these primes where another prime divides q, 0 elsewhere."""

    p: int
    label: Label


@dataclass(frozen=True)
class Dictionary:
    """Functions of the product, side by side; `primes` are those that each knows, `character` says
    which character it belongs to, −1 for none."""

    values: Float[np.ndarray, "n k"]
    primes: tuple[tuple[int, ...], ...]
    character: tuple[int, ...]

    @property
    def count(self) -> int:
        return self.values.shape[1]

    @property
    def characters(self) -> int:
        """How many characters there are."""
        return 1 + max(self.character, default=-1)

    @property
    def design(self) -> Float[np.ndarray, "n some"]:
        """The constant before the functions."""
        return np.concatenate([np.ones((len(self.values), 1)), self.values], axis=1)

    @property
    def zeros(self) -> Float[np.ndarray, "n some"]:
        """The constant and the functions that belong to no character."""
        return self.design[:, [True, *(i < 0 for i in self.character)]]

    def __add__(self, other: "Dictionary") -> "Dictionary":
        start = self.characters
        moved = tuple(i + start if i >= 0 else i for i in other.character)
        values = np.concatenate([self.values, other.values], axis=1)
        return Dictionary(values, self.primes + other.primes, self.character + moved)


def of_key(n: int, key: Masks) -> Characters:
    """The key characters of one prime, then those of several."""
    return characters.of_primes(n, key) + characters.mixed(n, key)


def dictionary(n: int, key: Masks) -> Dictionary:
    """Zeros and key characters."""
    zeros = [x[:, 1:] for x in prime_indicators(n)]
    of = zip(sorted(factorint(n)), zeros, strict=True)
    primes = tuple((p,) for p, x in of for _ in range(x.shape[1]))
    none = Dictionary(np.concatenate(zeros, axis=1), primes, (-1,) * len(primes))
    found = of_key(n, key)
    known = [tuple(part.p for part in x) for x in found.labels]
    return none + real(found.values, known)


def real(values: Complex[np.ndarray, "n count"], primes: list[tuple[int, ...]]) -> Dictionary:
    """Real and imaginary parts of complex functions, without those that are 0."""
    columns, of = [np.zeros((len(values), 0))], []
    for i, f in enumerate(values.T):
        both = [x for x in (np.real(f), np.imag(f)) if np.abs(x).max(initial=0) > ZERO]
        columns += [x[:, None] for x in both]
        of += [i] * len(both)
    return Dictionary(np.concatenate(columns, axis=1), tuple(primes[i] for i in of), tuple(of))


def gated(n: int, gates: list[Gate]) -> Dictionary:
    """The functions of gated characters."""
    values = [
        np.prod([local(n, part) for part in gate.label], axis=0) * (valuations(n, gate.p) > 0)
        for gate in gates
    ]
    known = [tuple(sorted({gate.p, *(part.p for part in gate.label)})) for gate in gates]
    return real(np.array(values, dtype=np.complex128).reshape(-1, n).T, known)


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
    _, sizes, right = np.linalg.svd(design, full_matrices=False)
    basis = right[sizes > ZERO * sizes.max(initial=1e-300)]
    outside = rows - rows @ basis.T @ basis
    return np.linalg.norm(outside, axis=1) <= 1e-6 * np.maximum(np.linalg.norm(rows, axis=1), 1)


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


def rest(y: Profile, use: Dictionary, group: Int[np.ndarray, " n"] | None = None) -> float:
    """What all functions explain of what the constant and zeros leave, fitted to all products or
    to all but each group; over the products that the fit determines, NaN where there are none."""
    if group is None:
        every = (explained(y, x) for x in (use.design, use.zeros))
        whole, zeros = (y.error(x) for x in every)
        return 1 - whole / zeros
    predicted, known = held_out(use.design, y, group)
    if not known.any():
        return float("nan")
    return 1 - y.error(predicted, known) / y.error(held_out(use.zeros, y, group)[0], known)


def explained(y: Profile, design: Float[np.ndarray, "n some"]) -> Float[np.ndarray, "n n"]:
    """What functions of q predict of y, each with any function of c."""
    return design @ fitted(design, y.y, y.N)
