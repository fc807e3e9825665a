"""The training dynamics of the runs named, or of all that have them: ``make dynamics RUN=n165-s1``.

checkpoints@RUN, dynamics@RUN and grokking@RUN are frozen, so that ``dvc repro`` never trains for
them. Here their commands are run, the first where checkpoints are not here or of another training,
and what they made is recorded in dvc.lock.
"""

import subprocess

from dvc.repo import Repo

from ops import files, frozen
from strata.run import InputError, Run, command


def done(*words: str) -> None:
    """Run a command. Raises InputError where it fails; it has said why itself."""
    if subprocess.run(words, check=False).returncode:
        raise InputError(f"{' '.join(words)}: did not run to its end")


def made(stage: str) -> None:
    """Run the command of a frozen stage, and record it."""
    address = files.address(stage)
    with Repo() as repo:
        cmd = repo.stage.load_one(*address.split(":")).cmd
    done("bash", "-c", str(cmd))
    done("dvc", "commit", "--force", address)


def main(*names: str) -> None:
    files.at_top()
    for run in map(Run.parse, names or frozen.runs()):
        done("dvc", "repro", files.address(f"train@{run}"))
        if frozen.to_train(str(run), files.locked()):
            made(f"checkpoints@{run}")
        made(f"dynamics@{run}")
        made(f"grokking@{run}")


if __name__ == "__main__":
    command(main)
