"""What subnormal numbers cost in training, and how rarely taking them as 0 changes a bit.

Trains runs once more on this machine as their records say, but with subnormal numbers taken as 0,
and compares every epoch with the recorded history. Now and then, from the same state, it goes on in
both ways and compares all that the training holds. Adds to subnormals.json and writes
subnormals.md, which docs/operating.md shows. Arguments are runs, each with the epoch to end at:
n165-s2=2500.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from ops import trainings
from ops.trainings import dealt
from strata import store
from strata.params import load
from strata.run import Run, SplitParams, TrainParams
from strata.train import environment, gradients, machine
from strata.train.trainer import Trainer

HERE, TRAINED = Path(__file__).parent, Path("data/train")
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


def looked(trainer: Trainer) -> list[Any]:
    """One row of the table, and the training where it was."""
    before = trainer.state()
    row: list[Any] = [trainer.epoch, share(trainer)]
    slow, one = on(trainer, False)
    trainer.resume(before)
    fast, two = on(trainer, True)
    trainer.resume(before)
    return [*row, slow, fast, all(one[x].tobytes() == two[x].tobytes() for x in one)]


def measured(run: Run, split: SplitParams, train: TrainParams, end: int) -> dict[str, Any]:
    """What is found of one run up to an epoch."""
    folder = TRAINED / str(run)
    made = environment.read(folder / "environment.json")
    device = trainings.as_recorded(made.model_copy(update={"flushes": True}))
    here = machine.describe(device)
    longer = train.model_copy(update={"epochs": train.epochs + EPOCHS})  # to go on at the end too
    trainer = Trainer(run, longer, dealt(run, split), device)
    shipped, rows = store.read_history(folder / "history.parquet"), []
    for look in (*(x for x in LOOKS if x < end), end):
        trainer.advance(look)
        again = pd.DataFrame(trainer.history())
        parted = trainings.differs(shipped.head(look), again)
        rows.append([*looked(trainer), parted])
        print(run, *rows[-1], flush=True)
    return {"here": here.words(), "rows": rows}


def table(found: dict[str, dict[str, Any]]) -> str:
    """All measurements as Markdown."""
    head = ["run", "processor", "epoch", "subnormal", "ms an epoch", "taken as 0", "same bytes"]
    lines = [[*head, "history parts at"], ["---"] * 2 + ["---:"] * 4 + ["---", "---:"]]
    for run, own in sorted(found.items()):
        for epoch, part, slow, fast, same, other in own["rows"]:
            cells = [run, own["here"], f"{epoch:,}", f"{part:.1%}", f"{slow:.0f}", f"{fast:.0f}"]
            lines.append([*cells, "yes" if same else "no", f"{other:,}" if other else "—"])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main() -> None:
    params = load("params.yaml")
    path = HERE / "subnormals.json"
    found = json.loads(path.read_text("utf-8")) if path.exists() else {}
    for argument in sys.argv[1:]:
        name, _, end = argument.partition("=")
        run = Run.parse(name)
        settings = params.settings(run)
        found[name] = measured(run, settings.split, settings.train, int(end))
        path.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", "utf-8")
        (HERE / "subnormals.md").write_text(table(found), "utf-8")


if __name__ == "__main__":
    main()
