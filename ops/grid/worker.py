"""A worker: in a clean copy of one revision it makes the stages of some runs, one run after the
other. ``worker.sh`` starts it in the folder that it works for.

DVC runs the stages and decides what is valid. What they write is in the caches of that folder.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from dvc.repo import Repo

from ops import files, plan, recover
from ops.calls import ROOM, last_line
from ops.calls import command as called
from ops.git import laid_out
from ops.grid.logs import Logs
from ops.recover import taken
from strata.run import command
from strata.train.environment import threads

GRACE = 10.0  # seconds that DVC and its stage have to end
ENDS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Stopped(Exception):
    """A signal came, or who started the worker is gone."""


class Failed(Exception):
    """A command did not run to its end, and this is why."""


def granted() -> int:
    """The threads that STRATA_THREADS says, or SLURM, or the processors that may be used."""
    names = ("STRATA_THREADS", "SLURM_CPUS_PER_TASK", "SLURM_CPUS_ON_NODE")
    found = [os.environ[name] for name in names if os.environ.get(name, "").isdecimal()]
    return int(found[0]) if found else threads()


class Worker:
    """A worker for the projects in the current folder, in a copy of them."""

    def __init__(self, place: Path):
        self.place, self.head = place, Path.cwd()
        self.logs, self.threads, self.parent = Logs(self.head), granted(), os.getppid()
        self.node = os.environ.get("SLURMD_NODENAME") or socket.gethostname()
        self.projects = files.with_runs()
        self.caches = {project: recover.cache(project) for project in files.projects()}
        self.stopped = False
        for number in ENDS:
            signal.signal(number, self._stop)

    def _stop(self, *_: object) -> None:
        self.stopped = True

    def checked(self) -> None:
        """Raises Stopped where there is no reason to go on, Failed where there is no room to."""
        if self.stopped or os.getppid() != self.parent:
            raise Stopped
        for place in (self.head, self.place):
            if shutil.disk_usage(place).free < ROOM:
                raise Failed(f"{place}: the disk is full: make room, then repeat")

    def prepared(self, revision: str, runs: list[str]) -> dict[str, list[str]]:
        """Make the copy, bring what the runs read, and give the stages of each. Raises Failed,
        Stopped."""
        laid_out(revision, self.place, self.caches)
        (self.head / ".snapshots").mkdir(exist_ok=True)
        (self.place / ".snapshots").symlink_to(self.head / ".snapshots")
        os.environ["DVC_SITE_CACHE_DIR"] = str(self.place / ".dvc" / "tmp" / "site")
        os.chdir(self.place)
        every: list[str] = []
        for project in self.projects:
            with Repo(project or ".") as repo:
                stages = [stage.addressing for stage in repo.index.stages if not stage.frozen]
            # All that stages of the runs may read: their own, and what decides what others do.
            own = [x for x in stages if files.kind(x) in plan.QUICK or str(files.run_of(x)) in runs]
            with self.logs.open(runs[0]) as log:
                words = ("checkout", "--quiet", "--allow-missing", *map(files.inside, own))
                self.dvc(project, *words, log=log)
            every += stages
        return files.of_runs(every)

    def made(self, run: str, stages: list[str]) -> bool:
        """Make the stages of a run; whether that went well. Raises Stopped."""
        try:
            with self.waited(run, self.logs.path / "locks" / run), self.logs.open(run) as log:
                # That of a training, which may have outlived its worker; ours takes it itself.
                self.waited(run, self.head / ".snapshots" / f"{run}.lock").close()
                self.logs.say(run, f"running on {self.node}, with {self.threads} threads")
                for project in self.projects:
                    own = [files.inside(x) for x in stages if files.project(x) == project]
                    if own:
                        self.dvc(project, "repro", "--single-item", *own, log=log)
                self.logs.say(run, "done")
                return True
        except Stopped:
            self.logs.say(run, "stopped")
            raise
        except Failed as reason:
            self.logs.say(run, f"failed: {reason}")
            return False

    def waited(self, run: str, path: Path) -> TextIO:
        """The lock of that file, when whoever has it has ended: until then the run waits."""
        file = taken(path)
        if not file:
            self.logs.say(run, f"waits on {self.node} for the process that has it")
        while not file:
            self.checked()
            time.sleep(0.5)
            file = taken(path)
        return file

    def dvc(self, project: str, *words: str, log: TextIO) -> None:
        """Run DVC in a group of processes that ends with the worker. Raises Failed, Stopped."""
        before = os.fstat(log.fileno()).st_size
        process = subprocess.Popen(
            called(*words, project=project), stdin=subprocess.DEVNULL, stdout=log,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        try:
            while process.poll() is None:
                self.checked()
                time.sleep(0.2)
        finally:
            end(process)
        if process.returncode:
            time.sleep(1)  # SLURM signals every process of a job: ours may come last
            self.checked()
            said = Path(log.name).read_bytes()[before:].decode(errors="replace")
            raise Failed(last_line(said) or f"dvc {words[0]}: exit code {process.returncode}")


def end(process: subprocess.Popen) -> None:
    """End a process with its group: under SLURM children of an ended worker may go on."""
    for number, seconds in ((signal.SIGTERM, GRACE), (signal.SIGKILL, None)):
        with suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.killpg(process.pid, number)
            process.wait(seconds)
            break
    process.wait()


def work(worker: Worker, revision: str, runs: list[str]) -> int:
    """Make the runs; the exit code."""
    os.environ |= {"STRATA_THREADS": str(worker.threads), "OMP_NUM_THREADS": str(worker.threads)}
    try:
        stages = worker.prepared(revision, runs)
        well = [worker.made(run, stages.get(run, [])) for run in runs]
        return int(not all(well))
    except Stopped:
        return 128 + signal.SIGTERM
    except Failed as reason:
        for run in runs:
            worker.logs.say(run, f"failed: {reason}")
        return 1


def main(revision: str, task: str) -> None:
    place = Path(tempfile.mkdtemp(prefix="strata-worker-"))
    try:
        sys.exit(work(Worker(place), revision, task.split("+")))
    finally:
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    command(main)
