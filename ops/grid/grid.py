"""Make what runs lack, as many at once as there are workers: ``make grid``.

On this machine, or with ON=slurm on a cluster, where ARGS go to sbatch; RUNS are some of the runs.
A worker trains a run and makes all that is made of every run; DVC decides what is valid. The same
command goes on where it was, whatever was interrupted. STATUS=1 shows what workers are doing.
"""

import os
import shlex
import shutil
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from dvc.repo import Repo

from ops import files, plan, recover
from ops.calls import checked_out, pulled
from ops.grid import pin, pool, tasks, watch
from ops.grid.logs import Logs
from ops.grid.tasks import Task, Todo
from ops.recover import taken
from ops.times import Times, cores, counted, words
from strata import store
from strata.inputs import few
from strata.params import load
from strata.run import InputError, command

BATCH = 30.0  # seconds of analyses that a worker has at least
OVERHEAD = 10.0  # seconds until it has cloned and DVC has started


class Asked(NamedTuple):
    """What `make grid` was asked for, by variables of its command line."""

    on: str
    runs: tuple[str, ...]
    args: tuple[str, ...]
    go: bool

    @classmethod
    def given(cls, variables: Mapping[str, str]) -> "Asked":
        """From the environment, where make puts them. Raises InputError."""
        get = variables.get
        on, args = get("ON") or "here", tuple(shlex.split(get("ARGS") or ""))
        if on not in {"here", "slurm"}:
            raise InputError(f"ON = {on}: must be slurm, or nothing for this machine")
        if on == "slurm" and not (shutil.which("sbatch") and shutil.which("squeue")):
            raise InputError(
                "ON = slurm: sbatch and squeue are not here: log in to a node of the cluster that "
                "has them; make grid without ON runs on this machine"
            )
        if args and on == "here":
            raise InputError(f"ARGS = {' '.join(args)}: is for sbatch: make grid ON=slurm ARGS=…")
        return cls(on, tuple((get("RUNS") or "").split()), args, bool(get("GO")))


def gathered() -> tuple[Todo, list[str]]:
    """What is missing of each run, when what the run cache has has been brought in; and all runs.
    The stages that decide what others do are run here."""
    ahead, planned = plan.Ahead(pulled=True), []
    for project in files.projects():
        plan.quick(project)
        planned += ahead.stages(project)
    return tasks.of_runs(planned), [*tasks.of_runs(ahead.every)]


class Work(NamedTuple):
    """The tasks to give away, so many at once, with so many threads each; the seconds in all."""

    tasks: list[Task]
    at_once: int
    threads: int
    seconds: float


