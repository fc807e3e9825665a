"""All of params.yaml as one frozen, validated object, and the settings of each run in it."""

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import model_validator

from strata.run import (
    Above0,
    Fraction,
    InputError,
    Modulus,
    Positive,
    Run,
    Section,
    Seed,
    Settings,
    SplitParams,
    TrainParams,
    allowed,
    read_yaml,
    validated,
)

Share = Annotated[float, allowed("a number above 0 and at most 1", gt=0, le=1)]
Number = Annotated[float, allowed("a number")]
Head = Annotated[int, allowed("an integer of at least 0", ge=0)]
Variants = Annotated[
    dict[str, dict[str, Any]], allowed("a mapping of names to the values in which each differs")
]
Prefix = Annotated[
    str,
    allowed("empty, or the name of a variant and a dash: mlp-", pattern=r"^([a-z0-9]+-)?$"),
]


class MetricsParams(Section):
    """Thresholds and draws of the analysis of one run."""

    key_threshold: Above0  # key: at least this times the uniform share
    variance: Fraction  # components are counted until this share of the variance
    random_subsets: Positive  # draws of the baseline of random residue subsets
    top_directions: Positive  # singular directions of W_OV compared with a class
    aligned_cosine: Share  # a direction counts as aligned from this cosine on
    top_singular: Positive  # singular values whose share is reported
    shuffles: Positive  # draws of the baseline of shuffled class labels
    accuracy: Fraction  # a run has generalised from this validation accuracy on
    seed: Seed  # of the random subsets and shuffles


class TablesParams(Section):
    """Numbers that the tables rest on beside the metrics."""

    square_free_up_to: Positive


class GridParams(Section):
    """The moduli of the tables over seeds, the paper's first; and the intervals in them."""

    moduli: Annotated[list[Modulus], allowed("a list of moduli", min_length=1)]
    confidence: Fraction  # of the intervals over seeds
    resamples: Positive  # of the permutation tests
    seed: Seed  # of these

    @model_validator(mode="after")
    def _once(self) -> "GridParams":
        for n in self.moduli:
            if self.moduli.count(n) > 1:
                raise ValueError(f"grid.moduli: {n}: must be named once")
        return self

    def compares(self, name: str) -> bool:
        """Whether the tables over seeds are made from a run: one of the paper's two kinds of model
        as it is by default, of one of the moduli."""
        return Run.parse(name).n in self.moduli and self.usual(name)

    def extends(self, name: str) -> bool:
        """Whether a run is such a one of another modulus."""
        return Run.parse(name).n not in self.moduli and self.usual(name)

    @staticmethod
    def usual(name: str) -> bool:
        """Whether a run is of the paper’s transformer or MLP-only model as these are by default."""
        run = Run.parse(name)
        return run.variant in {"", "mlp"} and run.weights_seed == run.seed


class Hierarchy(Section):
    """Figure 1: which entries of a spectrum get a star."""

    star: Share  # share of the panel's maximum
    star_small: Share  # the same in small classes
    small: Positive  # a class of at most so many elements is small


class CosineAlign(Section):
    """Figure 4: which head is shown."""

    head: Head


class FftJclassEmbedding(Section):
    """Figure 9: where its scales begin."""

    amplitude_floor: Number  # log10
    energy_floor: Fraction


class EmbedPca3d(Section):
    """Figure 10: the oblique view, in degrees."""

    elevation: Number
    azimuth: Number


class MlpNeurons(Section):
    """Figure 11: how many neurons are drawn, with which seed."""

    neurons: Positive
    draw_seed: Seed


class Stability(Section):
    """The figures over seeds: what each shows of a run."""

    head: Head
    neurons: Positive  # drawn at random of each run
    draw_seed: Seed
    amplitude_floor: Number  # log10
    elevation: Number  # the oblique view, in degrees
    azimuth: Number


class FiguresParams(Section):
    """One section for each notebook with numbers of its own, and one for those over seeds."""

    fig01_hierarchy: Hierarchy
    fig04_cosine_align: CosineAlign
    fig09_class_spectra: FftJclassEmbedding
    fig10_embed_pca: EmbedPca3d
    fig11_neurons: MlpNeurons
    stability: Stability


class Params(Section):
    """params.yaml."""

    n: Modulus
    seed: Seed
    variant: Prefix  # with its dash, so that pipeline files can put it before n
    split: SplitParams
    train: TrainParams
    variants: Variants
    metrics: MetricsParams
    figures: FiguresParams
    tables: TablesParams
    grid: GridParams

    def settings(self, run: Run) -> Settings:
        """All that decides the weights of a run. Raises InputError where there is no such
        variant."""
        base = Settings(split=self.split, train=self.train)
        if not run.variant:
            return base
        if run.variant not in self.variants:
            known = ", ".join(self.variants) or "none, as params.yaml has no variants"
            raise InputError(f"run {run}: variant = {run.variant!r}: must be one of {known}")
        return base.varied(run.variant, self.variants[run.variant])

    def headline(self) -> Run:
        """The run that the headline figures and tables are of."""
        return Run(self.n, self.seed, self.variant.removesuffix("-"))

    @model_validator(mode="after")
    def _variants(self) -> "Params":
        for name in self.variants:
            if not re.fullmatch("[a-z0-9]+", name):
                raise ValueError(f"variants: {name!r}: must be of lower-case letters and digits")
        try:
            for name in self.variants:
                self.settings(Run(self.n, self.seed, name))
            self.settings(self.headline())
        except InputError as fault:
            raise ValueError(str(fault)) from None
        return self

    @model_validator(mode="after")
    def _head_exists(self) -> "Params":
        figures, n_heads = self.figures, self.train.n_heads
        for name, head in {
            "fig04_cosine_align": figures.fig04_cosine_align.head,
            "stability": figures.stability.head,
        }.items():
            if head >= n_heads:
                raise ValueError(f"figures.{name}.head = {head}: must be below n_heads = {n_heads}")
        return self


def load(path: Path | str) -> Params:
    """The validated content of params.yaml. Raises InputError with one line that names the key."""
    return validated(Params, read_yaml(path), str(path))
