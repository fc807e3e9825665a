"""Make what runs lack, as many at once as there are workers: ``make grid``.

On this machine, or with ON=slurm on a cluster, where ARGS go to sbatch; RUNS are some of the runs.
A worker trains a run and makes all that is made of every run; DVC decides what is valid. The same
command goes on where it was, whatever was interrupted. STATUS=1 shows what workers are doing.
"""

import os
import secrets
import shlex
import shutil
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ops import files, packages, packs, plan, recover
from ops.calls import checked_out, pulled
from ops.git import ANYBODY, git, here
from ops.grid import pool, watch
from ops.grid.logs import Logs
from ops.recover import taken
from ops.times import Times, counted, shared, words
from strata import store
from strata.inputs import InputError, few
from strata.params import load
from strata.run import Run, command
from strata.train.environment import cores

KEPT = "refs/strata/grid"  # keeps what workers copy while they need it
BATCH = 8  # runs that do not train for one task of a cluster: it takes ten seconds to begin
Todo = Mapping[str, Sequence[str]]  # the stages that lack, by run


class Asked(NamedTuple):
    """What `make grid` was asked for, by variables of its command line."""

    on: str
    runs: tuple[str, ...]
    args: tuple[str, ...]
    go: bool


def asked(variables: Mapping[str, str]) -> Asked:
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
    return Asked(on, tuple((get("RUNS") or "").split()), args, bool(get("GO")))


def gathered() -> tuple[dict[str, list[str]], list[str]]:
    """What is missing of each run, when what the run cache has has been brought in; and all runs.
    The stages that decide what others do are run here."""
    ahead, planned = plan.Ahead(pulled=True), []
    for project in files.with_runs():
        planned += ahead.stages(project)
    return files.of_runs(planned), [*files.of_runs(ahead.every)]


def chosen(names: Sequence[str], listed: Sequence[str]) -> list[str]:
    """Those of the listed runs, all for none. Raises InputError for one that is not listed."""
    for name in names:
        if name not in listed:
            Run.parse(name)
            raise InputError(f"RUNS = {name}: must be listed in runs/dvc.yaml or studies/runs.yaml")
    return list(dict.fromkeys(names or listed))


def trains(stages: Sequence[str]) -> bool:
    return any(files.kind(name) == "train" for name in stages)


def dealt(missing: Todo, batches: int) -> list[pool.Task]:
    """A task for each run that trains; then the other runs, dealt to so many tasks."""
    others = [run for run, stages in missing.items() if not trains(stages)]
    batched = [others[i::batches] for i in range(min(batches, len(others)))]
    return [*([run] for run, stages in missing.items() if trains(stages)), *batched]


def revision() -> tuple[str, list[str]]:
    """A commit of what is here, committed or not, and the files that differ from git's last."""
    tree, made = here(), git("rev-parse", "HEAD")
    if names := git("diff", "--name-only", "HEAD", tree).splitlines():
        made = git(*ANYBODY, "commit-tree", tree, "-p", "HEAD", "-m", "make grid")
    git("update-ref", KEPT, made)
    return made, names


