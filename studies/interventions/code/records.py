"""The interventions on one run, as data/interventions/RUN.json and data/controls hold them.

Defined in criteria.md. Shares are fractions, losses in nats, margins in logits; d is that
of a class J_d, d = None stands for all classes at once. Keys of mappings are d, or a prime power q
of n.
"""

from typing import Any, Literal

from strata.patch.ablations import Action, Site
from strata.patch.projections import Subspace
from strata.patch.scores import Measures, Range, ScoreRanges, Scores
from strata.result import Result

Region = Literal["inside", "outside", "own", "shared", "spared"]
Kind = Literal[
    "class", "class only", "element", "axis", "axis of another class",
    "class, shared coordinates", "class only, shared coordinates",
]  # fmt: skip
Change = Literal["pattern", "rank", "onto", "off", "ablate"]
Blocks = Literal["mean", "class", "shuffled", "residues", "residues shuffled"]
Side = Literal["read", "write"]
Draw = Literal["random", "spread"]


class KeyFrequencies(Result):
    """The key frequencies of one class."""

    d: int
    of: int
    """Frequencies but the constant."""
    frequencies: tuple[tuple[int, ...], ...]
    """Shape (key, axes)."""


class Control(Result):
    """Keep or remove of other spaces of functions, as large as that of the key characters."""

    dimension: int
    own: ScoreRanges


class KeepRemove(Result):
    """Key characters kept alone or removed, at one site."""

    site: Site
    d: int | None
    action: Action
    dimension: int
    """Of the span of key characters."""
    base: Scores
    """The unchanged model, over the pairs that the intervention concerns."""
    own: Scores
    """After it, over these pairs."""
    all: Measures
    controls: dict[Subspace, Control]
    """Empty where every character is key, or none."""


class EqualEnergy(Result):
    """Key characters K against as many other ones O at the same energy, at one site: X is the table
    there, μ its mean row class by class, s = √(E_O / E_K) by class and draw, B the top components.
    """

    site: Site
    d: int | None
    classes: tuple[int, ...]
    """Those changed: they have as many other characters as key ones."""
    dimension: int
    ratio: Range
    """s, over classes and draws."""
    overlap: float
    """tr(P_K P_B) / dimension."""
    base: Scores
    """The unchanged model, over the pairs that the change concerns, as all below."""
    keep_key: Scores
    """μ + K."""
    keep_key_weak: ScoreRanges
    """μ + sK."""
    keep_other: ScoreRanges
    """μ + O."""
    keep_other_strong: ScoreRanges
    """μ + O/s."""
    keep_top: Scores
    """μ + BX."""
    remove_key: Scores
    """X − K."""
    remove_key_weak: ScoreRanges
    """X − sK."""
    add_other_strong: ScoreRanges
    """X + O/s: a disturbance of the energy of K."""
    remove_top: Scores
    """X − BX."""


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


class ClassTrials(Result):
    """Trials with operands of one class made to act as those of one class."""

    source: int
    """d of the class of a."""
    target: int
    """d of the class that the hybrid acts as."""
    trials: int
    success: float


class Interchange(Result):
    """Operands made of two residues' parts, of one kind, each with every b that tells something."""

    kind: Kind
    trials: int
    success: float
    """Share of trials with the predicted answer; of `class only`, with its class."""
    unchanged: float
    """Share with the answer ab of the residue itself."""
    in_class: float
    """Share in the class of the predicted answer."""
    chance: float
    random: float
    """Success after norm-matched changes in random directions."""
    by_class: tuple[ClassTrials, ...]


ABOUT = ("blocks", "modulus", "rank", "side", "control")  # of a change of heads


class HeadChange(Result):
    """A change of some heads; of random changes the range over draws, of the others ``all``."""

    change: Change
    heads: tuple[int, ...]
    blocks: Blocks | None = None
    """Pattern: its mean over all pairs, over (class of a, class of b), over (a, b) modulo a prime
    power, or over classes or residues that are shuffled."""
    modulus: int | None = None
    """Pattern: the prime power of the residues."""
    rank: int | None = None
    """Rank: that of the nearest W_OV."""
    side: Side | None = None
    """Onto and off a subspace: Π W_OV is the read side, W_OV Π the write side."""
    control: Draw | None = None
    """What stands for the subspace S: random ones, or ones that the embedding spreads over."""
    dimension: int | None = None
    """Of S."""
    all: Measures | None = None
    draws: ScoreRanges | None = None

    @property
    def skill(self) -> float | None:
        """The skill over all pairs, or its mean over draws."""
        return self.all.skill if self.all else self.draws.skill.mean if self.draws else None


class Interventions(Result):
    """All interventions on one run; of a run that diverged, only that it did."""

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
    key: tuple[KeyFrequencies, ...] = ()
    base: Measures | None = None
    """The unchanged model."""
    keep_remove: tuple[KeepRemove, ...] = ()
    equal_energy: tuple[EqualEnergy, ...] = ()
    specificity: tuple[Specificity, ...] = ()
    interchange: tuple[Interchange, ...] = ()
    routing: tuple[HeadChange, ...] = ()

    def head_change(
        self, change: Change, heads: tuple[int, ...], **about: str | int | None
    ) -> HeadChange | None:
        """The record of one change of these heads, with these blocks, modulus, rank, side and
        control, and no others; None where the model has none."""
        asked: dict[str, Any] = {"change": change, "heads": heads, **dict.fromkeys(ABOUT), **about}
        known = (x for x in self.routing if all(getattr(x, k) == v for k, v in asked.items()))
        return next(known, None)
