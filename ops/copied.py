"""A copy of what git has, with the outputs that its locks name, in which stages can be run."""

import os
from collections.abc import Iterable, Mapping
from os.path import relpath
from pathlib import Path
from typing import Any, NamedTuple

from dvc.dependency.param import ParamsDependency
from dvc.repo import Repo
from dvc.stage import PipelineStage

from ops import files, shipped
from ops.git import git, lay_out, list_tree
from ops.shipped import Out, Outs
from strata.inputs import InputError


class Stage(NamedTuple):
    """A stage as its pipeline file describes it, names filled in; paths are from the top."""

    cmd: str
    at: str  # the folder in which the command is run
    deps: frozenset[str]
    outs: frozenset[str]
    kept: frozenset[str]  # the outputs that the remote must hold
    params: dict[str, dict[str, Any]]
    frozen: bool


def resolve_stages(top: Path, projects: Iterable[str]) -> dict[str, Stage]:
    """Return the stages of these projects as DVC reads them."""
    stages = {}
    for name in projects:
        with Repo(str(top / name)) as repo:
            for stage in (x for x in repo.index.stages if isinstance(x, PipelineStage)):
                file = Path(name, stage.path_in_repo).as_posix()
                address = stage.name if file == "dvc.yaml" else f"{file}:{stage.name}"
                stages[address] = _stage(stage, top)
    return stages


def _stage(stage: PipelineStage, top: Path) -> Stage:
    params = [x for x in stage.deps if isinstance(x, ParamsDependency)]
    deps = (x for x in stage.deps if not isinstance(x, ParamsDependency))
    return Stage(
        str(stage.cmd),
        relpath(stage.wdir, top),
        frozenset(relpath(x.fs_path, top) for x in deps),
        frozenset(relpath(x.fs_path, top) for x in stage.outs),
        frozenset(relpath(x.fs_path, top) for x in stage.outs if x.use_cache),
        {relpath(x.fs_path, top): x.read_params() for x in params},
        bool(stage.frozen),
    )


def describe_difference(stage: Stage | None, locked: Mapping[str, Any] | None) -> str:
    """Return how a stage of a pipeline file differs from its entry in the lock; empty where it
    does not."""
    if stage is None:
        return "it is in a lock and in no pipeline file: make back"
    if locked is None:
        return "it is in no lock: dvc repro"
    params = {os.path.normpath(f"{stage.at}/{k}"): v for k, v in locked.get("params", {}).items()}
    for what, ours, theirs in (
        ("command", stage.cmd, locked["cmd"]),
        ("inputs", stage.deps, {x["path"] for x in locked.get("deps", ())}),
        ("outputs", stage.outs, {x["path"] for x in locked.get("outs", ())}),
        ("parameters", stage.params, params),
    ):
        if ours != theirs:
            return f"its lock has other {what} than its pipeline file"
    return ""


class Copy:
    """What git has staged or committed, in a folder, with the outputs that its locks name."""

    def __init__(self, top: Path):
        self.top, self.remotes = top, [x.resolve() for x in shipped.REMOTES]
        projects = files.projects()
        self.tree = git("write-tree")
        self.tracked = {path: mode for path, (mode, _) in list_tree(self.tree).items()}
        lay_out(self.tree, top, {x: top / x / ".dvc" / "cache" for x in projects})
        self.stages, self.locked = resolve_stages(top, projects), files.locked_stages(top)
        self.names = sorted({*self.stages, *self.locked})
        self.outs = Outs(self.locked)
        # The stages whose outputs each stage reads, by the locks.
        self.reads = {x: self.outs.makers(self.locked.get(x, {})) - {x} for x in self.names}
        # Stages of which nothing is kept and nothing kept is made, such as pages of the report.
        kept = self.with_inputs(x for x, stage in self.stages.items() if stage.kept)
        self.unkept = self.stages.keys() - kept
        for name, remote in zip(shipped.REMOTES, self.remotes, strict=True):
            if (top / name).parent.is_dir():
                (top / name).symlink_to(remote)
        self.damaged: dict[str, str] = {}  # by stage, what is wrong with an object in the remote
        for name in self.stages.keys() & self.locked.keys() - self.unkept:
            try:
                self.restore(name)
            except InputError as fault:
                self.damaged[name] = str(fault)

    def with_inputs(self, names: Iterable[str]) -> set[str]:
        """Return these stages, and all whose outputs they read, directly or through others."""
        waiting, reached = [*names], set[str]()
        while waiting:
            reached.add(name := waiting.pop())
            waiting += self.reads[name] - reached
        return reached

    def kept(self, name: str) -> list[Out]:
        """Return the outputs of a stage that the remote must hold."""
        return [x for x in self.outs.by_stage[name] if x.path in self.stages[name].kept]

    def restore(self, name: str) -> None:
        """Put the outputs that the lock names in their places. Raises InputError."""
        for out in self.kept(name):
            shipped.restore(out, self.top, self.remotes)

    def fault(self, name: str) -> str:
        """Return what is wrong with a stage before it is run; empty where nothing is."""
        if difference := describe_difference(self.stages.get(name), self.locked.get(name)):
            return difference
        for dep in self.locked[name].get("deps", ()):
            md5 = shipped.md5_on_disk(dep["path"], self.top)
            if md5 is None:
                return f"it reads {dep['path']}, which is not there"
            if md5 != dep["md5"]:
                return f"its lock says that it read another {dep['path']}"
        for out in self.outs.by_stage[name]:
            if shipped.md5_on_disk(out.path, self.top) not in {out.md5, None}:
                return f"git has another {out.path} than its lock"
        return self.damaged.get(name, "")
