"""Where runs are: a clone, or any repository that DVC can read, by its path or address."""

import hashlib
import io
import lzma
import os
import subprocess
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
import torch
from platformdirs import user_cache_path

from strata import store
from strata.api.model import MLP, Transformer, model_of
from strata.inputs import InputError
from strata.run import Run

if TYPE_CHECKING:
    import pandas as pd

REPOSITORY = "STRATA_REPOSITORY"  # the variable of the environment that names one
TRAINED = "data/train", "studies/data/train"  # the paper's runs, those beyond it
SUMMARY = "report/data/runs.json"
PACKS = {  # the folders with packs of what lies in these (ops/packs.py)
    "data/": "runs/artifacts",
    "studies/": "studies/artifacts",
    "report/": "report/artifacts",
}
PIPELINE = Path("stages/train.py")


def load(
    name: str, repository: str | Path | None = None, *, rev: str | None = None, device: str = "cpu"
) -> Transformer | MLP:
    """The trained model of a run, such as n165-s1 or mlp-n165-s1: a torch.nn.Module.

    repository: path or address of a clone; without it the variable STRATA_REPOSITORY of the
    environment, the clone that holds this package, or that around the working directory.
    rev: a commit, tag or branch of it. What does not lie in the clone is taken out of its packs, or
    by DVC; an address is cloned once. Raises InputError for a run that is not there, or a device.

    >>> model = load("n165-s1")
    >>> logits = model(12, 35)
    >>> logits.shape, int(logits.argmax()), 12 * 35 % 165
    (torch.Size([1, 165]), 90, 90)
    """
    run, place = Run.parse(name), device_of(device)
    with of_run(run, "weights.safetensors", repository, rev) as path:
        weights, task = store.read_weights(path, run), store.read_task(path, run)
    return model_of(run, weights, task=task).to(place)


def runs(repository: str | Path | None = None, *, rev: str | None = None) -> "pd.DataFrame":
    """A row for each run of the repository: what it is, how well it answers, what it has.

    The index is the name for ``load``; docs/models.md explains the columns.
    """
    import pandas as pd  # half a second, which models do not need

    with fetched([SUMMARY], repository, rev) as path:
        found = store.read_json(path)
    try:
        return pd.DataFrame(found).set_index("run")
    except (KeyError, ValueError, TypeError):
        raise InputError(f"{path}: must be a list of runs") from None


def activations(
    names: Sequence[str],
    of: str,
    repository: str | Path | None = None,
    *,
    rev: str | None = None,
    out: str | Path | None = None,
) -> "pd.DataFrame":
    """An activation, such as mlp_post, of all pairs of many runs: a row for each run, a, b, and a
    column for each of its numbers, named by their indices.

    out: a new folder, for a file of Parquet for each run, which ``pandas.read_parquet`` reads as
    one; then the frame has no rows. Raises InputError.
    """
    import pandas as pd

    if out is not None and Path(out).exists():
        raise InputError(f"{out}: is there already; name another folder")
    frames = []
    for name in names:
        model = load(name, repository, rev=rev)
        x = model.activations(of)
        a, b = np.divmod(np.arange(model.n**2), model.n)
        columns = [".".join(map(str, (of, *i))) for i in np.ndindex(x.shape[1:])]
        pairs = pd.DataFrame({"run": name, "a": a, "b": b})
        frame = pairs.join(pd.DataFrame(x.reshape(len(x), -1), columns=columns))
        if out is not None:
            Path(out).mkdir(parents=True, exist_ok=True)
            frame.to_parquet(Path(out, f"{name}.parquet"))
            frame = frame[:0]
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def device_of(name: str) -> torch.device:
    """A device that is there. Raises InputError."""
    known = ["cpu", *(f"cuda:{i}" for i in range(torch.cuda.device_count()))]
    known += ["cuda"] * (len(known) > 1) + ["mps"] * torch.backends.mps.is_available()
    if name not in known:
        raise InputError(f"device = {name!r}: must be one of {', '.join(known)}")
    return torch.device(name)


def place(repository: str | Path | None) -> str:
    """The repository that is meant. Raises InputError where none is."""
    named = repository or os.environ.get(REPOSITORY)
    if named:
        return str(named)
    here = Path.cwd()
    for folder in (Path(__file__).parents[3], here, *here.parents):
        if (folder / PIPELINE).is_file():
            return str(folder)
    raise InputError(
        f"no repository: this package is not installed from a clone; give load or runs the path "
        f"or address of one, or set {REPOSITORY} to it"
    )


def folder(repository: str | Path | None = None) -> Path:
    """The clone that is meant, as a folder. Raises InputError where none is."""
    where = place(repository)
    return Path(where) if is_clone(where) else cloned(where, None)


