"""Resolve what git could not merge: locks, packs and the list of runs.

``make merge`` follows a ``git merge`` or ``git rebase`` that left conflicts. A lock is merged stage
by stage and a pack file by file. Where one side alone changed a stage, its change is taken. Where
both changed one, ours is kept, the stage is named, and ``dvc repro`` makes it again if it is out of
date. The weights of both sides are kept, and in studies/runs.yaml the lines of both sides stand.
"""

import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from ops import files, packs
from ops.git import git
from strata.inputs import InputError
from strata.run import command, read_yaml

RUNS = "studies/runs.yaml"
STAGE = re.compile(r"^  (?! )(\S+):\n((?:    ?.*\n)*)", re.MULTILINE)
Part = TypeVar("Part", str, bytes)


def side(path: str, number: int) -> bytes:
    """Return a file as git's index has it: 1 is what both sides began with, 2 ours, 3 theirs.
    Empty where that side has no such file."""
    show = ["git", "show", f":{number}:{path}"]
    return subprocess.run(show, capture_output=True, check=False).stdout


def union(
    base: Mapping[str, Part], ours: Mapping[str, Part], theirs: Mapping[str, Part]
) -> tuple[dict[str, Part], list[str]]:
    """Return the parts of both sides by name, ours first, and the names of those that both changed
    in different ways, of which ours are taken. A part that one side deleted and the other left
    alone is gone."""
    merged, both = dict[str, Part](), list[str]()
    for name in dict.fromkeys([*ours, *theirs]):
        old, mine, other = base.get(name), ours.get(name), theirs.get(name)
        if old not in (mine, other) and mine != other:
            both.append(name)
            part = other if mine is None else mine
        else:
            part = other if mine == old else mine
        if part is not None:
            merged[name] = part
    return merged, both


def stages(lock: bytes) -> dict[str, str]:
    """Return the text of each stage of a lock by its name."""
    return {x[1]: x[0] for x in STAGE.finditer(lock.decode())}


def merge_lock(path: str) -> tuple[bytes, list[str]]:
    """Return a lock with the stages of both sides, and those that both changed."""
    merged, both = union(*(stages(side(path, i)) for i in (1, 2, 3)))
    return f"schema: '2.0'\nstages:\n{''.join(merged.values())}".encode(), both


def merge_pack(path: str) -> tuple[bytes, list[str]]:
    """Return a pack with the files of both sides, and those that both changed."""
    sides = [side(path, i) for i in (1, 2, 3)]
    merged, both = union(*(dict(packs.inside(x, path)) if x else {} for x in sides))
    return packs.compress(merged), both


def merge_runs(path: str) -> tuple[bytes, list[str]]:
    """Return the list of runs with the lines of both sides, each once: both may add one run."""
    texts = []
    for number in (2, 1, 3):
        texts.append(Path(git("rev-parse", "--git-path", f"merge-{number}")))
        texts[-1].write_bytes(side(path, number))
    merge = ["git", "merge-file", "--union", "-p", *map(str, texts)]
    done = subprocess.run(merge, capture_output=True, check=True)
    for text in texts:
        text.unlink()
    return b"".join(dict.fromkeys(done.stdout.splitlines(keepends=True))), []


def conflicts() -> list[str]:
    """Return the paths that git could not merge."""
    return [x for x in git("diff", "--name-only", "--diff-filter=U", "-z").split("\0") if x]


def resolve() -> Iterator[str]:
    """Merge each file in conflict that can be merged here, and stage it for git; a line for each.
    Raises InputError where nothing is in conflict."""
    if not (paths := conflicts()):
        raise InputError("nothing is in conflict: `make merge` follows a `git merge` that failed")
    ways: dict[str, Any] = {".lock": merge_lock, ".xz": merge_pack, ".yaml": merge_runs}
    for path in sorted(paths):
        way = ways.get(Path(path).suffix)
        if way is None or (path.endswith(".yaml") and path != RUNS):
            yield f"{path}: left to you, then `git add {path}`"
            continue
        content, both = way(path)
        Path(path).write_bytes(content)
        if not path.endswith(packs.SUFFIX):
            read_yaml(path)
        git("add", "--", path)
        changed = f"; both sides changed {', '.join(both)}: ours is kept" if both else ""
        yield f"{path}: has what either side has{changed}"


def main() -> None:
    files.require_top()
    for line in resolve():
        print(line, flush=True)
    print(
        "Now `make studies` makes again what is out of date, `make pack` writes the packs; commit."
    )


if __name__ == "__main__":
    command(main)
