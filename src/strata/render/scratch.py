"""Several outputs at once: written to a hidden folder beside their places, and renamed together.

A killed process leaves its folder behind. Whoever writes to the same place next deletes it, and so
does ``make paper`` (``ops.leftovers``). The owner of a folder holds a lock on it that
the system takes back however the owner ends, so a locked folder is never deleted.
"""

import fcntl
import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp

PREFIX = ".figures-"
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def together(out: Path) -> Iterator[Path]:
    """A folder in ``out`` whose files take their places in ``out`` if the block ends well.

    All of them or none, unless ``kill -9`` or a power cut comes between two renames. To be used in
    the main thread, as signals are held back meanwhile.
    """
    out.mkdir(parents=True, exist_ok=True)
    for left in out.glob(f"{PREFIX}*"):
        remove(left)
    folder, lock = _owned(out)
    try:
        yield folder
        _moved(sorted(folder.iterdir()), out)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def remove(folder: Path) -> None:
    """Delete the folder of a process that has ended; leave it where that cannot be told."""
    with suppress(OSError):
        lock = _locked(folder)
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _locked(folder: Path) -> int:
    """A descriptor that holds the lock on the folder. Raises OSError where another one does."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _owned(out: Path) -> tuple[Path, int | None]:
    """A new folder and its lock; no lock where the file system has none: nobody deletes it then."""
    while True:
        folder = out / Path(mkdtemp(prefix=PREFIX, dir=out)).name
        try:
            lock = _locked(folder)
        except (FileNotFoundError, BlockingIOError):
            continue  # another process is deleting it: it was not locked yet
        except OSError:
            return folder, None
        if folder.exists():
            return folder, lock
        os.close(lock)


def _moved(files: list[Path], out: Path) -> None:
    """Rename the files into ``out``; where one cannot be, take back those before it."""
    for path in files:
        with path.open("rb") as file:
            os.fsync(file.fileno())
    done: list[Path] = []
    with _undisturbed():
        try:
            for path in files:
                os.replace(path, out / path.name)
                done.append(out / path.name)
        except OSError:
            for path in done:
                path.unlink(missing_ok=True)
            raise


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Signals that can wait until the block has ended do so."""
    came: list[int] = []
    before = {x: signal.signal(x, lambda number, _: came.append(number)) for x in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in came:
            os.kill(os.getpid(), number)
