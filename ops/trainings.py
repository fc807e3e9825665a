"""What shows that a training was this one without training it again: its split, its weights against
the end of its history, and its first epochs, trained once more.

Where all that decides bits is the same, so must be the first epochs' bytes. Elsewhere sums have
another order, and training amplifies the rounding: the two losses part. How far is counted in
epochs: the difference over the mean change from one epoch to the next, in the training made here.
A history that was moved by one epoch is one epoch apart. Measurements: docs/verification.md.
"""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float

from strata import store, task
from strata.inputs import InputError
from strata.params import load
from strata.patch import patching
from strata.run import Run, Settings, SplitParams, TrainParams
from strata.task import Task
from strata.train import environment, machine
from strata.train.environment import Environment
from strata.train.loop import EPOCHS_AT_A_TIME
from strata.train.trainer import Trainer, settled

FIRST = 5  # epochs that show whose training it is: the seed, its split, its settings
EPOCHS = 40  # from some fifty on, rounding alone may set two trainings a tenth of an epoch apart
DIVERGES = 60  # a run that says that it diverged up to here is trained to there
# How many epochs apart two histories may be, up to an epoch: six to ten times what was measured.
LIMITS = ((20, 0.02), (EPOCHS, 0.1))
AROUND = 10  # epochs over which the rate of change is a mean
# Of the last row and the weights. The row has the loss and the training accuracy before the last
# step: over 141 runs they are at most 1.16 and 0.0005 apart, and the other accuracies are equal. Of
# one more, which ends where its loss begins to leap up, eightfold and then 47-fold in a step, they
# are further apart: after a step that multiplies the loss the next may by the square of that.
LOSS, ROUNDING = 1.25, 5e-8  # the one over the other; of float32 in the loss
TRAINED, VALIDATED = 0.01, 5e-4  # shares of the pairs


def faults(folder: Path, table: Path, run: Run, project: Path) -> str:
    """What a run's split, weights and history have that the run of these settings has not; empty
    where there is nothing."""
    settings = load(project / "params.yaml").settings(run)
    of = settings.task(run)
    try:
        pairs = store.read_split(table, of)
        history = store.read_history(folder / "history.parquet")
        weights = store.read_weights(folder / "weights.safetensors", run)
        _, config = store.read_tensors(folder / "weights.safetensors")
        thinned = store.read_bytes(folder / "history.csv")
        made = environment.read(folder / "environment.json")
    except InputError as fault:
        return str(fault)
    split = dealt(run, settings.split)
    own = task.pair_table(of) | {"split": split, "mirror_in_train": task.mirrored(split, of.order)}
    if not all(np.array_equal(pairs[name], x) for name, x in own.items()):
        return f"its split is not that of seed {run.seed}"
    if config != settings.record(run):
        return "its weights were trained with other settings"
    if thinned != _thinned(history):
        return "history.csv is not its history, thinned"
    locked = made.torch.partition("+")[0] == torch.__version__.partition("+")[0]
    if not locked and made.device == "cpu":  # a GPU's torch may be another, held to all else
        return f"environment.json: trained with torch {made.torch}, here is {torch.__version__}"
    validation = split == task.VALIDATION
    free = validation & ~task.mirrored(split, of.order)
    asked = (split == task.TRAIN, validation, free)
    counted = dict(zip(store.HISTORY.names[2:], asked, strict=True))
    end, epochs, every = store.diverged(history), len(history), settings.train.validate_every
    seen = history["validation_accuracy"].to_numpy()
    ends = (k for k in range(every, epochs + 1, every) if settled(seen[:k], every, settings.early))
    must = end or next(ends, settings.train.epochs)
    if epochs - end >= EPOCHS_AT_A_TIME if end else epochs != must:
        return f"its history has {epochs} epochs, must have {must}"
    return _impossible(history, settings.train, counted) or _end(history, weights, of, counted)


def _impossible(history: pd.DataFrame, train: TrainParams, counted: store.Arrays) -> str:
    """What no training with these settings writes into a history; each accuracy is counted over
    these pairs."""
    epoch = history["epoch"].to_numpy()
    due = (epoch % train.validate_every == 0) | (epoch == train.epochs)
    for name, rows in counted.items():
        found, pairs = history[name].to_numpy(), int(rows.sum())
        there = (due | (name == "train_accuracy")) & (pairs > 0)
        if (other := np.isfinite(found) != there).any():
            at = f"at epoch {epoch[other][0]}"
            return f"its history has {name} where none is measured, or lacks it, {at}"
        right = found[there] * pairs
        if (other := np.abs(right - np.rint(right)) > 1e-6).any():
            return f"its {name} at epoch {epoch[there][other][0]} is no share of {pairs} pairs"
    return ""


def _end(history: pd.DataFrame, weights: store.Arrays, task: Task, counted: store.Arrays) -> str:
    """What sets the end of a history apart from the weights."""
    with np.errstate(invalid="ignore"):  # of weights that diverged
        rig = patching.rig(weights, task)
    row = rig.row.ravel()
    loss, right = rig.base.loss[row], (rig.base.answer == rig.label)[row]
    computed, last = float(loss[counted["train_accuracy"]].mean()), history.iloc[-1]
    if not np.isfinite(computed) and not np.isfinite(last["loss"]):
        return ""  # it says that it diverged: ``end`` tells whether that is shown
    before, end = (history["loss"].to_numpy()[-2:][[0, -1]] + ROUNDING).tolist()
    ratio = (computed + ROUNDING) / end
    if not 1 / LOSS <= ratio <= max(LOSS, (end / before) ** 2):  # nor where one is NaN
        return f"its weights have loss {computed:.3g}, its history ends with {last['loss']:.3g}"
    for name, rows in counted.items():
        share = float(right[rows].mean()) if rows.any() else np.nan
        limit = TRAINED if name == "train_accuracy" else VALIDATED
        if not np.isclose(share, last[name], 0, limit, equal_nan=True):
            return f"its weights have {name} {share:.4f}, its history ends with {last[name]:.4f}"
    return ""


