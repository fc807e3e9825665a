"""What locks name, and what holds it: objects of remotes and caches, each by its md5; the disk."""

import hashlib
import json
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ops import files
from ops.provenance import md5
from strata.inputs import InputError, regular_file

REMOTE = "remote"  # the folder of each project that is its DVC remote
REMOTES = tuple(Path(name, REMOTE) for name in ("", *files.PROJECTS))
DIR = ".dir"  # ends the md5 of a folder
# DVC's settings of a clone name its folder; without them `dvc pull` names this missing remote.
NAME = "make-paper-unpacks-it"
SETTINGS = f"""\
['remote "{NAME}"']
    url = {{}}
    verify = true
"""


class Out(NamedTuple):
    """An output that a lock names: a file, or a folder where its md5 ends with .dir."""

    stage: str
    path: str
    md5: str


class Outs:
    """The outputs of the stages of locks."""

    def __init__(self, stages: Mapping[str, Any]):
        """Collect the outputs. Raises InputError for one that leaves the project or has no md5."""
        self.by_stage: dict[str, list[Out]] = {name: [] for name in stages}
        self.by_path: dict[str, Out] = {}
        self.within: dict[str, list[Out]] = {}  # by each folder that they lie in
        for name, out in ((n, x) for n, stage in stages.items() for x in stage.get("outs", ())):
            path, md5 = inside(out["path"]), out.get("md5")
            if not isinstance(md5, str):
                raise InputError(f"dvc.lock: {name}: {path}: must have an md5")
            one = Out(name, path, md5)
            self.by_stage[name].append(one)
            self.by_path[path] = one
            for parent in Path(path).parents:
                self.within.setdefault(parent.as_posix(), []).append(one)

    def __iter__(self) -> Iterator[Out]:
        return iter(self.by_path.values())

    def at(self, path: str) -> list[Out]:
        """Return the outputs that a path is, lies in, or holds; none for what git tracks."""
        above = (self.by_path.get(x.as_posix()) for x in (Path(path), *Path(path).parents))
        return [*filter(None, above), *self.within.get(path, ())]

    def makers(self, stage: Mapping[str, Any]) -> set[str]:
        """Return the stages whose outputs a stage of the lock reads."""
        return {out.stage for dep in stage.get("deps", ()) for out in self.at(dep["path"])}


def inside(path: str) -> str:
    """Return the path. Raises InputError where it leads out of the folder that it is meant for."""
    if Path(path).is_absolute() or ".." in Path(path).parts:
        raise InputError(f"dvc.lock: {path}: must lie inside the project")
    return path


def md5_on_disk(path: str, top: Path | str = ".") -> str | None:
    """Return the md5 at a path as DVC takes it: of a file, or of a folder with all its files except
    those that .dvcignore names by their name alone. None for a path that does not exist."""
    whole = Path(top, path)
    if whole.is_file():
        return md5(whole)
    if not whole.is_dir():
        return None
    lines = Path(".dvcignore").read_text(encoding="utf-8").splitlines()
    ignored = {line.strip("/") for line in lines if line and line[0] not in "/#"}
    files = (x for x in whole.rglob("*") if x.is_file() and not ignored.intersection(x.parts))
    names = sorted(x.relative_to(whole).as_posix() for x in files)
    entries = [{"md5": md5(whole / name), "relpath": name} for name in names]
    return hashlib.md5(json.dumps(entries).encode()).hexdigest() + DIR


def at(digest: str, store: Path) -> Path:
    """Return where a remote or cache keeps an object. Raises InputError for what is no md5, such
    as a path."""
    if not re.fullmatch(rf"[0-9a-f]{{32}}({re.escape(DIR)})?", digest):
        raise InputError(f"dvc.lock: {digest}: must be an md5")
    return store / "files" / "md5" / digest[:2] / digest[2:]


def place(digest: str, stores: Iterable[Path] = REMOTES) -> Path:
    """Return where the first of these remotes and caches that has an object keeps it. Raises
    InputError where none does."""
    paths = [at(digest, store) for store in stores]
    for path in (x for x in paths if x.is_file()):
        return path
    raise InputError(f"{paths[0]}: is missing")


def content(digest: str, stores: Iterable[Path] = REMOTES) -> bytes:
    """Read an object. Raises InputError where it is missing, or not what its name says."""
    path = place(digest, stores)
    if md5(regular_file(path)) != digest.removesuffix(DIR):
        raise InputError(f"{path}: is damaged")
    return path.read_bytes()


def parts(out: Out, stores: Iterable[Path] = REMOTES) -> list[Out]:
    """Return the files of an output: itself, or those that a folder's object lists. Raises
    InputError."""
    if not out.md5.endswith(DIR):
        return [out]
    listed = json.loads(content(out.md5, stores))
    return [Out(out.stage, f"{out.path}/{inside(x['relpath'])}", x["md5"]) for x in listed]


def restore(out: Out, folder: Path, stores: Iterable[Path] = REMOTES) -> None:
    """Put an output in its place in a project's folder, alone. Raises InputError."""
    contents = {part.path: content(part.md5, stores) for part in parts(out, stores)}
    make_room(folder / out.path)
    for path, data in contents.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)


def make_room(path: Path) -> None:
    """Remove what lies at an output's path, as DVC does before it runs a stage."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
