"""A published file as a run of ours: strata.api.published says what is in it."""

from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from strata.api.analysis import history
from strata.api.foreign import from_weights, loaded
from strata.run import (
    InputError,
    Modulus,
    Positive,
    Run,
    Section,
    Seed,
    Settings,
    SplitParams,
    TrainParams,
    validated,
)
from strata.store import Arrays
from strata.tables.printed import PrintedTraining

EPS = 1e-8  # AdamW's default: the paper names no other
Share = Annotated[float, Field(ge=0, le=1)]
Loss = Annotated[float, Field(ge=0, le=float(np.finfo(np.float32).max))]


class Config(Section):
    """What a published file says of its model."""

    P: Modulus
    embed_dim: Positive
    num_heads: Positive
    mlp_dim: Positive


class Published(BaseModel):
    """A published file but for its tensors; more entries than these are fine."""

    model_config = ConfigDict(frozen=True, strict=True, allow_inf_nan=False)

    config: Config
    seed: Seed
    losses: Annotated[list[Loss], Field(min_length=1)]
    train_accs: list[Share]
    eval_accs: list[Share]
    eval_epochs: list[int]


class Converted(NamedTuple):
    """A run that was not trained here, in the form of those that were."""

    run: Run
    metadata: dict[str, Any]
    weights: Arrays
    history: Arrays


def convert(content: bytes, origin: str, printed: PrintedTraining) -> Converted:
    """The run in a published file; how it was trained is what the paper prints of its training.

    Epochs are numbered as the file numbers them. Raises InputError, which names the tensor or list,
    for anything that does not fit.
    """
    found = loaded(content, origin)
    file = validated(Published, found, origin)
    run, config = Run(file.config.P, file.seed), file.config
    try:
        weights = from_weights(found, config.P, n_heads=config.num_heads).weights()
        columns = history(file.model_dump())
    except InputError as error:
        raise InputError(f"{origin}: {error}") from None
    d_mlp, d_model = weights["W_out"].shape
    if (d_model, d_mlp) != (config.embed_dim, config.mlp_dim) or not len(columns):
        raise InputError(f"{origin}: config: its weights have d_model {d_model}, d_mlp {d_mlp}")
    theirs = {"d_model": d_model, "n_heads": config.num_heads, "d_mlp": d_mlp}
    theirs |= {"epochs": len(file.losses), "validate_every": printed.validate_every}
    theirs |= {"lr": printed.learning_rate, "weight_decay": printed.weight_decay, "eps": EPS}
    theirs |= {"beta1": printed.betas[0], "beta2": printed.betas[1]}
    train = validated(TrainParams, theirs, f"{origin}: config")
    shares = printed.model_dump(include={"train_fraction", "validation_fraction"})
    metadata = Settings(split=SplitParams(**shares), train=train).record(run)
    made = {str(name): x.to_numpy() for name, x in columns.items()}
    return Converted(run, metadata, weights, made)
