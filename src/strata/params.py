"""All of params.yaml as one frozen, validated object, and the settings of each run in it."""

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, model_validator

from strata.inputs import InputError, regular
from strata.run import (
    Above0,
    Fraction,
    Modulus,
    Positive,
    Run,
    Section,
    Seed,
    Settings,
    SplitParams,
    TrainParams,
    read_yaml,
    validated,
)

Share = Annotated[float, Field(gt=0, le=1)]
Inches = Annotated[float, Field(ge=2, le=20)]
# Of the notebook that each is named after, and stability of those over seeds: a figure that lacks
# one of its parameters, or has one too many, is refused where it is drawn.
Figures = dict[str, dict[str, int | float]]
Prefix = Annotated[str, Field(pattern=r"^([a-z0-9]+-)?$")]  # empty, or a variant and a dash


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


class InchesParams(Section):
    """Widths of figures on paper."""

    column: Inches
    page: Inches  # of two columns and what is between them


class TablesParams(Section):
    """Numbers that the tables rest on beside the metrics."""

    square_free_up_to: Positive


class GridParams(Section):
    """The moduli of the tables over seeds, the paper's first; and the intervals in them."""

    moduli: Annotated[list[Modulus], Field(min_length=1)]
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


class RunsParams(Section):
    """What of params.yaml decides the runs and their metrics."""

    n: Modulus
    seed: Seed
    variant: Prefix  # with its dash, so that pipeline files can put it before n
    split: SplitParams
    train: TrainParams
    variants: dict[str, dict[str, Any]]  # the values in which each differs
    metrics: MetricsParams

    def settings(self, run: Run) -> Settings:
        """All that decides the weights of a run. Raises InputError where there is no such
        variant."""
        base = Settings(split=self.split, train=self.train)
        if not run.variant:
            return base
        if run.variant not in self.variants:
            known = ", ".join(self.variants) or "none, as params.yaml has no variants"
            raise InputError(f"run {run}: variant = {run.variant!r}: must be one of {known}")
        values = self.variants[run.variant]
        if "stop_after" in values:
            values = {"stop_at": self.metrics.accuracy} | values
        return base.varied(run.variant, values)

    def headline(self) -> Run:
        """The run that the headline figures and tables are of."""
        return Run(self.n, self.seed, self.variant.removesuffix("-"))

    @model_validator(mode="after")
    def _variants(self) -> "RunsParams":
        for name in self.variants:
            if not re.fullmatch("[a-z0-9]+", name):
                raise ValueError(f"variants: {name!r}: must be of lower-case letters and digits")
        try:
            for name in self.variants:
                self.settings(Run(self.n, self.seed, name))
            self.settings(self.headline()).task(self.headline())
        except InputError as fault:
            raise ValueError(str(fault)) from None
        return self


class Params(RunsParams):
    """params.yaml."""

    inches: InchesParams
    figures: Figures
    tables: TablesParams
    grid: GridParams

    @model_validator(mode="after")
    def _head_exists(self) -> "Params":
        for name, numbers in self.figures.items():
            if not 0 <= numbers.get("head", 0) < self.train.n_heads:
                raise ValueError(f"figures.{name}.head: must be from 0 to {self.train.n_heads - 1}")
        return self


def read(path: Path | str) -> dict[str, Any]:
    """The content of params.yaml with the tables that its variants name, as rows. Raises InputError
    where one cannot be read."""
    values = read_yaml(path)
    for own in (values.get("variants") or {}).values():
        said = own.get("task") if isinstance(own, dict) else None
        if isinstance(said, dict) and isinstance(file := said.get("table"), str):
            try:
                said["table"] = regular(Path(path).parent / file).read_text("utf-8").splitlines()
            except (OSError, UnicodeError) as error:
                raise InputError(f"{path}: task.table = {file}: {error}") from None
    return values


def load(path: Path | str) -> Params:
    """The validated content of params.yaml. Raises InputError with one line that names the key."""
    return validated(Params, read(path), str(path))
