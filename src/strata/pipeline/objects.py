"""Where contents are: on disk, in DVC's cache, in its remote; each content known by its md5."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from dvc.config import RemoteConfigError
from dvc.repo import Repo

from strata.pipeline.provenance import md5

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


class Objects:
    """What DVC's cache and remote hold, or the cache alone. A remote on a server is taken to hold
    everything."""

    def __init__(self, repo: Repo, remote: bool = True):
        self.cache = Path(repo.cache.local.path)
        self.runs = Path(repo.cache.legacy.path, "runs")
        self.places, self.served = [self.cache], False
        if remote:
            self._reach(repo)

    def _reach(self, repo: Repo) -> None:
        """Take the remote in, if there is one."""
        try:
            remote = repo.cloud.get_remote_odb()
        except RemoteConfigError:
            return
        self.served = remote.fs.protocol != "local"
        self.places += [] if self.served else [Path(remote.path)]

    def find(self, name: str) -> Path | None:
        """The file that holds a content, where it is on this machine."""
        paths = (place / name[:2] / name[2:] for place in self.places)
        return next((path for path in paths if path.is_file()), None)

    def cached(self, name: str) -> bool:
        """Whether the cache holds a content; of a folder, the list of its files and all of them."""
        path = self.cache / name[:2] / name[2:]
        return path.is_file() and all(self.cached(x) for x in self.listed(name).values())

    def had(self, name: str) -> bool:
        """Whether a content can be had from the cache or the remote; of a folder, all of it."""
        if self.find(name) is None:
            return self.served
        return all(self.had(x) for x in self.listed(name).values())

    def listed(self, name: str) -> Files:
        """The files of a folder, by paths inside it; none for a file, or where its list is away or
        damaged."""
        path = self.find(name) if name.endswith(DIR) else None
        content = path.read_bytes() if path else b""
        if hashlib.md5(content).hexdigest() + DIR != name:
            return {}
        return {entry["relpath"]: entry["md5"] for entry in json.loads(content)}


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
