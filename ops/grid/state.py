"""What workers leave in the folder .grid of the clone that they work for: a lock, a state and a log
for each run. Every node writes there; nothing else is shared but DVC's cache and .snapshots."""

import fcntl
import os
import re
import time
from pathlib import Path
from typing import Literal, TextIO

from pydantic import BaseModel, ConfigDict

from strata import store
from strata.inputs import InputError

FOLDER = Path(".grid")
BEGINS = "== "  # the first line of each worker in a log
# Lines of DVC's that say nothing of why a stage failed.
REMARKS = re.compile(r"WARNING|Updating lock file|Use `dvc push`|Running stage|> |To |\s|$|== ")
PROGRESS = re.compile(
    r"^\S+  epoch (?P<epoch>\d+)/(?P<epochs>\d+)  loss (?P<loss>\S+)  .*?validation "
    r"(?P<accuracy>\S+)  .*?(?P<left>[\d.]+) min left$",
    re.MULTILINE,
)
STAGE = re.compile(r"^Running stage '(?:\S+:)?(\w+)@\S+':$", re.MULTILINE)
TAIL = 8192  # bytes of a log that are read again and again


class State(BaseModel):
    """What has become of a run: ``waiting`` for another worker that has it, ``stopped`` by a
    signal."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run: str
    node: str
    pid: int
    threads: int
    state: Literal["waiting", "running", "done", "failed", "stopped"]
    began: float  # seconds since 1970
    ended: float | None = None
    said: str = ""  # why it failed

    def now(self, state: str, said: str = "") -> "State":
        ended = time.time() if state in {"done", "failed", "stopped"} else None
        return State(**self.model_dump() | {"state": state, "said": said, "ended": ended})


class Progress(BaseModel):
    """How far a run is, as its log says; None for what it does not say."""

    stage: str = ""
    epoch: int | None = None
    epochs: int | None = None
    loss: str | None = None
    accuracy: float | None = None  # share of validation pairs
    left: float | None = None  # minutes


class Folder:
    """The folder .grid at a path."""

    def __init__(self, head: Path | str = "."):
        self.path = Path(head) / FOLDER

    def make(self) -> None:
        for name in ("locks", "logs", "runs"):
            (self.path / name).mkdir(parents=True, exist_ok=True)

    def log(self, run: str) -> Path:
        return self.path / "logs" / f"{run}.log"

    def write(self, state: State) -> None:
        store.write_json(self.path / "runs" / f"{state.run}.json", state.model_dump())

    def read(self, run: str) -> State | None:
        """None where no worker has begun with the run, or its state is just being written."""
        try:
            return store.read_model(self.path / "runs" / f"{run}.json", State)
        except InputError:
            return None

    def forget(self, run: str) -> None:
        (self.path / "runs" / f"{run}.json").unlink(missing_ok=True)

    def tail(self, run: str) -> str:
        """The end of what the last worker wrote in a run's log; empty where there is none."""
        try:
            with self.log(run).open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL))
                text = file.read().decode(errors="replace")
        except OSError:
            return ""
        return text.rpartition(f"\n{BEGINS}")[2]

    def progress(self, run: str) -> Progress:
        """How far a run is, as its log says."""
        tail = self.tail(run)
        stages = list(STAGE.finditer(tail))
        since = tail[stages[-1].end() :] if stages else tail
        told = list(PROGRESS.finditer(since))
        found = told[-1].groupdict() if told else {}
        stage = stages[-1][1] if stages else "train" if told else ""
        return Progress.model_validate({"stage": stage} | found)


def last_line(text: str) -> str:
    """The last line of a log that says something: DVC's own word where its stage said nothing."""
    lines = [line for line in text.splitlines() if not REMARKS.match(line)]
    own = [line for line in lines if not line.startswith("ERROR: failed to reproduce")]
    return (own or lines or [""])[-1].strip()


def taken(path: Path) -> TextIO | None:
    """The lock of that file, which the system takes back however its owner ends; None where another
    process has it. flock also holds between hosts that share the folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("a+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file
