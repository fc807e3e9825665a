"""The clone in which a worker works, on the disk of its node: its own .dvc/tmp, the cache of the
clone that it works for, and of the pipeline what its runs need.

DVC reads and writes whole pipeline files and locks: with those of fifty runs it takes longer than
the stages of one. What is left out changes no command and nothing that a stage reads.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from ruamel.yaml import YAML

from ops import files
from ops.contents import Files
from ops.grid.tasks import RUNS, Task
from strata.run import read_yaml

PREFIX = "strata-worker-"  # ops/scripts/worker makes folders of this name
OWNED = Path(".git", "strata-worker")  # in a clone whose owner has its lock
BEFORE = ("code", "check@runs")  # of no run; the clone that the worker works for made them


def address(kind: str, run: str) -> str:
    """What DVC calls a stage of a run."""
    return f"{RUNS}:{kind}@{run}"


@contextmanager
def owned(place: Path) -> Iterator[None]:
    """Own the clone, and delete it in the end. The system takes the lock back however the owner
    ends: then ``sweep`` deletes it."""
    lock = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):  # where the file system has no locks, nobody sweeps
            fcntl.flock(lock, fcntl.LOCK_EX)
            place.joinpath(OWNED).touch()
        yield
    finally:
        shutil.rmtree(place, ignore_errors=True)
        os.close(lock)


def sweep() -> None:
    """Delete the clones on this machine whose workers were killed."""
    for place in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            lock = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if place.joinpath(OWNED).exists():
                    shutil.rmtree(place, ignore_errors=True)
            finally:
                os.close(lock)


def prepare(place: Path, head: Path, cache: Path, runs: Sequence[str]) -> None:
    """Make the clone ready for these runs: DVC's settings, where snapshots are, the pipeline."""
    cache.mkdir(parents=True, exist_ok=True)
    (place / ".dvc" / "config.local").write_text(f"[cache]\n    dir = {cache}\n")
    os.environ["DVC_SITE_CACHE_DIR"] = str(place / ".dvc" / "tmp" / "site")
    (head / ".snapshots").mkdir(parents=True, exist_ok=True)
    (place / ".snapshots").symlink_to(head / ".snapshots")
    for file in files.present(place, files.FILES[1:]):
        if file != place / RUNS:
            file.unlink()
    path, lock = place / RUNS, place / files.lock(RUNS)
    written = read_yaml(path)
    for stage in written["stages"].values():
        if "run" in stage.get("matrix", ()):
            stage["matrix"]["run"] = list(runs)
    YAML(typ="safe").dump(written, path)
    if lock.is_file():
        recorded, own = read_yaml(lock), {*runs, "runs"}
        stages = recorded["stages"].items()
        recorded["stages"] = {k: v for k, v in stages if k.partition("@")[2] in own}
        YAML(typ="safe").dump(recorded, lock)


def inputs(task: Task, locked: files.Stages) -> Files:
    """What the stages of the task read and do not make, as the locks have it, with its md5.

    Paths, because DVC reads a whole lock anew for each stage that it is given.
    """
    stages = read_yaml(RUNS)["stages"]
    found = list(BEFORE)
    for run, kinds in task.stages.items():
        read = {dep for kind in kinds for dep in stages[kind]["deps"]}
        others = [kind for kind, x in stages.items() if "matrix" in x and kind not in kinds]
        found += [f"{kind}@{run}" for kind in others if read & {*stages[kind]["outs"]}]
    outs = (out for name in found for out in locked.get(name, {}).get("outs", ()))
    return {out["path"]: out["md5"] for out in outs}
