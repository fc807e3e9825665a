"""All interventions on one run: what docs/interventions.md defines, as numbers.

Shares are fractions. The criteria that judge them are in ``criteria``.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from strata.architecture import architecture_of
from strata.interventions import ablations, interchange, patching, projections, routing
from strata.monoid import JClass, classes, frequencies
from strata.run import Run
from strata.store import Arrays
from strata.thresholds import InterventionsParams

Json = dict[str, Any]


def intervene(
    run: Run,
    weights: Arrays,
    params: InterventionsParams,
    threshold: float,
    key: Arrays | None = None,
) -> Json:
    """Every intervention on a run; ``threshold`` is that of its key frequencies.

    These are those of its own embedding, or of that in the weights ``key``. Of a run that diverged
    only that is recorded.
    """
    about = {"run": str(run), "n": run.n, "seed": run.seed}
    about |= {"architecture": architecture_of(weights).name}
    about |= {"classes": [J.d for J in classes(run.n)], "draws": params.draws}
    if not all(np.isfinite(x).all() for x in weights.values()):
        return about | {"finite": False}
    masks = projections.keys((key or weights)["W_E"][: run.n], run.n, threshold)
    it = ablations.subject(weights, run.n, masks)

    def rng(test: int) -> np.random.Generator:
        return np.random.default_rng([params.seed, run.n, test])

    tests: dict[str, Callable[[], list[Json]]] = {
        "keep_remove": lambda: ablations.keep_remove(it, params.draws, rng(1)),
        "routing": lambda: routing.routing(it, params.draws, rng(4)),
        "interchange": lambda: interchange.interchange(it, params.swaps, rng(3)),
        "specificity": lambda: ablations.specificity(it, params.draws, rng(2)),
    }
    # Two at a time, the longest first: each test keeps to one thread and to draws of its own.
    with ThreadPoolExecutor(2) as pool:
        found = dict(zip(tests, pool.map(lambda test: test(), tests.values()), strict=True))
    about |= {
        "finite": True,
        "key": [
            {
                "class": d,
                "of": len(mask) - 1,
                "frequencies": frequencies(JClass(run.n, d).orders)[mask].tolist(),
            }
            for d, mask in it.masks.items()
        ],
        "base": patching.measures(it.rig, it.rig.base),
    }
    return about | found
