"""Does the variant quick generalise? Trained for some small moduli; writes benchmarks/quick.md.

python benchmarks/quick.py [MODULUS …]
"""

import time
from pathlib import Path

import torch
from tabulate import tabulate

from ops.trainings import dealt
from strata.params import load
from strata.run import Run, command
from strata.train.trainer import Trainer

MODULI = ("12", "13", "16", "19", "25", "30", "35", "47", "53", "60")
COLUMNS = ["n", "validation pairs", "right", "without mirror", "right", "epochs", "CPU seconds"]


def row(run: Run) -> list[object]:
    """What a run of the variant reaches, and the time that its training takes on one core."""
    settings = load("params.yaml").settings(run)
    began = time.process_time()
    split = dealt(run, settings.split)
    training = Trainer(run, settings.train, split, early=settings.early)
    training.advance(settings.train.epochs)
    took = time.process_time() - began
    validation, free = training.accuracy()
    pairs, alone = len(training.mirror_free), int(training.mirror_free.sum())
    return [run.n, pairs, f"{validation:.3f}", alone, f"{free:.3f}", training.epoch, f"{took:.0f}"]


def main(*moduli: str) -> None:
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    rows = [row(Run(int(n), 1, "quick")) for n in moduli or MODULI]
    text = tabulate(rows, COLUMNS, tablefmt="github", disable_numparse=True)
    Path("benchmarks/quick.md").write_text(f"{text}\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    command(main)
