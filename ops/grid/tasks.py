"""What there is to do for the runs of the pipeline, and which worker does what."""

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ops import files, provenance
from ops.times import Times
from strata.run import InputError, Run, read_yaml

RUNS = "pipelines/runs/dvc.yaml"  # the stages that every run has, and which runs there are
TRAIN = "train"


@dataclass(frozen=True)
class Task:
    """What one worker does: of each of its runs the stages that are missing, in their order.

    >>> Task.parse("n165-s1:split,train+n154-s1:metrics").stages
    {'n165-s1': ('split', 'train'), 'n154-s1': ('metrics',)}
    >>> str(Task({"n165-s1": ("split", "train"), "n154-s1": ("metrics",)}))
    'n165-s1:split,train+n154-s1:metrics'
    """

    stages: Mapping[str, tuple[str, ...]]

    @classmethod
    def parse(cls, text: str) -> "Task":
        parts = (part.partition(":") for part in text.split("+"))
        return cls({run: tuple(kinds.split(",")) for run, _, kinds in parts})

    def __str__(self) -> str:
        return "+".join(f"{run}:{','.join(kinds)}" for run, kinds in self.stages.items())

    @property
    def trains(self) -> bool:
        return any(TRAIN in kinds for kinds in self.stages.values())


def of_every_run() -> tuple[list[str], list[str]]:
    """The kinds of stages that every run has, and the runs; the headline run is the last, where it
    is not listed before."""
    found = {k: v for k, v in read_yaml(RUNS)["stages"].items() if "run" in v.get("matrix", ())}
    if not found:
        raise InputError(f"{RUNS}: stages: none of them is made of every run (matrix: run)")
    values = files.variables()
    runs = [provenance.filled(name, values) for name in next(iter(found.values()))["matrix"]["run"]]
    return list(found), list(dict.fromkeys(runs))


def chosen(names: Sequence[str]) -> list[str]:
    """Those of the runs, all for none. Raises InputError for one that is not in the pipeline."""
    every = of_every_run()[1]
    for name in names:
        if name not in every:
            Run.parse(name)
            raise InputError(f"RUNS = {name}: must be in the list &runs of {RUNS}: add it there")
    return list(dict.fromkeys(names or every))


def missing(planned: Iterable[str], runs: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The planned stages of each of these runs that has some: their kinds, in the plan's order."""
    found: dict[str, tuple[str, ...]] = dict.fromkeys(runs, ())
    kinds = of_every_run()[0]
    for stage in planned:
        kind, _, run = stage.partition("@")
        if run in found and kind in kinds:
            found[run] += (kind,)
    return {run: todo for run, todo in found.items() if todo}


def seconds(times: Times, run: str, kinds: Iterable[str], threads: int) -> float:
    """How long the stages of a run take, on so many threads where they train."""
    parsed = Run.parse(run)
    return sum(
        times.training(parsed, threads) if kind == TRAIN else times.stage(f"{kind}@{run}")
        for kind in kinds
    )


def tasks(
    took: Mapping[str, float], todo: Mapping[str, tuple[str, ...]], batches: int
) -> list[Task]:
    """A task for each run that trains, the longest first; then the other runs, dealt to so many
    tasks that take about the same time. A worker starts once for all runs of its task."""
    order = sorted(todo, key=lambda run: -took[run])
    trained = [run for run in order if TRAIN in todo[run]]
    others = [run for run in order if run not in trained]
    dealt: list[list[str]] = [[] for _ in range(min(batches, len(others)))]
    for run in others:
        min(dealt, key=lambda runs: sum(took[x] for x in runs)).append(run)
    groups = [*([run] for run in trained), *dealt]
    return [Task({run: todo[run] for run in group}) for group in groups]


def makespan(took: Iterable[float], at_once: int) -> float:
    """Seconds until all is done, where each of so many workers takes the next task in order.

    >>> makespan([3.0, 2.0, 2.0], 2)
    4.0
    """
    free = [0.0] * at_once
    for seconds in took:
        heapq.heapreplace(free, free[0] + seconds)
    return max(free)
