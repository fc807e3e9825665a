"""How fast training is: against autograd, against matrix products, and as n grows; and where torch
sees a GPU whole runs there.

Writes training.md beside this file, on a machine with a GPU gpu.md. `make bench` runs it; an
argument is the count of rounds.
"""

import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from autograd import Autograd
from tabulate import tabulate

from ops.times import gflop
from ops.trainings import dealt
from strata.params import load
from strata.run import Run
from strata.train import machine
from strata.train.trainer import Trainer

HERE = Path(__file__).parent
PARAMS = load(HERE.parent / "params.yaml")
ROUNDS = 24
MODULI = (113, 165, 251, 499)
SQUARE = 2048
EPOCHS = 90  # of one measurement on a GPU: short of a validation
# A product is done once forward and twice backward; the second term is the key and value tables.
FORMULA = "6 · pairs · (d_model² + 2 d_model d_mlp + d_model n) + 12 (n + 1) d_model²"


def trainer_of(n: int, device: str = "cpu") -> Trainer:
    """A run with the paper's widths, at its start."""
    run = Run(n, 1)
    return Trainer(run, PARAMS.train, dealt(run, PARAMS.split), device)


def pairs(trainer: Trainer) -> int:
    """The distinct pairs of an epoch."""
    return sum(len(chunk.a) for chunk in trainer.batches)


def table(heads: list[str], rows: list[list[Any]]) -> str:
    """A Markdown table: the first column is words, the others are numbers."""
    align = ["left"] + ["right"] * (len(heads) - 1)
    return tabulate(rows, heads, "pipe", colalign=align, disable_numparse=True) + "\n"


def milliseconds(work: Callable[[], Any], repeats: int) -> float:
    """Mean time of one repetition."""
    start = time.perf_counter()
    for _ in range(repeats):
        work()
    return (time.perf_counter() - start) / repeats * 1e3


def alternating(steps: dict[str, tuple[Callable[[], Any], int]], rounds: int) -> dict[str, float]:
    """Median over the rounds of each step's ms: what disturbs the machine disturbs all alike."""
    times: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(rounds):
        for name, (step, repeats) in steps.items():
            times[name].append(milliseconds(step, repeats))
    return {name: statistics.median(some) for name, some in times.items()}


def epochs(n: int, rounds: int) -> dict[str, float]:
    """ms an epoch: autograd over our chunks, ours; and ms of one validation."""
    ours, by_autograd = trainer_of(n), Autograd(trainer_of(n))

    def step() -> float:
        ours.advance(ours.epoch + 1)
        return ours.loss

    for _ in range(3):  # the first ones warm up; both do the same mathematics
        losses = by_autograd.step(), step()
        assert max(losses) - min(losses) < 1e-4, losses
    return alternating(
        {
            "ours, gradient by autograd": (by_autograd.step, 4),
            "ours": (step, 4),
            "one validation (every 100 epochs)": (ours.accuracy, 1),
        },
        rounds,
    )


def rates(n: int, rounds: int) -> dict[str, float]:
    """Gflop/s of float32 matrix products: the shapes of a chunk, and a large square."""
    train, rows = PARAMS.train, len(trainer_of(n).batches[0].a)
    shapes = {
        "x @ W_in": (rows, train.d_model, train.d_mlp),
        "mlp @ W_out": (rows, train.d_mlp, train.d_model),
        "out @ W_U": (rows, train.d_model, n),
        "x.T @ d_mlp": (train.d_model, rows, train.d_mlp),
        "square": (SQUARE, SQUARE, SQUARE),
    }
    work = {}
    for name, (m, k, p) in shapes.items():
        a, b, out = torch.randn(m, k), torch.randn(k, p), torch.empty(m, p)
        repeats = max(1, 10**9 // (m * k * p))
        work[name] = (lambda a=a, b=b, out=out: torch.mm(a, b, out=out), repeats)
    times = alternating(work, rounds)
    return {name: 2 * m * k * p / times[name] / 1e6 for name, (m, k, p) in shapes.items()}


def on_cpu(rounds: int) -> str:
    """What was measured here, as Markdown."""
    load, here = os.getloadavg()[0], machine.describe(torch.device("cpu"))
    ms, speed = epochs(PARAMS.n, rounds), rates(PARAMS.n, rounds)
    work = gflop(PARAMS.n, PARAMS.settings(Run(PARAMS.n, 1)))
    ms["ours, the matrix products alone at the best rate"] = work / max(speed.values()) * 1e3
    grown = []
    for n in MODULI:
        trainer = trainer_of(n)
        trainer.advance(2)
        step = {"": (lambda t=trainer: t.advance(t.epoch + 1), 3)}
        grown.append([n, pairs(trainer), f"{alternating(step, rounds)['']:.1f}"])
    return (
        f"Measured on {here.words()}, torch {here.torch}; medians of {rounds} rounds, load before"
        f" {load:.2f}.\n\n"
        + table([f"One epoch, n = {PARAMS.n}", "ms"], [[k, f"{x:.1f}"] for k, x in ms.items()])
        + f"\nAn epoch's products are {work:.2f} Gflop: {FORMULA}.\n\n"
        + table(["float32 product", "Gflop/s"], [[k, f"{x:.0f}"] for k, x in speed.items()])
        + "\n"
        + table(["n", "distinct pairs", "ms an epoch"], grown)
    )


def whole(n: int) -> tuple[float, float, dict[str, bytes]]:
    """Seconds and last validation accuracy of a run on the GPU from its start, and its weights."""
    start = time.perf_counter()
    trainer = trainer_of(n, "cuda")
    trainer.advance(PARAMS.train.epochs)
    weights = {name: x.tobytes() for name, x in trainer.weights().items()}
    return time.perf_counter() - start, trainer.latest()["validation"], weights


def on_gpu(rounds: int) -> str:
    """The headline run twice, and epochs as n grows, as Markdown."""
    (one, right, weights), (two, _, again) = whole(PARAMS.n), whole(PARAMS.n)
    grown = []
    for n in MODULI:
        torch.cuda.reset_peak_memory_stats()
        trainer = trainer_of(n, "cuda")

        def step(trainer: Trainer = trainer) -> None:
            trainer.advance(trainer.epoch + EPOCHS)
            torch.cuda.synchronize()

        step()  # warms up
        ms = alternating({"epochs": (step, 1), "validation": (trainer.accuracy, 1)}, rounds)
        peak = torch.cuda.max_memory_allocated() / 1e6
        row = f"{ms['epochs'] / EPOCHS:.2f}", f"{ms['validation']:.2f}", f"{peak:.0f}"
        grown.append([n, pairs(trainer), *row])
    return (
        f"Measured on {torch.cuda.get_device_name()}, torch {torch.__version__}: the headline run"
        f" twice, {PARAMS.train.epochs:,} epochs each, in {one:.1f} and {two:.1f} seconds;"
        f" {'the same' if weights == again else 'other'} weights to the byte; validation accuracy"
        f" {right:.4f}.\n\n"
        + table(["n", "distinct pairs", "ms an epoch", "ms a validation", "peak MB"], grown)
    )


def main() -> None:
    machine.prepare()
    rounds = int(sys.argv[1]) if sys.argv[1:] else ROUNDS
    measured = {"training.md": on_cpu}
    if torch.cuda.is_available():
        measured["gpu.md"] = on_gpu
    for name, measure in measured.items():
        text = measure(rounds)
        (HERE / name).write_text(text, encoding="utf-8")
        print(text)


if __name__ == "__main__":
    main()
