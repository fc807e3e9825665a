"""What a run is: its name, the sections of params.yaml that decide its weights, and their shapes.

The other sections are in ``params.py``, so that none of them can make a trained model stale.
"""

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

M = TypeVar("M", bound=BaseModel)
Architecture = Literal["transformer", "mlp"]


def allowed(what: str, **bounds: Any) -> Any:
    """A field with bounds; ``what`` completes "must be …" in the message of every fault."""
    return Field(description=what, **bounds)


Modulus = Annotated[int, allowed("an integer from 2 to 4096", ge=2, le=4096)]
Seed = Annotated[int, allowed("an integer from 0 to 2^63 - 1", ge=0, lt=2**63)]
Positive = Annotated[int, allowed("an integer of at least 1", ge=1)]
Fraction = Annotated[float, allowed("a number between 0 and 1, both excluded", gt=0, lt=1)]
Above0 = Annotated[float, allowed("a number above 0", gt=0)]
Decay = Annotated[float, allowed("a number of at least 0", ge=0)]
Beta = Annotated[float, allowed("a number from 0 to 1, 1 excluded", ge=0, lt=1)]


class InputError(Exception):
    """Input that cannot be used; the message is one line that names it and says what is allowed."""


@dataclass(frozen=True, order=True)
class Run:
    """One model: modulus, seed and architecture, written ``n165-s1`` or ``mlp-n165-s1``.

    >>> Run.parse("mlp-n165-s1")
    Run(n=165, seed=1, architecture='mlp')
    >>> str(Run(113, 2))
    'n113-s2'
    """

    n: int
    seed: int
    architecture: Architecture = "transformer"

    @classmethod
    def parse(cls, name: str) -> "Run":
        """The run of that name. Raises InputError where the name, n or the seed is not valid."""
        found = re.fullmatch(r"(mlp-)?n(.+?)-s(.+)", name)
        if not found:
            raise InputError(f"run = {name!r}: must look like n165-s1 or mlp-n165-s1")
        mlp, n, seed = found.groups()
        valid = validated(Headline, {"n": number(n), "seed": number(seed)}, f"run {name}")
        return cls(valid.n, valid.seed, "mlp" if mlp else "transformer")

    def __str__(self) -> str:
        prefix = "mlp-" if self.architecture == "mlp" else ""
        return f"{prefix}n{self.n}-s{self.seed}"


def number(text: str) -> int | str:
    """The integer that text spells in its usual form, or the text itself."""
    return int(text) if re.fullmatch(r"0|-?[1-9][0-9]{0,18}", text) else text


class Section(BaseModel):
    """A validated, frozen part of params.yaml: unknown keys and wrong types are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Headline(Section):
    """The modulus and the seed of one run."""

    n: Modulus
    seed: Seed


class SplitParams(Section):
    """Shares of the n² ordered pairs that train and validate; the rest is held back."""

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


class TrainParams(Section):
    """Widths of the model and hyperparameters of AdamW."""

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


def shapes(run: Run, params: TrainParams) -> dict[str, tuple[int, ...]]:
    """Name and shape of every weight, in the order in which they are kept."""
    n, d_model, n_heads, d_mlp = run.n, params.d_model, params.n_heads, params.d_mlp
    mlp = {"W_out": (d_mlp, d_model), "b_out": (d_model,), "W_U": (d_model, n), "b_U": (n,)}
    if run.architecture == "mlp":
        return {"W_E": (n, d_model), "W_in": (2 * d_model, d_mlp), "b_in": (d_mlp,)} | mlp
    d_head = d_model // n_heads
    attention = {}
    for name in "QKV":
        attention[f"W_{name}"] = (n_heads, d_model, d_head)
        attention[f"b_{name}"] = (n_heads, d_head)
    attention |= {"W_O": (n_heads, d_head, d_model), "b_O": (d_model,)}
    return (
        {"W_E": (n + 1, d_model)} | attention | {"W_in": (d_model, d_mlp), "b_in": (d_mlp,)} | mlp
    )


def validated(model: type[M], values: Any, origin: str, *prefix: str) -> M:
    """The values as a model; the first fault becomes one line that names key and value."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        faults = error.errors(include_url=False)
        # A misspelt key is missing under its right name too: name what can be seen in the file.
        first = min(faults, key=lambda fault: fault["type"] != "extra_forbidden")
        key = ".".join((*prefix, *map(str, first["loc"])))
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        line = ": ".join(
            part for part in (origin, key + _found(first), _must(model, first)) if part
        )
        raise InputError(" ".join(f"{line}{more}".split())) from None


def _found(fault: ErrorDetails) -> str:
    """The faulty value, as far as it belongs to one key and is short."""
    if fault["type"] in {"missing", "value_error"}:
        return ""
    text = repr(fault["input"])
    return f" = {text}" if len(text) <= 60 else f" = {text[:57]}..."


def _must(model: type[BaseModel], fault: ErrorDetails) -> str:
    """What is allowed where the fault is."""
    if fault["type"] == "value_error":
        return fault["msg"].removeprefix("Value error, ")
    for part in fault["loc"]:
        field = model.model_fields.get(str(part))
        if field is None:
            return f"unknown key, must be one of {', '.join(model.model_fields)}"
        if not (isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)):
            missing = "is missing, " if fault["type"] == "missing" else ""
            return f"{missing}must be {field.description or 'of another type'}"
        model = field.annotation
    kind = "this section is missing, " if fault["type"] == "missing" else ""
    return f"{kind}must be a mapping of {', '.join(model.model_fields)}"


def read_yaml(path: Path | str) -> dict[str, Any]:
    """The mapping in a YAML 1.2 file, read by the parser that DVC uses."""
    try:
        values = YAML(typ="safe").load(Path(path))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    except (YAMLError, ValueError, KeyError, RecursionError) as error:  # what its tags can raise
        reason = " ".join(str(error).split())
        raise InputError(f"{path}: not valid YAML: {reason[:200]}") from None
    if not isinstance(values, dict):
        raise InputError(f"{path}: must be a mapping of keys to values")
    return values


def section(path: Path | str, key: str, model: type[M]) -> M:
    """One section of params.yaml, validated. Raises InputError."""
    values = read_yaml(path)
    if key not in values:
        raise InputError(f"{path}: {key}: this section is missing")
    return validated(model, values[key], str(path), key)


def command(main: Callable[[], None]) -> None:
    """Run a stage; input that cannot be used, or a file that cannot be written, ends it with one
    line and exit code 1."""
    try:
        main()
    except InputError as error:
        sys.exit(f"{Path(sys.argv[0]).stem}: {error}")
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        sys.exit(f"{Path(sys.argv[0]).stem}: {where}{error.strerror or error}")
