"""Which pairs fail without the directions that key characters of a class take up.

Definitions and criteria: criteria.md, section 2.
"""

from collections.abc import Sequence
from math import gcd

import numpy as np
from jaxtyping import Bool, Float

from strata.monoid import JClass, axis_primes, axis_size
from strata.patch.ablations import Subject
from strata.patch.patching import Bench, Outcome
from strata.patch.scores import measures, ranges, scores
from strata.patch.specificity import deviations, directions, row_space, run_without
from studies.interventions.code.records import Region, Specificity

# Rows of pairs, and the chance of a right answer for every row.
Regions = dict[Region, tuple[Bool[np.ndarray, " rows"], Float[np.ndarray, " rows"]]]


def specificity(subject: Subject, draws: int, rng: np.random.Generator) -> list[Specificity]:
    """Measure which pairs fail without each class's directions, all of them or those on one axis.

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
            controls[count] = [run_without(subject, x) for x in drawn]
        records.append(_record(subject, d, p, basis, controls[count]))
    return records


def _cases(subject: Subject) -> list[tuple[int, int | None]]:
    """List each class with all its axes, then axis by axis."""
    axes = {d: {*axis_primes(JClass(subject.rig.n, d))} for d in subject.masks}
    return [(d, p) for d, primes in axes.items() for p in (None, *sorted(primes))]


def _record(
    subject: Subject, d: int, p: int | None, basis: np.ndarray, controls: Sequence[Outcome]
) -> Specificity:
    rig, outcome = subject.rig, run_without(subject, basis)
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


def _regions(rig: Bench, d: int, p: int | None) -> Regions:
    """Return the regions of pairs about which a hypothesis says one thing."""
    inside = rig.operand_in(d)
    if p is None:
        return {"inside": (inside, rig.chance), "outside": (~inside, rig.chance)}
    places = np.array([axis_size(rig.n // gcd(c, rig.n), p) for c in range(rig.n)])
    chance = 1 / places[rig.label]
    has_axis = places[rig.label] > 1
    chance[~has_axis] = rig.chance[~has_axis]
    return {
        "own": (has_axis & inside, chance),
        "shared": (has_axis & ~inside, chance),
        "spared": (~has_axis, chance),
    }
