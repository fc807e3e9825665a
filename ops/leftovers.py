"""Before DVC is called: what killed processes left and nobody needs, temporary files and locks of
the dead, is deleted; and a YAML file that would keep DVC busy for ever, or end it, is refused.

``python -m ops.leftovers`` does so in the project where it is called. It imports
little, since ``make paper`` calls it every time.
"""

import fcntl
import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
from ruamel.yaml.error import YAMLError

from strata.inputs import InputError, yaml_text
from strata.render import scratch

TMP, CACHE = Path(".dvc", "tmp"), Path(".dvc", "cache")
PROJECTS = (Path(), Path("published"))
OUTS = ("data", "figures", "tables", "report")
READ = ("params.yaml", "dvc.*", "pipelines/*/dvc.*", "published/dvc.*", "stages/*.yaml")
OF_DVC = re.compile(r".*\.[\w-]{22}\.tmp")  # dvc_objects.fs.utils.tmp_fname
OURS = re.compile(r"\..+\.([0-9]+)\.tmp")  # store.replacing


@contextmanager
def held(path: Path) -> Iterator[bool]:
    """A lock of DVC's, where no process of DVC has it; whether it could be taken."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True


def release() -> None:
    """Take the locks of processes that have ended from DVC's list, or delete it where it cannot be
    read. DVC itself refuses a list that was cut off; and where another process has the number of
    the one that ended, as after a reboot, it waits for that one."""
    path = TMP / "rwlock"
    with held(TMP / "rwlock.lock") as mine:
        if not mine or not path.is_file():
            return  # DVC is just writing it
        try:
            found = json.loads(path.read_bytes())
            kept = _living(found)
        except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
            found, kept = None, {}
        if not any(kept.values()):
            path.unlink()
        elif kept != found:
            new = path.with_suffix(".new")
            new.write_text(json.dumps(kept))
            os.replace(new, path)


def _living(locks: dict[str, Any]) -> dict[str, Any]:
    """The locks of processes that live. Raises where it is no list of locks."""
    read = {k: [x for x in v if _lives(x["pid"])] for k, v in locks.get("read", {}).items()}
    write = {k: v for k, v in locks.get("write", {}).items() if _lives(v["pid"])}
    return {"write": write, "read": {k: v for k, v in read.items() if v}}


def _lives(pid: int) -> bool:
    """Whether it is a process of DVC. One that may not be looked at might be."""
    try:
        return "dvc" in " ".join(psutil.Process(pid).cmdline())
    except psutil.AccessDenied:
        return True
    except psutil.NoSuchProcess:
        return False


def sweep() -> None:
    """Delete temporary files and folders whose process has ended."""
    for project in PROJECTS:
        for folder in (project / "figures").glob(f"{scratch.PREFIX}*"):
            scratch.remove(folder)
    folders = [CACHE, *(project / name for project in PROJECTS for name in OUTS)]
    found = [path for folder in folders for path in folder.rglob("*.tmp")]
    with held(TMP / "lock") as mine:  # DVC holds it wherever it writes
        for path in (*found, *Path().glob(".*.tmp")):
            own = OURS.fullmatch(path.name)
            dead = not psutil.pid_exists(int(own[1])) if own else OF_DVC.fullmatch(path.name)
            if dead and (own or mine) and path.is_file():
                path.unlink(missing_ok=True)


def refuse() -> None:
    """Raise InputError for a YAML file that DVC cannot read and would not refuse. For others that
    cannot be read it says itself what is wrong, or they were cut off (ops.recover)."""
    for path in [x for name in READ for x in Path().glob(name)]:
        with suppress(YAMLError, UnicodeDecodeError):
            yaml_text(path)


if __name__ == "__main__":
    release()
    sweep()
    try:
        refuse()
    except InputError as error:
        sys.exit(f"paper: {error}")
