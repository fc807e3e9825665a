"""Define what a run is, by its name and the settings that decide its weights, and validate
input."""

import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from strata.inputs import InputError, arguments, fault, printable, regular_file
from strata.task import MULTIPLICATION, Task, parse_setting, parse_task

LARGEST_YAML = 2**24  # bytes
M = TypeVar("M", bound=BaseModel)
ArchitectureName = Literal["transformer", "mlp"]


Modulus = Annotated[int, Field(ge=2, le=4096)]
Seed = Annotated[int, Field(ge=0, lt=2**63)]
Positive = Annotated[int, Field(ge=1)]
Fraction = Annotated[float, Field(gt=0, lt=1)]
Above0 = Annotated[float, Field(gt=0)]
Decay = Annotated[float, Field(ge=0)]
Beta = Annotated[float, Field(ge=0, lt=1)]


class _Run(NamedTuple):
    n: int
    seed: int  # of the split
    variant: str  # empty for none
    weights_seed: int  # of the initial weights


class Run(_Run):
    """A ``Run`` is one model, named by modulus, seed, variant and seed of the initial weights.

    It is written ``n165-s1``, or ``mlp-n165-s1`` where the variant mlp of params.yaml says how it
    differs. ``n165-s1-w2`` has the split of seed 1 and the initial weights of seed 2; by default
    both have the seed of the split.

    >>> Run.parse("mlp-n165-s1")
    Run(n=165, seed=1, variant='mlp', weights_seed=1)
    >>> str(Run(113, 2)), str(Run(113, 2, weights_seed=3))
    ('n113-s2', 'n113-s2-w3')
    """

    def __new__(
        cls, n: int, seed: int, variant: str = "", weights_seed: int | None = None
    ) -> "Run":
        initial = seed if weights_seed is None else weights_seed
        return super().__new__(cls, n, seed, variant, initial)

    @classmethod
    def parse(cls, name: str) -> "Run":
        """Return the run of that name. Raises InputError where the name, n or a seed is not
        valid."""
        match = re.fullmatch(r"(?:([a-z0-9]+)-)?n(.+?)-s(.+?)(?:-w(.+))?", name)
        if not match:
            raise InputError(f"run = {name!r}: must look like n165-s1, mlp-n165-s1 or n165-s1-w2")
        variant, n, *seeds = match.groups()
        numbers = [
            validate(Headline, {"n": number(n), "seed": number(seed)}, f"run {name}")
            for seed in seeds
            if seed is not None
        ]
        run = cls(numbers[0].n, numbers[0].seed, variant or "", numbers[-1].seed)
        if str(run) != name:
            raise InputError(f"run {name}: must be written {run}")
        return run

    def __str__(self) -> str:
        prefix = f"{self.variant}-" if self.variant else ""
        suffix = "" if self.weights_seed == self.seed else f"-w{self.weights_seed}"
        return f"{prefix}n{self.n}-s{self.seed}{suffix}"

    @property
    def caption(self) -> str:
        """Return the run in words, as in `n = 12, seed 1, mlp`."""
        initial = f", initial weights {self.weights_seed}" * (self.weights_seed != self.seed)
        return f"n = {self.n}, seed {self.seed}{initial}" + f", {self.variant}" * bool(self.variant)


def number(text: str) -> int | str:
    """Return the integer that text spells in its usual form, or the text itself."""
    return int(text) if re.fullmatch(r"0|-?[1-9][0-9]{0,18}", text) else text