def dealt(run: Run, split: SplitParams) -> np.ndarray:
    """The split of a run, made anew."""
    order = task.named(split.task, run.n).order
    return task.split(order, run.seed, split.train_fraction, split.validation_fraction)


def _thinned(history: pd.DataFrame) -> bytes:
    """history.csv as train writes it."""
    with TemporaryDirectory() as scratch:
        path = Path(scratch, "history.csv")
        store.write_thinned(path, {name: history[name].to_numpy() for name in history})
        return path.read_bytes()


def begun(folder: Path, run: Run, project: Path, epochs: int) -> tuple[str, str]:
    """The first epochs of a run, trained again: what is wrong with those of its history, and how
    near they are. Call it in a process of its own, as it sets how torch works."""
    settings = load(project / "params.yaml").settings(run)
    made = environment.read(folder / "environment.json")
    shipped = store.read_history(folder / "history.parquet")
    end = store.diverged(shipped)
    epochs = max(epochs, end) if end <= DIVERGES else epochs
    shipped = shipped.iloc[:epochs]
    device = as_recorded(made)
    exact = made.repeats(machine.describe(device))
    trained = epochs if exact else epochs + AROUND // 2
    again = repeat(run, settings, trained, device)
    first = again.iloc[: len(shipped)]
    if shipped.equals(first):
        return "", f"first {epochs} epochs the same bytes"
    if exact:
        return f"its history has other bytes from epoch {differs(shipped, first)} on", ""
    if end and end <= DIVERGES and not store.diverged(again):
        return f"it diverged at epoch {end}, a training here does not up to {trained}", ""
    near = f"first {min(epochs, EPOCHS)} epochs as near as rounding allows"
    return parting(shipped.iloc[:EPOCHS], again), near


def divergence(folder: Path, run: Run) -> tuple[int, bool]:
    """The epoch at which a run says that it diverged, 0 for none; whether that is shown, by a
    training to there or by weights of which none is finite."""
    end = store.diverged(store.read_history(folder / "history.parquet"))
    weights = store.read_weights(folder / "weights.safetensors", run)
    return end, end <= DIVERGES or not any(np.isfinite(x).any() for x in weights.values())


def as_recorded(made: Environment) -> torch.device:
    """Make torch work as the record says, as far as this machine can: without its GPU by one
    thread, as no bytes can be the same."""
    gone = made.device == "cuda" and not torch.cuda.is_available()
    os.environ["STRATA_THREADS"] = "1" if gone else str(made.threads)
    os.environ["STRATA_DEVICE"] = "auto" if made.device == "cuda" else "cpu"
    return machine.prepare(made.flushes)


def repeat(run: Run, settings: Settings, epochs: int, device: torch.device) -> pd.DataFrame:
    """A run's history up to that many epochs, trained here."""
    split = dealt(run, settings.split)
    trainer = Trainer(run, settings.train, split, device, settings.task(run))
    trainer.advance(epochs)
    return pd.DataFrame(trainer.history())


def differs(one: pd.DataFrame, two: pd.DataFrame) -> int | None:
    """The first epoch, from 1, at which two histories of one length differ, if there is one."""
    same = ((one == two) | (one.isna() & two.isna())).all(axis=1).to_numpy()
    return None if same.all() else int(np.argmin(same)) + 1


def apart(shipped: pd.DataFrame, again: pd.DataFrame) -> Float[np.ndarray, " epochs"]:
    """By how many epochs a recorded history's losses are apart from those of a longer training
    here, at each of its epochs. 0 where both are not finite, infinite where one of them is."""
    one, two = (x["loss"].to_numpy(float) for x in (shipped, again))
    one = one[: len(two)]
    change = pd.Series(np.abs(np.diff(two, append=two[-1:]))).replace(0, np.nan).ffill()
    rate = np.asarray(change.rolling(AROUND, center=True, min_periods=1).mean())[: len(one)]
    two = two[: len(one)]
    found = np.abs(one - two) / np.fmax(rate, np.finfo(np.float32).eps)
    finite = np.isfinite(one), np.isfinite(two)
    return np.where(finite[0] & finite[1], found, np.where(finite[0] == finite[1], 0, np.inf))


def parting(shipped: pd.DataFrame, again: pd.DataFrame) -> str:
    """Where two histories part by more than rounding can; empty where they do not."""
    found = apart(shipped, again)
    limit = np.array([next(x for end, x in LIMITS if i < end) for i in range(len(found))])
    if (found > limit).any():
        i = int(np.argmax(found > limit))
        losses = f"loss {shipped['loss'].iloc[i]:.6f}, here {again['loss'].iloc[i]:.6f}"
        return f"at epoch {i + 1}: {losses}, {found[i]:.2g} epochs apart, at most {limit[i]:g}"
    for name in (x for x in shipped if x.endswith("accuracy")):
        one, two = shipped[name].to_numpy(float), again[name].to_numpy(float)[: len(shipped)]
        other = ~np.isclose(one, two, 0, TRAINED, equal_nan=True)
        if other.any():
            i = int(np.argmax(other))
            return f"at epoch {i + 1}: {name} {one[i]:.4f}, here {two[i]:.4f}"
    return ""
