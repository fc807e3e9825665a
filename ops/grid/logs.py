"""What workers leave in the folder .grid of the clone that they work for: a lock and a log for each
run. Every node writes there; nothing else is shared but DVC's cache and .snapshots.

Lines of a log that begin with MARK say what has become of the run; what is between them is DVC's
and the stages' own.
"""

import os
from pathlib import Path
from typing import TextIO

from ops.calls import last_line

MARK = "== "
TAIL = 8192  # bytes of a log that are read again and again


class Logs:
    """The folder .grid of a clone."""

    def __init__(self, head: Path | str = "."):
        self.path = Path(head) / ".grid"

    def open(self, run: str) -> TextIO:
        path = self.path / "logs" / f"{run}.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("a", buffering=1, encoding="utf-8")

    def say(self, run: str, what: str) -> None:
        """Note what has become of a run: ``pending``, ``running on NODE …``, ``waits on NODE``,
        ``failed: why``, ``stopped``, ``done``."""
        with self.open(run) as file:
            file.write(f"{MARK}{what}\n")

    def state(self, run: str) -> tuple[str, str]:
        """What was noted last, and the last line since then that says something; empty where there
        is nothing in the end of the log."""
        try:
            with (self.path / "logs" / f"{run}.log").open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL))
                tail = file.read().decode(errors="replace")
        except OSError:
            return "", ""
        _, found, after = f"\n{tail}".rpartition(f"\n{MARK}")
        noted, _, said = after.partition("\n") if found else ("", "", after)
        return noted, last_line(said)
