"""Integrity checks: objects against their md5, dvc.lock against itself, a run's weights against the
end of its history.

Each check gives outcomes for a report; none raises for what it finds.
"""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ops import provenance
from strata import store, task
from strata.measure.activations import answers, blocks
from strata.run import InputError, Run, Settings, SplitParams, TrainParams

ACCURACY = 2e-3  # share of the validation pairs that rounding may decide otherwise


class Outcome(NamedTuple):
    """One line of the report; ``passed`` is None for what could not be checked."""

    what: str
    passed: bool | None
    note: str


class Out(NamedTuple):
    """An output that dvc.lock names: a file, or a folder where its md5 ends with .dir."""

    stage: str
    path: str
    md5: str


def outs(stages: dict[str, Any]) -> dict[str, Out]:
    """The outputs of the stages in dvc.lock, by path. InputError where one leaves the project, or
    has no md5."""
    found = [(name, x) for name, stage in stages.items() for x in stage.get("outs", ())]
    for name, out in found:
        if not isinstance(out.get("md5"), str):
            raise InputError(f"dvc.lock: {name}: {out.get('path')}: must have an md5")
    return {x["path"]: Out(name, inside(x["path"]), x["md5"]) for name, x in found}


def made(outs: dict[str, Out], path: str) -> list[Out]:
    """The outputs that a path is, lies in, or holds; none for what git tracks."""
    return [
        out
        for name, out in outs.items()
        if name == path or name.startswith(f"{path}/") or path.startswith(f"{name}/")
    ]


def inside(path: str) -> str:
    """The path. Raises InputError where it leads out of the folder that it is meant for."""
    if Path(path).is_absolute() or ".." in Path(path).parts:
        raise InputError(f"dvc.lock: {path}: must lie inside the project")
    return path


def at(remote: Path, md5: str) -> Path:
    """Where a remote keeps an object. Raises InputError for what is no md5, such as a path."""
    if not re.fullmatch(r"[0-9a-f]{32}(\.dir)?", md5):
        raise InputError(f"dvc.lock: {md5}: must be an md5")
    return remote / "files" / "md5" / md5[:2] / md5[2:]


def objects(remote: Path) -> dict[str, bool]:
    """Every object of a remote, and whether its content is the one that its name says."""
    found = {}
    for path in sorted((remote / "files" / "md5").glob("*/*")):
        name = path.parent.name + path.name
        found[name] = provenance.md5(path) == name.removesuffix(".dir")
    return found


def files(remote: Path, out: Out) -> Iterator[Out]:
    """The files of an output: itself, or those that a folder's object lists."""
    if not out.md5.endswith(".dir"):
        yield out
        return
    for entry in json.loads(at(remote, out.md5).read_bytes()):
        yield Out(out.stage, f"{out.path}/{inside(entry['relpath'])}", entry["md5"])


def contradictions(stages: dict[str, Any], within: Iterable[Out] = ()) -> list[str]:
    """Where dvc.lock contradicts itself: a stage read other bytes than another one wrote, as an
    output or as one of the files inside an output."""
    made = {path: out.md5 for path, out in outs(stages).items()} | {x.path: x.md5 for x in within}
    return [
        f"{name} read another {dep['path']}"
        for name, stage in stages.items()
        for dep in stage.get("deps", ())
        if made.get(dep["path"], dep["md5"]) != dep["md5"]
    ]


def ending(folder: Path, table: Path, run: Run, split: SplitParams, train: TrainParams) -> Outcome:
    """A run's split is that of its seed; its history has all its epochs, ends with the accuracy
    that its weights have, and is thinned for the plots as it stands."""
    what = f"{run}: split, weights, thinned history, against seed and history"
    try:
        pairs = store.read_split(table, run.n)
        history = store.read_history(folder / "history.parquet")
        weights = store.read_weights(folder / "weights.safetensors", run)
        _, config = store.read_tensors(folder / "weights.safetensors")
        thinned = store.read_bytes(folder / "history.csv")
    except InputError as fault:
        return Outcome(what, False, str(fault))
    if not all(np.array_equal(pairs[name], x) for name, x in columns(run, split).items()):
        return Outcome(what, False, f"{table.name}: is not the split of seed {run.seed}")
    if config != Settings(split=split, train=train).record(run):
        return Outcome(what, False, "trained with other parameters than params.yaml has")
    if thinned != _thinned(history):
        return Outcome(what, False, "history.csv is not its history, thinned")
    if not len(history) or not np.isfinite(history["loss"].iloc[-1]):
        return Outcome(what, True, f"ended at epoch {len(history)}: its loss was not finite")
    if len(history) != train.epochs:
        return Outcome(what, False, f"{len(history)} epochs, must be {train.epochs}")
    found = float(right(weights, run.n)[dealt(run, split) == task.VALIDATION].mean())
    recorded = float(history["validation_accuracy"].iloc[-1])
    passed = bool(abs(found - recorded) <= ACCURACY)
    return Outcome(what, passed, f"validation accuracy {found:.4f}, recorded {recorded:.4f}")


def columns(run: Run, split: SplitParams) -> store.Arrays:
    """The table of a run's pairs and their split, made anew."""
    own = dealt(run, split)
    mirrored = task.mirrored(own, run.n)
    return task.pair_table(run.n) | {"split": own, "mirror_in_train": mirrored}


def dealt(run: Run, split: SplitParams) -> np.ndarray:
    """The split of a run, made anew."""
    return task.split(run.n, run.seed, split.train_fraction, split.validation_fraction)


def _thinned(history: pd.DataFrame) -> bytes:
    """history.csv as train writes it."""
    with TemporaryDirectory() as scratch:
        path = Path(scratch, "history.csv")
        store.write_thinned(path, {name: history[name].to_numpy() for name in history})
        return path.read_bytes()


def right(weights: store.Arrays, n: int) -> np.ndarray:
    """Whether each of the n² products comes out right."""
    passes = blocks(weights, n)
    return np.concatenate([answers(x.logits) == a * b % n for a, b, x in passes])
