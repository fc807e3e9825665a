"""Call DVC in one of the projects, and say why it failed."""

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

from strata.inputs import InputError

# Lines of DVC's that do not say why a stage failed.
REMARKS = re.compile(
    r"WARNING|Updating lock|Use `dvc push`|Running stage|> |To |\s|$|== |<http|Having any troubles"
)
SAME = ("WARNING", "md5:", "Is your cache", "<http", "name:")  # lines that every failed pull has
INTERRUPTS: list[int] = []  # SIGINT, where it came: DVC has it too, and ends in order
GRACE = 3  # seconds that a pull has for that: its downloads may not end at all
SILENCE = 25  # seconds after which a command says that it is still at work
ROOM = 8 << 20  # bytes that must be free: DVC's databases try for ever to write on a full disk


def command(*words: str, project: str = "") -> list[str]:
    """Return the command that calls DVC in a project: the paper's, or one beside it."""
    return [sys.executable, "-m", "dvc", *(("--cd", project) if project else ()), *words]


@contextmanager
def alive(what: str) -> Iterator[None]:
    """Say what goes on, and for how long, whenever that has lasted some seconds more."""
    over, began = Event(), time.monotonic()

    def tell() -> None:
        while not over.wait(SILENCE):
            print(f"{what} … {time.monotonic() - began:.0f} s so far", file=sys.stderr, flush=True)

    Thread(target=tell, daemon=True).start()
    try:
        yield
    finally:
        over.set()


def finish(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a command, and return how it ended. It is killed where it goes on after Ctrl-C."""
    with subprocess.Popen(words, stdout=-1, stderr=-1, text=True) as process:
        while True:
            try:
                output, errors = process.communicate(timeout=GRACE)
                return subprocess.CompletedProcess(words, process.returncode, output, errors)
            except subprocess.TimeoutExpired:
                if INTERRUPTS:
                    process.kill()


def pull(project: str) -> str:
    """Restore what the remote holds, and return why not all of it came; nothing where it did.
    Raises InputError on a full disk, which DVC does not always survive to say."""
    done = finish(command("pull", project=project))
    if done.returncode == 0:
        return ""
    if shutil.disk_usage(".dvc").free < ROOM or "No space left" in done.stderr:
        raise InputError("not all of it was pulled: the disk is full: make room, then repeat")
    reasons = [x for x in done.stderr.splitlines() if x and not x.startswith(SAME)]
    return " ".join(reasons).removeprefix("ERROR: ")[:200] or "dvc pull did not run to its end"


def check_out(project: str) -> list[str]:
    """Check out what the cache holds, whatever it lacks, and return the outputs that stay as they
    are because their content is recorded nowhere. Raises InputError where DVC fails."""
    words = command("checkout", "--allow-missing", project=project)
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    top = f"{Path.cwd()}/"
    unsaved = [x.removeprefix(top) for x in done.stderr.splitlines() if x.startswith(top)]
    if done.returncode and not unsaved:
        raise InputError(f"dvc checkout: {last_line(done.stderr)}")
    return unsaved


def last_line(text: str) -> str:
    """Return the last line of a log that says something: the stage's, or else DVC's own."""
    lines = [line for line in text.splitlines() if not REMARKS.match(line)]
    of_stage = [line for line in lines if not line.startswith("ERROR: failed to reproduce")]
    return (of_stage or lines or [""])[-1].strip()
