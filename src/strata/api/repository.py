"""Find runs in a clone, or in any repository that DVC can read, by its path or address."""

import io
import lzma
import subprocess
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
import torch

from strata import store
from strata.api.clones import clone, is_clone, locate
from strata.api.model import MLP, Transformer, model_of
from strata.inputs import InputError
from strata.run import Run

if TYPE_CHECKING:
    import pandas as pd

TRAINED = "data/train", "studies/data/train"  # the paper's runs, those beyond it
SUMMARY = "report/data/runs.json"
PACKS = {  # each value is the folder with packs of what lies in its key (ops/packs.py)
    "data/": "runs/artifacts",
    "studies/": "studies/artifacts",
    "report/": "report/artifacts",
}


def load(
    name: str, repository: str | Path | None = None, *, rev: str | None = None, device: str = "cpu"
) -> Transformer | MLP:
    """Load the trained model of a run, such as n165-s1 or mlp-n165-s1, as a torch.nn.Module.

    repository: path or address of a clone; without it the variable STRATA_REPOSITORY of the
    environment, the clone that holds this package, or that around the working directory. rev: a
    commit, tag or branch of it. What does not lie in the clone is taken out of its packs, or by
    DVC; an address is cloned once. Raises InputError for a run or a device that is not there.

    >>> model = load("n165-s1")
    >>> logits = model(12, 35)
    >>> logits.shape, int(logits.argmax()), 12 * 35 % 165
    (torch.Size([1, 165]), 90, 90)
    """
    if not isinstance(name, str):
        raise InputError(f"load: {name!r:.40}: must be a name such as n165-s1 (strata.runs())")
    run, torch_device = Run.parse(name), device_of(device)
    with of_run(run, "weights.safetensors", repository, rev) as path:
        weights, task = store.read_weights(path, run), store.read_task(path, run)
    return model_of(run, weights, task=task).to(torch_device)


def runs(repository: str | Path | None = None, *, rev: str | None = None) -> "pd.DataFrame":
    """Return a row for each run of the repository: what it is, how well it answers, what it has.

    The index is the name for ``load``; docs/models.md explains the columns.
    """
    import pandas as pd  # half a second, which models do not need

    with fetch([SUMMARY], repository, rev) as path:
        rows = store.read_json(path)
    try:
        return pd.DataFrame(rows).set_index("run")
    except (KeyError, ValueError, TypeError):
        raise InputError(f"{path}: must be a list of runs") from None


def activations(
    names: Sequence[str],
    activation: str,
    repository: str | Path | None = None,
    *,
    rev: str | None = None,
    out: str | Path | None = None,
) -> "pd.DataFrame":
    """Return an activation, such as mlp_post, of all pairs of many runs: a row for each run, a, b,
    and a column for each of its numbers, named by their indices.

    out: a new folder, for a file of Parquet for each run, which ``pandas.read_parquet`` reads as
    one; then the frame has no rows. Raises InputError where the folder exists.
    """
    import pandas as pd

    if out is not None and Path(out).exists():
        raise InputError(f"{out}: is there already; name another folder")
    frames = []
    for name in [names] if isinstance(names, str) else names:
        model = load(name, repository, rev=rev)
        x = model.activations(activation)
        a, b = np.divmod(np.arange(model.n**2), model.n)
        columns = [".".join(map(str, (activation, *i))) for i in np.ndindex(x.shape[1:])]
        pairs = pd.DataFrame({"run": name, "a": a, "b": b})
        frame = pairs.join(pd.DataFrame(x.reshape(len(x), -1), columns=columns))
        if out is not None:
            Path(out).mkdir(parents=True, exist_ok=True)
            frame.to_parquet(Path(out, f"{name}.parquet"))
            frame = frame[:0]
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def device_of(name: str) -> torch.device:
    """Return the device of that name. Raises InputError where it is not there."""
    names = ["cpu", *(f"cuda:{i}" for i in range(torch.cuda.device_count()))]
    names += ["cuda"] * (len(names) > 1) + ["mps"] * torch.backends.mps.is_available()
    if name not in names:
        raise InputError(f"device = {name!r}: must be one of {', '.join(names)}")
    return torch.device(name)


