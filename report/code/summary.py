"""A line for each run, from its results: data/runs.json, which ``strata.runs`` shows."""

from strata.measure.metrics import Metrics
from strata.monoid import JClass, axis_primes
from strata.result import Result
from strata.run import Run
from studies.interventions.code.records import Interventions
from studies.mechanism.code.records import Logits


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


def summary(metrics: Metrics, interventions: Interventions, logits: Logits) -> RunSummary:
    """What a run is, how well it answers, and what it has."""
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
        gating=logits.at[0].balance.median if logits.at else None,
    )


def mixed(metrics: Metrics) -> int:
    """How many key frequencies are nonzero on axes of more than one prime."""
    count = 0
    for c in metrics.classes:
        primes = axis_primes(JClass(metrics.n, c.d))
        for k in c.key_frequencies or ():
            count += len({p for p, x in zip(primes, k, strict=True) if x}) > 1
    return count


def spared(interventions: Interventions) -> float | None:
    """The least skill on pairs without an axis, over all classes and axes removed."""
    regions = [r.regions for r in interventions.specificity if r.axis is not None]
    known = [x.skill for r in regions if (x := r.get("spared")) and x.skill is not None]
    return min(known, default=None)
