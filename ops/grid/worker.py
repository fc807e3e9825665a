"""Make the stages of runs in a clean copy of a tree of git's: a worker of ``make grid``, called as
``python -m ops.grid.worker TREE RUN…`` in the folder that it works for.

It goes through the runs and makes each that no worker has or has had; as a task of a SLURM array
the one at the task's index. DVC runs the stages and decides what is valid. What they write is kept
in the caches of the folder, what they print in .grid/logs.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NoReturn

import psutil

from ops import files, recover
from ops.calls import ROOM, last_line
from ops.calls import command as called
from ops.git import lay_out
from ops.plan import QUICK
from strata import store
from strata.run import command

FOLDER = Path(".grid")
STAGES = FOLDER / "stages.json"  # the names of the stages of all projects
GRACE = 10.0  # seconds that DVC and its stage have to end


class Failed(Exception):
    """A command did not run to its end; the message says why."""


class Worker:
    """A worker for the current folder, in a copy of it."""

    def __init__(self, tree: str, copy: Path):
        self.copy, self.parent, self.stages = copy, os.getppid(), store.read_json(STAGES)
        log("").parent.mkdir(exist_ok=True)
        lay_out(tree, copy, {x: recover.cache(x) for x in files.projects()})
        snapshots = Path(".snapshots").resolve()
        snapshots.mkdir(exist_ok=True)
        (copy / snapshots.name).symlink_to(snapshots)
        cores = os.environ.get("SLURM_CPUS_PER_TASK", "1")
        count = os.environ.get("STRATA_THREADS", cores)
        places = (str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath))
        self.environment = os.environ | {
            "PATH": os.pathsep.join(places),  # stages call python, and a job may have another first
            "STRATA_THREADS": count, "OMP_NUM_THREADS": count,
            "DVC_SITE_CACHE_DIR": str(copy / ".dvc" / "tmp" / "site"),
        }  # fmt: skip

    def make(self, run: str) -> None:
        """Make a run, unless another worker has it or it is over."""
        state = recover.try_lock(record(run))
        if state is None:
            return
        with state:
            state.seek(0)
            if state.read():
                return
            print(f"{run}: running on {socket.gethostname()}", flush=True)
            result = ""
            try:
                self.reproduce(run)
                result = "done"
            except Failed as reason:
                result = f"failed: {reason}"
            finally:
                state.write(result)
                print(f"{run}: {result or 'stopped'}", flush=True)

    def reproduce(self, run: str) -> None:
        """Check out what a run has, and make what it lacks. Raises Failed."""
        for project in files.with_runs():
            stages = [x for x in self.stages if files.project(x) == project]
            quick = [files.inside(x) for x in stages if files.kind(x) in QUICK]
            of_run = [files.inside(x) for x in stages if str(files.run_of(x)) == run]
            self.dvc(project, run, "checkout", "--quiet", "--allow-missing", *quick, *of_run)
            if of_run:
                self.dvc(project, run, "repro", "--single-item", *of_run)

    def dvc(self, project: str, run: str, *words: str) -> None:
        """Run DVC in the copy, with its output in the log of a run. Raises Failed."""
        with log(run).open("a+b") as output:
            start = output.tell()
            process = subprocess.Popen(
                called(*words, project=project), cwd=self.copy, env=self.environment,
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            )  # fmt: skip
            try:
                while process.poll() is None:
                    self.check()
                    time.sleep(0.2)
            finally:
                end_children()
            if process.returncode:
                time.sleep(1)  # SLURM signals every process of a job, and this one may be the last
                output.seek(start)
                reason = last_line(output.read().decode(errors="replace"))
                raise Failed(reason or f"dvc {words[0]}: exit code {process.returncode}")

    def check(self) -> None:
        """End where who started the worker is gone. Raises Failed where the disk is full, as DVC's
        databases try for ever to write there."""
        if os.getppid() != self.parent:
            sys.exit(1)
        for place in (Path.cwd(), self.copy):
            if shutil.disk_usage(place).free < ROOM:
                raise Failed(f"{place}: the disk is full: make room, then repeat")


def record(run: str) -> Path:
    """Return the file that is locked while a worker makes a run. In it is how the run ended: done,
    or failed and why; nothing before, and where it was stopped."""
    return FOLDER / "runs" / run


def log(run: str) -> Path:
    return FOLDER / "logs" / f"{run}.log"


def end_children() -> None:
    """End all processes that this one has begun, and those that they have begun."""
    children = psutil.Process().children(recursive=True)
    for number, seconds in ((signal.SIGTERM, GRACE), (signal.SIGKILL, None)):
        for child in children:
            with suppress(psutil.NoSuchProcess):
                child.send_signal(number)
        children = psutil.wait_procs(children, seconds)[1]


def stop(number: int, _: object) -> NoReturn:
    """End in order, undisturbed by a second signal."""
    signal.signal(number, signal.SIG_IGN)
    sys.exit(128 + number)


def main(tree: str, *runs: str) -> None:
    signal.signal(signal.SIGTERM, stop)
    task = os.environ.get("SLURM_ARRAY_TASK_ID")
    with TemporaryDirectory(prefix="strata-worker-") as folder:
        worker = Worker(tree, Path(folder))
        for run in runs if task is None else [runs[int(task)]]:
            worker.make(run)


if __name__ == "__main__":
    command(main)