def threads(missing: Todo, logs: Logs) -> int:
    """The threads of each worker here: those with which a training that was interrupted began, as
    it would start over with others; else as many as the cores have for each."""
    given = os.environ.get("STRATA_THREADS", "")
    if given.isdecimal():
        return int(given)
    begun = [run for run in missing if Path(".snapshots", f"{run}.safetensors").exists()]
    known = [count for run in begun if (count := logs.threads(run))]
    return known[0] if known else max(1, cores() // len(missing))


def work(missing: Todo, asked: Asked, logs: Logs) -> Work:
    """Deal what is missing to workers."""
    count = threads(missing, logs) if asked.on == "here" else 1
    times = Times(load("params.yaml"))
    took = {run: tasks.seconds(times, stages, count) for run, stages in missing.items()}
    short = sum(took[run] for run in missing if not tasks.trains(missing[run]))
    found = tasks.dealt(missing, max(1, int(short / BATCH)))
    at_once = min(len(found), max(1, cores() // count)) if asked.on == "here" else len(found)
    each = [OVERHEAD + sum(took[x] for x in runs) for runs in found]
    return Work(found, at_once, count, max(*each, sum(each) / at_once))


def said(missing: Todo, found: Work) -> str:
    """What will be done, in one line."""
    trained = sum(map(tasks.trains, missing.values()))
    stages = sum(map(len, missing.values())) - trained
    parts = [f"train {counted(trained, 'model')}"] * bool(trained)
    parts += [f"run {counted(stages, 'stage')} of {counted(len(missing), 'run')}"] * bool(stages)
    many = f"{counted(found.at_once, 'worker')} of {counted(found.threads, 'thread')}"
    return f"{', '.join(parts)} with {many}: about {words(found.seconds)}"


def start(asked: Asked, found: Work, logs: Logs) -> pool.Job:
    """Give the tasks to workers."""
    revision, changed = pin.revision()
    if own := [name for name in changed if not name.endswith("dvc.lock")]:
        print(f"workers have your changes of {few(own)}, committed or not")
    for run in (run for task in found.tasks for run in task):
        logs.say(run, "pending")
    with Repo() as repo:
        cache = Path(repo.cache.local.path).parents[1].resolve()
    given = [str(Path(sys.executable).parent), str(Path.cwd()), revision, str(cache)]
    if asked.on == "here":
        return pool.Local(given, found.tasks, found.at_once, found.threads)
    return pool.submit(given, found.tasks, asked.args)


def remembered(logs: Logs) -> list[pool.Array]:
    """What was given to workers the last time; those of this machine have no name."""
    try:
        return [pool.Array(*known) for known in store.read_json(logs.path / "jobs.json")]
    except InputError:
        return []


def at_work(logs: Logs) -> list[pool.Array]:
    """The jobs that go on without us, as those of SLURM do."""
    return [job for job in remembered(logs) if job.name and pool.alive(job.look())]


def make(asked: Asked, logs: Logs) -> None:
    """Find what is missing, have it made, bring it in."""
    jobs: list[pool.Job] = [*at_work(logs)]
    busy = watch.runs(jobs)
    every, listed = gathered()
    runs = tasks.chosen(asked.runs, listed)
    missing = {run: every[run] for run in runs if run in every and run not in busy}
    if not missing and not jobs:
        print("nothing to do: make paper and make studies bring tables and figures up to date")
        return
    began = time.monotonic()
    if missing:
        found = work(missing, asked, logs)
        print(said(missing, found), flush=True)
        recorded = files.locked()
        again = [x for x, own in missing.items() if tasks.trains({*own} & {*recorded})]
        if again and not (asked.runs or asked.go):
            raise InputError(
                f"{few(again)}: trained before, with other settings or code: "
                "make grid GO=1 trains again, RUNS='…' some of them, make back returns"
            )
        jobs.append(start(asked, found, logs))
    store.write_json(logs.path / "jobs.json", [[job.name, job.tasks] for job in jobs])
    ended = watched(jobs, logs)
    left = [run for run in gathered()[0] if run in ended]
    print(f"made: {counted(len(ended) - len(left), 'run')} in {words(time.monotonic() - began)}")
    if memorised := [run for run in ended if generalised(run) is False]:
        print(f"{few(memorised)}: has not generalised")
    for run in left:
        print(f"{run}: {ended[run]} (.grid/logs/{run}.log)", file=sys.stderr)
    if left:
        raise InputError(f"{counted(len(left), 'run')} not made: the same command goes on")


def generalised(run: str) -> bool | None:
    """Whether a run has, by its metrics; None where they are not here."""
    paths = [Path(project, "data", "metrics", f"{run}.json") for project in files.projects()]
    found = [path for path in paths if path.is_file()]
    return store.read_json(found[0])["generalised"] if found else None


def watched(jobs: Sequence[pool.Job], logs: Logs) -> dict[str, str]:
    """Watch to the end. Interrupted, or where a task can never start, end all of them."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        return watch.until_end(jobs, logs)
    except BaseException as reason:
        for job in jobs:
            job.cancel()
        if isinstance(reason, KeyboardInterrupt):
            print("interrupted: trainings were saved; the same command goes on", file=sys.stderr)
            sys.exit(130)
        raise


def main() -> None:
    files.at_top()
    asked, logs = Asked.given(os.environ), Logs()
    lock = taken(logs.path / "lock")
    if os.environ.get("STATUS"):
        if jobs := remembered(logs) if lock is None else at_work(logs):
            watch.shown(jobs, logs)
        else:
            print("nothing is running")
        return
    if lock is None:
        raise InputError("another make grid is at work here: make grid STATUS=1 shows it")
    with lock:
        files.refuse_cut_off()
        for project in files.projects():
            if busy := recover.busy(project):
                raise InputError(f"{busy}: wait for its end, then repeat")
            if pulled(project):
                checked_out(project)
        make(asked, logs)


if __name__ == "__main__":
    try:
        command(main)
    except KeyboardInterrupt:
        sys.exit(130)
