"""All cuts of one run: what section 2 of criteria.md defines, as numbers."""

from typing import Any

import numpy as np

from strata.architecture import architecture_of
from strata.monoid import classes
from strata.patch import ablations, projections
from strata.patch.scores import measures
from strata.run import Run
from strata.store import Arrays
from studies.interventions.code import specificity
from studies.interventions.code.records import Interventions
from studies.params import InterventionsSettings

TEST = 2  # section 2 of criteria.md: the draws of each section were its own


def intervene(run: Run, weights: Arrays, settings: InterventionsSettings) -> Interventions:
    """Make every cut on a run, with the key frequencies of its embedding. Of a run that diverged
    only that is recorded."""
    about: dict[str, Any] = {"run": str(run), "n": run.n, "seed": run.seed}
    about |= {"architecture": architecture_of(weights).name, "draws": settings.draws}
    about |= {"classes": tuple(J.d for J in classes(run.n))}
    if not all(np.isfinite(x).all() for x in weights.values()):
        return Interventions(**about, finite=False)
    masks = projections.key_masks(weights["W_E"][: run.n], run.n, settings.key_threshold)
    subject = ablations.subject(weights, run.n, masks)
    rng = np.random.default_rng([settings.seed, run.n, TEST])
    return Interventions(
        **about,
        finite=True,
        base=measures(subject.rig, subject.rig.base),
        specificity=tuple(specificity.specificity(subject, settings.draws, rng)),
    )
