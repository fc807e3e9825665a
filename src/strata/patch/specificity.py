"""The directions that key characters of a class take up, removed from every residue.

Definitions and criteria: docs/interventions.md, section 2.
"""

from collections.abc import Sequence
from math import gcd

import numpy as np
from jaxtyping import Bool, Float

from strata.monoid import JClass, classes
from strata.patch import projections
from strata.patch.ablations import Subject, with_embedding
from strata.patch.patching import Outcome, Rig
from strata.patch.scores import measures, ranges, scores
from studies.interventions.code.records import Region, Specificity

# Rows of pairs, and the chance of a right answer for every row.
Regions = dict[Region, tuple[Bool[np.ndarray, " rows"], Float[np.ndarray, " rows"]]]


def deviations(W_E: Float[np.ndarray, "n d_model"], n: int) -> Float[np.ndarray, "n d_model"]:
    """Each residue's row less the mean row of its class."""
    less = W_E.astype(np.float64)
    for J in classes(n):
        less[J.elements] -= less[J.elements].mean(axis=0)
    return less


def key_part(
    subject: Subject, J: JClass, mask: Bool[np.ndarray, " size"]
) -> Float[np.ndarray, "size d_model"]:
    """The part of the rows of a class that lies in the span of these characters."""
    return projections.characters(mask, J.orders) @ subject.rows_of_W_E[J.elements]


def row_space(x: Float[np.ndarray, "rows d_model"]) -> Float[np.ndarray, "k d_model"]:
    """An orthonormal basis of the span of the rows."""
    _, sizes, Vt = np.linalg.svd(x.astype(np.float64), full_matrices=False)
    return Vt[sizes > 1e-6 * max(sizes.max(initial=0), 1e-30)]


def directions(subject: Subject, d: int, p: int | None = None) -> Float[np.ndarray, "k d_model"]:
    """A basis of the directions that key characters of J_d take up; those on one axis alone."""
    J, mask = JClass(subject.rig.n, d), subject.masks[d]
    on_axis = mask if p is None else projections.atomic_key(J, mask, p)
    return row_space(key_part(subject, J, on_axis))


def removed(
    subject: Subject, basis: Float[np.ndarray, "k d_model"]
) -> Float[np.ndarray, "n d_model"]:
    """The embedding with these directions removed from every residue, within its own class."""
    W_E = subject.rows_of_W_E
    less = deviations(W_E, subject.rig.n) @ basis.T @ basis
    return W_E - less.astype(W_E.dtype)


def without(subject: Subject, basis: Float[np.ndarray, "k d_model"]) -> Outcome:
    """The outcome with these directions removed from every residue."""
    return with_embedding(subject.rig, removed(subject, basis))


def specificity(subject: Subject, draws: int, rng: np.random.Generator) -> list[Specificity]:
    """Which pairs fail without each class's directions, all of them or those on one axis.

    The controls are random directions that the embedding spreads over, as many.
    """
    n, spread = subject.rig.n, deviations(subject.rows_of_W_E, subject.rig.n)
    controls: dict[int, list[Outcome]] = {}
    records = []
    for d, p in _cases(subject):
        basis = directions(subject, d, p)
        count = len(basis)
        if not count:
            continue
        if count not in controls:
            drawn = (row_space(rng.normal(size=(count, n)) @ spread) for _ in range(draws))
            controls[count] = [without(subject, x) for x in drawn]
        records.append(_record(subject, d, p, basis, controls[count]))
    return records


def _cases(subject: Subject) -> list[tuple[int, int | None]]:
    """Each class whole, then axis by axis."""
    axes = {d: {*projections.axis_primes(JClass(subject.rig.n, d))} for d in subject.masks}
    return [(d, p) for d, primes in axes.items() for p in (None, *sorted(primes))]


def _record(
    subject: Subject, d: int, p: int | None, basis: np.ndarray, controls: Sequence[Outcome]
) -> Specificity:
    rig, outcome = subject.rig, without(subject, basis)
    regions = _regions(rig, d, p)
    return Specificity(
        d=d,
        axis=p,
        dimension=len(basis),
        regions={
            name: scores(rig, outcome, *region) if region[0].any() else None
            for name, region in regions.items()
        },
        random={
            name: ranges([scores(rig, x, *region) for x in controls]) if region[0].any() else None
            for name, region in regions.items()
        },
        all=measures(rig, outcome),
    )


def _regions(rig: Rig, d: int, p: int | None) -> Regions:
    """The pairs about which a hypothesis says one thing."""
    own = rig.operand_in(d)
    if p is None:
        return {"inside": (own, rig.chance), "outside": (~own, rig.chance)}
    part = np.array([projections.axis_size(rig.n // gcd(c, rig.n), p) for c in range(rig.n)])
    chance = 1 / part[rig.label]
    has = part[rig.label] > 1
    chance[~has] = rig.chance[~has]
    return {"own": (has & own, chance), "shared": (has & ~own, chance), "spared": (~has, chance)}
