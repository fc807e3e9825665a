"""Weights from elsewhere as those of a model here: a file, a state dict or a module, by its names.

docs/models.md describes what is taken. Names are all that is looked at: a network that computes
something else with weights of these shapes, such as one without residual stream, has to be told
apart by its answers.
"""

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_safetensors
from torch import Tensor, nn

from strata import store
from strata.api.layers import PATHS
from strata.api.model import MLP, Source, Transformer, model_of
from strata.api.published import SAME, TURNED
from strata.architecture import TABLE, Shapes
from strata.inputs import InputError, opened, regular
from strata.run import LARGEST, Run
from strata.store import Arrays

WHERE = "docs/models.md describes the formats"
OURS, LENS, PUBLISHED, PLAIN = (
    "strata",
    "TransformerLens",
    "the published format",
    "plain torch modules",
)
# What plain modules may be called, by the part of the network they are in, without underscores.
PARTS = {
    "attention": ("attn", "attention", "selfattn", "selfattention", "mha"),
    "mlp": ("mlp", "ff", "ffn", "feedforward"),
}
WORDS = {
    "": {
        "W_E": "embed embedding embeddings emb tokembed tokenembed tokenembedding tokemb wte",
        "W_P": "posembed posembedding posemb positionembedding positionalembedding wpe",
        "W_U": "unembed unembedding head lmhead out output classifier decoder readout fc linear",
    },
    "attention": {
        "W_QKV": "inproj qkv wqkv qkvproj cattn",
        "W_Q": "q wq qproj query toq",
        "W_K": "k wk kproj key tok",
        "W_V": "v wv vproj value tov",
        "W_O": "outproj o wo oproj proj cproj toout out output dense",
    },
    "mlp": {
        "W_in": "0 fc1 linear1 lin1 w1 fcin in win up upproj cfc",
        "W_out": "2 3 fc2 linear2 lin2 w2 fcout out wout down downproj cproj",
    },
}
MODULES = SAME | TURNED | {"W_QKV": "attn.in_proj_weight", "W_O": "attn.out_proj.weight"}
OUTER = re.compile(
    r"^(?:(?:module|_orig_mod|model|net(?:work)?|transformer|encoder)\.|(?:blocks?|layers?|h)\.(?:0\.)?)"
)
BUFFER = re.compile(r"mask|IGNORE", re.IGNORECASE)
NORM = re.compile(r"(?:^|[._])(?:layer_?)?(?:ln|norm)(?:_?\w+)?\.|norm", re.IGNORECASE)
# What TransformerLens says of a network that is not this one.
CFG = {"n_layers": 1, "act_fn": "relu", "normalization_type": None, "attn_only": False}


def from_weights(
    source: str | Path | nn.Module | Mapping[str, Any],
    n: int | None = None,
    *,
    n_heads: int | None = None,
) -> Transformer | MLP:
    """A model of one's own, from a file, a module or a state dict.

    Taken are files of strata (safetensors), of the format of the paper's weights (torch.save), of
    TransformerLens and of plain torch modules, with and without biases. n: the modulus; checked
    where the shapes say it. n_heads: where neither shapes nor file say it. ``source`` of the model
    says what the weights were taken for. Code in a file is never run. Raises InputError, which
    names every tensor that is missing or does not fit.
    """
    if isinstance(source, str | Path):
        content = regular(source).read_bytes()
        name, (state, recorded) = Path(source).name, read(content, str(source))
        sha256 = hashlib.sha256(content).hexdigest()
    else:
        name, sha256 = type(source).__name__, ""
        state, recorded = parts(source, name)
    named = {str(k): x for k, x in state.items() if isinstance(x, Tensor)}
    try:
        kind, weights = translated(named, recorded, n, n_heads)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    run = Run.parse(recorded["run"]) if kind == OURS and "run" in recorded else None
    task = store.task_in(name, recorded, run) if run else None
    return model_of(run, weights, Source(name, kind, recorded, sha256), task)