def is_clone(where: str) -> bool:
    """Whether that is a folder with the files of a repository. A bare repository has none, and is
    cloned as one at an address is."""
    bare = Path(where, "objects").is_dir() and Path(where, "HEAD").is_file()
    return Path(where).is_dir() and not bare


def of_run(
    run: Run, name: str, repository: str | Path | None = None, rev: str | None = None
) -> AbstractContextManager[Path]:
    """A file of a run's training, such as history.parquet."""
    return fetched([f"{folder}/{run}/{name}" for folder in TRAINED], repository, rev)


@contextmanager
def fetched(paths: Sequence[str], repository: str | Path | None, rev: str | None) -> Iterator[Path]:
    """The first of these files that the repository has: as it lies there, or else as a pack or DVC
    has it."""
    where = place(repository)
    if not is_clone(where):
        where, rev = str(cloned(where, rev)), None
    here = [Path(where, path) for path in paths if rev is None and Path(where, path).is_file()]
    if here:
        yield here[0]
    else:
        with TemporaryDirectory() as scratch:
            target = Path(scratch) / Path(paths[0]).name
            if not any(unpacked(where, rev, path, target) for path in paths):
                copy(where, rev, paths, target)
            yield target


def unpacked(where: str, rev: str | None, path: str, target: Path) -> bool:
    """Write what a pack of the clone has under this path; whether one has it. Raises InputError
    where the pack is damaged."""
    folder = next(at for top, at in PACKS.items() if path.startswith(top))
    own, kind = Path(path).parts[-2], "results" if path == SUMMARY else "train"
    for name in (f"{folder}/{own}.tar.xz", f"{folder}/{kind}.tar.xz"):
        try:
            with tarfile.open(fileobj=io.BytesIO(_kept(where, rev, name)), mode="r:xz") as pack:
                file = pack.extractfile(path)
                target.write_bytes(file.read() if file else b"")
                return True
        except (OSError, KeyError):  # no such pack, or it has other files
            continue
        except (tarfile.TarError, lzma.LZMAError, EOFError) as error:
            raise InputError(f"{name}: is damaged ({error}): git checkout {name}") from None
    return False


def _kept(where: str, rev: str | None, name: str) -> bytes:
    """A file of a clone, as it lies there or at a revision; git fetches what a clone of an address
    left out. Raises OSError."""
    if rev is None and Path(where, name).is_file():
        return Path(where, name).read_bytes()
    command = ["git", "-C", where, "show", f"{rev or 'HEAD'}:./{name}"]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        raise FileNotFoundError(name)
    return done.stdout


def copy(where: str, rev: str | None, paths: Sequence[str], target: Path) -> None:
    """Write what DVC has under the first of these paths, in its cache or in its remote."""
    try:
        from dvc.api import DVCFileSystem  # its import takes a second
        from dvc.exceptions import DvcException
        from dvc.scm import SCMError
    except ModuleNotFoundError:
        must = "is no file there, and to fetch it takes DVC: install strata with its extra pipeline"
        raise InputError(f"{paths[0]}: {where}: {must}") from None
    try:
        files = DVCFileSystem(where, rev=rev, subrepos=True)
        for path in paths:
            with suppress(FileNotFoundError):
                # From the top, with a slash: else from the working directory, where that is in it.
                return files.get_file(f"/{path}", str(target))
        raise InputError(missing(paths[0], where, rev))
    except (DvcException, SCMError, OSError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{paths[0]}: cannot be read from {where}: {reason[:200]}") from None


def cloned(address: str, rev: str | None) -> Path:
    """A clone of that address without its packs, of which git fetches those that are asked for.
    Made at the first use and kept. Raises InputError where git cannot fetch it."""
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
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                reason = " ".join(done.stderr.split())
                raise InputError(f"{address}: no folder, and git cannot fetch it: {reason[:200]}")
        clone.rename(folder)
    return folder


def missing(path: str, where: str, rev: str | None) -> str:
    """One line that says how to get what is not there."""
    at = f" at {rev}" if rev else ""
    if path == SUMMARY:
        return f"{path}: {where}{at} has no list of runs; run dvc pull or dvc repro there"
    name = Path(path).parts[-2]
    run = Run.parse(name)
    own = f"n={run.n} -S seed={run.seed}" + f" -S variant={run.variant}-" * bool(run.variant)
    trains = f", and dvc exp run -S {own} trains it" * (run.seed == run.weights_seed)
    listed = "strata.runs() lists those that it has, dvc pull in it brings them"
    return f"{name}: {where}{at} has no weights of this run; {listed}{trains}"
