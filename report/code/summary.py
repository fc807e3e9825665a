"""A line for each run, from its results: data/runs.json, which ``strata.runs`` shows."""

from typing import Any

from strata.measure.metrics import Metrics
from strata.monoid import JClass, axis_primes
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
    epochs: int
    """Epochs trained."""
    generalised: bool
    """Whether the validation accuracy ends at the level metrics.accuracy."""
    accuracy: float
    """Over all n² ordered pairs."""
    validation: float
    mirror_free: float | None
    """Over the validation pairs whose mirror is not in training."""
    epoch_099: int | None
    """Epoch from which the validation accuracy stays at the level."""
    key: int
    """Key frequencies, over all classes."""
    frequencies: int
    """Frequencies but the constants, over all classes."""
    mixed: int
    """Key frequencies on the axes of two primes or more."""
    spared: float | None
    """Least skill left on pairs without the axis of a prime when its directions are removed."""
    gating: float | None
    """How far logits of candidates in another class follow the same coefficients, 0 to 1: γ_b of
    docs/strata-or-primes.md, 1.4."""


def summary(metrics: Metrics, interventions: Json, logits: Json) -> RunSummary:
    """What a run is, how well it answers, and what it has; of two studies the results, empty where
    there are none."""
    run, accuracy = Run.parse(metrics.run), metrics.accuracy
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
        mixed=mixed(metrics),
        spared=spared(interventions),
        gating=at[0]["balance"]["median"] if (at := logits.get("at")) else None,
    )


def mixed(metrics: Metrics) -> int:
    """How many key frequencies are nonzero on axes of more than one prime."""
    count = 0
    for c in metrics.classes:
        primes = axis_primes(JClass(metrics.n, c.d))
        for k in c.key_frequencies or ():
            count += len({p for p, x in zip(primes, k, strict=True) if x}) > 1
    return count


def spared(interventions: Json) -> float | None:
    """The least skill on pairs without an axis, over all classes and axes removed."""
    removed = [x for x in interventions.get("specificity", ()) if x["axis"] is not None]
    known = [own["skill"] for x in removed if (own := x["regions"].get("spared"))]
    return min((x for x in known if x is not None), default=None)
