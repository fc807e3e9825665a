"""How long stages take on this machine, from the times that benchmarks/stages.json records."""

import os
from collections.abc import Iterable
from pathlib import Path
from statistics import median

from ops import files
from strata import store
from strata.params import Params
from strata.run import Run, Settings

RECORDED = Path("benchmarks/stages.json")
BY_PAIR = {"forward"}  # of the stages without a run in their names


def cores() -> int:
    """How many processors this process may use."""
    found = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return found or 1


def threads() -> int:
    """How many threads a training takes here."""
    return int(os.environ.get("STRATA_THREADS", cores()))


def words(seconds: float) -> str:
    """A duration as one says it.

    >>> words(8), words(95), words(3000), words(70000)
    ('10 s', '2 min', '50 min', '19 h')
    """
    if seconds < 55:
        return f"{max(10, round(seconds, -1)):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.0f} h"


def counted(number: int, what: str) -> str:
    """
    >>> counted(1, "stage"), counted(2, "stage")
    ('1 stage', '2 stages')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def gflop(n: int, settings: Settings) -> float:
    """What the matrix products of one epoch take: the formula of benchmarks/training.md."""
    train, left_out = settings.train, 1 - settings.split.train_fraction
    pairs = (1 - left_out**2) * n * n / 2  # a pair and its mirror are computed once
    widths = train.d_model**2 + 2 * train.d_model * train.d_mlp + train.d_model * n
    return (6 * pairs * widths + 12 * (n + 1) * train.d_model**2) / 1e9


class Times:
    """Recorded times, applied to this machine and these values of params.yaml."""

    def __init__(self, params: Params):
        self.params = params
        found = store.read_json(RECORDED)
        self.nothing: float = found["nothing"]  # seconds of DVC where no stage runs
        self.epoch: float = found["epoch"]  # seconds of an epoch beside its products
        self.rate: float = found["rate"]  # Gflop per second and thread, in training
        self.n: int = found["n"]
        self.known: dict[str, float] = found["seconds"]

    def stage(self, name: str) -> float:
        """Seconds of one stage. Those of a run compute over its pairs: what comes on top of
        starting Python grows with n²."""
        kind, run = files.kind(name), files.run_of(name)
        if run and kind in {"train", "checkpoints"}:
            return self.training(run)
        known = (self.known.get(x) for x in (name, name.partition("@")[0], kind))
        took = next((x for x in known if x is not None), median(self.known.values()))
        if run is None and kind not in BY_PAIR:
            return took
        n = run.n if run else self.params.n
        start = min(took, min(self.known.values()))
        return start + (took - start) * (n / self.n) ** 2

    def all(self, names: Iterable[str]) -> float:
        """Seconds of some stages with DVC's own."""
        return self.nothing + sum(map(self.stage, names))

    def training(self, run: Run, count: int | None = None) -> float:
        """Seconds to train a run with so many threads, by default those of this machine."""
        settings = self.params.settings(run)
        products = gflop(run.n, settings) / (self.rate * (count or threads()))
        return settings.train.epochs * (self.epoch + products)
