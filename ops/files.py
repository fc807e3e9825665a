"""The DVC projects here, their pipeline files and locks: the paper at the top, whose runs have
theirs in runs/; studies/; report/.

A stage is named as DVC names it at the top, were all of them one project: collect,
runs/dvc.yaml:train@n165-s1, studies/interventions/dvc.yaml:tables. Paths are from the top.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from os.path import normpath
from pathlib import Path
from typing import Any

from strata.inputs import InputError
from strata.run import Run, command, read_yaml

PROJECTS = ("studies", "report")  # beside the paper's, in the order in which they build on it
RUNS = "runs/dvc.yaml"  # the paper's runs
ARTIFACTS = "artifacts"  # the folder beside a lock that has what its stages made (ops/packs.py)
PATHS = ("deps", "outs", "metrics")
Stages = dict[str, dict[str, Any]]


def at_top() -> None:
    """Raises InputError in a folder that is not the top of a repository, where paths begin."""
    if not (Path("params.yaml").is_file() and Path(".dvc").is_dir()):
        raise InputError(f"{Path.cwd()} is not the top of the repository: run this there")


def pipelines(folder: Path | str = ".") -> list[str]:
    """The pipeline files that are there, from the top: dvc.yaml first, then that of the paper's
    runs and those of the projects beside it, each project's own before those of its folders."""
    top = Path(folder)
    found = [top / "dvc.yaml", top / RUNS]
    for name in PROJECTS:
        found += [top / name / "dvc.yaml", *sorted(top.glob(f"{name}/*/dvc.yaml"))]
    return [path.relative_to(top).as_posix() for path in found if path.is_file()]


def projects(every: Iterable[str] = ("", *PROJECTS)) -> list[str]:
    """Those of these projects that are here."""
    return [name for name in every if Path(name, "dvc.yaml").is_file()]


def with_runs() -> list[str]:
    """The projects that are here and have runs: the paper's, that of the studies."""
    return projects(("", "studies"))


def lock(file: str) -> str:
    """The lock of a pipeline file.

    >>> lock("studies/seeds/dvc.yaml")
    'studies/seeds/dvc.lock'
    """
    return str(Path(file).with_suffix(".lock"))


def cut_off(path: Path) -> bool:
    """Whether a lock ends half-way, or lacks stages that git's last commit has in it and the
    pipeline has still."""
    git = ["git", "show", f"HEAD:./{path}"]
    last = subprocess.run(git, capture_output=True, text=True, check=False).stdout
    text = path.read_text("utf-8", "replace")
    if text == last:
        return False
    try:
        found = {*read_yaml(path)["stages"]}
    except (InputError, KeyError, TypeError):
        return True
    stages = read_yaml(path.with_suffix(".yaml")).get("stages", ())
    lost = {*re.findall(r"(?m)^  (\S+):$", last)} - found
    # Cut between two lines of one stage: what git has next is indented deeper than its name.
    inside = last.startswith(text) and last[len(text) :].startswith("   ")
    return not text.endswith("\n") or inside or any(x.partition("@")[0] in stages for x in lost)


def refuse_cut_off() -> None:
    """Raises InputError where a lock was cut off: models that it no longer names would train."""
    for path in map(Path, map(lock, pipelines())):
        if path.is_file() and cut_off(path):
            raise InputError(f"{path}: lacks what git's last commit has in it: make back, repeat")


def project(name: str) -> str:
    """The folder of the project that a stage, or a pipeline file, is of: empty for the paper's.

    >>> project("runs/dvc.yaml:train@n165-s1"), project("studies/seeds/dvc.yaml:tables")
    ('', 'studies')
    """
    first = name.partition(":")[0].split("/")[0]
    return first if first in PROJECTS else ""


def inside(name: str) -> str:
    """What DVC calls a stage in its own project.

    >>> inside("collect"), inside("studies/dvc.yaml:train@n210-s1")
    ('collect', 'train@n210-s1')
    >>> inside("studies/seeds/dvc.yaml:tables")
    'seeds/dvc.yaml:tables'
    """
    own = name.removeprefix(f"{project(name)}/")
    return own.removeprefix("dvc.yaml:")


def kind(name: str) -> str:
    """A stage's own name, without where it is and without the run.

    >>> kind("studies/dvc.yaml:train@n210-s1")
    'train'
    """
    return name.rpartition(":")[2].partition("@")[0]


def run_of(name: str) -> Run | None:
    """The run that a stage's name ends with, as in metrics@n165-s1; None for other stages."""
    try:
        return Run.parse(name.partition("@")[2])
    except InputError:
        return None


def of_runs(names: Iterable[str]) -> dict[str, list[str]]:
    """The stages that are of one run, by run, in their order."""
    found: dict[str, list[str]] = {}
    for name in names:
        if run := run_of(name):
            found.setdefault(str(run), []).append(name)
    return found


def stages(folder: Path | str = ".") -> Stages:
    """The stages of all pipeline files, as they are written there; paths from the top."""
    return _together(folder, pipelines(folder))


def locked(folder: Path | str = ".") -> Stages:
    """The stages of all locks, as they were run."""
    return _together(folder, map(lock, pipelines(folder)))


def variables(file: str, folder: Path | str = ".") -> dict[str, Any]:
    """What a pipeline file's ${…} may name: the files under vars, and params.yaml where it is in
    the same project."""
    path, found = Path(folder, file), {}
    for name in ["params.yaml", *read_yaml(path).get("vars", ())]:
        if isinstance(name, str) and (path.parent / name).is_file():
            found |= read_yaml(path.parent / name)
    return found


def _together(folder: Path | str, files: Iterable[str]) -> Stages:
    return {name: stage for file in files for name, stage in _stages(folder, file)}


def _stages(folder: Path | str, file: str) -> Iterator[tuple[str, dict[str, Any]]]:
    path = Path(folder, file)
    own = read_yaml(path).get("stages") if path.is_file() else {}
    if not isinstance(own, dict):
        raise InputError(f"{file}: stages: must be names with a stage each; git has the last")
    pipeline = str(Path(file).with_name("dvc.yaml"))
    # A lock does not say where paths begin: in runs/ at the top, elsewhere where the file is.
    at = "." if pipeline == RUNS else Path(file).parent.as_posix()
    for name, stage in own.items():
        whole = stage.get("do", {}) | {k: v for k, v in stage.items() if k != "do"}
        address = name if pipeline == "dvc.yaml" else f"{pipeline}:{name}"
        yield address, whole | {k: [_from(at, x) for x in whole.get(k, ())] for k in PATHS}


def _from(at: str, path: Any) -> Any:
    """A path, or what a pipeline file or a lock says of one, from the top."""
    if isinstance(path, str):
        return normpath(f"{at}/{path}")
    if "path" in path:
        return path | {"path": _from(at, path["path"])}
    return {_from(at, name): said for name, said in path.items()}


def paths(outs: Iterable[str | Mapping[str, Any]]) -> list[str]:
    """The paths of outputs as a pipeline file writes them."""
    return [next(iter(out)) if isinstance(out, Mapping) else out for out in outs]


def before_training() -> None:
    """Raises InputError where the training that DVC begins would make again what is there. Each
    training calls this module to ask."""
    refuse_cut_off()
    if not (run := run_of(os.environ.get("DVC_STAGE", ""))) or os.environ.get("GO"):
        return
    # In a process of its own, so that what packs reach is in the key of no project beside.
    if subprocess.run([sys.executable, "-m", "ops.packs", str(run)], check=False).returncode:
        sys.exit(1)


if __name__ == "__main__":
    command(before_training)
