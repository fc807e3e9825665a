"""A project of many runs whose stages are empty, all of them recorded: what DVC itself takes."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

from dvc.utils import dict_sha256
from ruamel.yaml import YAML

from ops import files
from ops.grid import tasks

KINDS = ("split", "train", "metrics", "page")


def run(folder: Path, *words: str) -> None:
    subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def project(folder: Path, count: int) -> None:
    """A project of so many runs with empty stages: each writes one word. Nothing is recorded."""
    (folder / "pipelines" / "runs").mkdir(parents=True)
    (folder / ".dvcignore").touch()
    (folder / "params.yaml").write_text("n: 6\nseed: 1\nvariant: ''\n")
    runs = [f"n6-s{seed}" for seed in range(count)]
    stages: dict[str, Any] = {}
    before: list[str] = []
    for kind in KINDS:
        (folder / "data" / kind).mkdir(parents=True)
        out = f"data/{kind}/${{item.run}}"
        stages[kind] = {
            "wdir": "../..", "matrix": {"run": runs}, "cmd": f"echo {kind} > {out}",
            "deps": before or ["params.yaml"], "outs": [out],
        }  # fmt: skip
        before = [out]
    YAML().dump({"stages": stages}, folder / tasks.RUNS)
    run(folder, "git", "init", "--quiet")
    run(folder, "dvc", "init", "--quiet")


def record(folder: Path, count: int) -> None:
    """Run the stages of one run with DVC, and record those of the others as it would: the same
    words, in the lock and in the run cache."""
    run(folder, "dvc", "repro", "--quiet", *(f"{tasks.RUNS}:{x}@n6-s0" for x in KINDS))
    path = folder / files.lock(tasks.RUNS)
    lock = YAML(typ="safe").load(path)
    one = dict(lock["stages"])
    for seed in range(1, count):
        text = re.sub(r"n6-s0\b", f"n6-s{seed}", json.dumps(one))
        for name, stage in json.loads(text).items():
            lock["stages"][name] = stage
            for out in stage["outs"]:
                (folder / out["path"]).write_text(f"{name.partition('@')[0]}\n")
            keep(folder / ".dvc" / "cache", stage)
    YAML().dump(lock, path)


def keep(cache: Path, stage: dict[str, Any]) -> None:
    """Write what a lock has of a stage into the run cache, as DVC does once it has run it."""
    entry = {**stage, "outs": [out["path"] for out in stage["outs"]]}
    key, value = (dict_sha256(x, exclude=["size", "nfiles"]) for x in (entry, stage))
    path = cache / "runs" / key[:2] / key / value
    path.parent.mkdir(parents=True, exist_ok=True)
    YAML().dump(stage, path)