class Section(BaseModel):
    """A ``Section`` is a validated, frozen part of params.yaml, which refuses unknown keys and
    wrong types."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Headline(Section):
    """This section holds the modulus and the seed of one run."""

    n: Modulus
    seed: Seed


class SplitParams(Section):
    """This section says what is learnt, and which shares of its ordered pairs train and validate;
    the rest is held back."""

    # The default is not written, because files written earlier know no other task.
    task: Any = Field(default=MULTIPLICATION, exclude_if=lambda x: x == MULTIPLICATION)
    train_fraction: Fraction
    validation_fraction: Fraction

    @model_validator(mode="after")
    def _disjoint(self) -> "SplitParams":
        if self.train_fraction + self.validation_fraction > 1:
            raise ValueError(
                f"train_fraction + validation_fraction = {self.train_fraction} + "
                f"{self.validation_fraction}: must be at most 1"
            )
        return self

    @field_validator("task")
    @classmethod
    def _valid_task(cls, setting: Any) -> Any:
        try:
            return setting if setting == MULTIPLICATION or parse_setting(setting) else None
        except InputError as error:
            raise ValueError(str(error)) from None


class TrainParams(Section):
    """This section holds the kind and widths of the model and the hyperparameters of AdamW."""

    architecture: ArchitectureName = "transformer"
    d_model: Positive
    n_heads: Positive
    d_mlp: Positive
    epochs: Positive
    lr: Above0
    weight_decay: Decay
    beta1: Beta
    beta2: Beta
    eps: Above0
    validate_every: Positive

    @model_validator(mode="after")
    def _heads(self) -> "TrainParams":
        if self.d_model % self.n_heads:
            raise ValueError(
                f"d_model = {self.d_model}: must be divisible by n_heads = {self.n_heads}"
            )
        return self


class Early(Section):
    """This section says where a training ends before its last epoch: once its validation accuracy
    has been ``stop_at`` or more for ``stop_after`` epochs, or nowhere for None. It is apart from
    TrainParams because no measure depends on it."""

    stop_after: Positive | None = None
    stop_at: Fraction | None = None


class Settings(Section):
    """These settings, with n and the seeds, decide the weights of a run."""

    split: SplitParams
    train: TrainParams
    early: Early = Field(default=Early(), exclude_if=lambda x: x == Early())

    def task(self, run: Run) -> Task:
        """Return the task that the run learns. Raises InputError where it does not fit n."""
        try:
            return parse_task(self.split.task, run.n)
        except InputError as error:
            raise InputError(f"run {run}: {error}") from None

    def record(self, run: Run) -> dict[str, Any]:
        """Return what a weights file says of its run. Its tensors say which architecture it has."""
        train = self.train.model_dump(exclude={"architecture"})
        return self.model_dump() | {"run": str(run), "train": train}

    def varied(self, variant: str, values: Mapping[str, Any]) -> "Settings":
        """Return these settings with other values for some keys of their parts. Raises InputError,
        which names variants.VARIANT.KEY."""
        allowed = [*SplitParams.model_fields, *TrainParams.model_fields, *Early.model_fields]
        for key in values:
            if key not in allowed:
                must = f"unknown key, must be one of {', '.join(allowed)}"
                raise InputError(f"variants.{variant}.{key}: {must}")
        where = f"variants.{variant}"
        return Settings(
            split=validate(SplitParams, _replaced(self.split, values), "", where),
            train=validate(TrainParams, _replaced(self.train, values), "", where),
            early=validate(Early, _replaced(self.early, values), "", where),
        )


def _replaced(part: Section, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a section, with those of ``values`` under its own keys in their
    place."""
    return {key: values.get(key, getattr(part, key)) for key in type(part).model_fields}


def validate(model: type[M], values: Any, origin: str, *prefix: str) -> M:
    """Validate the values as a model. Raises InputError, whose one line names key and value of the
    first fault."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise fault(error, origin, *prefix) from None


def read_yaml(path: Path | str) -> dict[str, Any]:
    """Return the mapping in a YAML 1.2 file, read by the parser that DVC uses. Raises InputError
    where the file holds anything else."""
    try:
        values = YAML(typ="safe").load(regular_file(path, LARGEST_YAML).read_text("utf-8"))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    except (YAMLError, ValueError, KeyError, RecursionError) as error:  # what its tags can raise
        reason = " ".join(str(error).split())
        raise InputError(f"{path}: not valid YAML: {reason[:200]}") from None
    if not isinstance(values, dict):
        raise InputError(f"{path}: must be a mapping of keys to values")
    return values


def section(path: Path | str, key: str, model: type[M]) -> M:
    """Return one validated section of params.yaml. Raises InputError where it is missing or not
    valid."""
    values = read_yaml(path)
    if key not in values:
        raise InputError(f"{path}: {key}: this section is missing")
    return validate(model, values[key], str(path), key)


def command(main: Callable[..., None]) -> None:
    """Run a script with its words as the arguments of main. Input that cannot be used, or a file
    that cannot be written, ends it with one line and exit code 1."""
    try:
        main(*arguments(main, sys.argv[1:]))
    except InputError as error:
        sys.exit(printable(f"{Path(sys.argv[0]).stem}: {error}"))
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        sys.exit(printable(f"{Path(sys.argv[0]).stem}: {where}{error.strerror or error}"))
