"""The packages of this environment beside those of the locks, which decide the last bits of results
and are recorded nowhere else."""

import re
import tomllib
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from strata.inputs import InputError, shortened
from strata.run import command

TOP = Path(__file__).parents[1]
LOCKS = ("requirements.lock", "requirements-cpu.lock")
PINNED = re.compile(r"(?m)^([\w.-]+)==([\w.]+)")  # a line of a lock


def pinned_versions() -> dict[str, str]:
    """Read the version of each package in the project's locks."""
    return dict(PINNED.findall("".join((TOP / x).read_text("utf-8") for x in LOCKS)))


def mismatches(names: Iterable[str]) -> list[str]:
    """Return those of these packages that are installed in another version than the locks name."""
    must, wrong = pinned_versions(), []
    for name in names:
        try:
            installed = version(name)
        except PackageNotFoundError:  # one for another system
            continue
        if installed.partition("+")[0] != must[name]:
            wrong.append(f"{name} is {installed}, not {must[name]}")
    return wrong


def refuse() -> None:
    """Refuse an environment in which a package of pyproject.toml has another version than the locks
    name, except torch on a GPU, which each training records. Raises InputError."""
    project = tomllib.loads((TOP / "pyproject.toml").read_text("utf-8"))["project"]
    names = (canonicalize_name(Requirement(x).name) for x in project["dependencies"])
    if wrong := [x for x in mismatches(names) if "+cu" not in x]:
        must = "rm .venv/.ready, and the next make builds .venv again"
        raise InputError(f"{shortened(wrong)}, as the locks have it: {must}")


if __name__ == "__main__":
    command(refuse)
