"""The stages as DVC resolves them, for params.yaml as it is or with other values in it."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from dvc.exceptions import DvcException
from dvc.parsing import DataResolver
from dvc.parsing.context import Context
from dvc.repo import Repo
from dvc.utils.hydra import apply_overrides

from ops import files
from strata.run import InputError, read_yaml


class Stage(NamedTuple):
    """A stage with its names filled in: the keys of params.yaml and the paths that it reads, and
    the paths that it writes."""

    cmd: str
    params: tuple[str, ...]
    deps: tuple[str, ...]
    outs: tuple[str, ...]
    frozen: bool


def values(overrides: Sequence[str] = ()) -> dict[str, Any]:
    """What params.yaml holds with these values set, as `dvc exp run -S` sets them.

    Raises InputError for what DVC would refuse.
    """
    if not overrides:
        return read_yaml("params.yaml")
    with TemporaryDirectory() as scratch:
        path = Path(scratch, "params.yaml")
        shutil.copy("params.yaml", path)
        try:
            apply_overrides(path, list(overrides))
        except DvcException as error:
            cause = str(error.__cause__ or error).strip().splitlines()[0]
            known = "keys are those of params.yaml, and ++variants.NAME.KEY=VALUE adds one"
            raise InputError(f"{' '.join(overrides)}: {cause.rstrip('.')}; {known}") from None
        return read_yaml(path)


def stages(repo: Repo, params: Mapping[str, Any]) -> dict[str, Stage]:
    """The stages of all pipeline files for these values of params.yaml, by name."""
    found: dict[str, Stage] = {}
    for path in files.present(Path(), files.FILES):
        resolver = DataResolver(repo, path.parent.as_posix().removeprefix("."), read_yaml(path))
        resolver.context.merge_update(Context(dict(params)), overwrite=True)
        written: Any = resolver.resolve()["stages"]
        found |= {name: _stage(stage) for name, stage in written.items()}
    return found


def _stage(written: Mapping[str, Any]) -> Stage:
    outs = [*written.get("outs", ()), *written.get("metrics", ())]
    return Stage(
        written["cmd"],
        tuple(written.get("params", ())),
        tuple(dict.fromkeys(written.get("deps", ()))),
        tuple(next(iter(out)) if isinstance(out, dict) else out for out in outs),
        written.get("frozen", False),
    )
