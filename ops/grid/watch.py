"""What is to be seen of workers: a line for each change, and where they are once a minute."""

import time
from collections.abc import Sequence

from ops.grid.logs import Logs
from ops.grid.pool import Job, Seen, alive, impossible
from strata.inputs import InputError

EVERY = 60  # seconds between two looks at all
OVER = ("done", "failed")


def runs(jobs: Sequence[Job]) -> list[str]:
    return [run for job in jobs for task in job.tasks for run in task]


def shown(jobs: Sequence[Job], logs: Logs) -> None:
    """Print all that is not over with the last line of its log, and how many are."""
    said = {run: logs.state(run) for run in runs(jobs)}
    left = {run: words for run, words in said.items() if not words[0].startswith(OVER)}
    for run, words in left.items():
        print(run, "  ".join(filter(None, words)), flush=True)
    print(f"{len(said) - len(left)} of {len(said)} runs are over", flush=True)


def ended(run: str, seen: Seen | None, logs: Logs) -> str:
    """How a run ended, by its log, or of whose task this is seen."""
    said, last = logs.state(run)
    if said.startswith(OVER):
        return said
    if seen and seen.state not in {"COMPLETED", "FAILED"}:
        return f"{seen.state}: the same command goes on"
    if said == "stopped" or (said not in ("", "pending") and not last):
        return f"{said}: the same command goes on"
    where = seen.node if seen and seen.node else "its node"
    lacks = f"nothing is in its log: {where} may lack this folder, or the right to write there"
    return last or f"{lacks}; ARGS='--exclude={where}' leaves it out"


def until_end(jobs: Sequence[Job], logs: Logs) -> dict[str, str]:
    """Watch until every task has ended; how, by run. Raises InputError where one can never
    start."""
    began = told = time.monotonic()
    before = dict.fromkeys(runs(jobs), "pending")
    while True:
        looks = [job.look() for job in jobs]
        for why in filter(None, map(impossible, looks)):
            raise InputError(why)
        for run, known in before.items():
            before[run] = logs.state(run)[0] or known
            if before[run] != known:
                print(f"{run} {before[run]}", flush=True)
        if not any(map(alive, looks)):
            return {
                run: ended(run, (look or {}).get(number), logs)
                for job, look in zip(jobs, looks, strict=True)
                for number, task in enumerate(job.tasks)
                for run in task
            }
        if time.monotonic() - told >= EVERY:
            told = time.monotonic()
            shown(jobs, logs)
        # SLURM's controller serves a whole cluster: it is asked often only at first.
        later = any(job.name for job in jobs) and time.monotonic() - began > 60
        time.sleep(10 if later else 1)
