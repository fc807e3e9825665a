"""Refuse a params.yaml that no stage could work with, before anything else runs, and an experiment
that would be lost. Say which values are not those of the last commit, because an experiment that
was cut off leaves its own, and the next one has them too.

In: a file to write. Out: what of params.yaml decides the runs and their metrics, as JSON: so that
after a change to a figure nothing asks about the runs again.
"""

import os
from contextlib import suppress
from pathlib import Path

from ops import packages
from ops.git import why_queue_fails
from ops.recover import changed_values
from strata import store
from strata.inputs import InputError, shortened
from strata.params import Params, RunsParams, load, read
from strata.run import command

SEEDS = "stability"  # the section of the figures over seeds


def refuse_unread(path: str) -> None:
    """Refuse a key of params.yaml that no stage reads: Hydra proposes to add one where the name
    after -S is wrong. Raises InputError."""
    for key, value in read(path).items():
        if key not in Params.model_fields:
            must = f"must be one of {', '.join(Params.model_fields)}"
            raise InputError(f"{path}: {key} = {value!r:.60}: no stage reads it, {must}; make back")
    notebooks = [x.stem.replace("-", "_") for x in sorted(Path("notebooks").glob("*.ipynb"))]
    for key in load(path).figures:
        if key not in {SEEDS, *notebooks}:
            must = f"must be {SEEDS} or a notebook, one of {', '.join(notebooks)}"
            raise InputError(f"{path}: figures.{key}: no figure reads it, {must}; make back")


def main(out: str) -> None:
    refuse_unread("params.yaml")
    params = load("params.yaml")
    packages.refuse()
    top = os.environ.get("DVC_ROOT", ".")  # the clone, also where this runs in another folder
    if Path(top, ".git").exists() and (warning := why_queue_fails(top)):
        if not Path.cwd().samefile(top):
            raise InputError(warning)
        print(warning)
    with suppress(InputError):  # no git here, or no commit yet
        if values := changed_values():
            print(f"params.yaml, unlike the last commit: {shortened(values)}")
    store.write_json(out, params.model_dump(mode="json", include={*RunsParams.model_fields}))


if __name__ == "__main__":
    command(main)
