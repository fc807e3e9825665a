"""How fast training is: against the plain step, against matrix products, and as n grows.

Writes training.json and training.md beside this file. `make bench` runs it; an argument is the
count of rounds.
"""

import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import plain
import torch
from autograd import Autograd

from strata import task
from strata.params import load
from strata.run import Run
from strata.train import machine
from strata.train.trainer import Trainer

HERE = Path(__file__).parent
PARAMS = load(HERE.parent / "params.yaml")
ROUNDS = 24
MODULI = (113, 165, 251, 499)
SQUARE = 2048
# A product is done once forward and twice backward; the second term is the key and value tables.
FORMULA = "6 · pairs · (d_model² + 2 d_model d_mlp + d_model n) + 12 (n + 1) d_model²"


def trainer_of(n: int, device: str = "cpu") -> Trainer:
    """A run with the paper's widths, at its start."""
    share = PARAMS.split
    split = task.split(n, 1, share.train_fraction, share.validation_fraction)
    return Trainer(Run(n, 1), PARAMS.train, split, device)


def seconds(work: Callable[[], Any], repeats: int) -> float:
    """Mean time of one repetition."""
    start = time.perf_counter()
    for _ in range(repeats):
        work()
    return (time.perf_counter() - start) / repeats


def alternating(steps: dict[str, tuple[Callable[[], Any], int]], rounds: int) -> dict[str, float]:
    """Median over the rounds of each step's ms: what disturbs the machine disturbs all alike."""
    times: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(rounds):
        for name, (step, repeats) in steps.items():
            times[name].append(seconds(step, repeats) * 1e3)
    return {name: statistics.median(some) for name, some in times.items()}


def epochs(n: int, rounds: int) -> dict[str, float]:
    """ms an epoch: the plain step, autograd over our chunks, ours; and ms of one validation."""
    ours, by_autograd = trainer_of(n), Autograd(trainer_of(n))
    oracle = plain.Plain(ours.run, PARAMS.train, PARAMS.split.train_fraction)

    def step() -> float:
        ours.advance(ours.epoch + 1)
        return ours.loss

    for _ in range(3):  # the first ones warm up; all three do the same mathematics
        losses = oracle.step(), by_autograd.step(), step()
        assert max(losses) - min(losses) < 1e-4, losses
    return alternating(
        {
            "plain": (oracle.step, 1),
            "autograd": (by_autograd.step, 4),
            "ours": (lambda: ours.advance(ours.epoch + 1), 4),
            "validation": (ours.accuracy, 1),
        },
        rounds,
    )


def rates(n: int, rounds: int) -> dict[str, float]:
    """Gflop/s of float32 matrix products: the shapes of a chunk, and a large square."""
    train = PARAMS.train
    rows = len(trainer_of(n).batches[0].a)
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


def necessary(n: int) -> dict[str, float]:
    """Distinct pairs of an epoch, and Gflop of its matrix products: FORMULA."""
    d_model, d_mlp = PARAMS.train.d_model, PARAMS.train.d_mlp
    rows = sum(len(chunk.a) for chunk in trainer_of(n).batches)
    by_pair = 6 * rows * (d_model**2 + 2 * d_model * d_mlp + d_model * n)
    return {"rows": rows, "gflop": (by_pair + 12 * (n + 1) * d_model**2) / 1e9}


def growth(rounds: int) -> list[dict[str, float]]:
    """ms an epoch as n grows, and its ratio to n² relative to the headline modulus."""
    found = []
    for n in MODULI:
        trainer = trainer_of(n)
        trainer.advance(2)
        ms = statistics.median(
            seconds(lambda t=trainer: t.advance(t.epoch + 1), 3) * 1e3 for _ in range(rounds)
        )
        found.append({"n": n, "rows": sum(len(chunk.a) for chunk in trainer.batches), "ms": ms})
    one = next(x["ms"] / x["n"] ** 2 for x in found if x["n"] == PARAMS.n)
    return [x | {"to_n_squared": x["ms"] / x["n"] ** 2 / one} for x in found]


