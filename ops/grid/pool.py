"""Workers on this machine: as many at once as its cores allow, and as a job of SLURM."""

import os
import signal
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Protocol, runtime_checkable

from ops.grid import slurm
from ops.grid.slurm import Seen
from ops.grid.tasks import Task

SCRIPT = Path("ops", "scripts", "worker")


@runtime_checkable
class Job(Protocol):
    """Tasks that were given to workers."""

    tasks: Sequence[Task]

    def look(self) -> dict[int, Seen] | None:
        """The tasks by number; of those that are left out nothing is known but that they ended.
        None where that cannot be told now."""
        ...

    def cancel(self) -> None:
        """End all that goes on."""
        ...


class Local:
    """Tasks of this machine, each a process with a group of its own."""

    def __init__(self, words: Sequence[str], tasks: Sequence[Task], at_once: int, threads: int):
        self.tasks, self.words = tasks, [str(SCRIPT), *words]
        self.environment = os.environ | {"STRATA_THREADS": str(threads)}
        self.seen = {number: Seen("PENDING") for number in range(len(tasks))}
        self.running: dict[int, subprocess.Popen] = {}
        self.over, self.lock = False, Lock()
        self.pool = ThreadPoolExecutor(at_once)
        for number in self.seen:
            self.pool.submit(self._work, number)

    def _work(self, number: int) -> None:
        with self.lock:  # so that none begins after all were ended
            if self.over:
                self.seen[number] = Seen("CANCELLED")
                return
            try:
                process = subprocess.Popen(
                    [*self.words, str(self.tasks[number])], env=self.environment,
                    stdin=subprocess.DEVNULL, start_new_session=True,
                )  # fmt: skip
            except OSError as error:
                self.seen[number] = Seen("FAILED", reason=f"{SCRIPT}: {error.strerror}")
                return
            self.running[number] = process
            self.seen[number] = Seen("RUNNING")
        code = process.wait()
        word = "COMPLETED" if code == 0 else "CANCELLED" if self.over else "FAILED"
        self.seen[number] = Seen(word, code=max(code, 0))

    def look(self) -> dict[int, Seen]:
        return dict(self.seen)

    def cancel(self) -> None:
        with self.lock:
            self.over = True
            for process in self.running.values():
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGTERM)
        self.pool.shutdown()


class Array:
    """Tasks of an array job of SLURM."""

    def __init__(self, job: str, tasks: Sequence[Task]):
        self.job, self.tasks = job, tasks

    def look(self) -> dict[int, Seen] | None:
        return slurm.look(self.job)

    def cancel(self) -> None:
        slurm.cancel(self.job)
