"""All interventions on one run: what docs/interventions.md defines, as numbers.

The criteria that judge them are in ``criteria``.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from strata.architecture import architecture_of
from strata.interventions import ablations, interchange, projections, routing, specificity
from strata.interventions.ablations import Subject
from strata.interventions.scores import measures
from strata.monoid import JClass, classes, frequencies
from strata.params import InterventionsParams
from strata.run import Run
from strata.schema import Interventions, KeyFrequencies
from strata.store import Arrays


def intervene(
    run: Run,
    weights: Arrays,
    params: InterventionsParams,
    threshold: float,
    key: Arrays | None = None,
) -> Interventions:
    """Every intervention on a run; ``threshold`` is that of its key frequencies.

    These are those of its own embedding, or of that in the weights ``key``. Of a run that diverged
    only that is recorded.
    """
    about: dict[str, Any] = {"run": str(run), "n": run.n, "seed": run.seed}
    about |= {"architecture": architecture_of(weights).name, "draws": params.draws}
    about |= {"classes": tuple(J.d for J in classes(run.n))}
    if not all(np.isfinite(x).all() for x in weights.values()):
        return Interventions(**about, finite=False)
    masks = projections.keys((key or weights)["W_E"][: run.n], run.n, threshold)
    subject = ablations.subject(weights, run.n, masks)
    return Interventions(
        **about,
        finite=True,
        key=tuple(_key(JClass(run.n, d), mask) for d, mask in masks.items()),
        base=measures(subject.rig, subject.rig.base),
        **_tests(subject, params),
    )


def _tests(subject: Subject, params: InterventionsParams) -> dict[str, Any]:
    """The records of each test. Each keeps to one thread and to draws of its own."""

    def rng(test: int) -> np.random.Generator:
        return np.random.default_rng([params.seed, subject.rig.n, test])

    draws = params.draws
    tests: dict[str, Callable[[], list[Any]]] = {
        "keep_remove": lambda: ablations.keep_remove(subject, draws, rng(1)),
        "routing": lambda: routing.routing(subject, draws, rng(4)),
        "interchange": lambda: interchange.interchange(subject, params.swaps, rng(3)),
        "specificity": lambda: specificity.specificity(subject, draws, rng(2)),
    }
    with ThreadPoolExecutor(2) as pool:  # two at a time, the longest first
        return dict(zip(tests, pool.map(lambda test: test(), tests.values()), strict=True))


def _key(J: JClass, mask: np.ndarray) -> KeyFrequencies:
    chosen = frequencies(J.orders)[mask].tolist()
    return KeyFrequencies(d=J.d, of=len(mask) - 1, frequencies=chosen)
