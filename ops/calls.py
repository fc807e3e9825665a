"""DVC, called in one of the projects, and why it failed."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from strata.inputs import InputError

# Lines of DVC's that say nothing of why a stage failed.
REMARKS = re.compile(
    r"WARNING|Updating lock|Use `dvc push`|Running stage|> |To |\s|$|== |<http|Having any troubles"
)
UNSAID = ("WARNING", "md5:", "Is your cache", "<http", "name:")  # the same where a pull fails
ROOM = 8 << 20  # bytes that must be free: DVC's databases try for ever to write on a full disk


def command(*words: str, project: str = "") -> list[str]:
    """The command that calls DVC in a project: the paper's, or one beside it."""
    return [sys.executable, "-m", "dvc", *(("--cd", project) if project else ()), *words]


def pulled(project: str) -> str:
    """Restore what the remote holds; why not all of it came, empty where it did. Raises InputError
    on a full disk, which DVC does not always survive to say."""
    done = subprocess.run(
        command("pull", project=project), capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return ""
    if shutil.disk_usage(".dvc").free < ROOM or "No space left" in done.stderr:
        raise InputError("not all of it was pulled: the disk is full: make room, then repeat")
    said = [x for x in done.stderr.splitlines() if x and not x.startswith(UNSAID)]
    return " ".join(said).removeprefix("ERROR: ")[:200] or "dvc pull did not run to its end"


def checked_out(project: str) -> list[str]:
    """Restore what the cache holds, whatever it lacks. The outputs that stay as they are, because
    what they hold is recorded nowhere."""
    words = command("checkout", "--allow-missing", project=project)
    said = subprocess.run(words, capture_output=True, text=True, check=False).stderr
    here = f"{Path.cwd()}/"
    return [x.removeprefix(here) for x in said.splitlines() if x.startswith(here)]


def last_line(text: str) -> str:
    """The last line of a log that says something: DVC's own word where its stage said nothing."""
    lines = [line for line in text.splitlines() if not REMARKS.match(line)]
    own = [line for line in lines if not line.startswith("ERROR: failed to reproduce")]
    return (own or lines or [""])[-1].strip()
