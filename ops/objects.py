"""Where contents are: in DVC's cache, in its remote; each content known by its md5."""

import hashlib
import json
from pathlib import Path

from dvc.config import RemoteConfigError
from dvc.repo import Repo

from ops.contents import DIR, Files


class Objects:
    """What DVC's cache and remote hold, or the cache alone, and a remote named beside them. A
    remote on a server is taken to hold everything."""

    def __init__(self, repo: Repo, remote: bool = True, also: str = ""):
        self.cache = Path(repo.cache.local.path)
        self.runs = Path(repo.cache.legacy.path, "runs")
        self.places, self.served = [self.cache], False
        if remote:
            self._reach(repo, None)
        if also:
            self._reach(repo, also)

    def _reach(self, repo: Repo, name: str | None) -> None:
        """Take the remote in, if there is one."""
        try:
            remote = repo.cloud.get_remote_odb(name)
        except RemoteConfigError:
            return
        self.served |= remote.fs.protocol != "local"
        self.places += [Path(remote.path)] * (remote.fs.protocol == "local")

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
