"""Read weights from elsewhere as a model: from a file, a state dict or a module (docs/models.md).

Torch is loaded once a file is there, as its import takes seconds.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from strata.api.names import ANY_SHAPE, LENS, OURS, PLAIN, Arrays, StateDict
from strata.inputs import InputError, opened, printable, regular_file, shortened
from strata.run import Run

if TYPE_CHECKING:
    from torch import nn

    from strata.api.model import MLP, Transformer

HEADS = ("n_heads", "num_heads", "heads", "nhead")
SUFFIXES = (".safetensors", ".pt", ".pth", ".bin", ".ckpt")


def from_weights(
    source: "str | Path | nn.Module | Mapping[str, Any]",
    n: int | None = None,
    *,
    n_heads: int | None = None,
    rename: Mapping[str, str] | None = None,
    task: Any = None,
) -> "Transformer | MLP":
    """Build a model from weights of your own, in a file, a module or a state dict.

    Files may be of strata (safetensors), of the format of the paper's weights (torch.save), of
    TransformerLens and of plain torch modules, with and without biases. n: the modulus; checked
    where the shapes say it. n_heads: where neither shapes nor file say it; without it, the divisor
    of d_model with which a module's own forward gives the same logits, or with which the answers
    fit an operation best. rename: our names of tensors with names of your own, {"mine": "W_E"}.
    task: another than multiplication: a name, a Cayley table as a file, an array, nested lists or a
    frame.
    ``source`` of the model says what the weights were read as, and what was done to them. Code in a
    file is never run. Raises InputError, which names every tensor that is missing or does not fit.
    """
    for name, x, least in (("n", n, 2), ("n_heads", n_heads, 1)):
        if x is not None and (not isinstance(x, int | np.integer) or x < least):
            raise InputError(f"{name} = {x!r}: must be a whole number, {least} or more")
    name, sha256, content = type(source).__name__, "", b""
    if isinstance(source, str | Path):
        try:
            content = weights_file(source).read_bytes()
        except OSError as error:
            raise InputError(f"{source}: {error.strerror}") from None
        name, sha256 = Path(source).name, hashlib.sha256(content).hexdigest()
    state, recorded = read(content, str(source)) if sha256 else parts(source, name)
    try:
        tensors = StateDict(arrays(state), recorded, rename)
        module: Any = source if hasattr(source, "forward") else None
        network = model(tensors, recorded, n, n_heads, task, (name, sha256), module)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    stated = tensors.kind not in (LENS, PLAIN) or "cfg" in recorded
    if network.source and not stated and module is None:
        note = f"Its weights were read as {read_as(network)}, which they alone cannot show."
        network.source = replace(network.source, notes=(*network.source.notes, note))
    return network


def names_run(source: object) -> bool:
    """Whether a source is the name of a run, such as n165-s1, and no file."""
    try:
        named = isinstance(source, str | Path) and bool(Run.parse(str(source)))
    except InputError:
        return False
    return named and not Path(str(source)).exists()


def weights_file(path: str | Path) -> Path:
    """Return the path of a file of weights. Raises InputError for a folder, with the files of
    weights in it, and for anything else that is no file."""
    if not Path(path).suffix and not Path(path).exists():
        runs = "strata.runs() (strata runs) lists the runs, such as n154-s3"
        raise InputError(f"{path}: no such file; {runs}")
    if Path(path).is_dir():
        files = sorted(x.name for x in Path(path).iterdir() if x.suffix in SUFFIXES)
        there = f"; there are {shortened(files)}" if files else ""
        raise InputError(f"{path}: is a folder, must be a file of weights{there}")
    return regular_file(path)


def read_as(network: "Transformer | MLP") -> str:
    """Say what network weights were read as."""
    if network.n_heads:
        return "a layer of attention and a ReLU MLP, both added to a residual stream"
    return "a ReLU MLP that reads two embeddings side by side"


def model(
    tensors: StateDict,
    recorded: dict[str, Any],
    n: int | None,
    n_heads: int | None,
    task: Any,
    file: tuple[str, str],
    module: Any,
) -> "Transformer | MLP":
    """Build the model of these tensors, from the name and SHA-256 of a file. Where nothing states
    the number of heads, it is that with which the forward of a module gives the same logits, or
    else that of the candidates whose answers fit an operation best."""
    from strata import store
    from strata.api import algebra, tasks
    from strata.api.model import Source, model_of

    (name, sha256), kind = file, tensors.kind
    d, stated = tensors.d_model, tensors.n_heads or n_heads or stated_heads(recorded)
    guessed = tensors.attends and not stated
    candidates = [x for x in range(1, d + 1) if d % x == 0] if guessed else [stated or 1]
    run = Run.parse(recorded["run"]) if kind == OURS and "run" in recorded else None
    learnt, order, tokens = None, n, len(tensors.values["W_E"]) - tensors.attends
    if run and task is None:
        split = recorded.get("split")
        setting = split.get("task", tasks.WORDS[0]) if isinstance(split, dict) else tasks.WORDS[0]
        if (size := tasks.order_of(setting)) not in (None, tokens):
            raise InputError(f"its task has {size} elements, must be {tokens}: give task= (--task)")
        learnt = store.task_in(name, recorded, run)
    if task is not None:  # n is the modulus; the task may have a part of its residues
        learnt = tasks.task_with(task, n or tokens, tokens)
        order = learnt.order
    models: dict[int, Transformer | MLP] = {}
    for heads in candidates:
        weights = tensors.weights(order, heads)
        source = Source(name, kind, recorded, sha256, tuple(tensors.notes))
        models[heads] = model_of(run, weights, source, learnt)
    if guessed and module is not None:
        from strata.api import outside  # it needs scipy, whose import takes a second

        if heads := outside.heads_of(module, models):
            return models[heads]
    return models[candidates[0]] if len(candidates) == 1 else algebra.choose_heads(models)


def arrays(state: Mapping[str, Any]) -> Arrays:
    """Return the tensors of a state dict in float32, except masks. Raises InputError for a tensor
    that is not plain, such as one without values, or a small one shown as large."""
    import torch

    floats = {}
    for key, x in state.items():
        if isinstance(x, np.ndarray) and x.dtype.kind in "fiu":
            x = torch.from_numpy(x.astype(np.float32))
        if not isinstance(x, torch.Tensor) or x.dtype == torch.bool:
            continue
        name = printable(str(key))
        plain = x.layout == torch.strided and not (x.is_meta or x.is_nested)
        if not plain or not x.dtype.is_floating_point:
            must = "must be of floating point, and dense"
            raise InputError(f"{name} is {x.dtype}, {x.layout}: {must}")
        if x.numel() * x.element_size() > x.untyped_storage().nbytes():
            raise InputError(f"{name} is a view of something smaller")
        try:
            floats[name] = x.detach().cpu().float().resolve_neg().numpy()
        except RuntimeError:  # torch does not convert every type that it stores
            raise InputError(f"{name} is {x.dtype}: cannot be read as float32") from None
    return floats


def read(content: bytes, origin: str) -> tuple[Mapping[str, Any], dict[str, Any]]:
    """Return tensors of a file and what else it records. Raises InputError where it is damaged."""
    from safetensors import SafetensorError
    from safetensors.torch import load as load_safetensors

    if content[8:9] == b"{":
        try:
            length = int.from_bytes(content[:8], "little")
            metadata = json.loads(content[8 : 8 + length]).get("__metadata__", {})
            recorded = dict(json.loads(metadata.get("strata", "{}")))
            return load_safetensors(content), recorded
        except (SafetensorError, KeyError, ValueError, TypeError, AttributeError, RecursionError):
            raise InputError(f"{origin}: not a whole file of safetensors, or damaged") from None
    if content[1:6] == b"NUMPY" or origin.endswith(".csv"):
        how = f"strata.analyse(logits={origin!r}), or --logits {origin}"
        raise InputError(f"{origin}: an array, no weights; if of logits or answers: {how}")
    return parts(load_checkpoint(content, origin), origin)


def load_checkpoint(content: bytes, origin: str) -> dict[str, Any]:
    """Return the dict in a file of ``torch.save``. Raises InputError for anything else."""
    import torch

    try:
        saved = torch.load(opened(content), map_location="cpu", weights_only=True)
    except InputError as error:
        raise InputError(f"{origin}: {error}") from None
    except Exception as error:  # what damage makes torch raise is not a closed list
        if code := re.search(r"GLOBAL ([\w.]+)", str(error)):
            raise InputError(
                f"{origin}: refused: it asks for code, {code[1]}; save a state_dict()"
            ) from None
        raise InputError(f"{origin}: not a whole file of torch.save, or damaged") from None
    if not isinstance(saved, dict):
        raise InputError(f"{origin}: holds a {type(saved).__name__}, must be a dict")
    # The dicts become plain ones, because those of a file may bring attributes along.
    return {k: dict(x) if isinstance(x, dict) else x for k, x in saved.items()}


def parts(source: Any, origin: str) -> tuple[Mapping[str, Any], dict[str, Any]]:
    """Return the tensors of a module or a dict, and what else it has."""
    from torch import Tensor, nn

    if isinstance(source, nn.Module):
        cfg, state = getattr(source, "cfg", None), source.state_dict()
        sizes = {k: x for part in source.modules() for k, x in vars(part).items() if k in HEADS}
        return state, {"config": sizes} if cfg is None else {"cfg": vars(cfg)}
    if not isinstance(source, Mapping):
        raise InputError(f"{origin}: must be a file, a module or a state dict; {ANY_SHAPE}")
    for key in ("model_state_dict", "state_dict", "model"):
        if isinstance(tensors := source.get(key), Mapping):
            for name, x in tensors.items():
                if not isinstance(x, Tensor | np.ndarray):
                    problem = f"{printable(str(name))} is a {type(x).__name__}"
                    raise InputError(f"{origin}: {problem}, must be a tensor")
            return tensors, {str(k): x for k, x in source.items() if k != key}
    return source, {}


def stated_heads(recorded: Mapping[str, Any]) -> int | None:
    """Return how many heads a file says that its model has; None where it does not say."""
    for part in ("cfg", "config", "train"):
        for key in HEADS:
            section = recorded.get(part)
            if isinstance(section, Mapping) and isinstance(section.get(key), int):
                return section[key]
    return None
