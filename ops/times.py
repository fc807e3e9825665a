"""How long stages take on this machine, from what they took on one."""

import os
from collections.abc import Iterable

from ops import files
from strata.params import Params
from strata.run import Run
from strata.train.environment import SMALL, cores, gflop, threads

# CPU seconds of stages at n = N, with the start of Python, on an AMD EPYC with AVX-512; any other
# takes about OTHER. Those of training controls too.
N, OTHER = 165, 3.0
SECONDS = {
    "measure": 10.0, "describe": 16.0, "interventions": 83.0, "on-controls": 80.0,
    "controls": 175.0,
}  # fmt: skip
NOTHING = 3.0  # of DVC, where no stage runs
EPOCH = 0.0013  # seconds of an epoch of training beside its matrix products
RATE = 48.0  # Gflop per second and thread of these: the median over the recorded trainings


def words(seconds: float) -> str:
    """A duration as one says it.

    >>> words(8), words(95), words(3000), words(70000)
    ('10 s', '2 min', '50 min', '19 h')
    """
    if seconds < 55:
        return f"{max(10, round(seconds, -1)):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.0f} h"


def shared(seconds: float) -> str:
    """What is said of a time, where others take a part of this machine from what computes."""
    times = (os.getloadavg()[0] + threads()) / cores()
    others = f", {words(seconds)} were nothing else at work here" * (times > 2)
    return words(seconds * max(1.0, times)) + others


def counted(number: int, what: str) -> str:
    """
    >>> counted(1, "stage"), counted(2, "stage")
    ('1 stage', '2 stages')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


class Times:
    """Those times, applied to these values of params.yaml and so many threads: by default those of
    this machine."""

    def __init__(self, params: Params, count: int | None = None):
        self.params, self.threads = params, count or threads()

    def stage(self, name: str) -> float:
        """Seconds of one stage. What comes on top of starting Python grows with the pairs."""
        kind, run = files.kind(name), files.run_of(name)
        if run and kind in {"train", "checkpoints"}:
            return self.training(run)
        n = run.n if run else self.params.n
        return OTHER + (SECONDS.get(kind, OTHER) - OTHER) * (n / N) ** 2

    def all(self, names: Iterable[str]) -> float:
        """Seconds of some stages with DVC's own."""
        return NOTHING + sum(map(self.stage, names))

    def training(self, run: Run) -> float:
        """Seconds to train a run."""
        settings = self.params.settings(run)
        products = gflop(settings.task(run).order, settings)
        shared = RATE * (self.threads if products > SMALL else 1)
        return settings.train.epochs * (EPOCH + products / shared)
