"""Tell whether this commit's code and parameters give, on this machine, what locks and pages have.

``make verify``; SAMPLE says how many per cent are drawn of what takes long. What git has staged or
committed is copied to a scratch folder, with the outputs that the locks name. The command of each
stage is run there on the inputs that its lock names, and its outputs are compared with the lock.
Then pages are compared with the tables, numbers and pictures that they show. Outcomes are printed
as they come, failures once more at the end, then the commit, the SHA-256 of all locks and how many
outcomes there are of each kind, which verified.json has as well. Exit code 1 where something
failed. docs/verification.md says what an outcome shows.
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
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import chdir, contextmanager, suppress
from graphlib import TopologicalSorter
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import torch

from ops import compare, files, forks, packages, packs, readme, recover, shipped
from ops.calls import alive
from ops.copied import Copy
from ops.git import git
from ops.shipped import Out
from strata import store
from strata.inputs import InputError, printable, shortened
from strata.run import command
from strata.train import machine
from strata.train.environment import threads

MADE_AGAIN, PART, UNCHECKED, FAILED = KINDS = (
    "made again",
    "tried in part",
    "not checked",
    "failed",
)
TRAININGS = {"runs/dvc.yaml:train", "studies/dvc.yaml:train"}
# What takes long for each run: of each of these sets a sample is drawn.
SAMPLED = (
    TRAININGS,
    {f"studies/dvc.yaml:{x}" for x in ("activations", "metrics")},
    {f"studies/interventions/dvc.yaml:{x}" for x in ("interventions", "controls")},
    {"studies/mechanism/dvc.yaml:accounts"},
    {"studies/moduli/dvc.yaml:measure"},
    {
        f"studies/mechanism/dvc.yaml:{x}"
        for x in ("measure", "on-controls", "adding", "planted", "adding-planted", "by-hand")
    },
)
SAMPLE = 10  # per cent
# Tutorials that train a model to its end, which gives other bytes on another machine.
TUTORIALS = {"report/dvc.yaml:new-modulus", "report/dvc.yaml:your-own"}
# To import these takes longer than what most scripts do with them, so scripts are run by forks of a
# process that has, but for those that start processes or train with torch, and lines for a shell.
IMPORTED = "torch pandas strata.measure.metrics strata.measure.all_pairs"
IMPORTED += " studies.interventions.code.suite studies.mechanism.code.measures"
APART = re.compile(r"/(figure|controls|runs)\.py")
PLAIN = re.compile(r"(env .+ )?python [\w/]+\.py( [^]*?[{}~#;|<>$`()]+)?")
MOST = 8  # stages at once
SCRATCH = "strata-verify-"
RESULT = Path("verified.json")


class Outcome(NamedTuple):
    """What came of a stage, of a page, or of what no stage makes."""

    kind: str
    name: str
    note: str

    def __str__(self) -> str:
        return printable(f"{self.kind:13}  {self.name}: {self.note}")


def base(name: str) -> str:
    """Return a stage's name without the run."""
    return name.partition("@")[0]


def never_repeated(copy: Copy, name: str) -> str:
    """Return why a stage is never made again, whatever is drawn; empty where it can be."""
    if name in copy.unkept:
        return "its outputs are kept nowhere (cache: false), so readers make them"
    if name in copy.stages and copy.stages[name].frozen:
        return "it is frozen in its pipeline file"
    return "it trains a model to its end" if name in TUTORIALS else ""


def check(copy: Copy, name: str, drawn: Collection[str], exact: bool) -> Outcome:
    """Compare a stage with its lock, make it again, and compare its outputs."""
    if fault := "" if name in copy.unkept else copy.fault(name):
        again = base(name) not in TRAININGS and not never_repeated(copy, name)
        if fault == copy.damaged.get(name) and again:
            run(copy, name)  # so that what reads its outputs can be checked
        return Outcome(FAILED, name, fault)
    if reason := never_repeated(copy, name):
        return Outcome(UNCHECKED, name, reason)
    if any(base(name) in names for names in SAMPLED) and name not in drawn:
        return Outcome(UNCHECKED, name, "it was not drawn")
    if base(name) in TRAININGS:
        return train(copy, name)
    if fault := run(copy, name):
        return Outcome(FAILED, name, fault)
    others = [x for x in copy.outs.by_stage[name] if shipped.md5_on_disk(x.path, copy.top) != x.md5]
    faults = list(filter(None, (difference(copy, out, exact) for out in others)))
    if others:  # what reads these is compared with its lock too
        copy.restore(name)
    if faults:
        return Outcome(FAILED, name, f"made again, {shortened(faults)}")
    note = "within the tolerance for another kind of machine" if others else "the same bytes"
    return Outcome(MADE_AGAIN, name, note)


