"""Measures that other studies of modular arithmetic use, class by class.

Gradient symmetricity and distance irrelevance: Zhong et al., The Clock and the Pizza, 2023
(arXiv:2306.17844), here in the coordinates of a class. Gini of the spectrum and key counts:
arXiv:2606.17399.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Int

from strata.measure.activations import forward
from strata.measure.fourier import energy
from strata.monoid import JClass, classes
from strata.patch.patching import Rig, chunks
from strata.patch.projections import Masks
from strata.patch.scores import short
from studies.mechanism.code.gradients import Gradients, gradients
from studies.mechanism.code.records import ClassLiterature

LEAST = 3  # elements of a class in which a, b and c can differ


def by_class(rig: Rig, masks: Masks, draws: int, seed: int) -> tuple[ClassLiterature, ...]:
    """The measures on every class of two elements or more."""
    right = right_logits(rig)

    def gradients_of(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> Gradients:
        return gradients(rig.weights, a, b, c)

    records = []
    for J in (J for J in classes(rig.n) if len(J) > 1):
        rng = np.random.default_rng([seed, rig.n, J.d])
        group = J.regular and len(J) >= LEAST
        cosine = symmetricity(gradients_of, J, draws, rng) if group else None
        spread = irrelevance(right[np.ix_(J.elements, J.elements)], J) if group else None
        even = gini(energy(rig.weights["W_E"][J.elements], J.orders)[1:])
        cosine, spread, even = (None if x is None else short(x) for x in (cosine, spread, even))
        key = int(masks[J.d].sum()) if J.d in masks else 0
        records.append(
            ClassLiterature(
                d=J.d, size=len(J), symmetricity=cosine, irrelevance=spread, gini=even, key=key
            )
        )
    return tuple(records)


def symmetricity(
    gradients_of: Callable[[np.ndarray, np.ndarray, np.ndarray], Gradients],
    J: JClass,
    draws: int,
    rng: np.random.Generator,
) -> float | None:
    """Mean of cos(∂L_c/∂E_a, ∂L_c/∂E_b) over random a, b, c in J_d; draws with a gradient of 0 are
    left out, None where that leaves none."""
    of_a, of_b = gradients_of(*rng.choice(J.elements, (3, draws)))
    sizes = np.linalg.norm(of_a, axis=1) * np.linalg.norm(of_b, axis=1)
    cosines = (of_a * of_b).sum(axis=1)[sizes > 0] / sizes[sizes > 0]
    return float(cosines.mean()) if len(cosines) else None


def right_logits(rig: Rig) -> Float[np.ndarray, "n n"]:
    """The logit of ab for each pair (a, b)."""
    found = [
        forward(rig.weights, rig.a[rows], rig.b[rows]).logits[np.arange(len(rows)), rig.label[rows]]
        for rows in chunks(np.arange(len(rig.a)))
    ]
    return rig.square(np.concatenate(found))


def irrelevance(right: Float[np.ndarray, "size size"], J: JClass) -> float | None:
    """Mean over u(a)/u(b) of the standard deviation of the right logit over the pairs with that
    quotient, divided by its standard deviation over all pairs of J_d.

    Rows and columns in algebraic order. 0 where the logit depends on a/b alone, 1 where a/b tells
    nothing of it. None where it is constant.
    """
    if right.std() <= 1e-9 * np.abs(right).max():
        return None
    quotient = _quotients(J)
    by_quotient = [right[quotient == x].std() for x in range(len(J))]
    return float(np.mean(by_quotient) / right.std())


def _quotients(J: JClass) -> Int[np.ndarray, "size size"]:
    """The index of u(a)/u(b) in algebraic order."""
    t = J.coordinates
    turns = (t[:, None] - t[None]) % J.orders
    return np.asarray(np.ravel_multi_index(tuple(np.moveaxis(turns, 2, 0)), J.orders))


def gini(energies: Float[np.ndarray, " count"]) -> float | None:
    """Gini coefficient of energies: 0 where all are equal, 1 − 1/count where one holds all.

    >>> gini(np.array([1.0, 1.0])), gini(np.array([0.0, 0.0, 0.0, 2.0])), gini(np.zeros(2))
    (0.0, 0.75, None)
    """
    x, total = np.sort(energies), energies.sum()
    ranks = 2 * np.arange(1, len(x) + 1) - len(x) - 1
    return float(ranks @ x / (len(x) * total)) if total else None
