"""The published state again, after any experiment, finished or interrupted: ``make back``.

That of the last commit: params.yaml, the locks and summary.json, the branch that DVC leaves while
an experiment runs, and every output. Outputs of runs that are not published are deleted. Nothing is
lost: results stay in DVC's cache, values of params.yaml that no experiment has recorded in git's
stash, and an output whose content is recorded nowhere is named, and nothing done.
"""

import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import psutil
from dvc.repo import Repo
from ruamel.yaml import YAML

from ops import files, leftovers, objects
from ops.contents import Disk, Files
from ops.git import ANYBODY, git
from strata.inputs import few
from strata.run import InputError, command

OURS = ["params.yaml", "summary.json", *map(files.lock, files.FILES)]
DERIVED = ["data/code", "data/config"]  # made from the code and params.yaml alone
EXECUTED = "refs/exps/exec"  # what DVC keeps of an experiment while it runs


def published() -> Files:
    """The md5 of every output that the locks of the last commit name."""
    tracked = git("ls-tree", "-r", "--name-only", "HEAD").splitlines()
    locks = [name for name in map(files.lock, files.FILES) if name in tracked]
    texts = [YAML(typ="safe").load(git("show", f"HEAD:{name}")) for name in locks]
    stages = [stage for text in texts for stage in text["stages"].values()]
    return {out["path"]: out["md5"] for stage in stages for out in stage.get("outs", ())}


def busy() -> None:
    """Raises InputError where DVC still runs something here.

    It holds its lock, but for the time in which a stage runs, and then its list names the process.
    What a killed one left is deleted: DVC refuses a list that was cut off.
    """
    leftovers.release()
    leftovers.sweep()
    with leftovers.held(leftovers.TMP / "lock") as free:
        if not free:
            raise InputError("DVC is at work here: wait for it, or end it; then make back")
        path = leftovers.TMP / "rwlock"
        named = re.findall(r'"pid": (\d+)', path.read_text()) if path.is_file() else ()
    for pid in filter(psutil.pid_exists, map(int, named)):
        raise InputError(f"process {pid} runs stages here: wait for it, or end it; then make back")


def lost(kept: Mapping[str, str], stored: objects.Objects, disk: Disk) -> list[str]:
    """The outputs that would be replaced by what was published, and are recorded nowhere."""
    there = {path: disk.md5(path) for path in kept if stored.had(kept[path])}
    other = [path for path in there if there[path] not in {None, kept[path]}]
    contents = {path: disk.files(path) for path in other if path not in OURS + DERIVED}
    return [x for found in contents.values() for x, md5 in found.items() if not stored.find(md5)]


def unpublished(kept: Mapping[str, str]) -> Iterator[Path]:
    """The outputs of runs that no published stage wrote: they lie where those of a run do."""
    every = [out for stage in files.stages().values() for out in stage.get("outs", ())]
    for out in (next(iter(x)) if isinstance(x, dict) else x for x in every):
        found = re.search(r"\$\{item\.run\}|\$\{variant\}n\$\{n\}-s\$\{seed\}", out)
        before, after = (out[: found.start()], out[found.end() :]) if found else ("", "")
        for path in Path().glob(f"{before}*{after}") if found else ():
            run = path.as_posix().removeprefix(before).removesuffix(after)
            if path.as_posix() not in kept and files.run_of(f"@{run}"):
                yield path


def branch() -> None:
    """Back to the branch that DVC left for an experiment which did not come to its end."""
    left = git("for-each-ref", "--format=%(refname)", EXECUTED).splitlines()
    if left and not git("branch", "--show-current"):
        before = git("rev-parse", "--symbolic-full-name", "@{-1}")
        if before and git("rev-parse", before) == git("rev-parse", "HEAD"):
            git("symbolic-ref", "HEAD", before)
    for name in left:
        git("update-ref", "-d", name)


def tracked() -> str:
    """What git tracks of ours as it was; how to see what was in its place, where that was kept."""
    changed = git("diff", "--name-only", "HEAD", "--", *filter(git_has, OURS)).splitlines()
    recorded = git("for-each-ref", "--format=%(refname):params.yaml", "refs/exps/*/*/*")
    same = git("hash-object", "params.yaml") in {
        git("rev-parse", name) for name in recorded.splitlines() if EXECUTED not in name
    }
    kept = "params.yaml" in changed and not same
    if kept:
        git(*ANYBODY, "stash", "push", "--message", "before make back", "--", "params.yaml")
    if changed:
        git("restore", "--source=HEAD", "--staged", "--worktree", "--", *changed)
    return "; params.yaml as it was: git stash show --patch" if kept else ""


def git_has(path: str) -> bool:
    return bool(git("ls-files", "--", path))


def main() -> None:
    files.at_top()
    busy()
    kept = published()
    with Repo() as repo:
        stored, disk = objects.Objects(repo), Disk()
    if names := lost(kept, stored, disk):
        raise InputError(
            f"{few(names)}: this content is recorded nowhere and would be lost;"
            " move it or delete it, then make back"
        )
    branch()
    said = tracked()
    gone = list(unpublished(kept))
    for path in gone:
        path.unlink()
    for folder in sorted(Path("data").glob("**/"), reverse=True):
        if not any(folder.iterdir()):
            folder.rmdir()
    checkout = ["dvc", "checkout", "--force", "--allow-missing", "--quiet"]
    subprocess.run(checkout, check=False, stderr=subprocess.DEVNULL)
    away = [path for path in kept if not Path(path).exists()]
    todo = f"; make paper brings {len(away)} that are not here" if away else ""
    print(f"back: {len(kept)} outputs as published, {len(gone)} of other runs deleted{said}{todo}")


if __name__ == "__main__":
    command(main)
