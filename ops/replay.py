"""The pipeline without DVC: stages run by their commands in dvc.lock, on objects of the remote.

A stage's inputs are taken from the remote, or made where it lacks them; each file that a stage
reads or writes is held to its md5 in the lock.
"""

import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from ops import contents, files, provenance, verify
from ops.code import Code
from ops.verify import Out
from strata import store
from strata.run import InputError, read_yaml

REMOTE = Path("remote")
TRAINER = ("strata.train.trainer", "Trainer")


def trains(cmd: str, code: Code) -> bool:
    """Whether the script of a stage's command trains a model."""
    script = re.findall(r"(?:[\w-]+/)*stages/\w+\.py", cmd)[0]
    return TRAINER in {(x.module, x.name) for x in code.reached(Path(script))}


@cache
def whole(md5: str) -> bool:
    """Whether the remote holds an object with the content that its name says; of a folder, the
    list of its files and all of them."""
    path = verify.at(REMOTE, md5)
    if not path.is_file() or provenance.md5(path) != md5.removesuffix(contents.DIR):
        return False
    return all(x.md5 == md5 or whole(x.md5) for x in verify.files(REMOTE, Out("", "", md5)))


class Replay:
    """The locks of the project in the current folder, and what has been run of them."""

    def __init__(self) -> None:
        self.stages = files.locked()
        self.outs = verify.outs(self.stages)
        self.ran: set[str] = set()

    def named(self, target: str) -> list[str]:
        """The stages that a target means: a stage by its name or DVC's address, or all that write
        to a path. Raises InputError where there is none."""
        name = target.rpartition(":")[2]
        found = [x for x in self.stages if x == name or x.startswith(f"{name}@")]
        found = found or list(dict.fromkeys(x.stage for x in verify.made(self.outs, target)))
        if not found:
            must = "must be a stage of dvc.lock or a path that one writes, such as tables"
            raise InputError(f"TARGET = {target}: {must}")
        return found

    def order(self, targets: list[str], everything: bool) -> list[str]:
        """The stages to run for these, each after those whose outputs it reads: the targets, and
        what they need that the remote lacks; with everything all that they need, but trainings."""
        code, ordered = Code(), dict[str, None]()

        def take(name: str) -> None:
            if name in ordered:
                return
            for other in sorted(self.before(name) - {name}):
                again = everything and not trains(self.stages[other]["cmd"], code)
                if again or other in targets or not self.held(other):
                    take(other)
            ordered[name] = None

        for name in targets:
            take(name)
        return list(ordered)

    def before(self, name: str) -> set[str]:
        """The stages whose outputs a stage reads."""
        deps = self.stages[name].get("deps", ())
        return {out.stage for dep in deps for out in verify.made(self.outs, dep["path"])}

    def held(self, name: str) -> bool:
        """Whether all that a stage wrote is on disk or in the remote."""
        return all(
            whole(out.md5) or as_locked(out) for out in self.outs.values() if out.stage == name
        )

    def run(self, name: str) -> Iterator[str]:
        """Run a stage. Each of its outputs with other bytes than dvc.lock has. Raises InputError
        where it fails, or what it reads is not what the lock says."""
        stage = self.stages[name]
        for dep in stage.get("deps", ()):
            self._provide(name, dep["path"], dep["md5"])
        _same_params(name, stage)
        own = [out for out in self.outs.values() if out.stage == name]
        for out in own:
            _remove(Path(out.path))
        done = subprocess.run(stage["cmd"], shell=True, check=False)
        if done.returncode:
            raise InputError(f"{name}: {stage['cmd']}: ended with exit code {done.returncode}")
        self.ran.add(name)
        return (out.path for out in own if not as_locked(out))

    def _provide(self, name: str, path: str, md5: str) -> None:
        """Put what a stage reads in its place."""
        makers = verify.made(self.outs, path)
        for out in makers:
            if out.stage not in self.ran and not as_locked(out):
                _restore(out)
        if not {out.stage for out in makers} & self.ran and contents.Disk().md5(path) != md5:
            raise InputError(f"{name}: {path}: must have the md5 {md5}; git checkout, or dvc repro")


def as_locked(out: Out) -> bool:
    """Whether an output is on disk as the lock has it."""
    return contents.Disk().md5(out.path) == out.md5


def _restore(out: Out) -> None:
    """Copy an output from the remote. Raises InputError where it is not there."""
    if not whole(out.md5):
        raise InputError(f"{out.path}: {verify.at(REMOTE, out.md5)}: is missing or damaged")
    _remove(Path(out.path))
    for file in verify.files(REMOTE, out):
        with store.replacing(file.path) as temporary:
            shutil.copyfile(verify.at(REMOTE, file.md5), temporary)


def _remove(path: Path) -> None:
    """Make room for an output, as DVC does before it runs a stage."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)


def _same_params(name: str, stage: dict[str, Any]) -> None:
    """Raise InputError where a parameter is not the one of the lock."""
    for path, values in stage.get("params", {}).items():
        now = read_yaml(path)
        for key, value in values.items():
            if provenance.value(now, key) != value:
                raise InputError(f"{name}: {path}: {key}: must be as dvc.lock has it: {value}")


def replayed(targets: list[str], everything: bool) -> Iterator[tuple[str, list[str], float]]:
    """Run what the targets need: each stage with its outputs of other bytes, and its seconds."""
    replay = Replay()
    named = [name for target in targets for name in replay.named(target)]
    for name in replay.order(named, everything):
        began = time.monotonic()
        yield name, list(replay.run(name)), time.monotonic() - began
