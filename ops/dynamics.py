"""The training dynamics of some runs, or of all that have them: ``make dynamics RUN=n165-s1``.

Their stages are frozen, so that no ``dvc repro`` trains for them. Here they are made where they are
not of what is here: checkpoints@RUN first, which trains only where its weights are not kept, then
what measures these.
"""

import os
import subprocess
from contextlib import chdir

from dvc.exceptions import DvcException
from dvc.repo import Repo

from ops import files
from ops.calls import command as called
from strata.inputs import InputError
from strata.run import Run, command

PROJECT = "studies"


def frozen() -> list[str]:
    """The frozen stages of the studies, in their order, without runs."""
    return [name for name, stage in files.stages().items() if stage.get("frozen")]


def line() -> str:
    """Which frozen results are not of what is here, and what makes them again; empty for none."""
    with Repo(PROJECT) as repo, repo.lock:
        stages = [stage for stage in repo.index.stages if stage.frozen]
        for stage in stages:
            stage.frozen = False
        stale = sorted({stage.addressing.partition("@")[2] for stage in stages if stage.changed()})
    if not stale:
        return ""
    return (
        f"training dynamics of {', '.join(stale)}: made with other files or parameters than those "
        f"here; `make dynamics RUN='{' '.join(stale)}'` makes them again, training for hours where "
        "weights on the way are not kept"
    )


def made(run: Run) -> None:
    """Make the frozen stages of a run. Raises InputError where one of them fails."""
    names = [files.inside(f"{name}@{run}") for name in frozen()]
    with chdir(PROJECT), Repo() as repo, repo.lock:
        for number, name in enumerate(names):
            stage = repo.stage.load_one(*name.split(":"))
            stage.frozen = False
            try:  # the first one sees for itself whether its weights are here
                if stage.reproduce(force=number == 0):
                    stage.dump(update_pipeline=False)
            except DvcException as error:
                raise InputError(str(error)) from None


def main() -> None:
    files.at_top()
    every = {run: None for name in frozen() for run in files.stages()[name]["matrix"]["run"]}
    for run in map(Run.parse, os.environ.get("RUN", "").split() or every):
        if str(run) not in every:
            raise InputError(f"RUN = {run}: must be one of {', '.join(every)}")
        if subprocess.run(called("repro", f"{files.RUNS}:train@{run}"), check=False).returncode:
            raise InputError(f"train@{run}: did not run to its end")
        made(run)


if __name__ == "__main__":
    command(main)
