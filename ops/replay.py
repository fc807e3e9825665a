"""The pipelines without DVC: ``python -m ops.replay TARGET …``, for stages such as tables or
studies/seeds/dvc.yaml:tables, or for paths that one writes.

Commands are those of the locks, inputs are taken from remote/, and made where it lacks them. Each
file that a stage reads or writes is held to its md5 in the lock. A line for each stage; exit code 1
where an output has another md5.
"""

import re
import subprocess
import time
from collections.abc import Iterable
from graphlib import TopologicalSorter
from os.path import normpath
from pathlib import Path

from ops import contents, files, provenance, shipped
from ops.shipped import Out, Outs
from strata.run import InputError, command, read_yaml

NAME = re.compile(r"\$\{([\w.]+)\}")
ITEM = r"[\w./ -]+"  # what a pipeline file leaves open: runs, or what else a stage is for


class Replay:
    """The locks of the project in the current folder, and what has been run of them."""

    def __init__(self) -> None:
        self.stages, self.written = files.locked(), files.stages()
        self.outs = Outs(self.stages)
        self.ran: set[str] = set()

    def named(self, target: str) -> list[str]:
        """The stages that a target means: a stage with all that it is for, or all that write to a
        path. Raises InputError where there is none."""
        name = target.removeprefix("dvc.yaml:")
        found = [x for x in self.stages if name in {x, x.partition("@")[0]}]
        found = found or list(dict.fromkeys(x.stage for x in self.outs.at(normpath(target))))
        if not found:
            must = "must be a stage of a lock or a path that one writes, such as tables"
            raise InputError(f"TARGET = {target}: {must}")
        return found

    def order(self, targets: Iterable[str]) -> list[str]:
        """The targets, and what they need that neither disk nor remote has, each after what it
        reads."""
        graph: dict[str, set[str]] = {}
        todo, wanted = list(targets), set(targets)
        while todo:
            name = todo.pop()
            before = self.outs.makers(self.stages[name]) - {name}
            graph[name] = {x for x in before if x in wanted or not self.held(x)}
            todo += graph[name] - graph.keys()
        return [*TopologicalSorter(graph).static_order()]

    def held(self, name: str) -> bool:
        """Whether all that a stage wrote is on disk or in the remote."""
        return all(as_locked(out) or _whole(out) for out in self.outs.of[name])

    def run(self, name: str) -> list[str]:
        """Run a stage. Its outputs that have other bytes than the lock says. Raises InputError
        where it fails, or what it reads is not what the lock says."""
        self._provide(name)
        file = Path(name.rpartition(":")[0] or "dvc.yaml")
        self._same(name, file)
        for out in self.outs.of[name]:
            shipped.make_room(Path(out.path))
        cmd = self.stages[name]["cmd"]
        done = subprocess.run(cmd, cwd=file.parent, shell=True, check=False)
        if done.returncode:
            raise InputError(f"{name}: {cmd}: ended with exit code {done.returncode}")
        self.ran.add(name)
        return [out.path for out in self.outs.of[name] if not as_locked(out)]

    def _provide(self, name: str) -> None:
        """Put what a stage reads in its place."""
        for dep in self.stages[name].get("deps", ()):
            makers = self.outs.at(dep["path"])
            for out in makers:
                if out.stage not in self.ran and not as_locked(out):
                    shipped.restore(out, Path())
            again = {out.stage for out in makers} & self.ran
            if not again and contents.Disk().md5(dep["path"]) != dep["md5"]:
                must = f"must have the md5 {dep['md5']}; git checkout, or dvc repro"
                raise InputError(f"{name}: {dep['path']}: {must}")

    def _same(self, name: str, file: Path) -> None:
        """Raise InputError where the command or a parameter of the lock is not the one here."""
        written = self.written.get(name.partition("@")[0], {}).get("cmd", "")
        if not fits(self.stages[name]["cmd"], written, files.variables(str(file))):
            raise InputError(f"{name}: the command of its lock is not that of {file}")
        for path, values in self.stages[name].get("params", {}).items():
            now = read_yaml(file.parent / path)
            for key, value in values.items():
                if provenance.value(now, key) != value:
                    raise InputError(f"{name}: {path}: {key}: must be as its lock has it: {value}")


def fits(cmd: str, written: str, values: dict[str, object]) -> bool:
    """Whether a command is that of a pipeline file, with a name in the place of what is open.

    >>> fits("python a.py n6-s1", "${run} a.py ${item.run}", {"run": "python"})
    True
    >>> fits("python a.py n6-s1; b", "${run} a.py ${item.run}", {"run": "python"})
    False
    """
    parts = NAME.split(written)
    known = [re.escape(str(values[x])) if x in values else ITEM for x in parts[1::2]]
    texts = map(re.escape, parts[::2])
    return bool(re.fullmatch("".join(x + y for x, y in zip(texts, [*known, ""], strict=True)), cmd))


def as_locked(out: Out) -> bool:
    """Whether an output is on disk as the lock has it."""
    return contents.Disk().md5(out.path) == out.md5


def _whole(out: Out) -> bool:
    try:
        return bool(shipped.objects([out]))
    except InputError:
        return False


def main(*targets: str) -> None:
    files.at_top()
    if not targets:
        raise InputError("TARGET: must be a stage of a lock or a path that one writes")
    replay = Replay()
    order = replay.order([name for target in targets for name in replay.named(target)])
    failed = 0
    for name in order:
        began = time.monotonic()
        other = replay.run(name)
        said = f"other bytes: {', '.join(other)}" if other else "the same bytes"
        print(f"{name} … {said}, {time.monotonic() - began:.0f} s", flush=True)
        failed += bool(other)
    if failed:
        raise InputError(f"{failed} of {len(order)} stages wrote other bytes than their lock names")
    print(f"{len(order)} stages, all with the bytes that their locks name")


if __name__ == "__main__":
    command(main)