def read(content: bytes, origin: str) -> tuple[Mapping[str, Any], dict[str, Any]]:
    """The tensors in a file, and what else it records. Raises InputError."""
    if content[8:9] == b"{":
        try:
            length = int.from_bytes(content[:8], "little")
            metadata = json.loads(content[8 : 8 + length]).get("__metadata__", {})
            recorded = dict(json.loads(metadata.get("strata", "{}")))
            return load_safetensors(content), recorded
        except (SafetensorError, KeyError, ValueError, TypeError, AttributeError, RecursionError):
            raise InputError(f"{origin}: not a whole file of safetensors, or damaged") from None
    return parts(loaded(content, origin), origin)


def loaded(content: bytes, origin: str) -> dict[str, Any]:
    """The dict in a file of ``torch.save``. Raises InputError where it is anything else."""
    try:
        found = torch.load(opened(content), map_location="cpu", weights_only=True)
    except InputError as error:
        raise InputError(f"{origin}: {error}") from None
    except Exception as error:  # what damage makes torch raise is not a closed list
        if code := re.search(r"GLOBAL ([\w.]+)", str(error)):
            raise InputError(
                f"{origin}: refused: it asks for code, {code[1]}; save a state_dict()"
            ) from None
        raise InputError(f"{origin}: not a whole file of torch.save, or damaged") from None
    if not isinstance(found, dict):
        raise InputError(f"{origin}: holds a {type(found).__name__}, must be a dict")
    # Plain dicts: those of a file may bring attributes along.
    return {k: dict(x) if isinstance(x, dict) else x for k, x in found.items()}


def parts(source: Any, origin: str) -> tuple[Mapping[str, Any], dict[str, Any]]:
    """The tensors of a module or a dict, and what else it has."""
    if isinstance(source, nn.Module):
        cfg = getattr(source, "cfg", None)
        return source.state_dict(), {} if cfg is None else {"cfg": vars(cfg)}
    if not isinstance(source, Mapping):
        raise InputError(f"{origin}: must be a file, a module or a state dict")
    for key in ("model_state_dict", "state_dict", "model"):
        if isinstance(found := source.get(key), Mapping):
            for name, x in found.items():
                if not isinstance(x, Tensor):
                    raise InputError(f"{origin}: {name} is a {type(x).__name__}, must be a tensor")
            return found, {str(k): x for k, x in source.items() if k != key}
    return source, {}


def stated_heads(recorded: Mapping[str, Any]) -> int | None:
    """How many heads a file says that its model has."""
    for part in ("cfg", "config", "train"):
        for key in ("n_heads", "num_heads", "heads", "nhead"):
            known = recorded.get(part)
            if isinstance(known, Mapping) and isinstance(known.get(key), int):
                return known[key]
    return None


def translated(
    named: Mapping[str, Tensor], recorded: Mapping[str, Any], n: int | None, n_heads: int | None
) -> tuple[str, Arrays]:
    """What the tensors were taken for, and the weights by our names. Raises InputError."""
    told = recorded.get("cfg")
    for key, must in CFG.items():
        if isinstance(told, Mapping) and told.get(key, must) != must:
            raise InputError(f"its cfg has {key} = {told[key]!r:.60}, must be {must!r}")
    if {name.rpartition(".")[2] for name in named} & {*PATHS}:
        kind, roles = OURS if {*named} <= {*PATHS} else LENS, by_paths(named)
    else:
        kind = PUBLISHED if "P" in (recorded.get("config") or ()) else PLAIN
        roles = by_modules(named)
    attends = bool({*roles} & {"W_QKV", "W_Q", "W_K", "W_V", "W_O"})
    if lacking := missing(roles, kind, attends):
        raise InputError(f"missing: {', '.join(lacking)}; {WHERE}")
    values = {role: dense(named[name], name) for role, name in roles.items()}
    if infinite := [roles[x] for x in values if not np.isfinite(values[x]).all()]:
        raise InputError(f"not finite: {', '.join(infinite)}")
    plain = kind in (PLAIN, PUBLISHED)
    stated = (n_heads or stated_heads(recorded)) if plain else len(values.get("W_Q", "1"))
    if attends and stated is None:
        raise InputError("how many heads it has is not in it: give n_heads (--heads)")
    n_heads = stated if attends and stated else 1
    shapes = checked(values, roles, n, n_heads, plain)
    weights = turned(values, n_heads) if plain else values
    weights = {k: weights.get(k, np.zeros(size, np.float32)) for k, size in shapes.items()}
    if "W_P" in values:
        weights["W_E"] = placed(weights["W_E"], values["W_P"], shapes["b_U"][0])
    if attends and all(centred(weights[x]) for x in ("W_Q", "W_K", "W_V", "W_in")):
        raise InputError("its weights are as TransformerLens folds LayerNorm in: it has none here")
    return kind, {k: np.ascontiguousarray(x, np.float32) for k, x in weights.items()}


