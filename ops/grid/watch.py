"""What is to be seen of workers: a line for each change, and where they are once a minute."""

import time
from collections.abc import Sequence
from typing import NamedTuple

from ops.calls import last_line
from ops.grid.logs import Logs
from ops.grid.pool import Recorded, Seen, impossible
from strata.run import InputError

# Exit codes of worker.sh, whose log could not be opened.
CODES = {66: "{where} does not have {folder}: is it mounted there?"}
CODES |= {73: "{where} may not write in {folder}"}
ENDS = {"TIMEOUT": "its time was over", "NODE_FAIL": "{where} was lost"}
ENDS |= {"CANCELLED": "it was cancelled", "OUT_OF_MEMORY": "it needs more memory: --mem"}
EVERY = 60  # seconds between two looks at all


class Row(NamedTuple):
    """A run, and what has become of it in words: pending, running on, waits on, done, failed: why,
    ended: why."""

    run: str
    said: str

    @property
    def over(self) -> bool:
        return self.said.startswith(("done", "failed", "ended"))


def row(run: str, seen: Seen | None, logs: Logs) -> Row:
    """A run, of whose task this is seen: None where it ended a while ago."""
    said = logs.state(run)
    if said.partition(":")[0] in {"done", "failed"}:
        return Row(run, said)
    if seen and seen.state == "COMPLETED":
        return Row(run, f"done on {seen.node}" if seen.node else "done")
    if seen is None or not seen.goes_on:
        return Row(run, f"ended: {reason(run, seen or Seen('ended'), logs)}")
    if seen.state == "PENDING":
        waits = seen.reason if seen.reason not in {"", "None", "Resources", "Priority"} else ""
        return Row(run, f"pending: {waits}" if waits else "pending")
    return Row(run, said.partition(",")[0] if said.startswith(("running", "waits")) else "pending")


def reason(run: str, seen: Seen, logs: Logs) -> str:
    """Why a task ended without saying so itself, and what to do."""
    where = seen.node or "its node"
    if seen.code in CODES:
        known = CODES[seen.code].format(where=where, folder=logs.path.parent.resolve())
        return f"{known}; ARGS='--exclude={where}' leaves the node out"
    if seen.state in ENDS or logs.state(run) == "stopped":
        known = ENDS.get(seen.state, "it was stopped").format(where=where)
        return f"{known}: the same command goes on"
    return last_line(logs.tail(run)) or seen.reason or f"{seen.state}, exit code {seen.code}"


def rows(jobs: Sequence[Recorded], logs: Logs) -> list[Row] | None:
    """All runs of the jobs; None where SLURM does not answer. Raises InputError where a task can
    never start."""
    looks = [job.look() for job in jobs]
    for why in filter(None, map(impossible, looks)):
        raise InputError(why)
    if None in looks:
        return None
    return [
        row(run, (look or {}).get(number), logs)
        for job, look in zip(jobs, looks, strict=True)
        for number, task in enumerate(job.tasks)
        for run in task
    ]


def shown(found: Sequence[Row], logs: Logs) -> None:
    """Print all that is not over with the last line of its log, and how many are."""
    for x in found:
        if not x.over:
            print(f"{x.run} {x.said}  {logs.progress(x.run)}".rstrip(), flush=True)
    print(f"{sum(x.over for x in found)} of {len(found)} runs are over", flush=True)


def until_end(jobs: Sequence[Recorded], logs: Logs) -> list[Row]:
    """Watch until every task has ended; how. Raises InputError where one can never start."""
    began = told = time.monotonic()
    before: dict[str, str] = {}
    silent = False
    while True:
        found = rows(jobs, logs)
        if found is None and not silent:
            print("SLURM's controller does not answer: waiting for it", flush=True)
        silent = found is None
        for x in found or ():
            if before.get(x.run, "pending") != x.said:
                print(f"{x.run} {x.said}", flush=True)
            before[x.run] = x.said
        if found is not None and all(x.over for x in found):
            return found
        if found and time.monotonic() - told >= EVERY:
            told = time.monotonic()
            shown(found, logs)
        # SLURM's controller serves a whole cluster: it is asked often only at first.
        time.sleep(1 if time.monotonic() - began < 60 else 10)
