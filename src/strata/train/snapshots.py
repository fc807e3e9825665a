"""Save snapshots of a run in training, from which a killed run goes on where it was.

A snapshot lies in an ignored folder and is never an output. It counts only for the inputs that it
was made with. It is kept after the end, until ``prune`` finds the run's weights recorded: the work
of a stage that DVC lost sight of is then still there to be handed over.
"""

import fcntl
import hashlib
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from strata.inputs import InputError
from strata.store import Arrays, read_tensors, tensors_bytes, write_bytes

LOCKS = Path("runs", "dvc.lock"), Path("studies", "dvc.lock")  # where DVC records what was trained
# The stage `code` writes the key for the code of training, so a comment costs no snapshot.
CODE = Path("data", "code", "train.txt")


def fingerprint(inputs: Mapping[str, Any], files: list[Path]) -> str:
    """Return a hash of all that decides a run's bytes: the inputs and the content of the files."""
    content = [json.dumps(inputs, sort_keys=True).encode(), *(path.read_bytes() for path in files)]
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in content)).hexdigest()


def checksum(state: Arrays) -> str:
    """Return a hash of the tensors of a snapshot, by name."""
    total = hashlib.sha256()
    for name, array in sorted(state.items()):
        total.update(f"{name} {array.dtype} {array.shape} ".encode() + array.tobytes())
    return total.hexdigest()


class Snapshot:
    """A ``Snapshot`` is the saved training of one run; each save replaces the one before."""

    def __init__(self, folder: Path | str, name: str, key: str):
        self.path = Path(folder) / f"{name}.safetensors"
        self.name, self.key = name, key
        self.saved = time.monotonic()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the run for this process. Raises InputError in a second one, which gets one clear
        line instead of a race."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.with_suffix(".lock").open("a+") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                lock.seek(0)
                owner = lock.read().strip() or "unknown"
                raise InputError(
                    f"{self.name}: process {owner} is training this run already; "
                    "wait for it or end it, then repeat"
                ) from None
            lock.truncate(0)
            lock.write(str(os.getpid()))
            lock.flush()
            yield

    def load(self) -> tuple[Arrays, dict[str, Any]]:
        """Return the tensors and notes of the last save. Raises InputError where it is torn or
        belongs to another run."""
        state, notes = read_tensors(self.path)
        if notes.get("key") != self.key:
            raise InputError(f"{self.path}: made with another configuration, code or device")
        if notes.get("checksum") != checksum(state):
            raise InputError(f"{self.path}: its content does not match its checksum")
        return state, notes

    def save(self, state: Arrays, **notes: Any) -> None:
        """Replace the snapshot in one step."""
        notes |= {"key": self.key, "checksum": checksum(state)}
        write_bytes(self.path, tensors_bytes(state, notes))
        self.saved = time.monotonic()

    def due(self, seconds: float) -> bool:
        """Whether the last save is at least ``seconds`` ago."""
        return time.monotonic() - self.saved >= seconds


def prune(folder: Path | str, locks: Iterable[Path] = LOCKS) -> list[str]:
    """Delete the snapshots of finished runs whose weights' md5 the locks name; return their names.

    A run that is asked for again trains again. What a killed save left behind goes after an hour.
    """
    locks_text = "".join(x.read_text(encoding="utf-8") for x in locks if x.exists())
    pruned = []
    for path in sorted(Path(folder).glob("*.safetensors")):
        with suppress(InputError):  # replaced just now, or torn, which its own run handles
            md5 = read_tensors(path)[1].get("weights_md5")
            if md5 and md5 in locks_text:
                path.unlink(missing_ok=True)
                path.with_suffix(".lock").unlink(missing_ok=True)
                pruned.append(path.stem)
    for path in Path(folder).glob(".*.tmp"):
        with suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime > 3600:
                path.unlink()
    return pruned


if __name__ == "__main__":
    for name in prune(".snapshots"):
        print(f"snapshot of {name} deleted: its weights are recorded")
