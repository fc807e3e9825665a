"""A line for each run, from its results: data/runs.json, which ``strata.runs`` shows."""

from typing import Any

from strata.measure.metrics import Metrics
from strata.result import Result
from strata.run import Run

Json = dict[str, Any]


class RunSummary(Result):
    """One run. Shares are fractions; None where a run has not that number."""

    run: str
    n: int
    seed: int
    variant: str
    """Empty for none."""
    architecture: str
    epochs: int | None
    """Epochs trained."""
    generalised: bool | None
    """Whether the validation accuracy ends at the level metrics.accuracy."""
    accuracy: float
    """Over all n² ordered pairs."""
    validation: float | None
    mirror_free: float | None
    """Over the validation pairs whose mirror is not in training."""
    epoch_099: int | None
    """Epoch from which the validation accuracy stays at the level."""
    key: int
    """Key frequencies, over all classes."""
    frequencies: int
    """Frequencies but the constants, over all classes."""
    mixed: int | None
    """Key frequencies that are not zero on two primes or more, one of ±k."""
    spared: float | None
    """Least skill left on pairs without the axis of a prime when its directions are removed."""
    balanced: float | None
    """Balanced gating γ_b, 0 to 1: how far logits of candidates in another class follow the same
    coefficients."""


def summary(metrics: Metrics, interventions: Json, logits: Json) -> RunSummary:
    """What a run is, how well it answers, and what it has; of two studies the results, empty where
    there are none."""
    run, accuracy, at = Run.parse(metrics.run), metrics.accuracy, logits.get("at")
    return RunSummary(
        run=metrics.run,
        n=run.n,
        seed=run.seed,
        variant=run.variant,
        architecture=metrics.architecture,
        epochs=metrics.epochs,
        generalised=metrics.generalised,
        accuracy=accuracy.all,
        validation=accuracy.validation,
        mirror_free=accuracy.mirror_free,
        epoch_099=metrics.epoch_099.validation,
        key=sum(c.key or 0 for c in metrics.classes),
        frequencies=sum(c.total or 0 for c in metrics.classes),
        mixed=at["mixed"] if at else None,
        spared=spared(interventions),
        balanced=at["balanced"] if at else None,
    )


def spared(interventions: Json) -> float | None:
    """The least skill on pairs without an axis, over all classes and axes removed."""
    removed = [x for x in interventions.get("specificity", ()) if x["axis"] is not None]
    known = [own["skill"] for x in removed if (own := x["regions"].get("spared"))]
    return min((x for x in known if x is not None), default=None)
