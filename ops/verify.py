"""Were the recorded results made by this code? Make them again in a copy, and compare.

``make verify``; SAMPLE says how many per cent are drawn of what is sampled. What git has, as staged
or committed, is copied to a scratch folder, with the outputs that the locks of the paper and the
studies name. Each stage's command is then run there as its pipeline file has it, on the inputs that
its lock names, and its outputs are compared with the lock; then pages with the tables and figures
that they show. A line for each as it ends, failures once more at the end; exit code 1 where one
failed. docs/verification.md says what each outcome shows.
"""

import fcntl
import hashlib
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import chdir, contextmanager
from functools import partial
from graphlib import TopologicalSorter
from importlib.metadata import packages_distributions
from math import ceil
from multiprocessing import get_context
from os.path import normpath
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import torch

from ops import compare, files, forks, packages, packs, readme, recover, shipped, syntax, trainings
from ops.copied import Copy, Stage
from ops.git import git, listed
from ops.shipped import Out
from strata.inputs import InputError, few, printable
from strata.run import Run, command
from strata.train import machine
from strata.train.environment import threads

MADE, PART, UNSEEN, FAILED = "made again", "tried in part", "not checked", "FAIL"
# What trains the runs: of every run weights are held to its history, and the first epochs are
# trained again, more of them of a sample.
TRAINED = {"runs/dvc.yaml:train", "studies/dvc.yaml:train"}
# What takes long for each run, and is made again for a sample of them: of each of these sets.
INTERVENED, MEASURES = "studies/interventions/dvc.yaml:", "studies/mechanism/dvc.yaml:"
SAMPLED = (
    {f"{INTERVENED}{x}" for x in ("interventions", "controls", "on-controls")},
    {f"{MEASURES}describe"},
    {f"{MEASURES}measure", f"{MEASURES}on-controls"},
)
SAMPLE = 10  # per cent of each of these sets, and of trainings: as many as take ten minutes in all
# To import these modules takes longer than what most scripts do: by forks of a process that has,
# one for each set of variables; but for what begins processes, trains in torch, or needs a shell.
IMPORTED = "torch pandas sympy.ntheory strata.measure.metrics strata.measure.all_pairs"
IMPORTED += " studies.interventions.code.suite studies.mechanism.code.measures"
APART = re.compile(r"stages/(figure|controls)\.py|report/stages/runs\.py|[*?[{~#]")
# All that is never made again, and why.
UNCHECKED = {
    "studies/dynamics/dvc.yaml:checkpoints": "it trains a run to its end, for hours",
    "studies/dynamics/dvc.yaml:dynamics": "it measures weights on the way, which nothing ships",
    "studies/dynamics/dvc.yaml:grokking": "it measures weights on the way, which nothing ships",
    "report/dvc.yaml:new-modulus": "it trains a model, and shows what that learnt",
    "report/dvc.yaml:your-own": "it trains a model, and shows what that learnt",
}
# Of these runs the study's tables, made again, hold 120 epochs of the history to what was measured
# of weights on the way.
MEASURED = "studies/dynamics/dvc.yaml:dynamics"
OUTSIDE = ("paper", "paper/published")  # folders of what no stage makes, each with a receipt
MOST = 8  # processes at once
SCRATCH = "strata-verify-"
OWN = {"strata", "ops", "studies", "report", "tests", "benchmarks"}  # what the project imports
STARTS, COMPILED = {"sitecustomize", "usercustomize"}, {".pyc", ".so", ".pyd", ".pth"}
# Where stages put what they make, and git tracks nothing but what says so.
FILLED = re.compile(
    r"((studies|report)/(\w+/)?)?(data|figures|tables|html)/(?!README\.md$)", re.IGNORECASE
)
# How stages call Python (stages/exact.yaml): with these variables, and with no word of a shell.
COMMAND = re.compile(
    r"(?:env ((?:\w+=(?:[\w.:]*|'[\w ]+') )+))?python [\w/]+\.py(?: [^;&|<>$`()\n]+)?"
)
VARIABLES = {"PYTHONSAFEPATH=1", "PYTHONPATH=src:.", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1"}
VARIABLES |= {"OPENBLAS_CORETYPE=Haswell", "NPY_DISABLE_CPU_FEATURES=X86_V4 AVX512_ICL AVX512_SPR"}
VARIABLES |= {"MKL_CBWR=COMPATIBLE", "ATEN_CPU_CAPABILITY=avx2"}


class Outcome(NamedTuple):
    """What came of a stage, or of what it reads from outside."""

    kind: str
    what: str
    note: str

    def __str__(self) -> str:
        return printable(f"{self.kind:13}  {self.what}: {self.note}")


def base(name: str) -> str:
    """A stage's name without the run."""
    return name.partition("@")[0]


def tried(copy: Copy, name: str, exact: bool, chosen: bool) -> Outcome:
    """A stage's outcome. ``chosen``: it is drawn from what is sampled."""
    fault, stage = copy.fault(name), copy.stages.get(name)
    if strange := unusual(stage, copy.top) if stage else "":
        return Outcome(FAILED, name, strange)
    if fault:
        if fault == copy.lost.get(name) and base(name) not in {*TRAINED, *UNCHECKED}:
            ran(copy, name)  # so that what reads its outputs can be tried
        return Outcome(FAILED, name, fault)
    if base(name) in UNCHECKED:
        return Outcome(UNSEEN, name, UNCHECKED[base(name)])
    if base(name) in TRAINED:
        return train(copy, name, chosen)
    if any(base(name) in kinds for kinds in SAMPLED) and not chosen:
        return Outcome(UNSEEN, name, "it was not drawn")
    return made(copy, name, exact)


def train(copy: Copy, name: str, chosen: bool) -> Outcome:
    """A run's training: its split, weights and history, and its first epochs."""
    run, stage = Run.parse(name.partition("@")[2]), copy.stages[name]
    table = copy.top / next(x for x in stage.deps if x.endswith(".parquet"))
    weights = copy.top / next(x for x in stage.outs if x.endswith("weights.safetensors"))
    fault, near = trainings.faults(weights.parent, table, run, copy.top), ""
    if not fault:
        epochs = trainings.EPOCHS if chosen else trainings.FIRST
        fault, near = trainings.begun(weights.parent, run, copy.top, epochs)
    if fault:
        return Outcome(FAILED, name, fault.removeprefix(f"{copy.top}/"))
    end, shown = trainings.divergence(weights.parent, run)
    said = f"it says that it diverged at epoch {end}"
    said = said if end else "its weights are those of its history's end"
    return Outcome(PART if shown else UNSEEN, name, f"{said}; {near}")


def middles(copy: Copy) -> Iterator[Outcome]:
    """What no weights show of the trainings."""
    for name in (x for x in copy.names if base(x) in TRAINED):
        if f"{MEASURED}@{name.partition('@')[2]}" not in copy.names:
            said = f"epochs {trainings.EPOCHS + 1} to the last but one: nothing shipped shows them"
            yield Outcome(UNSEEN, f"middle of {name}", said)


def ran(copy: Copy, name: str) -> str:
    """Run a stage's command in the copy. Why it failed; empty where it did not."""
    for out in copy.outs.of[name]:
        shipped.make_room(copy.top / out.path)
    stage = copy.stages[name]
    os.environ["PYTHONSAFEPATH"] = "1"  # no module that lies beside a script is taken for another
    if not APART.search(stage.cmd):
        code, said = 0, ""
        for call in stage.cmd.split(" && "):
            if not code and not call.startswith("cd "):
                code, said = forks.called(shlex.split(call), IMPORTED, copy.top)
    else:
        done = subprocess.run(
            stage.cmd, cwd=copy.top / stage.at, shell=True, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, errors="replace",
        )  # fmt: skip
        code, said = done.returncode, done.stderr
    last = (said.strip().splitlines() or [f"exit code {code}"])[-1]
    return f"its command failed: {last[:200]}" if code else ""


def made(copy: Copy, name: str, exact: bool) -> Outcome:
    """A stage run again, and its outputs against those of the lock."""
    if fault := ran(copy, name):
        return Outcome(FAILED, name, fault)
    other = [x for x in copy.outs.of[name] if shipped.on_disk(x.path, copy.top) != x.md5]
    if not other:
        return Outcome(MADE, name, "the same bytes")
    apart = [x for x in (difference(copy, out, exact) for out in other) if x]
    for out in copy.kept(name):  # what reads these is held to the lock as well
        shipped.restore(out, copy.top, copy.remotes)
    if apart:
        return Outcome(FAILED, name, f"made again, other bytes: {few(apart)}")
    return Outcome(MADE, name, "within the tolerance for another kind of machine")


def difference(copy: Copy, out: Out, exact: bool) -> str:
    """Where an output that was made again is another one; empty where it may differ here."""
    if out not in copy.kept(out.stage):
        return out.path if exact else ""
    for part in shipped.parts(out, copy.remotes):
        path = copy.top / part.path
        new = path.read_bytes() if path.is_file() else b""
        old = shipped.content(part.md5, copy.remotes)
        if new != old and (exact or (said := compare.difference(old, new, part.path))):
            return part.path if exact else f"{part.path}: {said}"
    return out.path if exact else ""


def outside(copy: Copy) -> Iterator[Outcome]:
    """What stages read and none of them makes: it can be held to its receipt, and no further."""
    for folder in OUTSIDE:
        receipt = json.loads((copy.top / folder / "receipt.json").read_bytes())
        for name, sha256 in receipt["results"].items():
            if hashlib.sha256((copy.top / folder / name).read_bytes()).hexdigest() != sha256:
                yield Outcome(FAILED, f"{folder}/{name}", "it is not what receipt.json names")
        said = f"{receipt['source']}, SHA-256 {receipt['sha256']}: nothing here shows more of it"
        yield Outcome(UNSEEN, folder, said)


def shown(copy: Copy, tracked: Mapping[str, str]) -> Iterator[Outcome]:
    """Pages, with the tables, numbers and pictures that they show, and notebooks, with none."""
    if others := [x for x in tracked if x.endswith(".md") and not readme.PAGES.fullmatch(x)]:
        yield Outcome(UNSEEN, "other pages", f"no file fills {few(others)}")
    for name, remote in zip(shipped.REMOTES, copy.remotes, strict=True):
        if (copy.top / name).parent.is_dir():
            (copy.top / name).symlink_to(remote)
    with chdir(copy.top):
        for path, fault, unknown in readme.faults(tracked):
            kind = FAILED if fault else UNSEEN if unknown else MADE
            said = f"no stage here wrote {few(unknown)}" if unknown else ""
            yield Outcome(kind, str(path), fault or said or "what it shows is that of its files")
    for path in (x for x in tracked if x.endswith(".ipynb")):
        if any(cell.get("outputs") for cell in syntax.cells((copy.top / path).read_text("utf-8"))):
            yield Outcome(FAILED, path, "it shows what no stage drew: make lint")


def misplaced(tracked: Mapping[str, str], modules: Collection[str]) -> Iterator[Outcome]:
    """What git may not track, by the modes of what it does: links, pages that a host would show in
    the place of ours, what lies where stages put theirs, and what Python would run in the place of
    other code: compiled modules, start-up files, what packages say of themselves, a module beside
    the folder of its name, or one with the name of one that is none of ours."""
    names = {*map(Path, tracked)}
    folders = {x.parent for x in names if x.suffix == ".py"}
    for path, mode in tracked.items():
        at, module = Path(path), Path(path.removesuffix("/__init__.py")).with_suffix("")
        beside = at.name == "__init__.py" and module.with_suffix(".py") in names
        # A folder without that file is found after a module of its name.
        beside |= module in folders and at.suffix == ".py" and module / "__init__.py" not in names
        above = module.parent in {Path(), Path("src")} and module.name in modules
        poses = beside or (above and at.suffix == ".py") or module.name in STARTS
        # src comes first on the path; nothing but the library lies there.
        poses = poses or at.suffix in COMPILED or (at.parts[0] == "src" and at.parts[1] != "strata")
        if poses or any(x.endswith(("-info", ".egg")) for x in at.parts):
            yield Outcome(FAILED, path, "Python would run it in the place of other code")
        elif not mode.startswith("100"):
            yield Outcome(FAILED, path, "git tracks it as a link, which may lead anywhere")
        elif readme.INSTEAD.match(path):
            yield Outcome(FAILED, path, "a host shows it in the place of a page of ours")
        elif FILLED.match(path):
            yield Outcome(FAILED, path, "git tracks it in a folder that stages fill")


def unusual(stage: Stage, top: Path) -> str:
    """What is wrong with the command of a stage where it is not scripts called with Python at the
    top, with what pipeline files set for it and what they say that it reads; empty where it is."""
    first, *more = stage.cmd.split(" && ")
    named = {*stage.deps, *stage.outs, *stage.params}
    cd = first.removeprefix("cd ") if re.fullmatch(r"cd [./]+", first) else ""
    for call in more if cd else (first, *more):
        found = COMMAND.fullmatch(call)
        if not found or not {*shlex.split(found[1] or "")} <= VARIABLES:
            return f"its command is unusual: {call[:60]}"
        words = shlex.split(call)
        given = (normpath(x.rpartition("=")[2]) for x in words[words.index("python") + 2 :])
        for path in map(Path, given):
            about = any(path.is_relative_to(x) or Path(x).is_relative_to(path) for x in named)
            if not about and path.name not in {"notebooks", "runs"} and (top / path).exists():
                return f"its command reads {path}, which is none of its inputs"
    return "" if normpath(f"{stage.at}/{cd}") == "." else f"its command is run elsewhere: {cd}"


def drawn(names: Collection[str], share: int) -> set[str]:
    """The stages that are drawn: so many per cent, or more, of trainings and of each kind that is
    sampled."""
    pools = ([x for x in names if base(x) in kinds] for kinds in (TRAINED, *SAMPLED))
    return {x for pool in pools for x in random.sample(pool, ceil(len(pool) * share / 100))}


def done(tasks: Mapping[str, Any], before: Mapping[str, set[str]], jobs: int) -> Iterator[Outcome]:
    """The results of tasks, several at a time, each after those that it names."""
    sorter, running = TopologicalSorter(before), dict[Future[Outcome], str]()
    sorter.prepare()
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        while sorter.is_active():
            running |= {pool.submit(tasks[name]): name for name in sorter.get_ready()}
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                sorter.done(running.pop(future))
                yield future.result()


def odds(names: Collection[str], chosen: Collection[str]) -> Iterator[str]:
    """For each kind that is sampled, how probably a forged one was found."""
    for kinds in (TRAINED, *SAMPLED):
        pool = {x for x in names if base(x) in kinds}
        known = ", ".join(sorted({*map(files.kind, kinds)}))
        epochs = f"epochs {trainings.FIRST + 1} to {trainings.EPOCHS} of " * (kinds == TRAINED)
        if pool:
            count = len(pool.intersection(chosen))
            found = f"a forged one is found with {count / len(pool):.0%}"
            yield f"drawn: {epochs}{known}: {count} of {len(pool)}: {found}"


def verified(copy: Copy, chosen: Collection[str], exact: bool) -> Iterator[Outcome]:
    """An outcome for each stage, as they end, and for what no stage makes."""
    tasks = {x: partial(tried, copy, x, exact, x in chosen) for x in copy.names}
    jobs = min(threads(), MOST)
    yield from done(tasks, {x: copy.before(x) for x in copy.names}, jobs)
    yield from middles(copy)
    yield from outside(copy)
    tracked = {path: mode for path, (mode, _) in listed(copy.tree).items()}
    yield from shown(copy, tracked)
    yield from misplaced(tracked, {*sys.stdlib_module_names, *packages_distributions()} - OWN)


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder for a copy; those of others that were killed are removed."""
    with TemporaryDirectory(prefix=SCRATCH) as own, (Path(own) / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for path in Path(own).parent.glob(f"{SCRATCH}*/lock"):
            if left := recover.taken(path) if os.access(path, os.W_OK) else None:
                with left:
                    shutil.rmtree(path.parent, ignore_errors=True)
        yield Path(own).resolve()


def main() -> None:
    files.at_top()
    for project in files.projects():
        packs.unpack(project)
    share = os.environ.get("SAMPLE") or str(SAMPLE)
    if not share.isdecimal() or int(share) > 100:
        raise InputError(f"SAMPLE = {share}: must be how many per cent to draw, 0 to 100")
    here = machine.describe(torch.device("cpu"))
    reasons = compare.reasons(here)
    must = f"alike within a tolerance ({'; '.join(reasons)})" if reasons else "the same bytes"
    print(f"Here: {here.processor}, {here.capability}, {here.platform}, torch {here.torch}.")
    print(f"What is made again must be {must}.", flush=True)
    report = [Outcome(FAILED, "packages", x) for x in packages.others(packages.pinned())]
    if other := [x for x in git("diff", "--name-only", "-z").split("\0") if x]:
        print(f"Not staged, so not what is compared: {few(other)}.", flush=True)
    with scratch() as folder:
        copy = Copy(folder / "copy")
        chosen = drawn(copy.names, int(share))
        for found in verified(copy, chosen, exact=not reasons):
            report.append(found)
            print(found, flush=True)
    counts = Counter(x.kind for x in report)
    print("", *odds(copy.names, chosen), *(x for x in report if x.kind == FAILED), sep="\n")
    said = f"{counts[FAILED]} failed" if counts[FAILED] else "none failed"
    words = ", ".join(f"{counts[kind]} {kind}" for kind in (MADE, PART, UNSEEN))
    print(f"verify: {words}, {said}", flush=True)
    sys.exit(bool(counts[FAILED]))


if __name__ == "__main__":
    command(main)