def memory(n: int) -> None:
    """Print the peak memory in MB of this process after a few epochs and a validation."""
    trainer = trainer_of(n)
    trainer.advance(3)
    trainer.accuracy()
    unit = 1 if sys.platform == "darwin" else 1024
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6)


def memories() -> dict[str, float]:
    """Peak memory in MB of fresh processes. Comes first: a child starts from its parent's peak."""
    found = {}
    for n in (PARAMS.n, MODULI[-1]):
        command = [sys.executable, __file__, "memory", str(n)]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        found[str(n)] = float(said)
    return found


def processor() -> str:
    """What the system calls its processor."""
    about = Path("/proc/cpuinfo")
    lines = about.read_text(encoding="utf-8").splitlines() if about.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def measured(rounds: int) -> dict[str, Any]:
    """All that the tables show."""
    found: dict[str, Any] = {
        "machine": {
            "processor": processor(),
            "cores": os.cpu_count(),
            "threads": torch.get_num_threads(),
            "torch": torch.__version__,
            "load_before": round(os.getloadavg()[0], 2),
        },
        "n": PARAMS.n,
        "rounds": rounds,
        "peak_mb": memories(),
        "ms": epochs(PARAMS.n, rounds),
        "gflops": rates(PARAMS.n, rounds),
        "necessary": necessary(PARAMS.n),
        "growth": growth(rounds),
    }
    ms, best = found["ms"], max(found["gflops"].values())
    found["faster"] = {name: ms[name] / ms["ours"] for name in ("plain", "autograd")}
    found["necessary"]["ms"] = found["necessary"]["gflop"] / best * 1e3
    found["of_the_rate"] = found["necessary"]["ms"] / ms["ours"]
    return found


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def report(found: dict[str, Any]) -> str:
    """What was measured, as Markdown."""
    ms, on, n = found["ms"], found["machine"], found["n"]
    best = max(found["gflops"], key=lambda name: found["gflops"][name])
    facts = [
        ["plain step", f"{ms['plain']:.1f} ms"],
        ["ours, gradient by autograd", f"{ms['autograd']:.1f} ms"],
        ["ours", f"{ms['ours']:.1f} ms"],
        ["ours, the matrix products alone at the best rate", f"{found['necessary']['ms']:.1f} ms"],
        ["ours against the plain step", f"{found['faster']['plain']:.1f} × faster"],
        [
            "ours against autograd over the same chunks",
            f"{found['faster']['autograd']:.2f} × faster",
        ],
        ["share of the best matrix-product rate", f"{found['of_the_rate']:.0%}"],
        ["one validation (every 100 epochs)", f"{ms['validation']:.1f} ms"],
    ]
    facts += [[f"peak memory, n = {k}", f"{mb:.0f} MB"] for k, mb in found["peak_mb"].items()]
    shapes = [
        [name + (" (best)" if name == best else ""), f"{rate:.0f}"]
        for name, rate in found["gflops"].items()
    ]
    grown = [
        [str(x["n"]), str(x["rows"]), f"{x['ms']:.1f}", f"{x['to_n_squared']:.2f}"]
        for x in found["growth"]
    ]
    return (
        f"Measured on {on['processor']}, {on['cores']} cores, {on['threads']} threads, torch"
        f" {on['torch']}; medians of {found['rounds']} rounds, load before {on['load_before']}.\n\n"
        + table([f"One epoch, n = {n}", ""], facts)
        + f"\nAn epoch's products over {found['necessary']['rows']} distinct pairs are"
        f" {found['necessary']['gflop']:.2f} Gflop: {FORMULA}.\n\n"
        + table(["float32 product", "Gflop/s"], shapes)
        + "\n"
        + table(["n", "distinct pairs", "ms an epoch", f"ms / n², against n = {n}"], grown)
    )


def main() -> None:
    if sys.argv[1:2] == ["memory"]:
        machine.prepare()
        return memory(int(sys.argv[2]))
    machine.prepare()
    found = measured(int(sys.argv[1]) if sys.argv[1:] else ROUNDS)
    (HERE / "training.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    text = report(found)
    (HERE / "training.md").write_text(text, encoding="utf-8")
    print(text, end="")


if __name__ == "__main__":
    main()
