"""Workers: as many at once as the cores of this machine allow, or the tasks of an array job of
SLURM, of which squeue alone is asked: a cluster without accounting has no sacct."""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from ops.grid.tasks import Task
from strata.run import InputError

SCRIPT = Path("ops", "grid", "worker.sh")
GOING_ON = {"PENDING", "RUNNING", "CONFIGURING", "COMPLETING", "REQUEUED", "SUSPENDED", "SIGNALING"}
# Reasons for which a job is pending that no time will change.
FOR_EVER = re.compile(
    "PartitionTimeLimit|PartitionNodeLimit|PartitionConfig|PartitionDown|PartitionInactive|"
    "AssocMaxWall.*|QOSMaxWall.*|BadConstraints|InvalidAccount|InvalidQOS|JobHeld.*"
)
FIELDS = {"arraytaskid": 12, "state": 24, "nodelist": 64, "reason": 48, "exit_code": 12}


class Seen(NamedTuple):
    """A task as its pool sees it, in SLURM's words."""

    state: str
    node: str = ""
    reason: str = ""
    code: int = 0

    @property
    def goes_on(self) -> bool:
        return self.state in GOING_ON


Look = dict[int, Seen] | None  # the tasks by number; None where that cannot be told now


class Recorded:
    """Tasks of which the logs alone say more."""

    job = ""

    def __init__(self, tasks: Sequence[Task], alive: bool = True):
        self.tasks, self.alive = tasks, alive

    def look(self) -> Look:
        """The tasks; of those that are left out nothing is known but that they ended."""
        return {n: Seen("RUNNING") for n in range(len(self.tasks))} if self.alive else {}

    def cancel(self) -> None:
        """End all that goes on."""


class Local(Recorded):
    """Tasks of this machine, each a process with a group of its own."""

    def __init__(self, words: Sequence[str], tasks: Sequence[Task], at_once: int, threads: int):
        super().__init__(tasks)
        self.words = [str(SCRIPT), *words]
        self.environment = os.environ | {"STRATA_THREADS": str(threads)}
        self.seen = dict.fromkeys(range(len(tasks)), Seen("PENDING"))
        self.running: list[subprocess.Popen] = []
        self.over, self.lock = False, Lock()
        self.pool = ThreadPoolExecutor(at_once)
        for number in self.seen:
            self.pool.submit(self._work, number)

    def _work(self, number: int) -> None:
        with self.lock:  # so that none begins after all were ended
            if self.over:
                self.seen[number] = Seen("CANCELLED")
                return
            process = subprocess.Popen(
                [*self.words, "+".join(self.tasks[number])], env=self.environment,
                stdin=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
            self.running.append(process)
            self.seen[number] = Seen("RUNNING")
        code = process.wait()
        self.seen[number] = Seen("FAILED" if code else "COMPLETED", code=max(code, 0))

    def look(self) -> Look:
        return dict(self.seen)

    def cancel(self) -> None:
        with self.lock:
            self.over = True
            for process in self.running:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGTERM)
        self.pool.shutdown()


class Array(Recorded):
    """Tasks of an array job of SLURM."""

    def __init__(self, job: str, tasks: Sequence[Task]):
        super().__init__(tasks)
        self.job = job

    def look(self) -> Look:
        if not shutil.which("squeue"):
            return {}
        form = ",".join(f"{name}:{width}" for name, width in FIELDS.items())
        words = ["squeue", "--noheader", "--array", "--states=all", f"--jobs={self.job}"]
        done = subprocess.run(
            [*words, f"--Format={form}"], capture_output=True, text=True, check=False
        )
        if done.returncode:
            return {} if "Invalid job id" in done.stderr else None
        found = rows(done.stdout)
        return {int(x[0]): Seen(x[1], x[2], x[3], code(x[4])) for x in found}

    def cancel(self) -> None:
        subprocess.run(["scancel", self.job], capture_output=True, check=False)


def submit(words: Sequence[str], tasks: Sequence[Task], args: Sequence[str]) -> Array:
    """Submit tasks as an array. Raises InputError in sbatch's words.

    Its output goes nowhere, as the folder for it may not be on every node: the script itself opens
    its log.
    """
    own = ["--parsable", f"--array=0-{len(tasks) - 1}", "--job-name=strata", "--requeue"]
    own += ["--output=/dev/null", "--chdir=/", *args, str(SCRIPT.resolve()), *words]
    done = subprocess.run(
        ["sbatch", *own, *("+".join(x) for x in tasks)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        lines = [re.sub(r"^(sbatch: )?(error: )?", "", x) for x in done.stderr.splitlines()]
        said = [x.removeprefix("Batch job submission failed: ") for x in lines if "Try " not in x]
        raise InputError(
            f"sbatch: {'; '.join(dict.fromkeys(said))}: change ARGS = {' '.join(args)}; "
            "sinfo -o '%P %l %c %G' shows what there is"
        )
    return Array(done.stdout.strip().partition(";")[0], tasks)


def rows(text: str) -> list[list[str]]:
    """The fields of each line of squeue that is of one task."""
    found = []
    for line in text.splitlines():
        at, row = 0, []
        for width in FIELDS.values():
            row.append(line[at : at + width].strip())
            at += width
        if row[0].isdecimal():
            found.append(row)
    return found


def code(text: str) -> int:
    """The exit code of a task, which squeue gives as the status of wait or as CODE:SIGNAL.

    >>> code("66:0"), code("16896"), code("")
    (66, 66, 0)
    """
    first = text.partition(":")[0]
    status = int(first) if first.isdecimal() else 0
    return status if ":" in text or status < 256 else status >> 8


def impossible(look: Look) -> str:
    """Why a pending task will never start; empty where none is like that."""
    for task in (look or {}).values():
        if task.state == "PENDING" and FOR_EVER.fullmatch(task.reason):
            return (
                f"SLURM: {task.reason}: no waiting changes this: change ARGS; "
                "scontrol show partition tells the limits"
            )
    return ""
