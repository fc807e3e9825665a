"""Before DVC is called: what it would trust unseen, or stumble over, after a kill, a full disk or a
power cut, is put right."""

import fcntl
import json
import re
import shlex
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TextIO

import psutil
from dvc.config import Config

from ops import files, provenance, shipped
from ops.git import PLAIN, git
from strata.inputs import InputError, few

# What DVC is called with where it writes nothing that others read.
READS = re.compile(
    "dvc (--cd [^ ]+ )?(-[vq]+ )?(status|diff|dag|list|ls|get|version|doctor|root|daemon"
    "|check-ignore|(exp|metrics|params|plots|data|stage|queue) (show|diff|list|ls|status|logs))\\b"
)
ASIDE = {"maintenance.lock"}  # git has it where it tidies up in the background
YOUNG = 10.0  # seconds in which git writes and ends, unseen where it runs on another host
MD5 = re.compile(r"[0-9a-f]{32}(\.dir)?")
CONFLICT = re.compile(r"^(<{7}|={7}|>{7})( |$)", re.MULTILINE)


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


def busy(project: str = "") -> str:
    """Which DVC or git writes in the repository, or DVC in this project, where another host is;
    empty where none does. What only reads does not count, nor do our own ancestors. DVC's list of
    a killed one is deleted: DVC refuses one that was cut off, and waits where another process has
    the number of one that ended. Raises InputError where one that is gone has left git locked."""
    for number, called in _at_work("dvc"):
        if not READS.match(" ".join(called)):
            return f"process {number} ({' '.join(called[:3])}) is at work here"
    tmp = Path(project, ".dvc", "tmp")
    lock = taken(tmp / "lock")
    if lock is None:
        return "DVC is at work here"
    with lock:
        (tmp / "rwlock").unlink(missing_ok=True)
    return _git()


def _git() -> str:
    """Which git is at work: it locks what it writes, and every later one stops at such a lock."""
    tops = {git("rev-parse", f"--git-{x}") for x in ("dir", "common-dir")}
    found = {path: _age(path) for top in tops for path in Path(top).rglob("*.lock")}
    ages = {k: v for k, v in found.items() if v is not None and k.name not in ASIDE}
    if not ages or any(_called(x, "git") for x in psutil.Process().parents()):
        return ""
    from ops.times import words  # here, as verify, which reads the rest, needs no times

    said = few([f"{path}, {words(ages[path])} old, of {_owner(path)}" for path in sorted(ages)])
    for number, called in _at_work("git"):
        return f"process {number} ({' '.join(called[:3])}) may be at work here: {said}"
    if min(ages.values()) < YOUNG:
        return f"git is at work here: {said}"
    must = f"rm {shlex.join(map(str, sorted(ages)))}, then repeat"
    raise InputError(f"{said}: no git is at work here, one that was killed left it: {must}")


def _age(path: Path) -> float | None:
    """The seconds since a file was written; None where it is gone."""
    with suppress(OSError):
        return time.time() - path.stat().st_mtime


def _owner(path: Path) -> str:
    """Whose a file is; nobody's that is known where it is gone, or its user."""
    with suppress(OSError, KeyError):
        return path.owner()
    return "nobody known here"


def _at_work(program: str) -> Iterator[tuple[int, list[str]]]:
    """The numbers and words of the processes of a program that were called in this repository, but
    our own ancestors. DVC has its lock, or names itself in its list, at times alone: not between
    two stages."""
    ancestors = psutil.Process().parents()
    for process in psutil.process_iter():
        with suppress(psutil.Error):  # it has ended, or is another user's
            called = _called(process, program)
            inside = called and Path(process.cwd()).is_relative_to(Path.cwd())
            if inside and process not in ancestors:
                yield process.pid, called


def _called(process: psutil.Process, program: str) -> list[str]:
    """The name of a program with what it was called with; none where the process is another's."""
    try:
        given = process.cmdline()
    except psutil.Error:
        return []
    first = 2 if given[1:2] == ["-m"] else 0
    at = [i for i in (first, 1) if Path("".join(given[i : i + 1])).name == program]
    return [program, *given[at[0] + 1 :]] if at else []


def lock_files(project: str = "") -> Iterator[str]:
    """Take lock files that were cut off from git's last commit; a line for each. What was recorded
    since is still in DVC's run cache. Raises InputError where a merge is not resolved."""
    for file in (x for x in files.pipelines() if files.project(x) == project):
        path = Path(files.lock(file))
        if not path.is_file():
            continue
        if CONFLICT.search(path.read_text("utf-8", "replace")):
            must = f"must be of one side: git checkout --ours {path} (or --theirs)"
            raise InputError(f"{path}: has the markers of a merge, {must}")
        if files.cut_off(path):
            path.unlink()
            git = ["git", *PLAIN, "checkout", "--quiet", "HEAD", "--", str(path)]
            known = subprocess.run(git, capture_output=True, check=False).returncode == 0
            what = "that of git's last commit is used" if known else "deleted"
            yield f"{path} was cut off: {what}"


def objects(project: str = "") -> Iterator[str]:
    """Delete objects of the cache that the locks of a project name and that are not what their
    names say, since DVC trusts the name of a file that is read-only; a line for each."""
    store = cache(project)
    own = [stage for name, stage in files.locked().items() if files.project(name) == project]
    todo = {out.get("md5") for stage in own for out in stage.get("outs", ())}
    while todo:
        md5 = str(todo.pop())
        if not MD5.fullmatch(md5) or not (path := shipped.at(md5, store)).is_file():
            continue
        if provenance.md5(path) != md5.removesuffix(".dir"):
            path.unlink()
            yield f"{path} was damaged: deleted"
        elif md5.endswith(".dir"):
            todo |= {entry["md5"] for entry in json.loads(path.read_bytes())}


def forget(project: str = "") -> None:
    """Have DVC begin anew with the checksums that it has taken and its index of what a pull has to
    fetch, which is partial where a pull was killed; a damaged one ends DVC. The time of this file
    tells it whether they are of this project, or of one before at the same place."""
    Path(project, ".dvc", "tmp", "btime").unlink(missing_ok=True)


def cache(project: str = "") -> Path:
    """The cache of a project."""
    settings = Config(dvc_dir=str(Path(project, ".dvc").resolve()))
    return Path(settings["cache"].get("dir", Path(project, ".dvc", "cache"))).resolve()