def run(copy: Copy, name: str) -> str:
    """Run a stage's command in the copy. Returns why it failed; empty where it did not."""
    stage = copy.stages[name]
    for out in stage.outs:
        shipped.make_room(copy.top / out)
    calls, folder = stage.cmd.split(" && "), copy.top / stage.at
    if calls[0].startswith("cd "):
        folder = (folder / calls.pop(0).removeprefix("cd ")).resolve()
    if APART.search(stage.cmd) or not all(map(PLAIN.fullmatch, calls)):
        done = subprocess.run(
            stage.cmd, cwd=copy.top / stage.at, shell=True, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, errors="replace",
        )  # fmt: skip
        return failure(done.returncode, done.stderr)
    for call in calls:
        if fault := failure(*forks.run_in_fork(shlex.split(call), IMPORTED, folder)):
            return fault
    return ""


def failure(code: int, errors: str) -> str:
    """Return why a command failed, by its exit code and what it wrote; empty where it did not."""
    last = (errors.strip().splitlines() or [f"exit code {code}"])[-1]
    return f"its command failed: {last[:200]}" if code else ""


def difference(copy: Copy, out: Out, exact: bool) -> str:
    """Return how an output that was made again differs from that of its lock; empty where it may
    differ here."""
    for part in shipped.parts(out, copy.remotes) if out in copy.kept(out.stage) else ():
        path, old = copy.top / part.path, shipped.content(part.md5, copy.remotes)
        new = path.read_bytes() if path.is_file() else b""
        if new != old:
            fault = compare.difference(old, new, part.path)
            if fault or exact:
                return f"{part.path}: {fault or 'other bytes'}"
    return f"{out.path}: other bytes" if exact else ""


