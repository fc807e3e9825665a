"""The packages of this environment beside those of the locks, which decide the last bits of results
and are recorded nowhere else."""

import re
import tomllib
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from strata.inputs import InputError, few

LOCKS = ("requirements.lock", "requirements-cpu.lock")
PINNED = re.compile(r"(?m)^([\w.-]+)==([\w.]+)")  # a line of a lock


def pinned() -> dict[str, str]:
    """The version of each package in the project's locks."""
    return dict(PINNED.findall("".join(Path(x).read_text("utf-8") for x in LOCKS)))


def others(names: Iterable[str]) -> list[str]:
    """Those of these packages that are installed in another version than the locks name."""
    must, found = pinned(), []
    for name in names:
        try:
            here = version(name)
        except PackageNotFoundError:  # one for another system
            continue
        if here.partition("+")[0] != must[name]:
            found.append(f"{name} is {here}, not {must[name]}")
    return found


def refuse() -> None:
    """Raises InputError where a package that pyproject.toml asks for is another here; not for torch
    on a GPU, which each training records."""
    project = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]
    names = (canonicalize_name(Requirement(x).name) for x in project["dependencies"])
    if wrong := [x for x in others(names) if "+cu" not in x]:
        must = "rm .venv/.ready, and the next make builds .venv again"
        raise InputError(f"{few(wrong)}, as the locks have it: {must}")
