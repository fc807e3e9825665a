"""Workers: as many at once as the cores of this machine allow, or the tasks of an array job of
SLURM, of which squeue alone is asked: a cluster without accounting has no sacct."""

import os
import re
import shutil
import signal
import subprocess
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
        self.words = [str(SCRIPT), *words]
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
    """Tasks of an array job of SLURM."""

    def __init__(self, name: str, tasks: Sequence[Task]):
        self.name, self.tasks = name, tasks

    def look(self) -> Look:
        """The tasks as they are now; of those that are left out nothing is known but that they
        ended."""
        if not shutil.which("squeue"):
            return {}
        words = ["squeue", "--noheader", "--array", "--states=all", "--format=%K|%T|%N|%r"]
        done = subprocess.run(
            [*words, f"--jobs={self.name}"], capture_output=True, text=True, check=False
        )
        if done.returncode:
            return {} if "Invalid job id" in done.stderr else None
        rows = (line.strip().split("|") for line in done.stdout.splitlines())
        return {int(number): Seen(*said) for number, *said in rows if number.isdecimal()}

    def cancel(self) -> None:
        """End all that goes on."""
        subprocess.run(["scancel", self.name], capture_output=True, check=False)


Job = Local | Array  # tasks that were given to workers


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
        said = " ".join(re.sub(r"sbatch: (error: )?", "", done.stderr).split())
        raise InputError(
            f"sbatch: {said}: change ARGS = {' '.join(args)}; "
            "sinfo -o '%P %l %c %G' shows what there is"
        )
    return Array(done.stdout.strip().partition(";")[0], tasks)


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
