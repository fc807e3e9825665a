"""Was dvc.lock made up? Make again what it names, in a copy of the project, and see.

``python scripts/verify.py`` takes a sample of the runs, ``--all`` every one. The project itself is
only read. The report has a line for each check; exit code 1 where one fails.
"""

import os
import random
import re
import shutil
import subprocess
import sys
from functools import reduce
from operator import getitem
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from dvc.dependency.param import ParamsDependency
from dvc.repo import Repo
from dvc.stage import Stage
from ruamel.yaml import YAML
from tabulate import tabulate

from strata import likeness, params, pipelines, store, verify
from strata.imports import reached
from strata.run import InputError, Run, command, read_yaml
from strata.verify import Out, Outcome

SAMPLE = 2  # runs beside the headline's
REMOTE = Path("remote")
WORDS = {True: "pass", False: "FAIL", None: "—"}


def run_of(stage: str) -> Run | None:
    """The run that a stage's name ends with, as in metrics@n165-s1; None for other stages."""
    try:
        return Run.parse(stage.partition("@")[2])
    except InputError:
        return None


class Claim:
    """What dvc.lock claims, and what the remote holds of it."""

    def __init__(self, everything: bool):
        with Repo() as repo:
            now = {stage.addressing.split(":")[-1]: str(stage.cmd) for stage in repo.index.stages}
        locked = pipelines.locked()
        self.stages = {name: stage for name, stage in locked.items() if name in now}
        self.left = sorted(set(locked) - set(now))
        self.outs = verify.outs(self.stages)
        self.objects = verify.objects(REMOTE)
        self.trained = [name for name in self.stages if self._trains(now[name])]
        weights = [x for x in self.outs.values() if x.path.endswith("/weights.safetensors")]
        found = {run_of(x.stage): Path(x.path).parent for x in weights if x.stage in self.trained}
        self.runs = {run: folder for run, folder in found.items() if run}
        self.params = params.load("params.yaml")
        self.again = self._ordered(set(self.runs) if everything else self._sample())

    def made(self, path: str) -> list[Out]:
        """The outputs that a path is, lies in, or holds; none for what git tracks."""
        return [
            out
            for name, out in self.outs.items()
            if name == path or name.startswith(f"{path}/") or path.startswith(f"{name}/")
        ]

    @staticmethod
    def _trains(cmd: str) -> bool:
        """Whether the stage's script trains a model: such a stage is not repeated in full."""
        script = re.findall(r"stages/\w+\.py", cmd)[0]
        return "training" in reached(Path(script))

    def _sample(self) -> set[Run]:
        own = {run for run in self.runs if (run.n, run.seed) == (self.params.n, self.params.seed)}
        others = sorted(set(self.runs) - own)
        return own | set(random.sample(others, min(SAMPLE, len(others))))

    def _ordered(self, runs: set[Run]) -> list[str]:
        """The stages of these runs and those of none, with what they read that the remote lacks;
        each after those whose outputs it reads."""
        wanted = [name for name in self.stages if run_of(name) in {None, *runs}]
        ordered: list[str] = []

        def take(name: str) -> None:
            if name in (*ordered, *self.trained):
                return
            for dep in self.stages[name].get("deps", ()):
                for out in self.made(dep["path"]):
                    if out.stage in wanted or not self.objects.get(out.md5):
                        take(out.stage)
            ordered.append(name)

        for name in wanted:
            take(name)
        return ordered

    def stale(self, name: str, stage: Stage) -> bool:
        """Whether a stage of dvc.yaml, and what it reads of git, are not as dvc.lock has them."""
        locked = self.stages[name]
        params = {
            key for dep in stage.deps if isinstance(dep, ParamsDependency) for key in dep.params
        }
        named = {x.def_path: x for x in stage.deps if not isinstance(x, ParamsDependency)}
        found = {dep["path"]: dep["md5"] for dep in locked.get("deps", ())}
        tracked = {path: dep for path, dep in named.items() if not self.made(path) and dep.exists}
        return (
            (locked["cmd"], set(found)) != (stage.cmd, set(named))
            or any(dep.get_hash().value != found[path] for path, dep in tracked.items())
            or locked.get("params", {}).get("params.yaml", {}) != self._values(params)
        )

    def _values(self, keys: set[str]) -> dict[str, Any]:
        """The values in params.yaml under keys such as metrics.key_threshold."""
        values = read_yaml("params.yaml")
        return {key: reduce(getitem, key.split("."), values) for key in keys}

    def files(self, out: Out) -> list[Out]:
        """The files of an output as far as the remote holds them undamaged."""
        whole = verify.files(REMOTE, out) if self.objects.get(out.md5) else ()
        return [file for file in whole if self.objects.get(file.md5)]


