"""How long `make grid` takes: on so many cores, with so many workers, for so many runs.

`python benchmarks/workers.py WHAT…` measures, adds to workers.json and writes workers.md:

- slurm: eight tiny trainings on 1, 2, 4 and 8 nodes of SLURM on loopback (tests/slurm.py)
- gather: what the head takes to bring in all listed runs that the cache has, in a clone of its own
- many: what DVC and we take for a project of 1,000 runs whose stages are empty

Without arguments it writes workers.md anew: the first table is computed, from the recorded times of
the trainings and of the stages.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ruamel.yaml import YAML

from strata.params import load
from strata.pipeline import files, times
from strata.run import Run
from strata.workers import head, tasks

HERE = Path(__file__).parent
FOUND = HERE / "workers.json"
CORES = (2, 4, 8, 16, 32, 64)
NODES = (1, 2, 4, 8)
RUNS, KINDS = 1000, ("split", "train", "metrics", "page")
GATHER = "from strata.workers import gather, tasks; gather.gather(tasks.of_every_run()[1])"


def spent(*words: str, folder: Path | str = ".", **variables: str) -> tuple[float, float]:
    """Wall and CPU seconds of a command, which has to succeed."""
    began, before = time.perf_counter(), os.times()
    done = subprocess.run(
        words, cwd=folder, env=os.environ | variables, text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stdout}")
    after = os.times()
    cpu = after.children_user + after.children_system
    return time.perf_counter() - began, cpu - before.children_user - before.children_system


def simulated() -> str:
    """A table: the runs over seeds on so many cores, by the recorded times."""
    params = load("params.yaml")
    recorded = times.Times(params)
    kinds, listed = tasks.of_every_run()
    runs = [run for run in listed if Run.parse(run).n in params.grid.moduli]
    lines = [
        f"| cores | {len(runs)} runs, all stages | {len(listed)} runs, metrics |",
        "|--:|--:|--:|",
    ]
    for cores in CORES:
        threads = max(1, cores // len(runs))
        at_once = min(cores, len(runs))
        took = {run: tasks.seconds(recorded, run, kinds, threads) for run in runs}
        trained = tasks.tasks(took, dict.fromkeys(runs, tuple(kinds)), at_once)
        whole = span(trained, took, at_once)
        took = {run: tasks.seconds(recorded, run, ("metrics",), 1) for run in listed}
        short = tasks.tasks(took, dict.fromkeys(listed, ("metrics",)), cores)
        lines.append(
            f"| {cores} | {whole / 3600:.1f} h | {span(short, took, cores) / 60:.1f} min |"
        )
    note = (
        "Computed, not measured: the recorded rate of training on one thread, the recorded times "
    )
    note += f"of stages, {head.OVERHEAD:.0f} s for a worker to start; without gathering."
    return "\n".join([*lines, "", note])


def span(dealt: Sequence[tasks.Task], took: dict[str, float], at_once: int) -> float:
    seconds = [head.OVERHEAD + sum(took[run] for run in task.stages) for task in dealt]
    return tasks.makespan(seconds, at_once)


def tiny_project(folder: Path) -> Any:
    """Eight tiny runs that are split and trained, with nothing made."""
    import tiny

    described = tiny.pipeline(set())
    kept = {"dvc.yaml": ("code",), tasks.RUNS: ("check", "split", "train")}
    for file, names in kept.items():
        stages = described[file]["stages"]
        described[file]["stages"] = {name: stages[name] for name in names}
    listed = described[tasks.RUNS]["stages"]["check"]["foreach"]["runs"]["runs"]
    listed[:] = [*(f"n6-s{seed}" for seed in range(1, 9)), "${variant}n${n}-s${seed}"]
    described["dvc.yaml"].pop("plots")
    project = tiny.prepared(folder, {file: described[file] for file in kept})
    project.do("git", "add", "--all")
    project.do("git", "commit", "--quiet", "--message", "tiny")
    project.do("dvc", "repro", "--quiet", "code", f"{tasks.RUNS}:check@runs")
    return project


def on_slurm() -> list[dict[str, float]]:
    """Those runs on some nodes of one processor each: seconds in all, and of one in its worker."""
    import slurm

    found = []
    for nodes in NODES:
        with TemporaryDirectory() as scratch:
            project = tiny_project(Path(scratch, "project"))
            cluster = slurm.Cluster(Path(scratch, "slurm"), nodes)
            cluster.start()
            try:
                conf = cluster.environment["SLURM_CONF"]
                path = f"{project.environment['PATH']}:{slurm.SYSTEM}"
                own = project.environment | {"ON": "slurm", "SLURM_CONF": conf, "PATH": path}
                wall, _ = spent(sys.executable, "scripts/grid.py", folder=project.folder, **own)
            finally:
                cluster.stop()
            states = [json.loads(x.read_text()) for x in project.folder.glob(".grid/runs/*.json")]
            one = sum(x["ended"] - x["began"] for x in states) / len(states)
            found.append({"nodes": nodes, "seconds": round(wall), "run": round(one, 1)})
    return found


def gathered() -> dict[str, float]:
    """Seconds to bring in all listed runs, in a clone without locks of runs."""
    cache = subprocess.run(
        ["dvc", "cache", "dir"], capture_output=True, text=True, check=True
    ).stdout.strip()
    with TemporaryDirectory() as scratch:
        clone = Path(scratch, "clone")
        spent("git", "clone", "--quiet", "--shared", ".", str(clone))
        (clone / ".dvc" / "config.local").write_text(f"[cache]\n    dir = {cache}\n")
        own = {"PYTHONPATH": str(clone / "src"), "DVC_SITE_CACHE_DIR": f"{scratch}/site"}
        spent("dvc", "checkout", "--quiet", "code", f"{tasks.RUNS}:check@runs", folder=clone, **own)
        path = clone / files.lock(tasks.RUNS)
        lock = YAML(typ="safe").load(path)
        runs = {name for name in lock["stages"] if not name.startswith("check@")}
        lock["stages"] = {k: v for k, v in lock["stages"].items() if k not in runs}
        YAML(typ="safe").dump(lock, path)
        wall, cpu = spent(sys.executable, "-c", GATHER, folder=clone, **own)
        found = {*YAML(typ="safe").load(path)["stages"]} & runs
    count = len({name.partition("@")[2] for name in found})
    return {"runs": count, "stages": len(found), "wall": round(wall, 1), "cpu": round(cpu, 1)}


def empty(folder: Path, count: int) -> None:
    """A project of so many runs with empty stages: each writes one word. Nothing is recorded."""
    (folder / "pipelines" / "runs").mkdir(parents=True)
    (folder / ".dvcignore").touch()
    (folder / "params.yaml").write_text("n: 6\nseed: 1\nvariant: ''\n")
    runs = [f"n6-s{seed}" for seed in range(count)]
    stages: dict[str, Any] = {}
    before: list[str] = []
    for kind in KINDS:
        out = f"data/{kind}/${{item.run}}"
        stages[kind] = {
            "wdir": "../..", "matrix": {"run": runs}, "cmd": f"echo {kind} > {out}",
            "deps": before or ["params.yaml"], "outs": [out],
        }  # fmt: skip
        before = [out]
    YAML().dump({"stages": stages}, folder / tasks.RUNS)
    spent("git", "init", "--quiet", folder=folder)
    spent("dvc", "init", "--quiet", folder=folder)


def many() -> list[dict[str, float]]:
    """CPU seconds of DVC and of gathering, for some and for many runs."""
    found = []
    for count in (50, RUNS):
        with TemporaryDirectory() as scratch:
            folder = Path(scratch, "project")
            empty(folder, count)
            record(folder, count)
            lock = folder / files.lock(tasks.RUNS)
            row: dict[str, float] = {"runs": count, "stages": count * len(KINDS)}
            row["status"] = round(spent("dvc", "status", "--quiet", folder=folder)[1], 1)
            row["repro"] = round(spent("dvc", "repro", "--quiet", tasks.RUNS, folder=folder)[1], 1)
            whole = lock.stat().st_size
            lock.unlink()
            row["gather"] = round(spent(sys.executable, "-c", GATHER, folder=folder)[1], 1)
            assert abs(lock.stat().st_size - whole) < whole / 100
            row["lock"] = round(whole / 1e6, 2)
            found.append(row)
    return found


def record(folder: Path, count: int) -> None:
    """Run the stages of one run with DVC, and record those of the others as it would: the same
    words, in the lock and in the run cache."""
    from dvc.utils import dict_sha256

    spent("dvc", "repro", "--quiet", *(f"{tasks.RUNS}:{x}@n6-s0" for x in KINDS), folder=folder)
    path = folder / files.lock(tasks.RUNS)
    lock = YAML(typ="safe").load(path)
    one = dict(lock["stages"])
    for seed in range(1, count):
        text = re.sub(r"n6-s0\b", f"n6-s{seed}", json.dumps(one))
        for name, stage in json.loads(text).items():
            lock["stages"][name] = stage
            for out in stage["outs"]:
                (folder / out["path"]).write_text(f"{name.partition('@')[0]}\n")
            entry = {**stage, "outs": [out["path"] for out in stage["outs"]]}
            key = dict_sha256(entry, exclude=["size", "nfiles"])
            kept = folder / ".dvc" / "cache" / "runs" / key[:2] / key / dict_sha256(
                stage, exclude=["size", "nfiles"]
            )  # fmt: skip
            kept.parent.mkdir(parents=True, exist_ok=True)
            YAML().dump(stage, kept)
    YAML().dump(lock, path)


def written(found: dict[str, Any]) -> str:
    """All that was measured, as Markdown."""
    parts = [simulated()]
    if rows := found.get("slurm"):
        lines = [
            "| nodes | 8 tiny trainings | one of them, in its worker |",
            "|--:|--:|--:|",
        ]
        lines += [f"| {x['nodes']} | {x['seconds']:.0f} s | {x['run']} s |" for x in rows]
        parts.append("\n".join([*lines, "", f"SLURM on loopback, {found['machine']}."]))
    if one := found.get("gather"):
        parts.append(
            f"Gathering {one['runs']} runs ({one['stages']} stages) takes {one['cpu']} s of CPU."
        )
    if rows := found.get("many"):
        lines = ["| runs | stages | `dvc status` | `dvc repro` | gathering | lock |"]
        lines += ["|--:|--:|--:|--:|--:|--:|"]
        lines += [
            f"| {x['runs']:,} | {x['stages']:,} | {x['status']} s | {x['repro']} s | "
            f"{x['gather']} s | {x['lock']} MB |"
            for x in rows
        ]
        parts.append("\n".join([*lines, "", "Empty stages, nothing to do; seconds of CPU."]))
    return "\n\n".join(parts) + "\n"


def main(*what: str) -> None:
    found = json.loads(FOUND.read_text()) if FOUND.exists() else {}
    measures = {"slurm": on_slurm, "gather": gathered, "many": many}
    for name in what:
        found[name] = measures[name]()
        found["machine"] = f"{times.cores()} cores"
        FOUND.write_text(json.dumps(found, indent=1) + "\n")
    (HERE / "workers.md").write_text(written(found))


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent / "tests"))
    main(*sys.argv[1:])