def dense(x: Tensor, name: str) -> np.ndarray:
    """A tensor as float32. Raises InputError for what is no plain one, such as one without values
    or a small one shown as large."""
    plain = x.layout == torch.strided and not (x.is_meta or x.is_nested)
    if not plain or not x.dtype.is_floating_point:
        raise InputError(f"{name} is {x.dtype}, {x.layout}: must be of floating point, and dense")
    if x.numel() * x.element_size() > x.untyped_storage().nbytes():
        raise InputError(f"{name} is a view of something smaller")
    try:
        return x.detach().cpu().float().resolve_neg().numpy()
    except RuntimeError:  # torch converts not every type that it stores
        raise InputError(f"{name} is {x.dtype}: cannot be read as float32") from None


def by_paths(named: Mapping[str, Tensor]) -> dict[str, str]:
    """Our name of each tensor, by the last part of its own. Raises InputError for others."""
    roles: dict[str, str] = {}
    for name in named:
        last = "W_P" if name.endswith("W_pos") else name.rpartition(".")[2]
        if last in PATHS or last == "W_P":
            roles[last] = one(name, roles.get(last), last)
        elif not BUFFER.search(name):
            raise InputError(unknown(name))
    return roles


def by_modules(named: Mapping[str, Tensor]) -> dict[str, str]:
    """The same by what plain modules are usually called. Raises InputError for others."""
    roles: dict[str, str] = {}
    for name, x in named.items():
        own = name
        while (shorter := OUTER.sub("", own)) != own:
            own = shorter
        module, _, kind = re.sub(r"[._](weight|bias)$", r" \1", own).partition(" ")
        if x.dtype == torch.bool or BUFFER.search(name):
            continue
        role = role_of(module.lower().replace("_", ""))
        if role is None:
            raise InputError(unknown(name))
        role = role.replace("W_", "b_") if kind == "bias" else role
        roles[role] = one(name, roles.get(role), role)
    return roles


def role_of(module: str) -> str | None:
    """The weight that a plain module has.

    >>> role_of("selfattn.qproj"), role_of("fc1"), role_of("out"), role_of("mlp.out")
    ('W_Q', 'W_in', 'W_U', 'W_out')
    """
    part, _, word = module.rpartition(".")
    inside = [x for x, names in PARTS.items() if part in names]
    for known in inside or (() if part else WORDS):
        for role, words in WORDS[known].items():
            if word in words.split():
                return role
    return None


def one(name: str, other: str | None, role: str) -> str:
    """The name of the only tensor that may be a weight. Raises InputError where there are two."""
    if other is None:
        return name
    layers = f"{other} and {name} may both be {role}"
    raise InputError(f"{layers}: one layer, and one of each, is taken; {WHERE}")


def unknown(name: str) -> str:
    """Why a tensor is not one of this network."""
    if NORM.search(name):
        return f"{name}: LayerNorm, which this network has not"
    if re.search(r"(?:blocks?|layers?|h)\.[1-9]", name):
        return f"{name}: a second layer; this network has one layer"
    return f"{name}: not a weight of this network, or of an unusual name; {WHERE}"


