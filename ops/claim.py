"""What dvc.lock claims: its stages, their outputs, and what the remote holds of them."""

import random
from collections.abc import Iterable
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

from dvc.dependency.param import ParamsDependency
from dvc.repo import Repo
from dvc.stage import Stage

from ops import files, verify
from ops.code import Code
from ops.replay import trains
from ops.verify import Out, Outcome
from strata import params
from strata.inputs import few
from strata.run import Run, read_yaml

SAMPLE = 2  # runs beside the headline's
QUICK = {"activations", "metrics"}  # made again for every run: a few seconds each
REMOTE = Path("remote")


class Claim:
    """The locks of the project in the current folder."""

    def __init__(self, everything: bool = False):
        with Repo() as repo:
            index = {stage.addressing.split(":")[-1]: stage for stage in repo.index.stages}
        now = {name: str(stage.cmd) for name, stage in index.items()}
        locked = files.locked()
        self.commands = now
        self.stages = {name: stage for name, stage in locked.items() if name in now}
        self.left = sorted(set(locked) - set(now))
        self.outs = verify.outs(self.stages)
        self.objects = verify.objects(REMOTE)
        self.code = Code()
        self.frozen = sorted(name for name in self.stages if index[name].frozen)
        self.trained = [name for name in self.stages if self._trains(now[name], everything)]
        weights = [x for x in self.outs.values() if x.path.endswith("/weights.safetensors")]
        found = {
            files.run_of(x.stage): Path(x.path).parent for x in weights if x.stage in self.trained
        }
        repeated = {x.stage for x in weights}
        self.unrepeated = sorted(set(self.trained) - repeated - set(self.frozen))
        self.runs = {run: folder for run, folder in found.items() if run}
        self.params = params.load("params.yaml")
        self.sample = {None, *self.runs} if everything else self._sample()
        self.again = self._ordered(everything)

    def made(self, path: str) -> list[Out]:
        """The outputs that a path is, lies in, or holds; none for what git tracks."""
        return verify.made(self.outs, path)

    def before(self, name: str) -> set[str]:
        """The stages whose outputs a stage reads."""
        deps = self.stages[name].get("deps", ())
        return {out.stage for dep in deps for out in self.made(dep["path"])}

    def _trains(self, cmd: str, everything: bool) -> bool:
        """Whether the stage's script trains a model: such a stage is not repeated in full, unless
        everything is and its training is the same on every machine."""
        repeats = everything and "MKL_CBWR=COMPATIBLE" in cmd
        return trains(cmd, self.code) and not repeats

    def _sample(self) -> set[Run | None]:
        """The headline run and some others; None stands for the stages of no run."""
        own = {self.params.headline()} & set(self.runs)
        others = sorted(set(self.runs) - own)
        return {None, *own, *random.sample(others, min(SAMPLE, len(others)))}

    def _left(self) -> set[str]:
        """Of a stage that stands for several things that are no runs, such as controls, all but
        one."""
        several: dict[str, list[str]] = {}
        for name in self.stages:
            if "@" in name and not files.run_of(name):
                several.setdefault(name.partition("@")[0], []).append(name)
        return {name for names in several.values() for name in random.sample(names, len(names) - 1)}

    def _ordered(self, everything: bool) -> list[str]:
        """The stages of the sample, the quick ones of all runs, and what they read that the remote
        lacks; each after those whose outputs it reads."""
        left = set() if everything else self._left()
        wanted = [
            name
            for name in self.stages
            if name not in left
            and (files.run_of(name) in self.sample or name.partition("@")[0] in QUICK)
        ]
        ordered: list[str] = []

        def take(name: str) -> None:
            if name in (*ordered, *self.trained, *self.frozen):
                return
            for dep in self.stages[name].get("deps", ()):
                for out in self.made(dep["path"]):
                    if out.stage in wanted or not self.objects.get(out.md5):
                        take(out.stage)
            ordered.append(name)

        for name in wanted:
            take(name)
        return ordered

    def files(self, out: Out) -> list[Out]:
        """The files of an output as far as the remote holds them undamaged."""
        whole = verify.files(REMOTE, out) if self.objects.get(out.md5) else ()
        return [file for file in whole if self.objects.get(file.md5)]

    def checked(self, folder: Path) -> list[Outcome]:
        """Whether the locks agree with the objects, with themselves, and with the code and
        params.yaml of the project's copy in that folder."""
        with Repo(str(folder)) as repo:
            stages = {stage.addressing.split(":")[-1]: stage for stage in repo.index.stages}
            cached = {out.def_path for out in repo.index.outs if out.use_cache}
            changed = [name for name in self.stages if self._stale(name, stages[name])]
        bad = [name for name, whole in self.objects.items() if not whole]
        named = self.outs.values()
        lost = [x.path for x in named if x.path in cached and x.md5 not in self.objects]
        changed += [f"{name} (not in it)" for name in stages if name not in self.stages]
        # As `dvc exp run -S n=105` and the way back leave them: nothing reads what they made.
        left = listed("stages of dvc.lock that dvc.yaml has no longer", self.left)
        return [
            *([left._replace(passed=None)] if self.left else []),
            listed(f"{len(self.objects)} objects of {REMOTE}/, against their md5", bad),
            listed("outputs of dvc.lock, looked for in the remote", lost),
            listed("dvc.lock, against itself", self._contradictions()),
            listed("dvc.lock, against dvc.yaml, code and params.yaml", changed),
        ]

    def _contradictions(self) -> list[str]:
        """Of all stages but those that are frozen, as they may have been made by other code."""
        folders = (out for out in self.outs.values() if out.md5.endswith(".dir"))
        within = [file for out in folders for file in self.files(out)]
        stages = {k: v | {"deps": ()} if k in self.frozen else v for k, v in self.stages.items()}
        return verify.contradictions(stages, within)

    def _stale(self, name: str, stage: Stage) -> bool:
        """Whether a stage of dvc.yaml, and what it reads of git, are not as dvc.lock has them."""
        locked = self.stages[name]
        params = {
            dep.def_path: _values(dep.def_path, dep.params)
            for dep in stage.deps
            if isinstance(dep, ParamsDependency)
        }
        named = {x.def_path: x for x in stage.deps if not isinstance(x, ParamsDependency)}
        found = {dep["path"]: dep["md5"] for dep in locked.get("deps", ())}
        tracked = {path: dep for path, dep in named.items() if not self.made(path) and dep.exists}
        return (
            (locked["cmd"], set(found)) != (stage.cmd, set(named))
            or any(dep.get_hash().value != found[path] for path, dep in tracked.items())
            or locked.get("params", {}) != params
        )


def _values(path: str, keys: Iterable[str]) -> dict[str, Any]:
    """The values in a file such as params.yaml under keys such as metrics.key_threshold."""
    values = read_yaml(path)
    return {key: reduce(getitem, key.split("."), values) for key in keys}


def listed(what: str, faults: list[str]) -> Outcome:
    """The outcome of a check that lists what is wrong."""
    return Outcome(what, not faults, few(faults))
