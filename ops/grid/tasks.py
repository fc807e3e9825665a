"""What lacks of the runs, and which worker does what."""

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


def dealt(todo: Todo, batches: int) -> list[Task]:
    """A task for each run that trains; then the other runs, dealt to so many tasks."""
    others = [run for run, stages in todo.items() if not trains(stages)]
    batched = [others[i::batches] for i in range(min(batches, len(others)))]
    return [*([run] for run, stages in todo.items() if trains(stages)), *batched]
