"""Train and measure what runs lack, many at once: ``make grid``.

Workers run on this machine, or with ON=slurm as an array job, for which ARGS go to sbatch. RUNS are
some of the runs. DVC decides what is valid. Whatever was interrupted, the same command goes on.
"""

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from ops import files, packages, packs, recover
from ops.calls import alive, check_out, pull
from ops.git import worktree_tree
from ops.grid.worker import FOLDER, STAGES, log, record
from ops.plan import Planner, describe
from ops.times import duration, quantity
from strata import store
from strata.inputs import InputError, shortened
from strata.params import load
from strata.run import command
from strata.train.environment import cores, threads

# What a worker reads that SLURM gave a job of its own: a job in which make grid is called has both.
OF_A_TASK = {"SLURM_ARRAY_TASK_ID", "SLURM_CPUS_PER_TASK"}


def find_missing() -> tuple[dict[str, list[str]], list[str]]:
    """Bring in what the caches have. Return the stages that each run lacks, and all stages."""
    planner = Planner(live=True)
    stale = [name for project in files.with_runs() for name in planner.stale(project)]
    return files.group_by_run(stale), planner.stages


def choose(names: Sequence[str], listed: Sequence[str]) -> list[str]:
    """Return those of the listed runs, or all where none is named. Raises InputError for a run that
    is not listed."""
    for name in names:
        if name not in listed:
            raise InputError(f"RUNS = {name}: must be listed in runs/dvc.yaml or studies/runs.yaml")
    return [*dict.fromkeys(names or listed)]


def trains(stages: Sequence[str]) -> bool:
    return any(files.kind(name) == "train" for name in stages)


def refuse_retraining(missing: Mapping[str, Sequence[str]]) -> None:
    """Refuse to train again runs that a lock has as trained. Raises InputError."""
    locked = files.locked_stages()
    if again := [run for run in missing if trains([x for x in missing[run] if x in locked])]:
        raise InputError(
            f"{shortened(again)}: trained before, with other settings or code: "
            "make grid GO=1 trains again, RUNS='…' some of them, make back returns"
        )


def failures(runs: Sequence[str]) -> list[str]:
    """Return a line for each run that failed the last time."""
    ends = {run: record(run).read_text("utf-8") for run in runs if record(run).exists()}
    return [
        f"{run} {end} (the last time: {log(run)})" for run, end in ends.items() if "fail" in end
    ]


def work_here(tree: str, runs: Sequence[str], count: int) -> None:
    """Make runs with so many workers on this machine. Interrupted, end them all."""
    words = [sys.executable, "-m", "ops.grid.worker", tree, *runs]
    environment = {k: v for k, v in os.environ.items() if k not in OF_A_TASK}
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    workers = [
        subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, start_new_session=True)
        for _ in range(count)
    ]
    try:
        for worker in workers:
            worker.wait()
    finally:
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.wait()


def submit(tree: str, runs: Sequence[str], args: Sequence[str]) -> None:
    """Submit an array job with a task for each run. Raises InputError where sbatch refuses, which
    it has said in its own words."""
    folder = Path.cwd()
    worker = shlex.join([sys.executable, "-m", "ops.grid.worker", tree, *runs])
    words = ["sbatch", "--requeue", f"--chdir={folder}", "--open-mode=append"]
    words += [f"--output={folder / FOLDER / 'slurm.out'}", "--job-name=strata", *args]
    words += [f"--array=0-{len(runs) - 1}", f"--wrap=exec {worker}"]
    if subprocess.run(words, check=False).returncode:
        raise InputError(
            f"sbatch refuses {quantity(len(runs), 'task')} with ARGS = {shlex.join(args)}: "
            "change them, or name fewer RUNS"
        )


def make(on: str, args: Sequence[str], names: Sequence[str]) -> None:
    """Find what is missing, and have workers make it."""
    with alive("plan"):
        lacking, stages = find_missing()
    runs = choose(names, [*files.group_by_run(stages)])
    missing = {run: lacking[run] for run in runs if run in lacking}
    runs = sorted(missing, key=lambda run: not trains(missing[run]))  # trainings take longest
    if not runs:
        print("nothing to do: make paper and make studies bring tables and figures up to date")
        return
    if not (names or os.environ.get("GO")):
        refuse_retraining(missing)
    each = threads() if "STRATA_THREADS" in os.environ else 1
    count = len(runs) if on else min(len(runs), max(1, cores() // each))
    whole = [name for run in runs for name in missing[run]]
    plan = describe(whole, load("params.yaml"), each, count)
    print(f"with {quantity(count, 'worker')}:", *plan, *failures(runs), sep="\n", flush=True)
    began, tree = time.monotonic(), worktree_tree()
    store.write_json(STAGES, stages)
    for run in runs:
        record(run).parent.mkdir(exist_ok=True)
        record(run).write_text("")
    if on:
        submit(tree, runs, args)
        print("squeue --me shows it; when it has ended, the same command brings in what it made")
        return
    work_here(tree, runs, count)
    with alive("look at what was made"):
        left = [run for run in find_missing()[0] if run in missing]
    print(f"made {quantity(len(runs) - len(left), 'run')} in {duration(time.monotonic() - began)}")
    if left:
        raise InputError(
            f"{shortened(left)}: not made, see {FOLDER}/logs; the same command goes on"
        )


def main() -> None:
    files.require_top()
    on, args = os.environ.get("ON", ""), shlex.split(os.environ.get("ARGS", ""))
    if on not in {"", "slurm"}:
        raise InputError(f"ON = {on}: must be slurm, or nothing for this machine")
    if args and not on:
        raise InputError(f"ARGS = {shlex.join(args)}: is for sbatch: make grid ON=slurm ARGS=…")
    lock = recover.try_lock(FOLDER / "lock")
    if lock is None:
        raise InputError("another make grid is at work here: wait for its end, then repeat")
    with lock:
        packages.refuse()
        files.refuse_cut_off()
        for project in files.with_runs():
            if process := recover.busy(project):
                raise InputError(f"{process}: wait for its end, then repeat")
            with alive("pull"):
                packs.unpack(project)
                if pull(project):
                    check_out(project)
        make(on, args, os.environ.get("RUNS", "").split())


if __name__ == "__main__":
    try:
        command(main)
    except KeyboardInterrupt:
        print("interrupted: trainings were saved; the same command goes on", file=sys.stderr)
        sys.exit(130)
