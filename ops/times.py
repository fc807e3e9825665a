"""Say how long trainings take on this machine, from what they took on another."""

from collections.abc import Iterable

from strata.params import RunsParams
from strata.run import Run
from strata.train.environment import SMALL, gflop

EPOCH = 0.0013  # seconds of an epoch beside its matrix products
RATE = 48.0  # Gflop per second and thread of these: the median over the recorded trainings


def training(run: Run, params: RunsParams, threads: int) -> float:
    """Return about how many seconds a run trains with so many threads."""
    settings = params.settings(run)
    products = gflop(settings.task(run).order, settings)
    rate = RATE * (threads if products > SMALL else 1)
    return settings.train.epochs * (EPOCH + products / rate)


def trainings(runs: Iterable[Run], params: RunsParams, threads: int, at_once: int = 1) -> float:
    """Return about how many seconds the runs train, so many of them at a time."""
    seconds = [training(run, params, threads) for run in runs]
    return max([sum(seconds) / at_once, *seconds])


def duration(seconds: float) -> str:
    """Return a duration as one says it.

    >>> duration(8), duration(95), duration(3000), duration(70000)
    ('10 s', '2 min', '50 min', '19 h')
    """
    if seconds < 55:
        return f"{max(10, round(seconds, -1)):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.0f} h"


def quantity(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural where it is not 1.

    >>> quantity(1, "stage"), quantity(2, "stage")
    ('1 stage', '2 stages')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
