"""Stages made again in a copy of the project, several at a time, and compared with dvc.lock."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from graphlib import TopologicalSorter
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from ops import compare, provenance, verify
from ops.claim import REMOTE, Claim
from ops.verify import Out, Outcome
from strata.inputs import few
from strata.run import InputError


class Task(NamedTuple):
    """Work for a process of its own, once the tasks that it names are done."""

    call: Callable[..., Any]
    given: tuple[Any, ...]
    after: frozenset[str] = frozenset()


class Ran(NamedTuple):
    """How a stage's command ended: what it lacked to begin, or the last line of its error."""

    seconds: float
    lacks: str = ""
    error: str = ""


def done(tasks: Mapping[str, Task], jobs: int) -> Iterator[tuple[str, Any]]:
    """The name and result of each task, as they end. What most rests on goes first."""
    graph = {name: task.after & set(tasks) for name, task in tasks.items()}
    rank = heights(graph)
    sorter = TopologicalSorter(graph)
    sorter.prepare()
    ready: list[str] = []
    running: dict[Future, str] = {}
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        while sorter.is_active():
            ready = sorted([*ready, *sorter.get_ready()], key=lambda x: -rank[x])
            while ready and len(running) < jobs:
                name = ready.pop(0)
                running[pool.submit(tasks[name].call, *tasks[name].given)] = name
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                sorter.done(running[future])
                yield running.pop(future), _result(future)


def _result(future: Future) -> Any:
    try:
        return future.result()
    except BrokenProcessPool:
        raise InputError("one of its processes was killed; is there enough memory?") from None


def heights(graph: Mapping[str, frozenset[str]]) -> dict[str, int]:
    """The length of the longest chain of tasks that rest on each.

    >>> heights({"a": frozenset(), "b": frozenset("a"), "c": frozenset("b")})
    {'c': 0, 'b': 1, 'a': 2}
    """
    height: dict[str, int] = {}
    for name in reversed([*TopologicalSorter(graph).static_order()]):
        height.setdefault(name, 0)
        for before in graph[name]:
            height[before] = max(height.get(before, 0), height[name] + 1)
    return height


def copy(claim: Claim, folder: Path) -> None:
    """What git tracks, as a project without locks and remote, with the outputs that are not made
    again."""
    listed = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True, check=True)
    own = {x.path for x in claim.outs.values()}
    for path in (Path(name) for name in listed.stdout.split("\0") if name):
        kept = REMOTE not in path.parents and path.name != "dvc.lock" and str(path) not in own
        if kept and path.is_file():
            _place(path, folder / path)
    (folder / ".dvc" / "config").write_text("[core]\nno_scm = true\nanalytics = false\n", "utf-8")
    for out in claim.outs.values():
        (folder / out.path).parent.mkdir(parents=True, exist_ok=True)
        for file in claim.files(out) if out.stage not in claim.again else ():
            _place(verify.at(REMOTE, file.md5), folder / file.path)


def _place(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)


def stages(claim: Claim, folder: Path) -> dict[str, Task]:
    """A task for each stage to make again."""
    return {
        name: Task(_run, (claim.commands[name], deps(claim, name), folder), after(claim, name))
        for name in claim.again
    }


def deps(claim: Claim, name: str) -> list[str]:
    """The files that a stage reads."""
    return [dep["path"] for dep in claim.stages[name].get("deps", ())]


def after(claim: Claim, name: str) -> frozenset[str]:
    """The stages that have to be made again before this one."""
    return frozenset(claim.before(name) - {name})


def _run(command: str, deps: list[str], folder: Path) -> Ran:
    began = time.monotonic()
    if lacks := [path for path in deps if not (folder / path).exists()]:
        return Ran(0, lacks=lacks[0])
    own = os.environ | {"PYTHONPATH": f"{folder}:{folder / 'src'}"}
    end = subprocess.run(
        command, cwd=folder, env=own, shell=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
    )  # fmt: skip
    last = (end.stderr.strip().splitlines() or [f"exit code {end.returncode}"])[-1]
    return Ran(time.monotonic() - began, error=last if end.returncode else "")


def compared(claim: Claim, name: str, ran: Ran, folder: Path, exact: bool) -> Outcome:
    """What a stage gave now, against what dvc.lock and the remote have of it."""
    what = f"{name}: made again"
    if ran.lacks:
        return Outcome(what, None, f"not made: {ran.lacks}, which it reads, could not be had")
    if ran.error:
        return Outcome(what, False, f"failed: {ran.error[:120]}")
    own = [out for out in claim.outs.values() if out.stage == name]
    if lost := [out.path for out in own if not (folder / out.path).exists()]:
        return Outcome(what, False, f"does not write {', '.join(lost)}")
    other = [out for out in own if not same(claim, out, folder)]
    if not other:
        return Outcome(what, True, f"the same bytes, {ran.seconds:.0f} s")
    if exact:
        return Outcome(what, False, f"other bytes: {few([x.path for x in other])}")
    return _alike(what, other, claim, folder)


def same(claim: Claim, out: Out, folder: Path) -> bool:
    """Whether an output has the bytes that dvc.lock names."""
    path = folder / out.path
    if path.is_file():
        return provenance.md5(path) == out.md5
    there = {str(x.relative_to(folder)): x for x in path.rglob("*") if x.is_file()}
    files = {file.path: file.md5 for file in claim.files(out)}
    return {name: provenance.md5(x) for name, x in there.items()} == files


def _alike(what: str, other: list[Out], claim: Claim, folder: Path) -> Outcome:
    """The outputs with other bytes, within the tolerance for another kind of machine."""
    files = [file for out in other for file in claim.files(out)]
    if not files:
        return Outcome(what, None, "other bytes on another machine, and the remote keeps none")
    for file in files:
        made, shipped = folder / file.path, verify.at(REMOTE, file.md5).read_bytes()
        new = made.read_bytes() if made.is_file() else b""
        if apart := compare.difference(shipped, new, file.path):
            return Outcome(what, False, f"{file.path}: {apart}")
    return Outcome(what, True, "within the tolerance for another kind of machine")
