"""The format in which the paper's weights are published, and ours: both ways, by transposing alone.

A published file is a ``torch.save`` dict: `model_state_dict`, `config`, `seed`, `losses` and
`train_accs` (one an epoch), `eval_accs` at `eval_epochs`. Code in it is never run.
"""

import io
import re
import warnings
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from strata.architecture import architecture_of
from strata.archive import whole_archive
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

LARGEST = float(np.finfo(np.float32).max)
MASK = torch.ones(3, 3, dtype=torch.bool).triu(1)  # true where a position may not look
EPS = 1e-8  # AdamW's default: the paper names no other
# Kept as they are, and kept transposed: ours acts on rows from the right, torch's on columns.
SAME = {
    "W_E": "embed.weight", "b_U": "unembed.bias",
    "b_O": "attn.out_proj.bias", "b_in": "mlp.0.bias", "b_out": "mlp.2.bias",
}  # fmt: skip
TURNED = {"W_in": "mlp.0.weight", "W_out": "mlp.2.weight", "W_U": "unembed.weight"}


class Config(Section):
    """What a published file says of its model."""

    P: Modulus
    embed_dim: Positive
    num_heads: Positive
    mlp_dim: Positive


class Header(Section):
    """The part of a published file that is neither weights nor history."""

    config: Config
    seed: Seed


class Published(NamedTuple):
    """A run that was not trained here, in the form of those that were."""

    run: Run
    metadata: dict[str, Any]
    weights: Arrays
    history: Arrays


def expected(config: Config) -> dict[str, str]:
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


def convert(content: bytes, origin: str, printed: PrintedTraining) -> Published:
    """The run in a published file; how it was trained is what the paper prints of its training.

    Epochs are numbered as the file numbers them; a validation at epoch 0 comes before our first
    row and is left out. Mirror-free accuracy is not in the file: NaN. Raises InputError, which
    names the tensor or list, for anything that does not fit.
    """
    found = load(content, origin)
    header = validated(Header, {k: found[k] for k in ("config", "seed") if k in found}, origin)
    state, history = found.get("model_state_dict"), _history(found, origin)
    run, config = Run(header.config.P, header.seed), header.config
    theirs = {"d_model": config.embed_dim, "n_heads": config.num_heads, "d_mlp": config.mlp_dim}
    theirs |= {"epochs": len(history["epoch"]), "validate_every": printed.validate_every}
    theirs |= {"lr": printed.learning_rate, "weight_decay": printed.weight_decay, "eps": EPS}
    theirs |= {"beta1": printed.betas[0], "beta2": printed.betas[1]}
    train = validated(TrainParams, theirs, f"{origin}: config")
    shares = printed.model_dump(include={"train_fraction", "validation_fraction"})
    metadata = Settings(split=SplitParams(**shares), train=train).record(run)
    weights = _ours(_arrays(state, config, origin), config.num_heads)
    return Published(run, metadata, weights, history)


def load(content: bytes, origin: str) -> dict[str, Any]:
    """The dict in a file of ``torch.save``. Raises InputError where it is anything else."""
    if not content.startswith(b"PK\x03\x04"):
        raise InputError(f"{origin}: not a file of torch.save")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a damaged file gets the one line below
            whole_archive(content, origin)
            found = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    except InputError:
        raise
    except Exception as error:  # what damage makes torch raise is not a closed list
        if code := re.search(r"GLOBAL ([\w.]+)", str(error)):
            raise InputError(f"{origin}: refused: it asks for code, {code[1]}") from None
        raise InputError(f"{origin}: not a whole file of torch.save, or damaged") from None
    if not isinstance(found, dict):
        raise InputError(f"{origin}: holds a {type(found).__name__}, must be a dict")
    return found


def _arrays(state: Any, config: Config, origin: str) -> Arrays:
    """The tensors of a published model, each held against what its config asks for."""
    if not isinstance(state, dict):
        raise InputError(f"{origin}: model_state_dict must be a dict of tensors")
    must = expected(config)
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
    plain = value.layout == torch.strided and value.device.type == "cpu"
    where = "" if plain else f" ({value.layout}, {value.device})"
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


