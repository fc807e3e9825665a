"""Measure how fast training is: against plain PyTorch, against its matrix products alone, and as n
grows; where torch sees a GPU, whole runs there.

Writes training.md beside this file, on a machine with a GPU gpu.md. `make bench` runs it; an
argument is the number of rounds. A time is the least of its rounds, which other work on the
machine disturbs least.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from strata.train import machine  # first, as torch reads how threads wait when it is imported

# isort: split
import torch
from tabulate import tabulate

from docs import nano_strata
from ops.trainings import deal_pairs
from strata.params import load
from strata.run import Run
from strata.train.environment import gflop
from strata.train.trainer import Trainer

FOLDER = Path(__file__).parent
PARAMS = load(FOLDER.parent / "params.yaml")
ROUNDS = 24
MODULI = (113, 165, 251, 499)
EPOCHS = 90  # of one measurement on a GPU: short of a validation
# A product is done once forward and twice backward; the second term is the key and value tables.
FORMULA = "6 · pairs · (d_model² + 2 d_model d_mlp + d_model n) + 12 (n + 1) d_model²"


def trainer_of(n: int, device: str = "cpu") -> Trainer:
    """Return a training with the paper's widths, at its start."""
    run = Run(n, 1)
    return Trainer(run, PARAMS.train, deal_pairs(run, PARAMS.split), device)


def pairs(trainer: Trainer) -> int:
    """Return the number of distinct pairs of an epoch."""
    return sum(len(chunk.a) for chunk in trainer.batches)


def table(heads: list[str], rows: list[list[Any]]) -> str:
    """Return a Markdown table whose first column is words and whose others are numbers."""
    align = ["left"] + ["right"] * (len(heads) - 1)
    return tabulate(rows, heads, "pipe", colalign=align, disable_numparse=True) + "\n"


