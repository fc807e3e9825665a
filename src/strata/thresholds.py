"""The sections of params.yaml that the analysis of one run rests on.

Apart from the rest, so that a new section reanalyses no run.
"""

from typing import Annotated

from strata.run import Above0, Fraction, Positive, Section, Seed, allowed

Share = Annotated[float, allowed("a number above 0 and at most 1", gt=0, le=1)]


class MetricsParams(Section):
    """Thresholds and draws of the analysis of one run."""

    key_threshold: Above0  # key: at least this times the uniform share
    variance: Fraction  # components are counted until this share of the variance
    random_subsets: Positive  # draws of the baseline of random residue subsets
    top_directions: Positive  # singular directions of W_OV held against a class
    aligned_cosine: Share  # a direction counts as aligned from this cosine on
    top_singular: Positive  # singular values whose share is reported
    shuffles: Positive  # draws of the baseline of shuffled class labels
    accuracy: Fraction  # a run has generalised from this validation accuracy on
    seed: Seed  # of the random subsets and shuffles


class InterventionsParams(Section):
    """How often the interventions draw."""

    draws: Positive  # of every control
    swaps: Positive  # random partners of an element in an interchange
    seed: Seed