def threads(asked: Asked, missing: Todo, last: int) -> int:
    """The threads of each worker: those of the last time where a training was interrupted, as it
    would start over with others; else as many as the cores here have for each."""
    given = os.environ.get("STRATA_THREADS", "")
    if asked.on == "slurm":
        return 1
    if given.isdecimal():
        return int(given)
    begun = any(Path(".snapshots", f"{run}.safetensors").exists() for run in missing)
    return last if last and begun else max(1, cores() // len(missing))


def start(asked: Asked, missing: Todo, count: int, logs: Logs) -> pool.Job:
    """Say what will be done, and give it to workers with so many threads each."""
    times, local = Times(load("params.yaml"), count), asked.on == "here"
    at_once = max(1, cores() // count)
    tasks = dealt(missing, at_once if local else -(-len(missing) // BATCH))
    at_once = min(len(tasks), at_once) if local else len(tasks)
    took = [times.all(x for run in task for x in missing[run]) for task in tasks]
    trained = sum(map(trains, missing.values()))
    stages = sum(map(len, missing.values())) - trained
    parts = [f"train {counted(trained, 'model')}"] * bool(trained)
    parts += [f"run {counted(stages, 'stage')} of {counted(len(missing), 'run')}"] * bool(stages)
    many = f"{counted(at_once, 'worker')} of {counted(count, 'thread')}"
    whole = max(*took, sum(took) / at_once)
    about = shared(whole) if local else words(whole)
    print(f"{', '.join(parts)} with {many}: about {about}", flush=True)
    recorded = files.locked()
    again = [x for x, own in missing.items() if trains([y for y in own if y in recorded])]
    if again and not (asked.runs or asked.go):
        raise InputError(
            f"{few(again)}: trained before, with other settings or code: "
            "make grid GO=1 trains again, RUNS='…' some of them, make back returns"
        )
    commit, changed = revision()
    if own := [name for name in changed if not name.endswith("dvc.lock")]:
        print(f"workers have your changes of {few(own)}, committed or not")
    for run in missing:
        logs.say(run, "pending")
    given = [str(Path(sys.executable).parent), str(Path.cwd()), commit]
    if local:
        return pool.Local(given, tasks, at_once, count)
    name, where = f"strata-{secrets.token_hex(4)}", pool.cluster(asked.args)
    return pool.Array(name, tasks, where, time.time(), given, asked.args)


def remember(logs: Logs, jobs: Sequence[pool.Job], count: int) -> None:
    """Note what was given to workers, with how many threads here."""
    own = [[x.name, x.tasks, x.cluster, x.since] for x in jobs if isinstance(x, pool.Array)]
    own += [["", x.tasks] for x in jobs if isinstance(x, pool.Local)]
    store.write_json(logs.path / "jobs.json", {"threads": count, "jobs": own})


def remembered(logs: Logs) -> tuple[list[pool.Array], int]:
    """What was given to workers the last time, those of this machine without a name; and with how
    many threads here."""
    try:
        known: dict[str, Any] = store.read_json(logs.path / "jobs.json")
    except InputError:
        return [], 0
    return [pool.Array(*job) for job in known["jobs"]], known["threads"]


def at_work(jobs: Sequence[pool.Array]) -> list[pool.Array]:
    """The jobs that go on without us, as those of SLURM do."""
    return [job for job in jobs if job.name and pool.alive(job.look())]


def make(asked: Asked, logs: Logs) -> None:
    """Find what is missing, have it made, bring it in."""
    before, count = remembered(logs)
    jobs: list[pool.Job] = [*at_work(before)]
    busy = watch.runs(jobs)
    every, listed = gathered()
    runs = chosen(asked.runs, listed)
    missing = {run: every[run] for run in runs if run in every and run not in busy}
    if not missing and not jobs:
        print("nothing to do: make paper and make studies bring tables and figures up to date")
        return
    began = time.monotonic()
    if missing:
        count = threads(asked, missing, count)
        jobs.append(start(asked, missing, count, logs))
    remember(logs, jobs, count)  # before sbatch is called, which may be interrupted
    try:
        ended = watched(jobs, logs)
    finally:
        remember(logs, jobs, count)
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
    paths = [Path(project, "data", "metrics", f"{run}.json") for project in files.with_runs()]
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
    wanted, logs = asked(os.environ), Logs()
    lock = taken(logs.path / "lock")
    if os.environ.get("STATUS"):
        jobs = remembered(logs)[0]
        if jobs := jobs if lock is None else at_work(jobs):
            watch.shown(jobs, logs)
        else:
            print("nothing is running")
        return
    if lock is None:
        raise InputError("another make grid is at work here: make grid STATUS=1 shows it")
    with lock:
        packages.refuse()
        files.refuse_cut_off()
        for project in files.with_runs():
            if busy := recover.busy(project):
                raise InputError(f"{busy}: wait for its end, then repeat")
            packs.unpack(project)
            if pulled(project):
                checked_out(project)
        make(wanted, logs)


if __name__ == "__main__":
    try:
        command(main)
    except KeyboardInterrupt:
        sys.exit(130)
