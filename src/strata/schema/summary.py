"""What one run is in a line, as data/collected/runs.json holds it for every listed run."""

from strata.schema.base import Result


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
