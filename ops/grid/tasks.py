"""What lacks of the runs, and which worker does what."""

import heapq
from collections.abc import Iterable, Mapping, Sequence

from ops import files
from ops.times import Times
from strata.run import InputError, Run

Todo = Mapping[str, Sequence[str]]  # the stages that lack, by run
Task = Sequence[str]  # the runs that one worker makes, one after the other


def of_runs(stages: Iterable[str]) -> dict[str, list[str]]:
    """The stages that are of one run, by run, in their order."""
    found: dict[str, list[str]] = {}
    for name in stages:
        if run := files.run_of(name):
            found.setdefault(str(run), []).append(name)
    return found


def chosen(names: Sequence[str], listed: Iterable[str]) -> list[str]:
    """Those of the listed runs, all for none. Raises InputError for one that is not listed."""
    every = list(listed)
    for name in names:
        if name not in every:
            Run.parse(name)
            raise InputError(f"RUNS = {name}: must be listed in dvc.yaml or studies/runs.yaml")
    return list(dict.fromkeys(names or every))


def trains(stages: Iterable[str]) -> bool:
    return any(files.kind(name) == "train" for name in stages)


def seconds(times: Times, stages: Iterable[str], threads: int) -> float:
    """How long stages take, on so many threads where they train."""
    named = [(name, files.run_of(name) if trains([name]) else None) for name in stages]
    return sum(times.training(run, threads) if run else times.stage(name) for name, run in named)


def dealt(took: Mapping[str, float], todo: Todo, batches: int) -> list[Task]:
    """A task for each run that trains, the longest first; then the other runs, dealt to so many
    tasks that take about the same time. A worker starts once for all runs of its task."""
    order = sorted(todo, key=lambda run: -took[run])
    trained = [run for run in order if trains(todo[run])]
    others = [run for run in order if run not in trained]
    shared: list[list[str]] = [[] for _ in range(min(batches, len(others)))]
    for run in others:
        min(shared, key=lambda runs: sum(took[x] for x in runs)).append(run)
    return [*([run] for run in trained), *shared]


def makespan(took: Iterable[float], at_once: int) -> float:
    """Seconds until all is done, where each of so many workers takes the next task in order.

    >>> makespan([3.0, 2.0, 2.0], 2)
    4.0
    """
    free = [0.0] * at_once
    for each in took:
        heapq.heapreplace(free, free[0] + each)
    return max(free)
