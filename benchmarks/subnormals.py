"""What subnormal numbers cost in training, and how rarely taking them as 0 changes a bit.

Trains runs once more on this machine as their records say, but with subnormal numbers taken as 0,
and compares every epoch with the recorded history. Now and then, from the same state, it goes on in
both ways and compares all that the training holds. Adds rows to subnormals.md, which
docs/operating.md shows. Arguments are runs, each with the epoch to end at: n165-s2=2500.
"""

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from ops import trainings
from strata import store
from strata.params import load
from strata.run import Run, command
from strata.train import environment, gradients, machine
from strata.train.trainer import Trainer

TRAINED = Path("data/train")
EPOCHS, LOOKS = 20, (100, 500, 1000, 2500, 5000, 10_000, 15_000, 20_000)


def on(trainer: Trainer, flush: bool) -> tuple[float, dict[str, np.ndarray]]:
    """Milliseconds of processor time an epoch over the next epochs, and the state after them."""
    torch.set_flush_denormal(flush)
    began = time.process_time()
    trainer.advance(trainer.epoch + EPOCHS)
    spent = time.process_time() - began
    torch.set_flush_denormal(True)
    return spent * 1000 / EPOCHS, trainer.state()


@torch.no_grad()
def share(trainer: Trainer) -> float:
    """The share of the logits' gradients that are subnormal."""
    torch.set_flush_denormal(False)
    trainer.network.begin()
    found = []
    for rows in trainer.batches:
        logits = trainer.network.forward(rows.a, rows.b)
        small = gradients.loss_gradient(logits, rows)[1].abs()
        found.append(((small > 0) & (small < torch.finfo(small.dtype).tiny)).float().mean())
    torch.set_flush_denormal(True)
    return float(torch.stack(found).mean())


def looked(trainer: Trainer) -> list[str]:
    """Cells of one row of the table; the training stays where it was."""
    before = trainer.state()
    cells = [f"{trainer.epoch:,}", f"{share(trainer):.1%}"]
    slow, one = on(trainer, False)
    trainer.resume(before)
    fast, two = on(trainer, True)
    trainer.resume(before)
    same = all(one[x].tobytes() == two[x].tobytes() for x in one)
    return [*cells, f"{slow:.0f}", f"{fast:.0f}", "yes" if same else "no"]


def measured(run: Run, end: int) -> Iterator[str]:
    """Rows of the table: what is found of a run up to an epoch."""
    settings, folder = load("params.yaml").settings(run), TRAINED / str(run)
    made = environment.read(folder / "environment.json")
    device = trainings.as_recorded(made.model_copy(update={"flushes": True}))
    here, train = machine.describe(device).words(), settings.train
    longer = train.model_copy(update={"epochs": train.epochs + EPOCHS})  # to go on at the end too
    trainer = Trainer(run, longer, trainings.dealt(run, settings.split), device)
    shipped = store.read_history(folder / "history.parquet")
    for look in (*(x for x in LOOKS if x < end), end):
        trainer.advance(look)
        parted = trainings.differs(shipped.head(look), pd.DataFrame(trainer.history()))
        cells = [str(run), here, *looked(trainer), f"{parted:,}" if parted else "—"]
        yield f"| {' | '.join(cells)} |"


def main(*asked: str) -> None:
    for name, _, end in (argument.partition("=") for argument in asked):
        for row in measured(Run.parse(name), int(end)):
            print(row, flush=True)
            with Path("benchmarks/subnormals.md").open("a", encoding="utf-8") as table:
                table.write(f"{row}\n")


if __name__ == "__main__":
    command(main)
