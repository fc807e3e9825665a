"""Train the first epochs of a run again, and compare them with the history that was recorded.

``python -m ops.trainings RUN FOLDER``, at the top, with the folder of the run's weights, prints how
near the two are. Exit code 1 where they differ by more than they may.

Where all that decides bits is the same, the bytes must be. Elsewhere sums have another order, and
training amplifies the rounding, so that losses must be near (docs/verification.md).
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from strata import store, task
from strata.inputs import InputError
from strata.params import load
from strata.run import Run, SplitParams, command
from strata.train import environment, machine
from strata.train.environment import Environment
from strata.train.trainer import Trainer

EPOCHS = 30
NEAR = 5e-4  # of a loss: rounding sets two trainings a third of that apart, another seed more


def deal_pairs(run: Run, split: SplitParams) -> np.ndarray:
    """Return the split of a run, drawn again from its seed."""
    order = task.parse_task(split.task, run.n).order
    return task.split(order, run.seed, split.train_fraction, split.validation_fraction)


def use_recorded_machine(recorded: Environment) -> torch.device:
    """Make torch work as the record says, as far as this machine can: without its GPU by one
    thread, as no bytes can be the same."""
    lacks_gpu = recorded.device == "cuda" and not torch.cuda.is_available()
    os.environ["STRATA_THREADS"] = "1" if lacks_gpu else str(recorded.threads)
    os.environ["STRATA_DEVICE"] = "auto" if recorded.device == "cuda" else "cpu"
    return machine.prepare(recorded.flushes)


def compare_first_epochs(run: Run, folder: Path) -> str:
    """Train the first epochs of a run again as its record says. Returns how near they are to its
    history; raises InputError where that differs by more than it may."""
    settings = load("params.yaml").settings(run)
    _, config = store.read_tensors(folder / "weights.safetensors")
    if config != settings.record(run):
        raise InputError(f"{folder}: its weights were trained with other settings")
    recorded = environment.read(folder / "environment.json")
    device = use_recorded_machine(recorded)
    split = deal_pairs(run, settings.split)
    trainer = Trainer(run, settings.train, split, device, settings.task(run))
    trainer.advance(EPOCHS)
    shipped = store.read_history(folder / "history.parquet").iloc[:EPOCHS]
    again = pd.DataFrame(trainer.history()).iloc[: len(shipped)]
    differing = shipped.compare(again).index
    if differing.empty:
        return f"its first {len(shipped)} epochs are the same bytes"
    if recorded.repeats(machine.describe(device)):
        raise InputError(f"its history has other bytes from epoch {differing[0] + 1} on")
    near = np.isclose(shipped["loss"], again["loss"], NEAR, 0, equal_nan=True)
    if not near.all():
        epoch = int(np.argmin(near)) + 1
        losses = f"loss {shipped['loss'][epoch - 1]:.6f}, here {again['loss'][epoch - 1]:.6f}"
        raise InputError(f"at epoch {epoch}: {losses}, may differ by {NEAR:g} of it")
    return f"its first {len(shipped)} epochs are as near as rounding allows"


def main(name: str, folder: str) -> None:
    print(compare_first_epochs(Run.parse(name), Path(folder)))


if __name__ == "__main__":
    command(main)
