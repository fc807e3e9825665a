"""What two threads cost and bring a training, by the matrix products of its epochs: from how many
on a training takes all cores (strata.train.environment.SMALL). Writes benchmarks/threads.md.
"""

import os
import statistics
import time
from pathlib import Path

import torch
from tabulate import tabulate

from ops.trainings import dealt
from strata.params import load
from strata.run import Run, command
from strata.train import machine
from strata.train.environment import gflop
from strata.train.trainer import Trainer

RUNS = ("quick-n12-s1", "quick-n35-s1", "quick-n60-s1", "z2-n105-s1", "n113-s1", "n165-s1")
ROUNDS, EPOCHS = 3, 5  # of a measurement


def row(name: str) -> list[object]:
    """The products of a run's epoch; CPU and wall milliseconds of it with one thread and two."""
    run = Run.parse(name)
    settings = load("params.yaml").settings(run)
    of = settings.task(run)
    products = gflop(of.order, settings)
    training = Trainer(run, settings.train, dealt(run, settings.split), task=of)
    found: dict[int, list[tuple[float, ...]]] = {1: [], 2: []}
    for _ in range(ROUNDS):
        for threads, took in found.items():
            torch.set_num_threads(threads)
            training.advance(training.epoch + 1)
            began = time.process_time(), time.perf_counter()
            training.advance(training.epoch + EPOCHS)
            ended = time.process_time(), time.perf_counter()
            took.append(tuple((y - x) / EPOCHS * 1e3 for x, y in zip(began, ended, strict=True)))
    times = [statistics.median(x) for took in found.values() for x in zip(*took, strict=True)]
    return [name, f"{products:.2g}", *(f"{x:,.0f}" for x in times)]


def main() -> None:
    here = machine.describe(machine.prepare())
    busy = os.getloadavg()[0] / here.cores
    head = ["an epoch of", "Gflop", *(f"{x}, {n}" for n in (1, 2) for x in ("CPU ms", "ms"))]
    text = (
        f"Measured on {here.vendor}, {here.capability}, {here.cores} cores, with {busy:.1f} other"
        " processes at work a core; with one thread and with two.\n\n"
        + tabulate([row(x) for x in RUNS], head, "pipe", disable_numparse=True)
    )
    Path("benchmarks/threads.md").write_text(f"{text}\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    command(main)
