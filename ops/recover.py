"""Before DVC is called: what it would trust unseen, or stumble over, after a kill, a full disk or a
power cut, is put right."""

import fcntl
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TextIO

import psutil
from dvc.config import Config
from dvc.repo import Repo

from ops import files, provenance
from ops.git import PLAIN
from strata.inputs import InputError

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
    """Which DVC or git is at work in the repository, or DVC in this project, where another host is;
    empty where none is. What killed ones left is deleted: DVC refuses a list that was cut off,
    waits where another process has the number of one that ended, and git's locks stop every later
    experiment."""
    tmp = Path(project, ".dvc", "tmp")
    lock = taken(tmp / "lock")
    if lock is None:
        return "DVC is at work here"
    with lock:
        for process in psutil.process_iter():
            if _works(process):
                return f"process {process.pid} of DVC or git is at work here"
        (tmp / "rwlock").unlink(missing_ok=True)
        for path in Path(".git").rglob("*.lock"):  # git itself allows no branch of such a name
            path.unlink(missing_ok=True)
    return ""


def _works(process: psutil.Process) -> bool:
    """Whether a process is a DVC, or git, that was called in this repository. DVC has its lock, or
    names itself in its list, at times alone: not between two stages."""
    try:
        words = process.cmdline()
        named = {Path(x).name for x in words[:2]} & {"dvc", "git"}
        called = named or words[1:3] == ["-m", "dvc"]
        return bool(called) and Path(process.cwd()).is_relative_to(Path.cwd())
    except psutil.Error:  # it has ended, or is another user's
        return False


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
    cache = Path(_config(project)["cache"].get("dir", Path(project, ".dvc", "cache")), "files/md5")
    own = [stage for name, stage in files.locked().items() if files.project(name) == project]
    todo = {out.get("md5") for stage in own for out in stage.get("outs", ())}
    while todo:
        md5 = str(todo.pop())
        path = cache / md5[:2] / md5[2:]
        if not MD5.fullmatch(md5) or not path.is_file():
            continue
        if provenance.md5(path) != md5.removesuffix(".dir"):
            path.unlink()
            yield f"{path} was damaged: deleted"
        elif md5.endswith(".dir"):
            todo |= {entry["md5"] for entry in json.loads(path.read_bytes())}


def forget(project: str = "") -> None:
    """Drop the checksums that DVC has taken and its index of what a pull has to fetch, which is
    partial where a pull was killed. Found without opening it: a damaged one ends DVC."""
    made = Path(project, ".dvc", "tmp", "btime")
    if made.exists():
        config, root = _config(project), str(Path(project).resolve())
        here = SimpleNamespace(config=config, fs=None, root_dir=root, _btime=made.stat().st_mtime)
        shutil.rmtree(vars(Repo)["site_cache_dir"].__get__(here), ignore_errors=True)


def _config(project: str) -> Config:
    return Config(dvc_dir=str(Path(project, ".dvc").resolve()))
