"""The cuts of one run, as data/runs/RUN.json holds them.

Defined in criteria.md, section 2. Shares are fractions, losses in nats, margins in logits; d is
that of a class J_d.
"""

from typing import Literal

from strata.patch.scores import Measures, ScoreRanges, Scores
from strata.result import Result

Region = Literal["inside", "outside", "own", "shared", "spared"]


class Specificity(Result):
    """The directions of one class removed from every residue: all, or those on one axis."""

    d: int
    axis: int | None
    """The prime of the axis."""
    dimension: int
    regions: dict[Region, Scores | None]
    """By region of pairs: inside and outside, or own, shared and spared for an axis."""
    random: dict[Region, ScoreRanges | None]
    """Without as many random directions."""
    all: Measures


class Interventions(Result):
    """All cuts of one run; of a run that diverged, only that it did."""

    run: str
    n: int
    seed: int
    architecture: str
    classes: tuple[int, ...]
    """d of every class, ascending."""
    draws: int
    """Random draws of each control."""
    finite: bool
    """Whether all weights are."""
    base: Measures | None = None
    """The unchanged model."""
    specificity: tuple[Specificity, ...] = ()
