"""A worker: in a clean clone of one revision it makes the stages of some runs, one run after the
other. ``ops/scripts/worker`` makes the clone and starts this in it.

DVC runs the stages and decides what is valid. What they write is in the cache of the clone that the
worker works for; where they share no disk, it is pushed to a remote, with the run cache.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TextIO

import platformdirs

from ops import files, times
from ops.grid import clone
from ops.grid.state import BEGINS, Folder, State, last_line, taken
from ops.grid.tasks import TRAIN, Task
from strata.run import command

ROOM = 8 << 20  # bytes that must be free: DVC's databases try for ever to write on a full disk
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
    return int(found[0]) if found else times.threads()


class Worker:
    """A worker in its clone: whom it reports to, and where DVC's objects go."""

    def __init__(self, place: Path, head: Path, cache: Path, remote: str):
        self.place, self.head, self.cache, self.remote = place, head, cache, remote
        self.folder, self.threads, self.parent = Folder(head), granted(), os.getppid()
        self.folder.make()
        self.node = os.environ.get("SLURMD_NODENAME") or socket.gethostname()
        self.stopped = False
        for number in ENDS:
            signal.signal(number, self._stop)

    def _stop(self, *_: object) -> None:
        self.stopped = True

    def checked(self) -> None:
        """Raises Stopped where there is no reason to go on, Failed where there is no room to."""
        if self.stopped or os.getppid() != self.parent:
            raise Stopped
        for place in (self.cache, self.place):
            if shutil.disk_usage(place).free < ROOM:
                raise Failed(f"{place}: the disk is full: make room, then repeat")

    def fetched(self, task: Task) -> None:
        """Bring what the stages of the task read, beside what they make themselves."""
        with self.log(next(iter(task.stages))) as log:
            own = ("pull", "--remote", self.remote) if self.remote else ("checkout", "--quiet")
            self.dvc(*own, *clone.inputs(task, files.locked()), log=log)

    def made(self, run: str, kinds: tuple[str, ...]) -> bool:
        """Make the stages of a run; whether that went well. Raises Stopped."""
        state = self.state(run)
        with ExitStack() as stack:
            try:
                self.alone(run, kinds, stack)
                state = state.now("running")
                self.folder.write(state)
                self.stages(run, kinds)
            except Stopped:
                self.folder.write(state.now("stopped"))
                raise
            except Failed as reason:
                self.folder.write(state.now("failed", str(reason)))
                return False
            self.folder.write(state.now("done"))
            return True

    def state(self, run: str) -> State:
        return State(
            run=run, node=self.node, pid=os.getpid(), threads=self.threads, state="waiting",
            began=time.time(),
        )  # fmt: skip

    def log(self, run: str) -> TextIO:
        """A run's log, with the first line of this worker."""
        file = self.folder.log(run).open("a", buffering=1, encoding="utf-8")
        when = time.strftime("%Y-%m-%d %H:%M:%S")
        file.write(
            f"\n{BEGINS}{self.node}, process {os.getpid()}, threads {self.threads}, {when}\n"
        )
        return file

    def alone(self, run: str, kinds: tuple[str, ...], stack: ExitStack) -> None:
        """Wait until no other process works on the run: another worker, or a training that has
        outlived its own."""
        stack.enter_context(self.waited(run, self.folder.path / "locks" / run))
        if TRAIN in kinds:  # which takes this lock itself
            self.waited(run, self.head / ".snapshots" / f"{run}.lock").close()

    def waited(self, run: str, path: Path) -> TextIO:
        """The lock of that file, when whoever has it has ended: until then the run waits."""
        file = taken(path)
        if not file:
            self.folder.write(self.state(run))
        while not file:
            self.checked()
            time.sleep(0.5)
            file = taken(path)
        return file

    def stages(self, run: str, kinds: tuple[str, ...]) -> None:
        """Have DVC make the stages, and push them where no disk is shared."""
        names = [clone.address(kind, run) for kind in kinds]
        with self.log(run) as log:
            self.dvc("repro", "--single-item", *names, log=log)
            if self.remote:
                self.dvc("push", "--run-cache", "--remote", self.remote, *names, log=log)

    def dvc(self, *words: str, log: TextIO) -> None:
        """Run DVC in a group of processes that ends with the worker. Raises Failed, Stopped."""
        before = os.fstat(log.fileno()).st_size
        process = subprocess.Popen(
            [sys.executable, "-m", "dvc", *words], stdin=subprocess.DEVNULL, stdout=log,
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
        try:
            os.killpg(process.pid, number)
            process.wait(seconds)
        except ProcessLookupError:
            break
        except subprocess.TimeoutExpired:
            continue
    process.wait()


def work(worker: Worker, task: Task) -> int:
    """Make the task; the exit code."""
    os.environ |= {"STRATA_THREADS": str(worker.threads), "OMP_NUM_THREADS": str(worker.threads)}
    try:
        worker.fetched(task)
        well = [worker.made(run, kinds) for run, kinds in task.stages.items()]
        return int(not all(well))
    except Stopped:
        return 128 + signal.SIGTERM
    except Failed as reason:
        for run in task.stages:
            worker.folder.write(worker.state(run).now("failed", str(reason)))
        return 1


def main(head: str, cache: str, remote: str, text: str) -> None:
    task, place = Task.parse(text), Path.cwd()
    own = platformdirs.user_cache_path("strata", appauthor=False)
    kept = Path(cache) if cache else place / ".dvc" / "cache"
    with clone.owned(place):
        clone.prepare(place, own if remote else Path(head), kept, [*task.stages])
        code = work(Worker(place, own if remote else Path(head), kept, remote), task)
    sys.exit(code)


if __name__ == "__main__":
    command(main)
