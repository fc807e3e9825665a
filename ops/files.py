"""The pipeline files, dvc.yaml and three beside it, and their locks.

DVC reads and writes a whole dvc.lock after each stage, so that four short ones are quicker.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from strata.run import InputError, Run, read_yaml

FILES = ("dvc.yaml", *(f"pipelines/{name}/dvc.yaml" for name in ("runs", "headline", "studies")))
Stages = dict[str, dict[str, Any]]


def at_top() -> None:
    """Raises InputError in a folder that is not the top of a repository, where paths begin."""
    if not (Path("params.yaml").is_file() and Path(".dvc").is_dir()):
        raise InputError(f"{Path.cwd()} is not the top of the repository: run this there")


def lock(file: str) -> str:
    """The lock of a pipeline file.

    >>> lock("pipelines/headline/dvc.yaml")
    'pipelines/headline/dvc.lock'
    """
    return str(Path(file).with_suffix(".lock"))


def stages(folder: Path | str = ".") -> Stages:
    """The stages of all pipeline files, by name, as they are written there."""
    return _together(folder, FILES)


def locked(folder: Path | str = ".") -> Stages:
    """The stages of all locks, by name, as they were run."""
    return _together(folder, map(lock, FILES))


def variables(folder: Path | str = ".") -> dict[str, Any]:
    """What the files that the pipelines name under vars hold, params.yaml among them."""
    found: dict[str, Any] = {}
    for file in present(folder, FILES):
        for name in read_yaml(file).get("vars", ()):
            found |= read_yaml(file.parent / name)
    return found | read_yaml(Path(folder, "params.yaml"))


def address(name: str, folder: Path | str = ".") -> str:
    """What DVC calls a stage, such as pipelines/runs/dvc.yaml:train@n165-s1."""
    stage, at, run = name.partition("@")
    return addresses(folder).get(stage, stage) + at + run


def addresses(folder: Path | str = ".") -> dict[str, str]:
    """What DVC calls each stage of the files beside dvc.yaml; it calls those of that by name."""
    return {
        name: f"{file.relative_to(folder)}:{name}"
        for file in present(folder, FILES[1:])
        for name in read_yaml(file)["stages"]
    }


def run_of(stage: str) -> Run | None:
    """The run that a stage's name ends with, as in metrics@n165-s1; None for other stages."""
    try:
        return Run.parse(stage.partition("@")[2])
    except InputError:
        return None


def present(folder: Path | str, files: Iterable[str]) -> list[Path]:
    """Those of the files that lie in the folder."""
    return [path for path in (Path(folder, file) for file in files) if path.is_file()]


def _together(folder: Path | str, files: Iterable[str]) -> Stages:
    found: Stages = {}
    for file in present(folder, files):
        own = read_yaml(file).get("stages")
        if not isinstance(own, dict):
            raise InputError(f"{file}: stages: must be names with a stage each; git has the last")
        for name in sorted(set(own) & set(found)):
            raise InputError(f"{file}: {name}: this stage is in another pipeline file too")
        found |= {name: stage.get("do", {}) | stage for name, stage in own.items()}
    return found
