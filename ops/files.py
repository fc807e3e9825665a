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

from ops import packages
from strata.inputs import InputError
from strata.run import Run, command, read_yaml

PROJECTS = ("studies", "report")  # beside the paper's, in the order in which they build on it
RUNS = "runs/dvc.yaml"  # the paper's runs
ARTIFACTS = "artifacts"  # the folder beside a lock that has what its stages made (ops/packs.py)
PATHS = ("deps", "outs", "metrics")
CONFLICT = re.compile(r"^(<{7}|={7}|>{7})( |$)", re.MULTILINE)
Stages = dict[str, dict[str, Any]]


def require_top() -> None:
    """Refuse a folder that is not the top of a repository, where paths begin. Raises InputError."""
    if not (Path("params.yaml").is_file() and Path(".dvc").is_dir()):
        raise InputError(f"{Path.cwd()} is not the top of the repository: run this there")


def pipelines(folder: Path | str = ".") -> list[str]:
    """List the pipeline files by their paths from the top: dvc.yaml first, then that of the paper's
    runs, then those of the other projects, each project's before those of its folders."""
    top = Path(folder)
    paths = [top / "dvc.yaml", top / RUNS]
    for name in PROJECTS:
        paths += [top / name / "dvc.yaml", *sorted(top.glob(f"{name}/*/dvc.yaml"))]
    return [path.relative_to(top).as_posix() for path in paths if path.is_file()]


def projects(names: Iterable[str] = ("", *PROJECTS)) -> list[str]:
    """Return those of these projects that the checkout has."""
    return [name for name in names if Path(name, "dvc.yaml").is_file()]


def with_runs() -> list[str]:
    """Return the projects of the checkout that have runs: the paper's, and that of the studies."""
    return projects(("", "studies"))


def lock(file: str) -> str:
    """Return the path of the lock of a pipeline file.

    >>> lock("studies/seeds/dvc.yaml")
    'studies/seeds/dvc.lock'
    """
    return str(Path(file).with_suffix(".lock"))


def is_cut_off(path: Path) -> bool:
    """Whether a lock ends half-way, or lacks stages that git's last commit has in it and the
    pipeline has still."""
    git = ["git", "show", f"HEAD:./{path}"]
    last = subprocess.run(git, capture_output=True, text=True, check=False).stdout
    text = path.read_text("utf-8", "replace")
    if text == last:
        return False
    try:
        names = {*read_yaml(path)["stages"]}
    except (InputError, KeyError, TypeError):
        return True
    stages = read_yaml(path.with_suffix(".yaml")).get("stages", ())
    lost = {*re.findall(r"(?m)^  (\S+):$", last)} - names
    # Cut between two lines of one stage: what git has next is indented deeper than its name.
    inside = last.startswith(text) and last[len(text) :].startswith("   ")
    return not text.endswith("\n") or inside or any(x.partition("@")[0] in stages for x in lost)


def refuse_markers(path: Path) -> None:
    """Refuse a lock that has the markers of a merge. Raises InputError."""
    if CONFLICT.search(path.read_text("utf-8", "replace")):
        raise InputError(f"{path}: has the markers of a merge: make merge takes both sides' stages")


def refuse_cut_off() -> None:
    """Refuse a lock that was cut off or has the markers of a merge, because models that it no
    longer names would be trained. Raises InputError."""
    for path in map(Path, map(lock, pipelines())):
        if not path.is_file():
            continue
        refuse_markers(path)
        if is_cut_off(path):
            raise InputError(f"{path}: lacks what git's last commit has in it: make back, repeat")


def project(name: str) -> str:
    """Return the folder of the project of a stage or a pipeline file: empty for the paper's.

    >>> project("runs/dvc.yaml:train@n165-s1"), project("studies/seeds/dvc.yaml:tables")
    ('', 'studies')
    """
    first = name.partition(":")[0].split("/")[0]
    return first if first in PROJECTS else ""