def copy(claim: Claim, folder: Path) -> None:
    """What git tracks, as a project without a remote, with the outputs that are not made again."""
    listed = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True, check=True)
    tracked = [Path(name) for name in listed.stdout.split("\0") if name]
    for path in tracked:
        if REMOTE not in path.parents and path.is_file():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, folder / path)
    for lock in pipelines.present(".", map(pipelines.lock, pipelines.FILES)):
        stages = read_yaml(lock)["stages"].items()
        kept = {name: stage for name, stage in stages if name not in claim.again}
        YAML().dump({"schema": "2.0", "stages": kept}, folder / lock)
    (folder / ".dvc" / "config").write_text("[core]\nno_scm = true\nanalytics = false\n", "utf-8")
    for file in (file for out in claim.outs.values() for file in claim.files(out)):
        if file.stage not in claim.again:
            (folder / file.path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(verify.at(REMOTE, file.md5), folder / file.path)


def repeat(claim: Claim, folder: Path) -> dict[str, Any]:
    """Execute those stages; what dvc.lock says then. One that failed is not in it."""
    own = {"PYTHONPATH": str(folder / "src"), "SHELL": str(folder / "scripts" / "timed")}
    words = ["repro", "--quiet", "--force", "--single-item", "--keep-going"]
    words += map(pipelines.address, claim.again)
    subprocess.run(
        [sys.executable, "-m", "dvc", *words], cwd=folder, env=os.environ | own, check=False
    )
    return pipelines.locked(folder)


def of_the_lock(claim: Claim, folder: Path) -> list[Outcome]:
    """Whether dvc.lock agrees with the objects, with itself, with the code and params.yaml."""
    with Repo(str(folder)) as repo:
        stages = {stage.addressing.split(":")[-1]: stage for stage in repo.index.stages}
        cached = {out.def_path for out in repo.index.outs if out.use_cache}
        changed = [name for name in claim.stages if claim.stale(name, stages[name])]
    bad = [name for name, whole in claim.objects.items() if not whole]
    lost = [x.path for x in claim.outs.values() if x.path in cached and x.md5 not in claim.objects]
    changed += [f"{name} (not in it)" for name in stages if name not in claim.stages]
    # As `dvc exp run -S n=105` and the way back leave them: nothing reads what they made.
    left = listed("stages of dvc.lock that dvc.yaml has no longer", claim.left)
    return [
        *([left._replace(passed=None)] if claim.left else []),
        listed(f"{len(claim.objects)} objects of {REMOTE}/, against their md5", bad),
        listed("outputs of dvc.lock, looked for in the remote", lost),
        listed("dvc.lock, against itself", verify.contradictions(claim.stages)),
        listed("dvc.lock, against dvc.yaml, code and params.yaml", changed),
    ]


def listed(what: str, faults: list[str]) -> Outcome:
    more = f" and {len(faults) - 3} more" if len(faults) > 3 else ""
    return Outcome(what, not faults, ", ".join(faults[:3]) + more)


def of_a_stage(name: str, claim: Claim, made: dict[str, Any], folder: Path) -> Outcome:
    """What a stage gave now, against what dvc.lock and the remote have of it."""
    what, new = f"{name}: made again", made.get(name)
    if new is None:
        return Outcome(what, False, "did not run to its end")
    now, own = verify.outs({name: new}), [x for x in claim.outs.values() if x.stage == name]
    if more := [x.path for x in own if x.path not in now]:
        return Outcome(what, False, f"does not write {', '.join(more)}")
    other = [x for x in own if now[x.path].md5 != x.md5]
    if not other:
        return Outcome(what, True, "the same bytes")
    if same_platform(name, claim, folder):
        return Outcome(what, False, f"other bytes: {', '.join(x.path for x in other)}")
    return within_tolerance(what, other, claim, folder)


def same_platform(name: str, claim: Claim, folder: Path) -> bool:
    """Whether the machine that trained the stage's run, or all runs, was like this one."""
    runs = [folder / x for run, x in claim.runs.items() if run_of(name) in {None, run}]
    found = [store.read_json(x / "environment.json") for x in runs]
    return all(verify.alike(x, verify.as_made(x)) for x in found)


def within_tolerance(what: str, other: list[Out], claim: Claim, folder: Path) -> Outcome:
    files = [file for out in other for file in claim.files(out)]
    if not files:
        return Outcome(what, None, "other bytes on another machine, and the remote keeps none")
    for file in files:
        made, shipped = folder / file.path, verify.at(REMOTE, file.md5).read_bytes()
        apart = likeness.difference(shipped, made.read_bytes(), file.path)
        if apart:
            return Outcome(what, False, f"{file.path}: {apart}")
    return Outcome(what, True, "within the tolerance of another machine")


def main() -> None:
    everything = sys.argv[1:] == ["--all"]
    if sys.argv[1:] and not everything:
        raise InputError("must be called with --all or nothing")
    claim = Claim(everything)
    with TemporaryDirectory(prefix="strata-verify-") as scratch:
        folder, given = Path(scratch).resolve(), claim.params
        copy(claim, folder)
        made = repeat(claim, folder)
        report = of_the_lock(claim, folder)
        for run, path in sorted(claim.runs.items()):
            report.append(verify.retrained(folder / path, run, given.split, given.train))
            report.append(verify.ending(folder / path, run, given.split, given.train))
        report += [of_a_stage(name, claim, made, folder) for name in claim.again]
    print(tabulate([(x.what, WORDS[x.passed], x.note) for x in report], tablefmt="plain"))
    failed = sum(x.passed is False for x in report)
    if failed:
        sys.exit(f"verify: {failed} of {len(report)} checks failed")
    print(f"verify: {len(report)} checks, none failed")


if __name__ == "__main__":
    command(main)
