"""The training dynamics of the runs named, or of all that have them: ``make dynamics RUN=n165-s1``.

dynamics@RUN is frozen, so that ``dvc repro`` never trains for it. Here its checkpoints are brought
up to date, trained where they lack, its command is run, and the result is recorded in dvc.lock.
"""

import subprocess
import sys

from dvc.repo import Repo

from strata import store
from strata.dynamics.checkpoints import Receipt, missing
from strata.pipeline import files
from strata.run import InputError, Run, command


def done(*words: str) -> None:
    """Run a command. Raises InputError where it fails; it has said why itself."""
    if subprocess.run(words, check=False).returncode:
        raise InputError(f"{' '.join(words)}: did not run to its end")


def main() -> None:
    for name in sys.argv[1:] or files.stages()["checkpoints"]["matrix"]["run"]:
        trained, measured = (
            files.address(f"{stage}@{Run.parse(name)}") for stage in ("checkpoints", "dynamics")
        )
        done("dvc", "repro", trained)
        if missing(store.read_model(f"data/checkpoints/{name}.json", Receipt)):
            done("dvc", "repro", "--single-item", "--force", trained)
        with Repo() as repo:
            stage = repo.stage.load_one(*measured.split(":"))
        done("bash", "-c", str(stage.cmd))
        done("dvc", "commit", "--force", measured)


if __name__ == "__main__":
    command(main)
