"""The md5 of what is on disk, as DVC takes it: of a file, of a folder with all that is in it."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from ops.provenance import md5

DIR = ".dir"  # ends the md5 of a folder
Files = dict[str, str]  # the md5 of each file, by path


def folder(files: Mapping[str, str]) -> str:
    """DVC's md5 of a folder with these files, by paths inside it."""
    entries = [{"md5": files[path], "relpath": path} for path in sorted(files)]
    return hashlib.md5(json.dumps(entries).encode()).hexdigest() + DIR


def inside(files: Mapping[str, str], path: str) -> Files:
    """Those of the files that are in a folder, by paths inside it."""
    return {x.removeprefix(f"{path}/"): found for x, found in files.items() if _under(x, path)}


def _under(path: str, parent: str) -> bool:
    return path.startswith(f"{parent}/")


class Disk:
    """The files of the project, each read once; what .dvcignore names by name alone is left out."""

    def __init__(self, root: Path | str = ".") -> None:
        self.root = Path(root)
        lines = Path(".dvcignore").read_text(encoding="utf-8").splitlines()
        self.ignored = {line.strip("/") for line in lines if line and line[0] not in "/#"}
        self.known: Files = {}

    def files(self, path: str) -> Files:
        """The files at a path, by their paths: itself, or all in a folder."""
        top = self.root / path
        found = [top] if top.is_file() else sorted(x for x in top.rglob("*") if x.is_file())
        names = [x.relative_to(self.root) for x in found]
        kept = [x.as_posix() for x in names if not self.ignored.intersection(x.parts)]
        for name in kept:
            if name not in self.known:
                self.known[name] = md5(self.root / name)
        return {name: self.known[name] for name in kept}

    def md5(self, path: str) -> str | None:
        """The md5 at a path as DVC takes it; None where nothing is there."""
        if (self.root / path).is_dir():
            return folder(inside(self.files(path), path))
        return self.files(path).get(path)