def missing(roles: Collection[str], kind: str, attends: bool) -> list[str]:
    """The weights that are not there, by the names of the format; biases may be missing."""
    need = ["W_E", *(["W_Q", "W_K", "W_V", "W_O"] * attends), "W_in", "W_out", "W_U"]
    if kind in (PLAIN, PUBLISHED) and attends and not {*roles} & {"W_Q", "W_K", "W_V"}:
        need = [x for x in need if x not in ("W_Q", "W_K", "W_V")] + ["W_QKV"]
    lacking = [x for x in need if x not in roles]
    if kind in (PLAIN, PUBLISHED):
        return [MODULES.get(x, f"attn.{x[2:].lower()}_proj.weight") for x in lacking]
    return [PATHS[x] if kind == LENS else x for x in lacking]


def checked(
    values: Arrays, roles: Mapping[str, str], n: int | None, n_heads: int, plain: bool
) -> Shapes:
    """The shapes of our weights. Raises InputError where those of the tensors do not fit them."""
    for x in ("W_E", "W_in", "W_out", "W_U"):
        if values[x].ndim != 2:
            raise InputError(f"{roles[x]} is {values[x].shape}, must have two axes")
    side = 0 if plain else 1
    d = values["W_E"].shape[1]
    modulus: int = values["W_U"].shape[side] if n is None else n
    if not 2 <= modulus <= LARGEST:
        raise InputError(f"n = {modulus}: must be from 2 to {LARGEST}")
    if d % n_heads:
        raise InputError(f"d_model = {d}: must be divisible by n_heads = {n_heads}")
    kind = "transformer" if {*roles} & {"W_O"} else "mlp"
    shapes = TABLE[kind].sizes(modulus, d, n_heads, values["W_out"].shape[1 - side])
    must = dict(shapes)
    if plain:
        square = {f"W_{x}": (d, d) for x in "QKVO"} | {f"b_{x}": (d,) for x in "QKV"}
        must = {k: square.get(k, size[::-1] if k in TURNED else size) for k, size in shapes.items()}
        must |= {"W_QKV": (3 * d, d), "b_QKV": (3 * d,)}
    wrong = [
        f"{roles[x]} is {values[x].shape}, must be {must[x]}"
        for x in values
        if x in must and values[x].shape != must[x]
    ]
    if wrong:
        raise InputError(f"{'; '.join(wrong)} (n = {modulus}, d_model = {d}, {n_heads} heads)")
    return shapes


def turned(values: Arrays, n_heads: int) -> Arrays:
    """Plain weights by our names: cut into heads, and every matrix transposed, as ours acts on rows
    from the right and torch's on columns."""
    found = {k: x.T if k in TURNED else x for k, x in values.items()}
    d = values["W_E"].shape[1]
    for kind in "Wb":
        if f"{kind}_QKV" in values:
            found |= dict(
                zip([f"{kind}_{x}" for x in "QKV"], np.split(values[f"{kind}_QKV"], 3), strict=True)
            )
        for x in "QKV":
            if (name := f"{kind}_{x}") in found:
                cut = found[name].reshape(n_heads, d // n_heads, -1)
                found[name] = cut.swapaxes(1, 2) if kind == "W" else cut[..., 0]
    if "W_O" in values:
        found["W_O"] = values["W_O"].T.reshape(n_heads, d // n_heads, d)
    return found


def placed(W_E: np.ndarray, W_P: np.ndarray, n: int) -> np.ndarray:
    """The embedding with that of the positions added. Raises InputError where a and b, which are
    read alike here, have different ones."""
    at = W_P.reshape(-1, W_E.shape[1])[:3]
    if np.abs(at[0] - at[1]).max() > 1e-6 * np.abs(W_E).max():
        raise InputError("its positions of a and b differ: this network has no positions")
    return W_E + at[np.where(np.arange(len(W_E)) < n, 0, len(at) - 1)]


def centred(x: np.ndarray) -> bool:
    """Whether what a matrix reads has mean 0 over the residual stream, and is not all 0."""
    return bool(np.abs(x.mean(axis=-2)).max() < 1e-5 * np.abs(x).max())
