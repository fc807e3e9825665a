"""What can be held against what: objects against their md5, dvc.lock against itself, a run's first
epochs against a training that starts anew, its weights against the end of its history.

Each check gives outcomes for a report; none raises for what it finds.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from strata import machine, provenance, store, task
from strata.activations import answers, blocks
from strata.run import InputError, Run, SplitParams, TrainParams
from strata.training import Trainer

EPOCHS = 100
# How far losses may part up to an epoch on another machine: rounding sets two trainings apart.
NEAR = ((5, 2e-5), (50, 1e-2), (EPOCHS, 5e-2))
ACCURACY = 2e-3  # share of the validation pairs that rounding may decide otherwise
# What the bytes of an analysis may depend on; those of a training depend on more.
PLATFORM = ("platform", "processor", "python", "torch")


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


def inside(path: str) -> str:
    """The path. Raises InputError where it leads out of the folder that it is meant for."""
    if Path(path).is_absolute() or ".." in Path(path).parts:
        raise InputError(f"dvc.lock: {path}: must lie inside the project")
    return path


def at(remote: Path, md5: str) -> Path:
    """Where a remote keeps an object."""
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


def contradictions(stages: dict[str, Any]) -> list[str]:
    """Where dvc.lock contradicts itself: a stage read other bytes than another one wrote."""
    made = outs(stages)
    return [
        f"{name} read another {dep['path']}"
        for name, stage in stages.items()
        for dep in stage.get("deps", ())
        if dep["path"] in made and made[dep["path"]].md5 != dep["md5"]
    ]


def alike(environment: dict[str, Any], here: dict[str, Any], *also: str) -> bool:
    """Whether bytes made in that environment must come out the same here."""
    return all(environment.get(key) == here.get(key) for key in (*PLATFORM, *also))


def as_made(environment: dict[str, Any]) -> dict[str, Any]:
    """Make torch work as the environment says, as far as this machine can; what it is then."""
    if not isinstance(environment.get("threads"), int):
        raise InputError("environment.json: threads must be an integer")
    os.environ["STRATA_THREADS"] = str(environment["threads"])
    os.environ["STRATA_DEVICE"] = "auto" if environment.get("device") == "cuda" else "cpu"
    return machine.describe(machine.prepare())


def retrained(folder: Path, run: Run, split: SplitParams, train: TrainParams) -> Outcome:
    """The first epochs of a run, trained again here, against those of its history."""
    what = f"{run}: first {EPOCHS} epochs, trained again"
    try:
        shipped = store.read_history(folder / "history.parquet")
        environment = store.read_json(folder / "environment.json")
        here = as_made(environment)
        trainer = Trainer(run, train, dealt(run, split), here["device"])
    except InputError as fault:
        return Outcome(what, False, str(fault))
    trainer.advance(EPOCHS)
    again = pd.DataFrame(trainer.history())
    first = shipped.iloc[: len(again)]
    if first.equals(again):
        return Outcome(what, True, "the same bytes")
    if len(first) < len(again):
        return Outcome(what, False, f"its history ends at epoch {len(first)}")
    apart = parting(first, again, exact=alike(environment, here, "device", "threads"))
    return Outcome(what, not apart, apart or "within the tolerance of another machine")


def parting(shipped: pd.DataFrame, again: pd.DataFrame, exact: bool) -> str:
    """Where two histories part by more than they may; empty where they don't."""
    if exact:
        same = ((shipped == again) | (shipped.isna() & again.isna())).all(axis=1).to_numpy()
        return f"other than on this same platform from epoch {np.argmin(same) + 1} on"
    one, two = (x["loss"].to_numpy(float) for x in (shipped, again))
    limit = np.array([next(x for end, x in NEAR if epoch <= end) for epoch in again["epoch"]])
    far = ~np.isclose(one, two, rtol=0, atol=limit * np.fmax(1, abs(one)), equal_nan=True)
    i = int(np.argmax(far))
    return f"loss {one[i]:.5f} at epoch {i + 1}, here {two[i]:.5f}" if far.any() else ""


def ending(folder: Path, run: Run, split: SplitParams, train: TrainParams) -> Outcome:
    """A run's history has all its epochs and ends with the accuracy that its weights have."""
    what = f"{run}: its weights, against the end of its history"
    try:
        history = store.read_history(folder / "history.parquet")
        weights = store.read_weights(folder / "weights.safetensors", run)
        _, config = store.read_tensors(folder / "weights.safetensors")
    except InputError as fault:
        return Outcome(what, False, str(fault))
    if config != {"run": str(run), "split": split.model_dump(), "train": train.model_dump()}:
        return Outcome(what, False, "trained with other parameters than params.yaml has")
    if not len(history) or not np.isfinite(history["loss"].iloc[-1]):
        return Outcome(what, True, f"ended at epoch {len(history)}: its loss was not finite")
    if len(history) != train.epochs:
        return Outcome(what, False, f"{len(history)} epochs, must be {train.epochs}")
    found = float(right(weights, run.n)[dealt(run, split) == task.VALIDATION].mean())
    recorded = float(history["validation_accuracy"].iloc[-1])
    passed = bool(abs(found - recorded) <= ACCURACY)
    return Outcome(what, passed, f"validation accuracy {found:.4f}, recorded {recorded:.4f}")


def dealt(run: Run, split: SplitParams) -> np.ndarray:
    """The split of a run, made anew."""
    return task.split(run.n, run.seed, split.train_fraction, split.validation_fraction)


def right(weights: store.Arrays, n: int) -> np.ndarray:
    """Whether each of the n² products comes out right."""
    passes = blocks(weights, n)
    return np.concatenate([answers(x.logits) == a * b % n for a, b, x in passes])
