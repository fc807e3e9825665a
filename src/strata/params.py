"""Read params.yaml into one frozen, validated object, which gives the settings of each run."""

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, model_validator

from strata.inputs import InputError, regular_file
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
    validate,
)

Share = Annotated[float, Field(gt=0, le=1)]
Inches = Annotated[float, Field(ge=2, le=20)]
# Each key names a notebook, and `stability` those over seeds. A figure that lacks one of its
# parameters, or has one too many, is refused where it is drawn.
Figures = dict[str, dict[str, int | float]]
Prefix = Annotated[str, Field(pattern=r"^([a-z0-9]+-)?$")]  # empty, or a variant and a dash


class MetricsParams(Section):
    """This section holds the thresholds and random draws of the analysis of one run."""

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
    """This section holds the widths of figures on paper."""

    column: Inches
    page: Inches  # of two columns and what is between them


class TablesParams(Section):
    """This section holds numbers that the tables need beside the metrics."""

    square_free_up_to: Positive


class GridParams(Section):
    """This section lists the moduli of the tables over seeds, the paper's first, and says how their
    intervals are computed."""

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
        """Whether tables over seeds use a run: a default model (``usual``) of one of the moduli."""
        return Run.parse(name).n in self.moduli and self.usual(name)

    def extends(self, name: str) -> bool:
        """Whether a run is a default model (``usual``) of another modulus."""
        return Run.parse(name).n not in self.moduli and self.usual(name)

    @staticmethod
    def usual(name: str) -> bool:
        """Whether a run is the paper’s transformer or MLP-only model as it is by default."""
        run = Run.parse(name)
        return run.variant in {"", "mlp"} and run.weights_seed == run.seed


class RunsParams(Section):
    """These parts of params.yaml decide the runs and their metrics."""

    n: Modulus
    seed: Seed
    variant: Prefix  # with its dash, so that pipeline files can put it before n
    split: SplitParams
    train: TrainParams
    variants: dict[str, dict[str, Any]]  # the values in which each differs
    metrics: MetricsParams

    def settings(self, run: Run) -> Settings:
        """Return all settings that decide the weights of a run. Raises InputError where params.yaml
        has no such variant."""
        base = Settings(split=self.split, train=self.train)
        if not run.variant:
            return base
        if run.variant not in self.variants:
            allowed = ", ".join(self.variants) or "none, as params.yaml has no variants"
            raise InputError(f"run {run}: variant = {run.variant!r}: must be one of {allowed}")
        values = self.values(run.variant)
        if "stop_after" in values:
            values = {"stop_at": self.metrics.accuracy} | values
        return base.varied(run.variant, values)

    def values(self, variant: str) -> dict[str, Any]:
        """Return the values in which a variant differs, with those of the variant that it is
        ``like``. Raises InputError where that one is missing, or is like another itself."""
        values = dict(self.variants[variant])
        base = values.pop("like", None)
        if base is None:
            return values
        allowed = [name for name, x in self.variants.items() if "like" not in x]
        if base not in allowed:
            must = f"must be one of {', '.join(allowed)}"
            raise InputError(f"variants.{variant}.like = {base!r}: {must}")
        return {**self.variants[base], **values}

    def headline(self) -> Run:
        """Return the run that the headline figures and tables describe."""
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
    """This model holds the whole of params.yaml."""

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
    """Return the content of params.yaml, with the rows of a table in the place of the file that a
    variant names. Raises InputError where a file cannot be read."""
    values = read_yaml(path)
    for variant in (values.get("variants") or {}).values():
        task = variant.get("task") if isinstance(variant, dict) else None
        if isinstance(task, dict) and isinstance(file := task.get("table"), str):
            try:
                task["table"] = (
                    regular_file(Path(path).parent / file).read_text("utf-8").splitlines()
                )
            except (OSError, UnicodeError) as error:
                raise InputError(f"{path}: task.table = {file}: {error}") from None
    return values


def load(path: Path | str) -> Params:
    """Return the validated params.yaml. Raises InputError with one line that names the key."""
    return validate(Params, read(path), str(path))
