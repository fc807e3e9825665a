"""Make what runs lack, as many at once as there are workers: ``make grid``.

On this machine, or with ON=slurm on a cluster, where ARGS go to sbatch; RUNS are some of the runs.
A worker trains a run and makes all that is made of every run; DVC decides what is valid. The same
command goes on where it was, whatever was interrupted. STATUS=1 shows what workers are doing.
"""

import os
import signal
import sys
import time
from collections.abc import Sequence

from plan import counted, words

from ops import files, leftovers
from ops.grid import clone, head, pool, tasks, watch
from ops.grid.head import Asked, Todo, Work
from ops.grid.state import Folder, taken
from ops.grid.tasks import TRAIN
from strata.inputs import few
from strata.run import InputError, command


def said(missing: Todo, found: Work) -> str:
    """What will be done, in one line."""
    trained = sum(TRAIN in kinds for kinds in missing.values())
    stages = sum(len([x for x in kinds if x != TRAIN]) for kinds in missing.values())
    parts = [f"train {counted(trained, 'model')}"] * bool(trained)
    parts += [f"run {counted(stages, 'stage')} of {counted(len(missing), 'run')}"] * bool(stages)
    at_once = found.at_once or len(found.tasks)
    took = words(tasks.makespan(found.seconds, at_once))
    if not found.at_once:
        return f"{', '.join(parts)}: {counted(len(found.tasks), 'task')}, the longest about {took}"
    many = f"{counted(at_once, 'worker')} of {counted(found.threads, 'thread')}"
    return f"{', '.join(parts)} with {many}: about {took}"


def ended(rows: Sequence[watch.Row], left: Todo, seconds: float) -> None:
    """Say what was made. Exit code 1 where something still lacks, with the reason for each run."""
    runs = [x for x in rows if x.run not in left]
    print(f"made: {counted(len(runs), 'run')} in {words(seconds)}", flush=True)
    if not left:
        return
    why = {x.run: x for x in rows}
    for run in left:
        x = why.get(run)
        what = f"{x.state}{f' on {x.node}' * bool(x.node)}: {x.why}" if x else "was not made"
        print(f"{run}: {what} (.grid/logs/{run}.log)", file=sys.stderr)
    many = counted(len(left), "run")
    raise InputError(f"{many} still {'lacks' if len(left) == 1 else 'lack'} something: repeat it")


def make(asked: Asked, folder: Folder) -> None:
    """Find what is missing, have it made, bring it in."""
    runs = tasks.chosen(asked.runs)
    jobs: list[pool.Job] = list(head.going_on(folder))
    busy = {run for job in jobs for task in job.tasks for run in task.stages}
    missing = head.todo([run for run in runs if run not in busy], asked.remote)
    if not missing and not jobs:
        print("nothing to do: make paper brings the tables and figures up to date")
        return
    trained = head.again(missing)
    began = time.monotonic()
    if missing:
        found = head.work(missing, asked, folder)
        print(said(missing, found), flush=True)
        if trained and not (asked.runs or asked.go):
            raise InputError(
                f"{few(trained)}: trained before, with other settings or code: "
                "make grid GO=1 trains again, RUNS='…' some of them, make back returns"
            )
        jobs.append(head.start(asked, found, folder))
    head.remember(folder, jobs)
    rows = watched(jobs, folder)
    print("gather …", flush=True)  # on a line of its own: DVC begins the line anew
    at = time.monotonic()
    left = head.todo(runs, asked.remote)
    print(f"gathered in {time.monotonic() - at:.0f} s", flush=True)
    ended(rows, left, time.monotonic() - began)


def watched(jobs: Sequence[pool.Job], folder: Folder) -> list[watch.Row]:
    """Watch to the end. Interrupted, or where a task can never start, end all of them."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        return watch.until_end(jobs, folder)
    except BaseException as reason:
        for job in jobs:
            job.cancel()
        if isinstance(reason, KeyboardInterrupt):
            print("interrupted: trainings were saved; the same command goes on", file=sys.stderr)
            sys.exit(130)
        raise


def main() -> None:
    files.at_top()
    asked, folder = Asked.given(), Folder()
    folder.make()
    lock = taken(folder.path / "lock")
    if os.environ.get("STATUS"):
        watch.once(head.remembered(folder, lock is None), folder)
        return
    if lock is None:
        raise InputError("another make grid is at work here: make grid STATUS=1 shows it")
    with lock:
        leftovers.release()
        clone.sweep()
        make(asked, folder)


if __name__ == "__main__":
    try:
        command(main)
    except KeyboardInterrupt:
        sys.exit(130)
