"""What the stages of the headline run, and those of no run, take: each is run again and timed.

Writes benchmarks/stages.json, from which `make plan` estimates: CPU seconds, as stages compute on
one thread, without those that DVC takes where nothing is to do. Training's rate is the one that
its runs recorded.
"""

import os
import subprocess
from pathlib import Path
from statistics import median

import torch
from dvc.repo import Repo

from ops import files, times
from ops.calls import command
from strata import store, task
from strata.params import Params, load
from strata.run import Run
from strata.train import environment
from strata.train.trainer import Trainer

TRAINS = {"train"}
EPOCHS = 200


def spent(project: str, *words: str) -> float:
    """CPU seconds of `dvc repro` with these arguments."""
    before = os.times()
    subprocess.run(command("repro", "--quiet", *words, project=project), check=True)
    after = os.times()
    user = after.children_user - before.children_user
    return user + after.children_system - before.children_system


def epoch(params: Params) -> float:
    """Seconds of an epoch whose products cost next to nothing, on one thread."""
    torch.set_num_threads(1)
    run, share = Run(6, 1), params.split
    split = task.split(run.n, run.seed, share.train_fraction, share.validation_fraction)
    trainer = Trainer(run, params.train, split, torch.device("cpu"))
    trainer.advance(EPOCHS)
    before = os.times()
    trainer.advance(2 * EPOCHS)
    return (os.times().user - before.user) / EPOCHS


def rate(params: Params) -> float:
    """Gflop per second and thread of the trainings here on CPUs: the median."""
    found = []
    for path in sorted(Path("data/train").glob("*/environment.json")):
        record, run = environment.read(path), Run.parse(path.parent.name)
        settings = params.settings(run)
        if record.seconds and record.device == "cpu":
            work = settings.train.epochs * times.gflop(run.n, settings)
            found.append(work / (record.seconds * record.threads))
    return median(found)


def timed(project: str, run: str) -> list[str]:
    """The stages to time, as DVC calls them in a project: those of one run, and those of no run."""
    with Repo(project or ".") as repo:
        every = {files.inside(x.addressing): x for x in repo.index.stages if not x.frozen}
    own = [name for name in every if files.run_of(name) is None or name.endswith(f"@{run}")]
    return [name for name in own if files.kind(name) not in TRAINS]


def main() -> None:
    params = load("params.yaml")
    run = str(params.headline())
    seconds: dict[str, float] = {}
    nothing = spent("")
    for project in files.projects():
        own = spent(project, "--single-item", "code")
        for name in timed(project, run):
            took = spent(project, "--force", "--single-item", name) - own
            seconds[files.outside(project, name).removesuffix(f"@{run}")] = round(took, 1)
    recorded = {"n": params.n, "nothing": round(nothing, 1), "epoch": round(epoch(params), 5)}
    recorded |= {"rate": round(rate(params), 1), "seconds": seconds}
    store.write_json("benchmarks/stages.json", recorded)


if __name__ == "__main__":
    main()
