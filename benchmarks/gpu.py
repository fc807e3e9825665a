"""How fast training is on a GPU: whole runs, whether they repeat to the byte, and as n grows.

Writes gpu.json and gpu.md beside this file where torch sees a GPU, and nothing elsewhere. `make
bench` runs it.
"""

import json
import statistics
import time
from pathlib import Path
from typing import Any

import torch
from training import MODULI, PARAMS, table, trainer_of

from strata.train import machine

HERE = Path(__file__).parent
EPOCHS, ROUNDS = 90, 9  # short of a validation


def whole(n: int) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Seconds and last validation accuracy of a run from its start, and its weights."""
    start = time.perf_counter()
    trainer = trainer_of(n, "cuda")
    trainer.advance(PARAMS.train.epochs)
    weights = {name: x.tobytes() for name, x in trainer.weights().items()}
    took = time.perf_counter() - start
    return {"seconds": took, "validation": trainer.latest()["validation"]}, weights


def epochs(n: int) -> dict[str, float]:
    """Median ms of an epoch and of a validation, and the most memory that torch took, in MB."""
    torch.cuda.reset_peak_memory_stats()
    trainer, epoch, validation = trainer_of(n, "cuda"), [], []
    for _ in range(ROUNDS):
        torch.cuda.synchronize()
        start = time.perf_counter()
        trainer.advance(trainer.epoch + EPOCHS)
        torch.cuda.synchronize()
        epoch.append((time.perf_counter() - start) / EPOCHS * 1e3)
        start = time.perf_counter()
        trainer.accuracy()
        validation.append((time.perf_counter() - start) * 1e3)
    return {
        "n": n,
        "pairs": sum(len(chunk.a) for chunk in trainer.batches),
        "ms": statistics.median(epoch[1:]),
        "validation_ms": statistics.median(validation[1:]),
        "peak_mb": torch.cuda.max_memory_allocated() / 1e6,
    }


def report(found: dict[str, Any]) -> str:
    """What was measured, as Markdown."""
    runs = found["runs"]
    took = " and ".join(f"{x['seconds']:.1f}" for x in runs)
    grown = [
        [str(x["n"]), str(x["pairs"]), *(f"{x[k]:.2f}" for k in ("ms", "validation_ms")),
         f"{x['peak_mb']:.0f}"] for x in found["growth"]
    ]  # fmt: skip
    return (
        f"Measured on {found['gpu']}, torch {found['torch']}: the headline run twice,"
        f" {PARAMS.train.epochs:,} epochs each, in {took} seconds;"
        f" {'the same' if found['same'] else 'other'} weights to the byte;"
        f" validation accuracy {runs[0]['validation']:.4f}.\n\n"
        + table(["n", "distinct pairs", "ms an epoch", "ms a validation", "peak MB"], grown)
    )


def main() -> None:
    if not torch.cuda.is_available():
        return
    machine.prepare()
    (one, weights), (two, again) = (whole(PARAMS.n) for _ in range(2))
    found = {
        "gpu": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "runs": [one, two],
        "same": weights == again,
        "growth": [epochs(n) for n in MODULI],
    }
    (HERE / "gpu.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    (HERE / "gpu.md").write_text(report(found), encoding="utf-8")
    print(report(found), end="")


if __name__ == "__main__":
    main()
