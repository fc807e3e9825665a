"""Workers: as many at once as the cores of this machine allow, or the tasks of an array job of
SLURM, of which squeue alone is asked: a cluster without accounting has no sacct."""

import os
import re
import shutil
import signal
import subprocess
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from strata.inputs import InputError

SCRIPT = Path("ops", "grid", "worker.sh")
GOING_ON = {"PENDING", "RUNNING", "CONFIGURING", "COMPLETING", "REQUEUED", "SUSPENDED", "SIGNALING"}
# Reasons for which a job is pending that no time will change.
FOR_EVER = re.compile(
    "PartitionTimeLimit|PartitionNodeLimit|PartitionConfig|PartitionDown|PartitionInactive|"
    "AssocMaxWall.*|QOSMaxWall.*|BadConstraints|InvalidAccount|InvalidQOS|JobHeld.*"
)
# Seconds in which squeue may not know a job yet, as where a site caches what it says.
UNKNOWN = 60.0
Task = Sequence[str]  # the runs that one worker makes, one after the other


class Seen(NamedTuple):
    """A task as its pool sees it, in SLURM's words."""

    state: str
    node: str = ""
    reason: str = ""


Look = dict[int, Seen] | None  # the tasks by number; None where that cannot be told now


class Local:
    """Tasks of this machine, each a process with a group of its own, which look() begins."""

    name = ""

    def __init__(self, words: Sequence[str], tasks: Sequence[Task], at_once: int, threads: int):
        self.tasks, self.at_once = tasks, at_once
        self.words = ["bash", str(SCRIPT), *words]
        self.environment = os.environ | {"STRATA_THREADS": str(threads)}
        self.begun: list[subprocess.Popen] = []

    def look(self) -> Look:
        """The tasks as they are now."""
        free = self.at_once - sum(x.poll() is None for x in self.begun)
        for task in self.tasks[len(self.begun) :][:free]:
            words = [*self.words, "+".join(task)]
            self.begun.append(
                subprocess.Popen(
                    words, env=self.environment, stdin=subprocess.DEVNULL, start_new_session=True
                )
            )
        states = ["COMPLETED" if x.poll() is not None else "RUNNING" for x in self.begun]
        states += ["PENDING"] * (len(self.tasks) - len(states))
        return {number: Seen(state) for number, state in enumerate(states)}

    def cancel(self) -> None:
        """End all that goes on."""
        going = [x for x in self.begun if x.poll() is None]
        for process in going:
            os.killpg(process.pid, signal.SIGTERM)
        for process in going:
            process.wait()


class Array:
    """Tasks that look() submits as array jobs of SLURM: one, or several where a site allows no
    array so large. They are known by their names, NAME-K for that whose first task is number K:
    what sbatch prints differs from site to site, and it may be interrupted."""

    def __init__(
        self, name: str, tasks: Sequence[Task], cluster: str = "", since: float = 0.0,
        words: Sequence[str] = (), args: Sequence[str] = (),
    ):  # fmt: skip
        """``since`` is when they are submitted, in seconds of the clock; without ``words`` for the
        script they were."""
        self.name, self.tasks, self.cluster, self.since = name, tasks, cluster, since
        self.words, self.args = words, args
        self.jobs = {f"{name}-0"}

    def look(self) -> Look:
        """The tasks as they are now; of those that are left out nothing is known but that they
        ended. Raises InputError in sbatch's words."""
        if self.words:
            self._submit()
        if not shutil.which("squeue"):
            return {}
        own = ["--noheader", "--array", "--states=all", "--format=%j|%K|%T|%N|%r"]
        done = self._called("squeue", *own)
        if done.returncode:
            return None
        waits = Seen("PENDING") if time.time() - self.since < UNKNOWN else None
        found = dict.fromkeys(range(len(self.tasks)), waits) if waits else {}
        row = rf"(?m)^\s*({re.escape(self.name)}-(\d+))\|(\d+)\|(.*?)\|(.*?)\|(.*?)\s*$"
        for job, first, number, *said in re.findall(row, done.stdout):
            self.jobs.add(job)
            found[int(first) + int(number)] = Seen(*said)
        return found

    def cancel(self) -> None:
        """End all that goes on."""
        ended = [self._called("scancel", f"--name={job}") for job in self.jobs]
        if not any(x.returncode for x in ended):
            self.since = 0.0

    def _called(self, program: str, *words: str) -> subprocess.CompletedProcess[str]:
        where = [f"--clusters={self.cluster}"] if self.cluster else []
        own = [program, *where, f"--user={os.getuid()}", *words]
        return subprocess.run(own, capture_output=True, text=True, check=False)

    def _submit(self) -> None:
        """Their output goes nowhere, as the folder for it may not be on every node: the script
        itself opens its log."""
        words, self.words = self.words, ()
        todo = [(0, [*self.tasks])]
        while todo:
            first, part = todo.pop()
            job, half = f"{self.name}-{first}", len(part) // 2
            self.jobs.add(job)
            own = [f"--array=0-{len(part) - 1}", "--requeue", "--output=/dev/null", "--chdir=/"]
            own += [*self.args, f"--job-name={job}", str(SCRIPT.resolve()), *words]
            own += ["+".join(x) for x in part]
            done = subprocess.run(["sbatch", *own], capture_output=True, text=True, check=False)
            if half and "Invalid job array specification" in done.stderr:  # MaxArraySize
                todo += [(first + half, part[half:]), (first, part[:half])]
            elif done.returncode:
                self.cancel()
                said = " ".join(re.sub(r"sbatch: (error: )?", "", done.stderr).split())
                raise InputError(
                    f"sbatch: {said}: change ARGS = {' '.join(self.args)}; "
                    "sinfo -o '%P %l %c %G' shows what there is"
                )


Job = Local | Array  # tasks that were given to workers


def cluster(args: Sequence[str]) -> str:
    """The clusters that sbatch is told to choose from; empty for that of this machine.

    >>> cluster(["--time=1", "-M", "b"]), cluster(["--clusters=b,c"]), cluster(["-Mb"])
    ('b', 'b,c', 'b')
    """
    parser = ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("-M", "--clusters", "--cluster", default=os.environ.get("SBATCH_CLUSTERS"))
    return parser.parse_known_args(args)[0].clusters or ""


def alive(look: Look) -> bool:
    """Whether one of the tasks may go on."""
    return look is None or any(seen.state in GOING_ON for seen in look.values())


def impossible(look: Look) -> str:
    """Why a pending task will never start; empty where none is like that."""
    for task in (look or {}).values():
        if task.state == "PENDING" and FOR_EVER.fullmatch(task.reason):
            return (
                f"SLURM: {task.reason}: no waiting changes this: change ARGS; "
                "scontrol show partition tells the limits"
            )
    return ""