def inside(name: str) -> str:
    """Return the name that DVC has for a stage inside its project.

    >>> inside("collect"), inside("studies/dvc.yaml:train@n210-s1")
    ('collect', 'train@n210-s1')
    >>> inside("studies/seeds/dvc.yaml:tables")
    'seeds/dvc.yaml:tables'
    """
    address = name.removeprefix(f"{project(name)}/")
    return address.removeprefix("dvc.yaml:")


def kind(name: str) -> str:
    """Return a stage's name without its folder and without the run.

    >>> kind("studies/dvc.yaml:train@n210-s1")
    'train'
    """
    return name.rpartition(":")[2].partition("@")[0]


def run_of(name: str) -> Run | None:
    """Return the run that a stage's name ends with, as in metrics@n165-s1, or None."""
    try:
        return Run.parse(name.partition("@")[2])
    except InputError:
        return None


def group_by_run(names: Iterable[str]) -> dict[str, list[str]]:
    """Group the stages that belong to one run by run, in their order."""
    by_run: dict[str, list[str]] = {}
    for name in names:
        if run := run_of(name):
            by_run.setdefault(str(run), []).append(name)
    return by_run


def stages(folder: Path | str = ".") -> Stages:
    """Read the stages of all pipeline files, with paths from the top."""
    return _merge_stages(folder, pipelines(folder))


def locked_stages(folder: Path | str = ".") -> Stages:
    """Read the stages of all locks, as they were run."""
    return _merge_stages(folder, map(lock, pipelines(folder)))


def variables(file: str, folder: Path | str = ".") -> dict[str, Any]:
    """Read what a pipeline file's ${…} may name: the files under vars, and params.yaml where it is
    in the same project."""
    path, values = Path(folder, file), {}
    for name in ["params.yaml", *read_yaml(path).get("vars", ())]:
        if isinstance(name, str) and (path.parent / name).is_file():
            values |= read_yaml(path.parent / name)
    return values


def _merge_stages(folder: Path | str, files: Iterable[str]) -> Stages:
    return {name: stage for file in files for name, stage in _stages(folder, file)}


def _stages(folder: Path | str, file: str) -> Iterator[tuple[str, dict[str, Any]]]:
    path = Path(folder, file)
    if path.suffix == ".lock" and path.is_file():
        refuse_markers(path)
    entries = read_yaml(path).get("stages") if path.is_file() else {}
    if not isinstance(entries, dict):
        raise InputError(f"{file}: stages: must be names with a stage each; git has the last")
    pipeline = str(Path(file).with_name("dvc.yaml"))
    # A lock does not say where paths begin: in runs/ at the top, elsewhere where the file is.
    at = "." if pipeline == RUNS else Path(file).parent.as_posix()
    for name, stage in entries.items():
        whole = stage.get("do", {}) | {k: v for k, v in stage.items() if k != "do"}
        address = name if pipeline == "dvc.yaml" else f"{pipeline}:{name}"
        yield address, whole | {k: [_from(at, x) for x in whole.get(k, ())] for k in PATHS}


def _from(at: str, path: Any) -> Any:
    """Rewrite a path, or an entry of a pipeline file or a lock, to begin at the top."""
    if isinstance(path, str):
        return normpath(f"{at}/{path}")
    if "path" in path:
        return path | {"path": _from(at, path["path"])}
    return {_from(at, name): entry for name, entry in path.items()}


def paths(outs: Iterable[str | Mapping[str, Any]]) -> list[str]:
    """Return the paths of outputs as a pipeline file writes them."""
    return [next(iter(out)) if isinstance(out, Mapping) else out for out in outs]


def refuse_training_again() -> None:
    """Refuse a training that would make again what is shipped: each training calls this module
    first. Raises InputError."""
    packages.refuse()
    refuse_cut_off()
    if not (run := run_of(os.environ.get("DVC_STAGE", ""))) or os.environ.get("GO"):
        return
    # In a process of its own, so that what packs reach is in the key of no project beside.
    if subprocess.run([sys.executable, "-m", "ops.packs", str(run)], check=False).returncode:
        sys.exit(1)


if __name__ == "__main__":
    command(refuse_training_again)
