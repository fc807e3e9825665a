"""What is to be seen of workers: a table that lives in the terminal, or plain lines."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ops.grid import slurm
from ops.grid.pool import Job
from ops.grid.slurm import Seen
from ops.grid.state import Folder, Progress, last_line
from strata.run import InputError

OVER = {"done", "failed", "ended"}
ORDER = ("running", "waiting", "failed", "ended", "pending", "done")
NOT_THERE, NOT_WRITABLE = 66, 73  # exit codes of ops/scripts/worker
COLUMNS = ("run", "node", "state", "epoch", "loss", "accuracy", "left")
SHORTENED = "state"  # the column that a narrow terminal cuts
NUMBERS = {"epoch", "loss", "accuracy", "left"}
EVERY = 60  # seconds between two lines in which nothing has changed


class Row(NamedTuple):
    """A run: ``state`` is one of ORDER, ``why`` says more."""

    run: str
    state: str
    node: str = ""
    why: str = ""
    progress: Progress = Progress()

    def cells(self) -> tuple[str, ...]:
        p = self.progress
        stage = f"{self.state} {p.stage}" if self.state == "running" else self.state
        return (
            self.run,
            self.node,
            f"{stage}: {self.why}" if self.why else stage,
            f"{p.epoch:,}/{p.epochs:,}" if p.epoch is not None and p.epochs else "",
            p.loss or "",
            f"{100 * p.accuracy:.1f} %" if p.accuracy is not None else "",
            f"{p.left:.0f} min" if p.left is not None else "",
        )


def row(run: str, seen: Seen | None, folder: Folder, first: bool = False) -> Row:
    """A run, of whose task this is seen: None where it ended a while ago. ``first`` of its task: it
    runs where SLURM says so of the task, though without a shared disk it tells nothing itself."""
    state = folder.read(run)
    node = state.node if state else seen.node if seen else ""
    if state and state.state in OVER:
        return Row(run, state.state, node, state.said)
    if seen and seen.state == "COMPLETED":
        return Row(run, "done", node)
    if seen is None or not seen.goes_on:
        return Row(run, "ended", node, reason(run, seen, folder))
    if state and state.state in {"running", "waiting"} and seen.state != "PENDING":
        return Row(run, state.state, node, progress=folder.progress(run))
    if first and state is None and seen.state == "RUNNING" and seen.node:
        return Row(run, "running", seen.node)
    waits = seen.reason if seen.reason not in {"", "None", "Resources", "Priority"} else ""
    return Row(run, "pending", why=waits if seen.state == "PENDING" else "")


def reason(run: str, seen: Seen | None, folder: Folder) -> str:
    """Why a task ended without saying so itself, and what to do."""
    seen = seen or Seen("ended")
    where = seen.node or "its node"
    if seen.code == NOT_THERE:
        return (
            f"{where} does not have {folder.path.parent.resolve()}: is it mounted there? "
            f"ARGS='--exclude={where}' leaves the node out"
        )
    if seen.code == NOT_WRITABLE:
        return f"{where} may not write in {folder.path.resolve()}: chmod or --exclude={where}"
    known = {"TIMEOUT": "its time was over", "NODE_FAIL": f"{where} was lost"}
    known |= {"CANCELLED": "it was cancelled", "OUT_OF_MEMORY": "it needs more memory: --mem"}
    if seen.state in known:
        return f"{known[seen.state]}: the same command goes on"
    said = last_line(folder.tail(run))
    return said or seen.reason or f"{seen.state}, exit code {seen.code}"


Look = dict[int, Seen] | None


def rows(jobs: Sequence[Job], looks: Sequence[Look], folder: Folder) -> list[Row]:
    """All runs of the jobs, whose tasks look like that."""
    return [
        row(run, (look or {}).get(number), folder, first=not place)
        for job, look in zip(jobs, looks, strict=True)
        for number, task in enumerate(job.tasks)
        for place, run in enumerate(task.stages)
    ]


def table(found: Sequence[Row], height: int) -> Table:
    """As many of the runs as fit, those that something happens to first."""
    counts = Counter(x.state for x in found)
    said = ", ".join(f"{counts[state]} {state}" for state in ORDER if counts[state])
    shown = sorted(found, key=lambda x: ORDER.index(x.state))[: max(height, 1)]
    result = Table(caption=said, caption_justify="left", box=None, pad_edge=False)
    for name in COLUMNS:
        side = "right" if name in NUMBERS else "left"
        result.add_column(name, justify=side, no_wrap=name != SHORTENED)
    for x in shown:
        cells = [Text(cell, no_wrap=True, overflow="ellipsis") for cell in x.cells()]
        result.add_row(*cells)
    return result


def line(x: Row) -> str:
    """What has happened to a run, in words."""
    if x.state in {"running", "waiting"}:
        what = "runs" if x.state == "running" else "waits for the process that has it,"
        return f"{x.run} {what} on {x.node}"
    on = f" on {x.node}" if x.node else ""
    return f"{x.run} {x.state}{on}" + (f": {x.why}" if x.why else "")


class Lines:
    """Where there is no terminal: a line for each change, and one a minute."""

    def __init__(self) -> None:
        self.before: dict[str, Row] = {}
        self.told = time.monotonic()

    def __call__(self, found: Sequence[Row]) -> None:
        for x in found:
            known = self.before.get(x.run, Row(x.run, "pending"))
            if (known.state, known.why) != (x.state, x.why):
                print(line(x), flush=True)
            self.before[x.run] = x
        if time.monotonic() - self.told >= EVERY:
            self.told = time.monotonic()
            for x in found:
                if x.state == "running":
                    print("  ".join(filter(None, x.cells())), flush=True)


def once(jobs: Sequence[Job], folder: Folder) -> None:
    """Print the table as it is now."""
    looks = [job.look() for job in jobs]
    Console().print(table(rows(jobs, looks, folder), 10**6))


def until_end(jobs: Sequence[Job], folder: Folder) -> list[Row]:
    """Watch until every task has ended; how. Raises InputError where one can never start."""
    console = Console()
    if not console.is_terminal:
        return _watched(jobs, folder, Lines())
    with Live(console=console, refresh_per_second=2) as live:
        return _watched(jobs, folder, lambda x: live.update(table(x, console.height - 4)))


def _watched(
    jobs: Sequence[Job], folder: Folder, show: Callable[[Sequence[Row]], None]
) -> list[Row]:
    began, silent = time.monotonic(), False
    while True:
        looks = [job.look() for job in jobs]
        if None not in looks:
            found = rows(jobs, looks, folder)
            show(found)
            if all(x.state in OVER for x in found):
                return found
            for why in filter(None, (slurm.impossible(look or {}) for look in looks)):
                raise InputError(why)
        elif not silent:
            print("SLURM's controller does not answer: waiting for it", flush=True)
        silent = None in looks
        # SLURM's controller serves a whole cluster: it is asked often only at first.
        time.sleep(1 if time.monotonic() - began < 60 else 10)
