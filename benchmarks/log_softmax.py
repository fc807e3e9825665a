"""Does a float64 log-softmax change whether or when the headline run generalises?

Trains it for 9,000 epochs with the cross-entropy in double precision, everything else as it is, and
sets it beside the recorded run. Writes benchmarks/log_softmax.md. Takes 7 minutes on two cores.
"""

from pathlib import Path

import pandas as pd
from torch import Tensor

from strata import store
from strata.measure import accuracy
from strata.params import load
from strata.run import Run
from strata.train import gradients, machine
from strata.train.gradients import Batch
from strata.train.trainer import Trainer

EPOCHS = 9000
float32_gradient = gradients.loss_gradient


def float64_gradient(logits: Tensor, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
    """gradients.loss_gradient, computed in double precision and rounded at the end."""
    wide = Batch(batch.a, batch.b, batch.c, batch.weight.double())
    loss, d_logits, correct = float32_gradient(logits.double(), wide)
    return loss, d_logits.to(logits.dtype), correct


def row(name: str, history: pd.DataFrame, level: float) -> str:
    """One line of the table: when it generalised, and what the training loss did."""
    epochs = accuracy.staying_epochs(history, level)
    first = epochs.validation or EPOCHS
    spikes = int((history["loss"].to_numpy()[first:] > 0.01).sum())
    return f"| {name} | {epochs.validation} | {epochs.mirror_free} | {spikes} |"


def main() -> None:
    params = load("params.yaml")
    run, level = Run(params.n, params.seed), params.metrics.accuracy
    device = machine.prepare()
    gradients.loss_gradient = float64_gradient
    split = store.read_split(f"data/split/{run}.parquet", run.n)["split"]
    trainer = Trainer(run, params.train, split, device)
    trainer.advance(EPOCHS)
    recorded = store.read_history(f"data/train/{run}/history.parquet").head(EPOCHS)
    lines = [
        "| log-softmax | validation ≥ 99 % from | mirror-free | epochs after it with loss > 0.01 |",
        "|:--|--:|--:|--:|",
        row("float32", recorded, level),
        row("float64", pd.DataFrame(trainer.history()), level),
    ]
    facts = machine.describe(device)
    lines += ["", f"{run}, first {EPOCHS:,} epochs; {facts.processor}, torch {facts.torch}."]
    Path("benchmarks/log_softmax.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