def of_run(
    run: Run, name: str, repository: str | Path | None = None, rev: str | None = None
) -> AbstractContextManager[Path]:
    """Return a context with the path of a file of a run's training, such as history.parquet."""
    return fetch([f"{folder}/{run}/{name}" for folder in TRAINED], repository, rev)


@contextmanager
def fetch(paths: Sequence[str], repository: str | Path | None, rev: str | None) -> Iterator[Path]:
    """Yield the first of these files that the repository has: as it lies there, or else as a pack
    or DVC has it."""
    source = locate(repository)
    if not is_clone(source):
        source, rev = str(clone(source, rev)), None
    files = [Path(source, path) for path in paths if rev is None and Path(source, path).is_file()]
    if files:
        yield files[0]
    else:
        with TemporaryDirectory() as scratch:
            target = Path(scratch) / Path(paths[0]).name
            if not any(unpack(source, rev, path, target) for path in paths):
                copy(source, rev, paths, target)
            yield target


def unpack(source: str, rev: str | None, path: str, target: Path) -> bool:
    """Write what a pack of the clone has under this path, and return whether one has it. Raises
    InputError where the pack is damaged."""
    folder = next(packs for top, packs in PACKS.items() if path.startswith(top))
    run_name, kind = Path(path).parts[-2], "results" if path == SUMMARY else "train"
    for name in (f"{folder}/{run_name}.tar.xz", f"{folder}/{kind}.tar.xz"):
        try:
            with tarfile.open(fileobj=io.BytesIO(_file_at(source, rev, name)), mode="r:xz") as pack:
                file = pack.extractfile(path)
                target.write_bytes(file.read() if file else b"")
                return True
        except (OSError, KeyError):  # no such pack, or it has other files
            continue
        except (tarfile.TarError, lzma.LZMAError, EOFError) as error:
            raise InputError(f"{name}: is damaged ({error}): git checkout {name}") from None
    return False


def _file_at(source: str, rev: str | None, name: str) -> bytes:
    """Return a file of a clone, as it lies there or at a revision; git fetches what a clone of an
    address left out. Raises OSError where there is none."""
    if rev is None and Path(source, name).is_file():
        return Path(source, name).read_bytes()
    command = ["git", "-C", source, "show", f"{rev or 'HEAD'}:./{name}"]
    process = subprocess.run(command, capture_output=True, check=False)
    if process.returncode:
        raise FileNotFoundError(name)
    return process.stdout


def copy(source: str, rev: str | None, paths: Sequence[str], target: Path) -> None:
    """Write what DVC has under the first of these paths, in its cache or in its remote."""
    try:
        from dvc.api import DVCFileSystem  # its import takes a second
        from dvc.exceptions import DvcException
        from dvc.scm import SCMError
    except ModuleNotFoundError:
        must = "is no file there, and to fetch it takes DVC: install strata with its extra pipeline"
        raise InputError(f"{paths[0]}: {source}: {must}") from None
    try:
        files = DVCFileSystem(source, rev=rev, subrepos=True)
        for path in paths:
            with suppress(FileNotFoundError, KeyError):  # the latter: the remote is not set up
                # A slash starts at the top; without it, DVC starts at a working directory inside.
                return files.get_file(f"/{path}", str(target))
        raise InputError(missing(paths[0], source, rev))
    except (DvcException, SCMError, OSError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{paths[0]}: cannot be read from {source}: {reason[:200]}") from None


def missing(path: str, source: str, rev: str | None) -> str:
    """Say in one line how to get what is not there."""
    revision = f" at {rev}" if rev else ""
    if path == SUMMARY:
        return f"{path}: {source}{revision} has no list of runs; run dvc pull or dvc repro there"
    name = Path(path).parts[-2]
    run = Run.parse(name)
    settings = f"n={run.n} -S seed={run.seed}" + f" -S variant={run.variant}-" * bool(run.variant)
    trains = f", and dvc exp run -S {settings} trains it" * (run.seed == run.weights_seed)
    listed = "strata.runs() lists those that it has, dvc pull in it brings them"
    return f"{name}: {source}{revision} has no weights of this run; {listed}{trains}"