def least_ms(steps: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Return the least milliseconds of each step over the rounds, in which they take turns."""
    least = dict.fromkeys(steps, float("inf"))
    for _ in range(rounds):
        for name, step in steps.items():
            start = time.perf_counter()
            step()
            least[name] = min(least[name], (time.perf_counter() - start) * 1e3)
    return least


def mean_ms(step: Callable[[], Any], rounds: int) -> float:
    """Return the mean milliseconds of a step over the rounds."""
    start = time.perf_counter()
    for _ in range(rounds):
        step()
    return (time.perf_counter() - start) * 1e3 / rounds


def beside(n: int, rounds: int) -> dict[str, float]:
    """Return the mean ms of an epoch alone, and beside a process that keeps one core busy."""
    trainer = trainer_of(n)
    trainer.advance(1)

    def step() -> None:
        trainer.advance(trainer.epoch + 1)

    alone = mean_ms(step, rounds)
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        try:
            busy_ms = mean_ms(step, rounds)
        finally:
            busy.kill()
    return {"ours, mean": alone, "ours, mean, beside a process that keeps a core busy": busy_ms}


def plain_step(n: int) -> Callable[[], float]:
    """Return the epoch of docs/nano_strata.py, which leaves every ordered pair to autograd."""
    train, tenths = PARAMS.train, round(10 * PARAMS.split.train_fraction)
    training_pairs, _ = nano_strata.split(n, 1, tenths)
    weights = nano_strata.initial(n, train.d_model, train.n_heads, train.d_mlp)
    settings = (train.lr, train.weight_decay, train.eps)
    return lambda: nano_strata.train(weights, training_pairs, 1, *settings)[0]


def against_plain(n: int, rounds: int) -> dict[str, float]:
    """Return ms of an epoch by plain PyTorch and by ours, and of one validation."""
    trainer, plain = trainer_of(n), plain_step(n)

    def step() -> float:
        trainer.advance(trainer.epoch + 1)
        return trainer.loss

    difference = abs(plain() - step())  # the first epoch of both is the same, and warms both up
    assert difference < 1e-4, difference
    steps = {"plain PyTorch, docs/nano_strata.py": plain, "ours": step}
    return least_ms(steps | {"one validation (every 100 epochs)": trainer.accuracy}, rounds)


def product_rates(n: int, rounds: int) -> dict[str, float]:
    """Return Gflop/s of the float32 matrix products of a chunk, by their shapes."""
    train, rows = PARAMS.train, len(trainer_of(n).batches[0].a)
    shapes = {
        "x @ W_in": (rows, train.d_model, train.d_mlp),
        "mlp @ W_out": (rows, train.d_mlp, train.d_model),
        "out @ W_U": (rows, train.d_model, n),
        "x.T @ d_mlp": (train.d_model, rows, train.d_mlp),
    }
    steps = {}
    for name, (m, k, p) in shapes.items():
        a, b, out = torch.randn(m, k), torch.randn(k, p), torch.empty(m, p)
        steps[name] = lambda a=a, b=b, out=out: torch.mm(a, b, out=out)
    times = least_ms(steps, 10 * rounds)
    return {name: 2 * m * k * p / times[name] / 1e6 for name, (m, k, p) in shapes.items()}


def on_cpu(rounds: int) -> str:
    """Measure on the processor, and return the text of training.md."""
    load, processor = os.getloadavg()[0], machine.describe(torch.device("cpu"))
    ms, rates = against_plain(PARAMS.n, rounds), product_rates(PARAMS.n, rounds)
    work = gflop(PARAMS.n, PARAMS.settings(Run(PARAMS.n, 1)))
    ms |= beside(PARAMS.n, 4 * rounds)
    ms["the matrix products of ours alone, at the best rate"] = work / max(rates.values()) * 1e3
    rows = []
    for n in MODULI:
        trainer = trainer_of(n)
        step = {"epoch": lambda t=trainer: t.advance(t.epoch + 1)}
        rows.append([n, pairs(trainer), f"{least_ms(step, rounds)['epoch']:.1f}"])
    return (
        f"Measured on {processor.words()}, torch {processor.torch}; the least of {rounds} rounds,"
        f" load before {load:.2f}.\n\n"
        + table([f"One epoch, n = {PARAMS.n}", "ms"], [[k, f"{x:.1f}"] for k, x in ms.items()])
        + f"\nAn epoch's products are {work:.2f} Gflop: {FORMULA}.\n\n"
        + table(["float32 product", "Gflop/s"], [[k, f"{x:.0f}"] for k, x in rates.items()])
        + "\n"
        + table(["n", "distinct pairs", "ms an epoch"], rows)
    )


def train_whole_run(n: int) -> tuple[float, float, dict[str, bytes]]:
    """Train a run on the GPU, and return the seconds, the last validation accuracy and the
    weights."""
    start = time.perf_counter()
    trainer = trainer_of(n, "cuda")
    trainer.advance(PARAMS.train.epochs)
    weights = {name: x.tobytes() for name, x in trainer.weights().items()}
    return time.perf_counter() - start, trainer.latest()["validation"], weights


def on_gpu(rounds: int) -> str:
    """Train the headline run twice, measure epochs as n grows, and return the text of gpu.md."""
    seconds, accuracy, weights = train_whole_run(PARAMS.n)
    seconds_again, _, weights_again = train_whole_run(PARAMS.n)
    rows = []
    for n in MODULI:
        torch.cuda.reset_peak_memory_stats()
        trainer = trainer_of(n, "cuda")

        def step(trainer: Trainer = trainer) -> None:
            trainer.advance(trainer.epoch + EPOCHS)
            torch.cuda.synchronize()

        ms = least_ms({"epochs": step, "validation": trainer.accuracy}, rounds)
        peak = torch.cuda.max_memory_allocated() / 1e6
        row = f"{ms['epochs'] / EPOCHS:.2f}", f"{ms['validation']:.2f}", f"{peak:.0f}"
        rows.append([n, pairs(trainer), *row])
    return (
        f"Measured on {torch.cuda.get_device_name()}, torch {torch.__version__}: the headline run"
        f" twice, {PARAMS.train.epochs:,} epochs each, in {seconds:.1f} and {seconds_again:.1f}"
        f" seconds; {'the same' if weights == weights_again else 'other'} weights to the byte;"
        f" validation accuracy {accuracy:.4f}.\n\n"
        + table(["n", "distinct pairs", "ms an epoch", "ms a validation", "peak MB"], rows)
    )


def main() -> None:
    machine.prepare()
    rounds = int(sys.argv[1]) if sys.argv[1:] else ROUNDS
    measured = {"training.md": on_cpu}
    if torch.cuda.is_available():
        measured["gpu.md"] = on_gpu
    for name, measure in measured.items():
        text = measure(rounds)
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(text)


if __name__ == "__main__":
    main()
