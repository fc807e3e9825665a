"""Bring every table and figure up to date: ``make paper``, and ``python -m ops.paper studies`` for
the studies after it. What the remote holds is pulled, the rest computed; each step prints a line.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from ops import files, packages, packs, plan, recover, shipped
from ops.calls import INTERRUPTS, alive, check_out, finish, pull
from ops.calls import command as called
from ops.git import advice
from ops.times import trainings
from strata.inputs import InputError, shortened
from strata.params import load
from strata.run import command
from strata.train.environment import threads

LONG = 600  # seconds of training that surprise nobody
REPLACED = Path(".dvc", "tmp", "replaced")
TIMED = Path("ops", "scripts", "timed")
RESULTS = {  # what each project makes, and where it is
    "": (
        "Tables 1 to 5 are in tables/, Figures 1 to 19 in figures/",
        "tables/claims.md compares the paper's numbers with ours",
    ),
    "studies": ("each study has its tables and figures in its folder: studies/NAME/README.md",),
    "report": ("the pages are in report/html/; the first of them is index.html",),
}


def bring(project: str, planner: plan.Planner) -> None:
    """Bring a project up to date, when those before it are. Raises InputError."""
    if process := recover.busy(project):
        raise InputError(f"{process}: wait for its end, then repeat")
    recover.delete_partial(project)
    began, label = time.monotonic(), f"{project}: " if project else ""
    with alive(f"{label}look at what is here"):
        packs.unpack(project)
        clean = finish(called("status", "--quiet", project=project)).returncode == 0
        damaged = [*recover.delete_damaged(project)]
    show(*damaged, *recover.delete_empty(project), *recover.clear_experiments(project))
    unrun = recover.forget_unrun(project)
    if clean and not damaged and not unrun:
        show(f"{label}up to date: nothing to do … {since(began)}")
        return
    recover.forget(project)
    with alive(f"{label}pull"):
        if missing := pull(project):  # the remote may be damaged
            packs.unpack(project, whole=True)
            missing = pull(project)
        edited = check_out(project) if missing else []
    show(f"{label}pull … {since(began)}" + (f", not all of it: {missing}" if missing else ""))
    for path in edited:
        show(f"{path} is not as recorded: it was copied to {keep_copy(path)}")
    if unrun:
        if slow := [x for x in unrun if files.kind(x) not in plan.QUICK]:
            show(f"{shortened(slow)}: recorded with values that came after its run: it runs again")
        with alive(f"{label}repro"):
            reproduce(project, "--force", "--single-item", *map(files.inside, unrun))
    with alive(f"{label}plan"):
        stages, params = planner.stale(project), load("params.yaml")
    show(f"{label}plan … {'; '.join(plan.describe(stages, params))}")
    long = trainings(plan.to_train(stages), params, threads()) > LONG
    if long and not os.environ.get("GO"):
        again = f"make {project or 'paper'} GO=1 goes on; make back undoes a change"
        raise InputError(f"trainings of more than ten minutes: {again}")
    began = time.monotonic()
    with alive(f"{label}repro"):  # DVC says nothing of stages that it only looks at
        reproduce(project, "--all-pipelines")
    show(f"{label}repro … {since(began)}")


def reproduce(project: str, *words: str) -> None:
    """Run ``dvc repro`` with these words. DVC's remarks go nowhere, its errors and a line for each
    stage to our output. Raises InputError where it does not come to its end."""
    timed = Path(shutil.copy(TIMED, ".dvc/tmp")).resolve()
    timed.chmod(0o755)  # which some copies of a repository do not keep
    process = subprocess.run(
        called("repro", *words, project=project), env=os.environ | {"SHELL": str(timed)},
        stdout=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    if process.returncode and not INTERRUPTS:
        raise InputError("dvc repro did not run to its end")


def keep_copy(path: str) -> Path:
    """Copy an output that a stage is about to replace, and return where it is then."""
    copy = REPLACED / path
    shipped.make_room(copy)
    shutil.copytree(path, copy) if Path(path).is_dir() else shutil.copy(path, copy)
    return copy


def show(*lines: str) -> None:
    """Print lines, or end where the command was interrupted before."""
    if INTERRUPTS:
        sys.exit(130)
    for line in lines:
        print(line, flush=True)


def since(began: float) -> str:
    return f"{time.monotonic() - began:.0f} s"


def main(*others: str) -> None:
    files.require_top()
    packages.refuse()
    files.refuse_cut_off()
    signal.signal(signal.SIGINT, lambda number, _: INTERRUPTS.append(number))
    lock = recover.try_lock(Path(".dvc", "tmp", "paper"))
    if not lock:
        raise InputError("another make paper is at work here: wait for its end, then repeat")
    with lock:
        planner = plan.Planner(live=True)
        show(*advice(), *recover.unfinished())
        for project in ("", *others):
            bring(project, planner)
        for project in ("", *others):
            show(*RESULTS[project])


if __name__ == "__main__":
    command(main)
