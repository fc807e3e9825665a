"""What DVC would trust unseen after a kill, a full disk or a power cut, put right.

``python -m ops.recover`` does it in the project where it is called: for lock files,
which DVC writes in place; for objects of the cache; and for what DVC remembers of files, which is
partial where a pull was killed, and then says that nothing lacks. ``… objects`` does it for the
objects alone: what DVC copied from a damaged one, it takes for whole.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace

from dvc.config import Config
from dvc.repo import Repo

from ops import files, leftovers, provenance
from strata.run import InputError, command, read_yaml

LOCKS = (*map(files.lock, files.FILES), "published/dvc.lock")
MD5 = re.compile(r"[0-9a-f]{32}(\.dir)?")
CONFLICT = re.compile(r"^(<{7}|={7}|>{7})( |$)", re.MULTILINE)


def lock_files() -> Iterator[str]:
    """Take lock files that were cut off from git's last commit; a line for each. What was recorded
    since is still in DVC's run cache. Raises InputError where a merge is not resolved."""
    for path in files.present("", LOCKS):
        if CONFLICT.search(path.read_text("utf-8", "replace")):
            must = f"must be of one side: git checkout --ours {path} (or --theirs)"
            raise InputError(f"{path}: has the markers of a merge, {must}")
        if not _whole(path):
            path.unlink()
            git = ["git", "checkout", "--quiet", "HEAD", "--", str(path)]
            known = subprocess.run(git, capture_output=True, check=False).returncode == 0
            yield f"{path} was cut off: " + (
                "that of git's last commit is used" * known or "deleted"
            )


def _whole(path: Path) -> bool:
    """Whether a lock file can be read to its end, and has each stage that it has in git's last
    commit and that there still is."""
    git = ["git", "show", f"HEAD:./{path}"]
    last = subprocess.run(git, capture_output=True, text=True, check=False).stdout
    text = path.read_text("utf-8", "replace")
    try:
        found = {*read_yaml(path)["stages"]}
    except (InputError, KeyError, TypeError):
        return False
    lost = {*re.findall(r"(?m)^  (\S+):$", last)} - found
    stages = read_yaml(path.with_suffix(".yaml")).get("stages", ())
    # Cut between two lines of one stage: what git has next is indented deeper than its name.
    inside = last.startswith(text) and last[len(text) :].startswith("   ")
    lost_here = any(name.partition("@")[0] in stages for name in lost)
    return text.endswith("\n") and not inside and not lost_here


def objects(cache: Path) -> Iterator[str]:
    """Delete objects of the cache that the lock files name and that are not what their names say,
    since DVC trusts the name of a file that is read-only; a line for each."""
    todo = {out.get("md5") for stage in files.locked().values() for out in stage.get("outs", ())}
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


def memory(config: Config) -> Path:
    """Where DVC keeps the checksums that it has taken and its index of what a pull has to fetch,
    found without opening it: opened, a damaged one ends DVC."""
    made = (leftovers.TMP / "btime").stat().st_mtime
    here = SimpleNamespace(config=config, fs=None, root_dir=str(Path.cwd()), _btime=made)
    return Path(vars(Repo)["site_cache_dir"].__get__(here))


def main(*only: str) -> None:
    """All of it; or the objects alone, with exit code 1 where one was damaged."""
    config = Config.from_cwd()
    cache = Path(config["cache"].get("dir", leftovers.CACHE), "files", "md5")
    if only == ("objects",):
        sys.exit(bool(told(objects(cache))))
    told(lock_files())
    with leftovers.held(leftovers.TMP / "lock") as mine:
        if mine and (leftovers.TMP / "btime").exists():
            shutil.rmtree(memory(config), ignore_errors=True)
    told(objects(cache))


def told(lines: Iterable[str]) -> int:
    """How many lines there are, each printed as it comes."""
    count = 0
    for line in lines:
        print(line, flush=True)
        count += 1
    return count


if __name__ == "__main__":
    command(main)
