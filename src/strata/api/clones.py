"""Find the clone that is meant: a folder, one at an address, or what a wheel has of one."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from platformdirs import user_cache_path

from strata.inputs import InputError

REPOSITORY = "STRATA_REPOSITORY"  # the variable of the environment that names one
PIPELINE = Path("stages/train.py")
SHIPPED = Path(__file__).parents[1] / "clone"  # what setup.py copies into a wheel


def locate(repository: str | Path | None) -> str:
    """Return the path or address of the repository that is meant. Raises InputError where there is
    none."""
    address = repository or os.environ.get(REPOSITORY)
    if address:
        return str(address)
    start = Path.cwd()
    for folder in (Path(__file__).parents[3], start, *start.parents):
        if (folder / PIPELINE).is_file():
            return str(folder)
    raise InputError(
        f"no repository: this package is not installed from a clone; give load or runs the path "
        f"or address of one, or set {REPOSITORY} to it"
    )


def measures(repository: str | Path | None = None) -> Path:
    """Return the folder with levels and the mechanism's measures: that of a clone or, where none is
    named and the package is installed alone, that of the package."""
    if repository is None and SHIPPED.is_dir():
        return SHIPPED
    source = locate(repository)
    return Path(source) if is_clone(source) else clone(source, None)


def is_clone(source: str) -> bool:
    """Whether a path is a folder with the files of a repository. A bare repository has none, and is
    cloned as one at an address is."""
    bare = Path(source, "objects").is_dir() and Path(source, "HEAD").is_file()
    return Path(source).is_dir() and not bare


def clone(address: str, rev: str | None) -> Path:
    """Return a clone of that address without its packs, of which git fetches those that are asked
    for. The clone is made at the first use and kept. Raises InputError where git cannot fetch
    it."""
    address = str(Path(address).resolve()) if Path(address).is_dir() else address
    name = hashlib.sha256(f"{address} {rev}".encode()).hexdigest()[:16]
    folder = user_cache_path("strata", appauthor=False) / name
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    steps = [
        ["init", "--quiet"],
        ["remote", "add", "origin", address],
        ["fetch", "--quiet", "--depth=1", "--filter=blob:none", "origin", rev or "HEAD"],
        ["sparse-checkout", "set", "--no-cone", "/*", "!*.tar.xz"],
        ["checkout", "--quiet", "FETCH_HEAD"],
    ]
    with TemporaryDirectory(dir=folder.parent) as scratch:
        clone = Path(scratch, "clone")
        clone.mkdir()
        for step in steps:
            command = ["git", "-C", str(clone), *step]
            process = subprocess.run(command, capture_output=True, text=True, check=False)
            if process.returncode:
                reason = " ".join(process.stderr.split())
                raise InputError(f"{address}: no folder, and git cannot fetch it: {reason[:200]}")
        clone.rename(folder)
    return folder


def run_script(top: Path, script: Path, *words: str) -> None:
    """Run a script of the clone, which no library imports. Raises InputError if it fails."""
    variables = {"PYTHONSAFEPATH": "1", "PYTHONPATH": "src:.", "OMP_NUM_THREADS": "1"}
    process = subprocess.run(
        [sys.executable, str(script), *words], cwd=top, env=os.environ | variables,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if process.returncode:
        raise InputError(f"{script}: {(process.stderr.strip().splitlines() or ['failed'])[-1]}")
