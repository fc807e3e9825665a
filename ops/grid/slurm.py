"""Workers as the tasks of an array job of SLURM; what it says of them.

Relies on squeue alone: a cluster without accounting has no sacct.
"""

import re
import shutil
import subprocess
from collections.abc import Sequence
from typing import NamedTuple

from strata.run import InputError

# Reasons for which a job is pending that no time will change, and what to do.
FOR_EVER = {
    "PartitionTimeLimit": "its --time is above the partition's limit, which sinfo -o '%P %l' shows",
    "AssocMaxWallDurationPerJobLimit": "its --time is above what your account may ask for",
    "QOSMaxWallDurationPerJobLimit": "its --time is above what this QOS allows",
    "PartitionNodeLimit": "it asks for more than the nodes of the partition have",
    # SLURM's first word for any of its limits, for a second or a minute
    "PartitionConfig": "it asks for more nodes, cores, memory or time than the partition has: "
    "scontrol show partition tells its limits",
    "BadConstraints": "no node has what --constraint asks for",
    "PartitionDown": "the partition is down: sinfo lists those that are up",
    "PartitionInactive": "the partition is inactive: sinfo lists those that are up",
    "InvalidAccount": "--account: your account may not use this partition",
    "InvalidQOS": "--qos: your account may not use it",
    "JobHeldUser": "the job is held: scontrol release brings it back",
    "JobHeldAdmin": "an administrator holds the job",
}
GOING_ON = {"PENDING", "RUNNING", "CONFIGURING", "COMPLETING", "REQUEUED", "SUSPENDED", "SIGNALING"}
FIELDS = {"arraytaskid": 12, "state": 24, "nodelist": 64, "reason": 48, "exit_code": 12}


class Seen(NamedTuple):
    """A task as its pool or SLURM sees it."""

    state: str  # SLURM's word
    node: str = ""
    reason: str = ""
    code: int = 0

    @property
    def goes_on(self) -> bool:
        return self.state in GOING_ON


def here() -> None:
    """Raises InputError where there is no SLURM."""
    if not shutil.which("sbatch") or not shutil.which("squeue"):
        raise InputError(
            "ON = slurm: sbatch and squeue are not here: log in to a node of the cluster that has "
            "them; make grid without ON runs on this machine"
        )


def submit(words: Sequence[str], tasks: int, args: Sequence[str]) -> str:
    """Submit an array of so many tasks; the number of the job. Raises InputError in sbatch's words.

    Its output goes nowhere, as the folder for it may not be on every node: the script itself opens
    its log.
    """
    own = ["--parsable", f"--array=0-{tasks - 1}", "--job-name=strata", "--requeue"]
    own += ["--output=/dev/null", "--chdir=/"]
    done = subprocess.run(
        ["sbatch", *own, *args, *words], capture_output=True, text=True, check=False
    )
    if done.returncode:
        lines = [re.sub(r"^(sbatch: )?(error: )?", "", x) for x in done.stderr.splitlines()]
        said = [x.removeprefix("Batch job submission failed: ") for x in lines if "Try " not in x]
        raise InputError(
            f"sbatch: {'; '.join(dict.fromkeys(said))}: change ARGS = {' '.join(args)}; "
            "sinfo -o '%P %l %c %G' shows what there is"
        )
    return done.stdout.strip().partition(";")[0]


def look(job: str) -> dict[int, Seen] | None:
    """The tasks of an array job by number, those that ended a while ago left out; None where the
    controller does not answer."""
    if not shutil.which("squeue"):
        return {}
    form = ",".join(f"{name}:{width}" for name, width in FIELDS.items())
    words = ["squeue", "--noheader", "--array", "--states=all", f"--jobs={job}", f"--Format={form}"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        return {} if "Invalid job id" in done.stderr else None
    return {int(row[0]): Seen(row[1], row[2], row[3], code(row[4])) for row in rows(done.stdout)}


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


def cancel(job: str) -> None:
    subprocess.run(["scancel", job], capture_output=True, check=False)


def impossible(seen: dict[int, Seen]) -> str:
    """Why a pending task will never start; empty where none is like that."""
    for task in seen.values():
        if task.state == "PENDING" and task.reason in FOR_EVER:
            return f"SLURM: {task.reason}: {FOR_EVER[task.reason]}"
    return ""
