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
from ops.git import git, laid_out
from ops.shipped import Out, Outs
from strata.inputs import InputError


class Stage(NamedTuple):
    """A stage as its pipeline file has it, names filled in; paths are from the top."""

    cmd: str
    at: str  # the folder in which the command is run
    deps: frozenset[str]
    outs: frozenset[str]
    kept: frozenset[str]  # the outputs that are in the remote, where they must be
    params: dict[str, dict[str, Any]]


def resolved(top: Path, projects: Iterable[str]) -> dict[str, Stage]:
    """The stages of these projects, whether frozen or not, as DVC reads them."""
    found = {}
    for name in projects:
        with Repo(str(top / name)) as repo:
            for stage in (x for x in repo.index.stages if isinstance(x, PipelineStage)):
                file = Path(name, stage.path_in_repo).as_posix()
                address = stage.name if file == "dvc.yaml" else f"{file}:{stage.name}"
                found[address] = _stage(stage, top)
    return found


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
    )


def unlike(name: str, stage: Stage | None, locked: Mapping[str, Any] | None) -> str:
    """In what a stage of a pipeline file and its entry in the lock differ; empty where alike."""
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


def shipping(stages: dict[str, Stage]) -> dict[str, Stage]:
    """Those of these stages whose outputs are kept, and those whose outputs they read. The others,
    such as pages of the report, each reader makes."""
    made = {out: name for name, stage in stages.items() for out in stage.outs}
    todo, found = [name for name, stage in stages.items() if stage.kept], set[str]()
    while todo:
        found.add(name := todo.pop())
        above = {x.as_posix() for d in stages[name].deps for x in (Path(d), *Path(d).parents)}
        todo += [made[x] for x in above & made.keys() if made[x] not in found]
    return {name: stage for name, stage in stages.items() if name in found}


class Copy:
    """What git has, in a scratch folder, with the outputs that its locks name."""

    def __init__(self, top: Path):
        self.top, self.remotes = top, [x.resolve() for x in shipped.REMOTES]
        projects = files.projects()
        self.tree = git("write-tree")
        laid_out(self.tree, top, {x: top / x / ".dvc" / "cache" for x in projects})
        every = resolved(top, projects)
        self.stages = shipping(every)
        left = every.keys() - self.stages.keys()
        self.locked = {k: v for k, v in files.locked(top).items() if k not in left}
        self.names = sorted({*self.stages, *self.locked})
        self.outs = Outs(self.locked)
        self.lost: dict[str, str] = {}  # what is wrong with an output of a stage in the remote
        for name in (x for x in self.stages if x in self.locked):
            try:
                for out in self.kept(name):
                    shipped.restore(out, self.top, self.remotes)
            except InputError as fault:
                self.lost[name] = str(fault)

    def kept(self, name: str) -> list[Out]:
        """The outputs of a stage that the remote must hold."""
        return [x for x in self.outs.of[name] if x.path in self.stages[name].kept]

    def before(self, name: str) -> set[str]:
        """The stages whose outputs a stage reads: of the report all of the projects before."""
        read = self.outs.makers(self.locked.get(name, {})) - {name}
        last = files.project(name) == "report"
        return read | {x for x in self.names if last and files.project(x) != "report"}

    def fault(self, name: str) -> str:
        """What is wrong with a stage before anything is made again; empty where nothing is."""
        if found := unlike(name, self.stages.get(name), self.locked.get(name)):
            return found
        for dep in self.locked[name].get("deps", ()):
            found = shipped.on_disk(dep["path"], self.top)
            if found is None:
                return f"it reads {dep['path']}, which is not there"
            if found != dep["md5"]:
                return f"its lock says that it read another {dep['path']}"
        for out in self.outs.of[name]:
            if shipped.on_disk(out.path, self.top) not in {out.md5, None}:
                return f"git has another {out.path} than its lock"
        return self.lost.get(name, "")