def _theirs(ours: Arrays) -> Arrays:
    """The inverse of `_ours`."""
    d = ours["W_E"].shape[1]
    state = {name: ours[key] for key, name in SAME.items()}
    state |= {name: ours[key].T for key, name in TURNED.items()}
    matrices = np.stack([ours[f"W_{letter}"] for letter in "QKV"]).swapaxes(2, 3)
    state["attn.in_proj_weight"] = matrices.reshape(3 * d, d)
    state["attn.in_proj_bias"] = np.concatenate([ours[f"b_{x}"].ravel() for x in "QKV"])
    return state | {"attn.out_proj.weight": ours["W_O"].reshape(d, d).T}


def _history(found: dict[str, Any], origin: str) -> Arrays:
    """Loss and accuracies per epoch, in the columns of ``store.HISTORY``."""
    losses, when = (_numbers(found, name, origin) for name in ("losses", "eval_epochs"))
    epochs = len(losses)
    if not epochs or (losses < 0).any():
        raise InputError(f"{origin}: losses must be at least one, and none below 0")
    train = _shares(found, "train_accs", "losses", origin)
    evaluated = _shares(found, "eval_accs", "eval_epochs", origin)
    rising = all(a < b for a, b in pairwise([-1, *when, epochs + 1]))
    if (when % 1).any() or not rising:
        raise InputError(f"{origin}: eval_epochs must be rising epochs from 0 to {epochs}")
    validation = np.full(epochs + 1, np.nan)
    validation[when.astype(int)] = evaluated
    return {
        "epoch": np.arange(1, epochs + 1, dtype=np.int32),
        "loss": losses.astype(np.float32),
        "train_accuracy": train,
        "validation_accuracy": validation[1:],
        "mirror_free_accuracy": np.full(epochs, np.nan),
    }


def _shares(found: dict[str, Any], name: str, partner: str, origin: str) -> np.ndarray:
    """One share for each value of its partner."""
    values, size = _numbers(found, name, origin), len(found[partner])
    if len(values) != size:
        raise InputError(f"{origin}: {name} has {len(values)} values, {partner} has {size}")
    if ((values < 0) | (values > 1)).any():
        raise InputError(f"{origin}: {name} must be shares from 0 to 1")
    return values


def _numbers(found: dict[str, Any], name: str, origin: str) -> Float[np.ndarray, " values"]:
    """A list of numbers that float32 can hold."""
    values = found.get(name)
    if not isinstance(values, list) or not all(type(x) in (int, float) for x in values):
        raise InputError(f"{origin}: {name} must be a list of numbers")
    if not all(abs(x) <= LARGEST for x in values):
        raise InputError(f"{origin}: {name} holds a value that is not finite")
    return np.array(values, dtype=float)


def export(metadata: dict[str, Any], weights: Arrays, history: pd.DataFrame) -> bytes:
    """A run of ours as a published file, from its weights with their metadata and its history.

    Mirror-free accuracies and the parameters of the training are not in that format. Raises
    InputError for a run that it cannot hold: one without attention, or with a value not finite.
    """
    run, train = Run.parse(metadata["run"]), metadata["train"]
    if not architecture_of(weights).attends:
        raise InputError(f"{run}: the published format holds transformers alone")
    config = {"P": run.n, "embed_dim": train["d_model"], "num_heads": train["n_heads"]}
    config["mlp_dim"] = train["d_mlp"]
    validated_at = history.dropna(subset="validation_accuracy")
    state = {name: torch.from_numpy(x.copy()) for name, x in _theirs(weights).items()}
    found = {
        "model_state_dict": state | {"causal_mask": MASK},
        "config": config,
        "seed": run.seed,
        "losses": history["loss"].tolist(),
        "train_accs": history["train_accuracy"].tolist(),
        "eval_accs": validated_at["validation_accuracy"].tolist(),
        "eval_epochs": validated_at["epoch"].tolist(),
    }
    _arrays(found["model_state_dict"], validated(Config, config, str(run)), str(run))
    _history(found, str(run))
    file = io.BytesIO()
    torch.save(found, file)
    return file.getvalue()