def train(copy: Copy, name: str) -> Outcome:
    """Train the first epochs of a run again, in a process of its own, whose torch works as the
    run's record says."""
    weights = next(x for x in copy.stages[name].outs if x.endswith("weights.safetensors"))
    words = ["-m", "ops.trainings", name.partition("@")[2], str(Path(weights).parent)]
    done = subprocess.run(
        [sys.executable, *words], cwd=copy.top, env=os.environ | {"PYTHONPATH": "src:."},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if fault := failure(done.returncode, done.stderr):
        return Outcome(FAILED, name, fault)
    return Outcome(PART, name, f"{done.stdout.strip()}; later epochs are not trained again")


def stages(
    copy: Copy, names: Collection[str], drawn: Collection[str], exact: bool
) -> Iterator[Outcome]:
    """Yield an outcome for each of these stages, as they end: several at a time, each after those
    whose outputs it reads."""
    sorter = TopologicalSorter({x: copy.reads[x].intersection(names) for x in names})
    sorter.prepare()
    running = dict[Future[Outcome], str]()
    with ThreadPoolExecutor(min(threads(), MOST)) as pool:
        while sorter.is_active():
            running |= {pool.submit(check, copy, x, drawn, exact): x for x in sorter.get_ready()}
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                sorter.done(running.pop(future))
                yield future.result()


def pages(copy: Copy, kinds: Mapping[str, str]) -> Iterator[Outcome]:
    """Yield an outcome for each page: whether it is as the files have it that it cites, and whether
    these were made again, by the kinds of the stages' outcomes."""
    with chdir(copy.top):
        checked = list(readme.check_pages(copy.tracked))
    for page in checked:
        unsure = sorted({x for path in page.files for x in inputs_not_repeated(copy, path, kinds)})
        if page.faults:
            yield Outcome(FAILED, str(page.page), shortened(page.faults))
        elif unsure:
            yield Outcome(UNCHECKED, str(page.page), f"it rests on {shortened(unsure)}")
        else:
            yield Outcome(MADE_AGAIN, str(page.page), "it is as its files have it")


def inputs_not_repeated(copy: Copy, path: str, kinds: Mapping[str, str]) -> set[str]:
    """Return what a file that a page cites rests on and that was not made again: the stage that
    writes it, stages before that which never are, or the file, where no stage writes it."""
    makers = {out.stage for out in copy.outs.at(path)}
    if not makers:
        return set() if Path(path).name == "params.yaml" else {path}
    never = {x for x in copy.with_inputs(makers) if never_repeated(copy, x)}
    return never | {x for x in makers if kinds[x] != MADE_AGAIN}


def others(copy: Copy) -> Iterator[Outcome]:
    """Yield an outcome for what no stage makes: results that were typed or brought from elsewhere,
    each with a receipt that names its source, and links."""
    for path, mode in copy.tracked.items():
        if Path(path).name == "receipt.json":
            receipt = json.loads((copy.top / path).read_bytes())
            source = f"{receipt['source']}, SHA-256 {receipt['sha256']}"
            yield Outcome(UNCHECKED, str(Path(path).parent), source)
        if not mode.startswith("100"):
            yield Outcome(FAILED, path, "git tracks it as a link, which is not followed")


def verify_all(copy: Copy, drawn: Collection[str], exact: bool) -> Iterator[Outcome]:
    """Yield every outcome. The report comes after all stages, as it reads more than it names."""
    kinds = {}
    report = {x for x in copy.names if files.project(x) == "report"}
    for names in ({*copy.names} - report, report):
        for outcome in stages(copy, names, drawn, exact):
            kinds[outcome.name] = outcome.kind
            yield outcome
    yield from pages(copy, kinds)
    yield from others(copy)


def draw(names: Iterable[str], share: int) -> set[str]:
    """Draw that many per cent, rounded up, of each set of stages that is sampled."""
    pools = [[x for x in names if base(x) in sampled] for sampled in SAMPLED]
    return {x for pool in pools for x in random.sample(pool, ceil(len(pool) * share / 100))}


@contextmanager
def scratch() -> Iterator[Path]:
    """Yield a new folder, having deleted those that killed calls left."""
    with TemporaryDirectory(prefix=SCRATCH) as name, (Path(name) / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for path in Path(name).parent.glob(f"{SCRATCH}*/lock"):
            if left := recover.try_lock(path) if os.access(path, os.W_OK) else None:
                with left:
                    shutil.rmtree(path.parent, ignore_errors=True)
        yield Path(name).resolve()


def commit(tree: str) -> str | None:
    """Return the last commit where its tree is this one; None where what is staged is in none."""
    with suppress(InputError):  # there is no commit yet
        if git("rev-parse", "--verify", "--quiet", "HEAD^{tree}") == tree:
            return git("rev-parse", "HEAD")
    return None


def record(copy: Copy, percent: int, outcomes: Iterable[Outcome]) -> dict[str, Any]:
    """Return what was verified, and how many outcomes there are of each kind. All locks taken
    together are their bytes one after the other, in the order in which git lists them."""
    locks = sorted(x for x in copy.tracked if Path(x).name == "dvc.lock")
    content = b"".join((copy.top / x).read_bytes() for x in locks)
    counts = Counter(x.kind for x in outcomes)
    return {
        "commit": commit(copy.tree),
        "locks": hashlib.sha256(content).hexdigest(),
        "sample": percent,
        **{kind: counts[kind] for kind in KINDS},
    }


def sample() -> int:
    """Return SAMPLE, or how many per cent are drawn where it is not set. Raises InputError."""
    text = os.environ.get("SAMPLE") or str(SAMPLE)
    if not text.isdecimal() or int(text) > 100:
        raise InputError(f"SAMPLE = {text}: must be how many per cent to draw, 0 to 100")
    return int(text)


def main() -> None:
    files.require_top()
    share = sample()
    RESULT.unlink(missing_ok=True)
    for project in files.projects():
        packs.unpack(project)
    environment = machine.describe(torch.device("cpu"))
    reasons = compare.reasons(environment)
    must = f"alike within a tolerance ({'; '.join(reasons)})" if reasons else "the same bytes"
    print(
        f"Here: {environment.processor}, {environment.capability}, {environment.platform}, "
        f"torch {environment.torch}."
    )
    print(f"What is made again must be {must}.", flush=True)
    if unstaged := git("diff", "--name-only").splitlines():
        print(f"Not staged, so not what is compared: {shortened(unstaged)}.", flush=True)
    outcomes = [
        Outcome(FAILED, "packages", x) for x in packages.mismatches(packages.pinned_versions())
    ]
    with alive("verify"), scratch() as folder:
        copy = Copy(folder / "copy")
        for outcome in verify_all(copy, draw(copy.names, share), exact=not reasons):
            outcomes.append(outcome)
            print(outcome, flush=True)
        verdict = record(copy, share, outcomes)
    store.write_json(RESULT, verdict)
    print("", *(x for x in outcomes if x.kind == FAILED), sep="\n")
    print(f"commit {verdict['commit'] or 'none, as what is staged is in none'}")
    print(f"SHA-256 of all locks {verdict['locks']}")
    print(f"verify: {', '.join(f'{verdict[kind]} {kind}' for kind in KINDS)}", flush=True)
    sys.exit(verdict[FAILED] > 0)


if __name__ == "__main__":
    command(main)
