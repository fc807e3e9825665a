"""What each part of the pipeline takes for the headline run: every stage is run again and timed.

Training's time is the one that its run recorded. Writes benchmarks/stages.md; and
benchmarks/stages.json, from which `make plan` estimates: CPU seconds, as stages compute on one
thread, without those that DVC takes where nothing is to do; the studies over several runs too.
"""

import json
import os
import subprocess
import time
from pathlib import Path
from statistics import median

import torch
from dvc.repo import Repo

from ops import files, resolved, times
from strata import task
from strata.params import Params, load
from strata.run import Run, read_yaml
from strata.train import environment, machine
from strata.train.trainer import Trainer

LEFT_OUT = {"train", "checkpoints", "dynamics", "grokking"}  # train, or need what a training keeps
EPOCHS = 200


def dvc(*words: str) -> tuple[float, float]:
    """Wall and CPU seconds of `dvc repro` with these arguments."""
    began, before = time.perf_counter(), os.times()
    subprocess.run(["dvc", "repro", "--quiet", *words], check=True)
    after = os.times()
    cpu = after.children_user - before.children_user
    return time.perf_counter() - began, cpu + after.children_system - before.children_system


def epoch(params: Params) -> float:
    """Seconds of an epoch whose products cost next to nothing, on one thread."""
    torch.set_num_threads(1)
    run, share = Run(6, 1), params.split
    split = task.split(run.n, run.seed, share.train_fraction, share.validation_fraction)
    trainer = Trainer(run, params.train, split, torch.device("cpu"))
    trainer.advance(EPOCHS)
    began = time.process_time()
    trainer.advance(2 * EPOCHS)
    return (time.process_time() - began) / EPOCHS


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


def timed(run: str) -> list[str]:
    """The stages to time: those of one run, and those of no run."""
    with Repo() as repo:
        names = resolved.stages(repo, read_yaml("params.yaml"))
    runs = {name.partition("@")[2] for name in names if name.startswith("split@")}
    others = [name for name in names if name.partition("@")[0] not in LEFT_OUT]
    return [name for name in others if name.partition("@")[2] not in runs - {run}]


def what(stage: dict) -> str:
    """What a stage makes: its notebooks' titles with links, or the folder of its outputs."""
    code = [Path(dep).stem for dep in stage["deps"] if dep.startswith("data/code/")]
    notebooks = [x for x in (Path("notebooks", f"{name}.ipynb") for name in code) if x.is_file()]
    if not notebooks:
        first = stage["outs"][0]
        path = Path(first if isinstance(first, str) else next(iter(first)))
        if len(path.parts) > 2 or not path.suffix:
            return "/".join(path.parts[:2])
        return f"{path.parent}/"
    texts = ["".join(json.loads(x.read_text())["cells"][0]["source"]) for x in notebooks]
    titles = [text.splitlines()[0].lstrip("# ") for text in texts]
    return "<br>".join(f"[{x}](../{path})" for x, path in zip(titles, notebooks, strict=True))


def table(took: dict[str, float], run: str) -> str:
    """The seconds of the headline's stages, and of training."""
    lines = ["| what, and the notebook that draws it | stage | time |", "|:--|:--|--:|"]
    for name, stage in files.stages().items():
        item = [run] if "matrix" in stage else list(stage.get("foreach", ()))
        key = "@".join([name, *item])
        where = files.address(key)
        if key in took and not where.startswith("pipelines/studies/"):
            shown = f"{took[key]:.0f} s" if took[key] < 100 else f"{took[key] / 60:.0f} min"
            lines.append(f"| {what(stage)} | `{where}` | {shown} |")
    return "\n".join(lines)


def main() -> None:
    params = load("params.yaml")
    run = str(params.headline())
    nothing = dvc()[1], dvc("--single-item", "code")[1]
    took = {name: dvc("--force", "--single-item", files.address(name)) for name in timed(run)}
    recorded = {
        "n": params.n,
        "nothing": round(nothing[0], 1),
        "epoch": round(epoch(params), 5),
        "rate": round(rate(params), 1),
        "seconds": {
            k.removesuffix(f"@{run}"): round(v[1] - nothing[1], 1) for k, v in took.items()
        },
    }
    Path("benchmarks/stages.json").write_text(json.dumps(recorded, indent=1) + "\n")
    trained = environment.read(f"data/train/{run}/environment.json").seconds or 0.0
    wall = {name: seconds for name, (seconds, _) in took.items()}
    text = table(wall | {f"train@{run}": trained}, run)
    note = f"n = {params.n}, seed {params.seed}, {machine.threads()} CPU cores"
    how = "DVC's own time included; for training, the time that its run recorded"
    Path("benchmarks/stages.md").write_text(f"{text}\n\n{note}; {how}.\n")
    print(text)


if __name__ == "__main__":
    main()
