"""Which stages `dvc pull` and `dvc repro` would run, and what they would restore, without running
any.

A stage would run where its lock names another command, parameter or content of what it reads. What
a stage will write is not known before it has run, so all that reads it counts as well, although DVC
leaves out what reads the same bytes again: the plan names what runs at most. Stages that take a
second and decide what others do are run, in a folder of their own; outputs that are only missing
are made again with the bytes that they had.
"""

from collections.abc import Mapping
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any, NamedTuple

from dvc.repo import Repo
from dvc.utils import dict_sha256

from ops import contents, files, objects, provenance, resolved, tried
from ops.contents import DIR, Files
from ops.resolved import Stage
from strata.run import read_yaml

QUICK = ("code", "check")  # are run to plan what follows
TRAINS = ("train", "checkpoints", "controls")  # made again, their bytes may be others
SELECTS = "collect"  # reads of its folder the listed runs alone
UNKNOWN = ""  # in the place of an md5: what will be written


class Plan(NamedTuple):
    """The stages that run at most, in order; how many outputs are restored before; and what DVC's
    run cache has of stages that are not as their locks say: what will be in their place."""

    run: list[str]
    restored: int
    taken: files.Stages


def plan(repo: Repo, params: Mapping[str, Any], remote: bool = True, also: str = "") -> Plan:
    """The plan for these values of params.yaml, with what the remote holds or without it, and with
    what the run cache names and the remote ``also`` holds. Raises InputError where the values are
    refused."""
    planner = _Planner(repo, params, objects.Objects(repo, remote, also))
    planner.has = planner.objects.had if also else planner.objects.cached
    for name in order(planner.stages):
        planner.look(name, planner.stages[name])
    return Plan(planner.run, planner.restored, planner.taken)


def kind(stage: str) -> str:
    """What a stage does, whatever the run: its name before the @."""
    return stage.partition("@")[0]


def order(stages: Mapping[str, Stage]) -> list[str]:
    """The stages, each after those that write what it reads, or a part of it."""
    exact = {out: name for name, stage in stages.items() for out in stage.outs}
    inside: dict[str, set[str]] = {}
    for out, name in exact.items():
        for path in (out, *map(str, Path(out).parents)):
            inside.setdefault(path, set()).add(name)
    graph: dict[str, set[str]] = {name: set() for name in stages}
    for name, stage in stages.items():
        for dep in stage.deps:
            graph[name] |= inside.get(dep, set())
            graph[name] |= {exact[x] for x in map(str, Path(dep).parents) if x in exact}
    return [*TopologicalSorter(graph).static_order()]


class _Planner:
    """What is planned so far: the content of every output, and the stages that run."""

    def __init__(self, repo: Repo, params: Mapping[str, Any], found: objects.Objects):
        self.params = params
        self.stages = resolved.stages(repo, params)
        self.locked = files.locked()
        self.objects, self.disk = found, contents.Disk()
        self.has = found.cached  # whether an output that the run cache names can be had
        self.content: Files = {}  # of each output; of folders, of each file in them too
        self.run: list[str] = []
        self.restored = 0
        self.taken: files.Stages = {}
        runs = files.stages().get("split", {}).get("matrix", {}).get("run", ())
        self.listed = [name for name in runs if "$" not in name]

    def look(self, name: str, stage: Stage) -> None:
        """Plan a stage; those that write what it reads are planned."""
        lock = self.locked.get(name, {})
        known = {out["path"]: out["md5"] for out in lock.get("outs", ())}
        read = {dep: self._md5(dep) for dep in stage.deps}
        if not stage.frozen and self._stale(stage, lock, known, read):
            entry = self._cached(stage, read)
            if entry:
                self.taken[name] = entry
                made = {out["path"]: out["md5"] for out in entry["outs"]}
            else:
                self.run.append(name)
                made = self._made(name, stage, known)
        else:
            made = known
            away = [x for x in known if self.disk.md5(x) != known[x]]
            if all(self.objects.had(known[x]) for x in away):
                self.restored += len(away)
            elif not stage.frozen:
                self.run.append(name)
                made = dict.fromkeys(known, UNKNOWN) if kind(name) in TRAINS else known
        self._keep(made)

    def _stale(
        self, stage: Stage, lock: Mapping[str, Any], known: Files, read: Mapping[str, str | None]
    ) -> bool:
        """Whether a stage is another than the one that the lock has, or reads something else."""
        return (
            lock.get("cmd") != stage.cmd
            or set(known) != set(stage.outs)
            or lock.get("params", {}).get("params.yaml", {}) != self._values(stage)
            or {dep["path"]: dep["md5"] for dep in lock.get("deps", ())} != read
        )

    def _values(self, stage: Stage) -> dict[str, Any]:
        return {key: provenance.value(self.params, key) for key in stage.params}

    def _md5(self, path: str) -> str | None:
        """What a stage will find at a path: UNKNOWN where that is not made yet, None if nothing."""
        if path in self.content:
            return self.content[path]
        planned = {x: md5 for x, md5 in self.content.items() if x.startswith(f"{path}/")}
        if not planned:
            return self.disk.md5(path)
        here = contents.inside(self.disk.files(path) | planned, path)
        if UNKNOWN in here.values():
            return UNKNOWN
        return contents.folder({x: md5 for x, md5 in here.items() if not md5.endswith(DIR)})

    def _made(self, name: str, stage: Stage, known: Files) -> Files:
        """What a stage that runs will write, as far as that is known."""
        if kind(name) in QUICK:
            return tried.outputs(stage.cmd, stage.outs, self.params)
        if kind(name) == SELECTS and not self._selects_anew(name, stage):
            return known
        return dict.fromkeys(stage.outs, UNKNOWN)

    def _selects_anew(self, name: str, stage: Stage) -> bool:
        """Whether a listed run has another result than when they were collected."""
        every = (out for lock in self.locked.values() for out in lock.get("outs", ()))
        before = {out["path"]: out["md5"] for out in every}
        before |= {dep["path"]: dep["md5"] for dep in self.locked.get(name, {}).get("deps", ())}
        single = [dep for dep in stage.deps if dep in self.content]
        folders = [dep for dep in stage.deps if dep not in self.content]
        read = [*single, *(f"{path}/{run}.json" for path in folders for run in self.listed)]
        return any(self.content.get(path) != before.get(path) for path in read)

    def _keep(self, made: Mapping[str, str]) -> None:
        """Take this as what the outputs will be."""
        for path, md5 in made.items():
            if md5.endswith(DIR):
                inner = self.objects.listed(md5) or contents.inside(self.disk.files(path), path)
                self.content |= {f"{path}/{x}": inner[x] for x in inner}
        self.content |= made

    def _cached(self, stage: Stage, read: Mapping[str, str | None]) -> dict[str, Any] | None:
        """What DVC's run cache has of a stage, as a lock has it: DVC takes it from there without
        running it."""
        if not all(read.values()):
            return None
        entry: dict[str, Any] = {"cmd": stage.cmd, "outs": sorted(stage.outs)}
        entry["deps"] = [{"path": x, "hash": "md5", "md5": read[x]} for x in sorted(read)]
        if stage.params:
            entry["params"] = {"params.yaml": self._values(stage)}
        key = dict_sha256(entry)
        kept = (self.objects.runs / key[:2] / key).glob("*")
        newest = max(kept, key=lambda path: path.stat().st_mtime, default=None)
        if newest is None:
            return None
        found = read_yaml(newest)
        whole = all(self.has(out["md5"]) for out in found["outs"])
        return found if whole else None
