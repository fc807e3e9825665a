"""A published file as a run of ours, by transposing alone: strata.api.published says what is in it.

Code in such a file is never run.
"""

import io
import re
from itertools import pairwise
from typing import Annotated, Any, NamedTuple

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor

from strata.api.published import MASK, SAME, TURNED
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

    Epochs are numbered as the file numbers them; a validation at epoch 0 comes before our first
    row and is left out. Mirror-free accuracy is not in the file: NaN. Raises InputError, which
    names the tensor or list, for anything that does not fit.
    """
    found = load(content, origin)
    file = validated(Published, found, origin)
    run, config, history = Run(file.config.P, file.seed), file.config, _history(file, origin)
    theirs = {"d_model": config.embed_dim, "n_heads": config.num_heads, "d_mlp": config.mlp_dim}
    theirs |= {"epochs": len(file.losses), "validate_every": printed.validate_every}
    theirs |= {"lr": printed.learning_rate, "weight_decay": printed.weight_decay, "eps": EPS}
    theirs |= {"beta1": printed.betas[0], "beta2": printed.betas[1]}
    train = validated(TrainParams, theirs, f"{origin}: config")
    shares = printed.model_dump(include={"train_fraction", "validation_fraction"})
    metadata = Settings(split=SplitParams(**shares), train=train).record(run)
    weights = _ours(_arrays(found.get("model_state_dict"), config, origin), config.num_heads)
    return Converted(run, metadata, weights, history)


def load(content: bytes, origin: str) -> dict[str, Any]:
    """The dict in a file of ``torch.save``. Raises InputError where it is anything else."""
    try:
        found = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    except Exception as error:  # what damage makes torch raise is not a closed list
        if code := re.search(r"GLOBAL ([\w.]+)", str(error)):
            raise InputError(f"{origin}: refused: it asks for code, {code[1]}") from None
        raise InputError(f"{origin}: not a whole file of torch.save, or damaged") from None
    if not isinstance(found, dict):
        raise InputError(f"{origin}: holds a {type(found).__name__}, must be a dict")
    return dict(dict.items(found))  # a subclass may bring attributes of its own, such as get


def _expected(config: Config) -> dict[str, str]:
    """Type and shape of every tensor of a published model."""
    n, d, mlp = config.P, config.embed_dim, config.mlp_dim
    sizes: dict[str, tuple[int, ...]] = {
        "embed.weight": (n + 1, d),
        "attn.in_proj_weight": (3 * d, d),
        "attn.in_proj_bias": (3 * d,),
        "attn.out_proj.weight": (d, d),
        "attn.out_proj.bias": (d,),
        "mlp.0.weight": (mlp, d),
        "mlp.0.bias": (mlp,),
        "mlp.2.weight": (d, mlp),
        "mlp.2.bias": (d,),
        "unembed.weight": (n, d),
        "unembed.bias": (n,),
    }
    return {k: f"float32 {size}" for k, size in sizes.items()} | {"causal_mask": "bool (3, 3)"}


def _arrays(state: Any, config: Config, origin: str) -> Arrays:
    """The tensors of a published model, each held against what its config asks for."""
    if not isinstance(state, dict):
        raise InputError(f"{origin}: model_state_dict must be a dict of tensors")
    must = _expected(config)
    for name in sorted({*map(str, state), *must}):
        got, wanted = _kind(state[name]) if name in state else "missing", must.get(name, "missing")
        if got != wanted:
            raise InputError(f"{origin}: tensor {name} is {got}, must be {wanted}")
    arrays = {name: state[name].detach().numpy() for name in must}
    if (arrays.pop("causal_mask") != MASK.numpy()).any():
        raise InputError(f"{origin}: tensor causal_mask must be true above its diagonal alone")
    for name, x in arrays.items():
        if not np.isfinite(x).all():
            raise InputError(f"{origin}: tensor {name} holds a value that is not finite")
    return arrays


def _kind(value: Any) -> str:
    if not isinstance(value, Tensor):
        return f"a {type(value).__name__}"
    if value.layout != torch.strided or value.device.type != "cpu":
        where = f" ({value.layout}, {value.device})"
    else:  # a stride of 0 lets a small file stand for tensors of any size
        plain = value.is_contiguous() and not value.is_neg()
        where = "" if plain else " (a view of something else)"
    return f"{value.dtype} {tuple(value.shape)}{where}".removeprefix("torch.")


def _ours(theirs: Arrays, n_heads: int) -> Arrays:
    """torch's (3·d_model, d_model) projection cut into heads, and every matrix transposed."""
    d = theirs["attn.out_proj.weight"].shape[0]
    weights = {ours: theirs[name] for ours, name in SAME.items()}
    weights |= {ours: theirs[name].T for ours, name in TURNED.items()}
    matrices = theirs["attn.in_proj_weight"].reshape(3, n_heads, -1, d).swapaxes(2, 3)
    biases = theirs["attn.in_proj_bias"].reshape(3, n_heads, -1)
    for letter, W, b in zip("QKV", matrices, biases, strict=True):
        weights |= {f"W_{letter}": W, f"b_{letter}": b}
    return weights | {"W_O": theirs["attn.out_proj.weight"].T.reshape(n_heads, -1, d)}


def _history(file: Published, origin: str) -> Arrays:
    """Loss and accuracies per epoch, in the columns of ``store.HISTORY``."""
    epochs, when = len(file.losses), file.eval_epochs
    if len(file.train_accs) != epochs or len(file.eval_accs) != len(when):
        raise InputError(
            f"{origin}: must have a train_acc for each loss, an eval_acc for each epoch"
        )
    if not all(a < b for a, b in pairwise([-1, *when, epochs + 1])):
        raise InputError(f"{origin}: eval_epochs must be rising epochs from 0 to {epochs}")
    validation = np.full(epochs + 1, np.nan)
    validation[when] = file.eval_accs
    return {
        "epoch": np.arange(1, epochs + 1, dtype=np.int32),
        "loss": np.array(file.losses, dtype=np.float32),
        "train_accuracy": np.array(file.train_accs, dtype=float),
        "validation_accuracy": validation[1:],
        "mirror_free_accuracy": np.full(epochs, np.nan),
    }
