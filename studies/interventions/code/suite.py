"""All interventions on one run: what criteria.md defines, as numbers.

The criteria that judge them are in ``criteria``.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from strata.architecture import architecture_of
from strata.monoid import JClass, classes, frequencies
from strata.patch import ablations, projections
from strata.patch.ablations import Subject
from strata.patch.scores import measures
from strata.run import Run
from strata.store import Arrays
from studies.interventions.code import energy, interchange, keep_remove, routing, specificity
from studies.interventions.code.records import Interventions, KeyFrequencies
from studies.params import InterventionsParams, InterventionsSettings


def intervene(
    run: Run, weights: Arrays, settings: InterventionsSettings, key: Arrays | None = None
) -> Interventions:
    """Every intervention on a run. Key frequencies are those of its own embedding, or of that in
    the weights ``key``. Of a run that diverged only that is recorded."""
    about: dict[str, Any] = {"run": str(run), "n": run.n, "seed": run.seed}
    about |= {"architecture": architecture_of(weights).name, "draws": settings.draws}
    about |= {"classes": tuple(J.d for J in classes(run.n))}
    if not all(np.isfinite(x).all() for x in weights.values()):
        return Interventions(**about, finite=False)
    embedding = (key or weights)["W_E"][: run.n]
    masks = projections.keys(embedding, run.n, settings.key_threshold)
    subject = ablations.subject(weights, run.n, masks)
    return Interventions(
        **about,
        finite=True,
        key=tuple(
            KeyFrequencies(
                d=d,
                of=len(mask) - 1,
                frequencies=frequencies(JClass(run.n, d).orders)[mask].tolist(),
            )
            for d, mask in subject.masks.items()
        ),
        base=measures(subject.rig, subject.rig.base),
        **_tests(subject, settings),
    )


def _tests(subject: Subject, params: InterventionsParams) -> dict[str, Any]:
    """The records of each test. Each keeps to one thread and to draws of its own."""

    def rng(test: int) -> np.random.Generator:
        return np.random.default_rng([params.seed, subject.rig.n, test])

    draws = params.draws
    controls = projections.draw_controls(subject.rig.n, subject.masks, draws, rng(1))
    tests: dict[str, Callable[[], list[Any]]] = {
        "keep_remove": lambda: keep_remove.keep_remove(subject, controls),
        "routing": lambda: routing.routing(subject, draws, rng(4)),
        "equal_energy": lambda: energy.equal_energy(subject, controls),
        "interchange": lambda: interchange.interchange(subject, params.swaps, rng(3)),
        "specificity": lambda: specificity.specificity(subject, draws, rng(2)),
    }
    with ThreadPoolExecutor(2) as pool:  # two at a time, the longest first
        return dict(zip(tests, pool.map(lambda test: test(), tests.values()), strict=True))
