"""What workers leave in the folder .grid of the clone that they work for: a lock and a log for each
run. Every node writes there; nothing else is shared but DVC's cache and .snapshots.

Lines of a log that begin with MARK say what has become of the run; what is between them is DVC's
and the stages' own.
"""

import os
import re
from pathlib import Path
from typing import TextIO

from ops.calls import last_line

MARK = "== "
TAIL = 8192  # bytes of a log that are read again and again
THREADS = re.compile(rf"^{MARK}running on .* with (\d+) threads", re.MULTILINE)


class Logs:
    """The folder .grid of a clone."""

    def __init__(self, head: Path | str = "."):
        self.path = Path(head) / ".grid"

    def of(self, run: str) -> Path:
        return self.path / "logs" / f"{run}.log"

    def open(self, run: str) -> TextIO:
        self.of(run).parent.mkdir(parents=True, exist_ok=True)
        return self.of(run).open("a", buffering=1, encoding="utf-8")

    def say(self, run: str, what: str) -> None:
        """Note what has become of a run: ``pending``, ``running on NODE …``, ``waits on NODE``,
        ``failed: why``, ``stopped``, ``done``."""
        with self.open(run) as file:
            file.write(f"{MARK}{what}\n")

    def tail(self, run: str) -> str:
        """The end of a run's log; empty where there is none."""
        try:
            with self.of(run).open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL))
                return file.read().decode(errors="replace")
        except OSError:
            return ""

    def state(self, run: str) -> str:
        """What was noted last; empty where nothing was in so long a time."""
        return ([x for x in self.tail(run).splitlines() if x.startswith(MARK)] or [MARK])[-1][3:]

    def progress(self, run: str) -> str:
        """The last line since then that says something."""
        return last_line(self.tail(run).rpartition(f"\n{MARK}")[2].partition("\n")[2])

    def threads(self, run: str) -> int:
        """With how many the run was made the last time; 0 where its log does not say."""
        text = self.of(run).read_text("utf-8", "replace") if self.of(run).is_file() else ""
        return int((THREADS.findall(text) or [0])[-1])
