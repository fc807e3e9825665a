"""Refuse a params.yaml that no stage could work with, before anything else runs, and an experiment
that would be lost.

In: a file to write. Out: what of params.yaml decides the runs and their metrics, as JSON: so that
after a change to a figure nothing asks about the runs again.
"""

import os
from pathlib import Path

from ops import packages
from ops.git import loses_queued
from strata import store
from strata.inputs import InputError
from strata.params import RunsParams, load
from strata.run import command


def main(out: str) -> None:
    params = load("params.yaml")
    packages.refuse()
    top = os.environ.get("DVC_ROOT", ".")  # the clone, also where this runs in another folder
    if Path(top, ".git").exists() and (said := loses_queued(top)):
        if not Path.cwd().samefile(top):
            raise InputError(said)
        print(said)
    store.write_json(out, params.model_dump(mode="json", include={*RunsParams.model_fields}))


if __name__ == "__main__":
    command(main)
