"""How long `make grid` takes: on so many cores, with so many workers, for so many runs.

`python benchmarks/workers.py WHAT…` measures, adds to workers.json and writes workers.md:

- slurm: eight tiny trainings on 1, 2, 4 and 8 nodes of SLURM on loopback (tests/slurm.py); CPU
  seconds are those of all processes, SLURM's own included
- gather: what the head takes to bring in all listed runs that the cache has, in a clone of its own
- analyses: metrics and page of every listed run, after a changed threshold, on this machine
- many: what DVC and we take for projects of up to 1,000 runs whose stages are empty

Without arguments it writes workers.md anew: the first table is computed, from the recorded times of
the trainings and of the stages.
"""

import ctypes
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import empty_runs
from ruamel.yaml import YAML

from ops import files, times
from ops.grid import head, tasks
from strata.params import load
from strata.run import Run

HERE = Path(__file__).parent
FOUND = HERE / "workers.json"
CORES = (2, 4, 8, 16, 32, 64)
NODES = (1, 2, 4, 8)
EMPTY = (50, 200, 1000)  # runs with empty stages
PR_SET_CHILD_SUBREAPER = 36  # of prctl(2)
Rows = list[dict[str, float]]
GATHER = "from ops.grid import gather, tasks; gather.gather(tasks.of_every_run()[1])"


def spent(*words: str, folder: Path | str = ".", **variables: str) -> tuple[float, float]:
    """Wall and CPU seconds of a command, which has to succeed."""
    began, before = time.perf_counter(), children()
    done = subprocess.run(
        words, cwd=folder, env=os.environ | variables, text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stdout}")
    return time.perf_counter() - began, children() - before


def children() -> float:
    """CPU seconds of the children that have ended."""
    found = os.times()
    return found.children_user + found.children_system


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


def on_slurm() -> Iterator[Rows]:
    """Those runs on some nodes of one processor each: seconds in all, CPU seconds of everything and
    of the stages of one run by hand, and the load of the machine before."""
    import slurm

    # What SLURM starts outlives who started it: it becomes ours, and its seconds are counted.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    found = []
    for nodes in NODES:
        with TemporaryDirectory() as scratch:
            project = tiny_project(Path(scratch, "project"))
            stages, load, before = by_hand(project), os.getloadavg()[0], children()
            cluster = slurm.Cluster(Path(scratch, "slurm"), nodes)
            cluster.start()
            try:
                conf = cluster.environment["SLURM_CONF"]
                path = f"{project.environment['PATH']}:{slurm.SYSTEM}"
                own = project.environment | {"ON": "slurm", "SLURM_CONF": conf, "PATH": path}
                wall, _ = spent(sys.executable, "ops/scripts/grid.py", folder=project.folder, **own)
            finally:
                cluster.stop()
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            row = {"nodes": nodes, "seconds": wall, "cpu": children() - before, "stages": stages}
            found.append({name: round(x, 1) for name, x in (row | {"load": load}).items()})
            yield found


def by_hand(project: Any) -> float:
    """CPU seconds of the stages of one run, without DVC."""
    run = "n6-s1"
    split = ("split", f"data/config/split/{run}.json", "alone.parquet")
    train = ("train", f"data/config/train/{run}.json", "alone.parquet", "alone")
    return sum(
        spent(
            sys.executable, f"stages/{kind}.py", run, *paths, folder=project.folder,
            **project.environment,
        )[1]
        for kind, *paths in (split, train)
    )  # fmt: skip


def gathered() -> Iterator[dict[str, float]]:
    """Seconds to bring in all listed runs, in a clone without locks of runs and a cache that has
    them."""
    said = subprocess.run(["dvc", "cache", "dir"], capture_output=True, text=True, check=True)
    with TemporaryDirectory() as scratch:
        clone, cache = Path(scratch, "clone"), Path(scratch, "cache")
        cache.mkdir()
        (cache / "files").symlink_to(Path(said.stdout.strip(), "files"))
        spent("git", "clone", "--quiet", "--shared", ".", str(clone))
        (clone / ".dvc" / "config.local").write_text(f"[cache]\n    dir = {cache}\n")
        own = {"PYTHONPATH": f"{clone}:{clone / 'src'}", "DVC_SITE_CACHE_DIR": f"{scratch}/site"}
        spent("dvc", "checkout", "--quiet", "code", f"{tasks.RUNS}:check@runs", folder=clone, **own)
        path = clone / files.lock(tasks.RUNS)
        lock = YAML(typ="safe").load(path)
        runs = {k: v for k, v in lock["stages"].items() if not k.startswith("check@")}
        for name, stage in runs.items():
            empty_runs.keep(cache, stage)
            del lock["stages"][name]
        YAML(typ="safe").dump(lock, path)
        wall, cpu = spent(sys.executable, "-c", GATHER, folder=clone, **own)
        found = {*YAML(typ="safe").load(path)["stages"]} & {*runs}
    count = len({name.partition("@")[2] for name in found})
    yield {"runs": count, "stages": len(found), "wall": round(wall, 1), "cpu": round(cpu, 1)}


def analysed() -> Iterator[dict[str, float]]:
    """Seconds of `make grid` after a changed threshold of the metrics, in a clone."""
    said = subprocess.run(["dvc", "cache", "dir"], capture_output=True, text=True, check=True)
    with TemporaryDirectory() as scratch:
        clone = Path(scratch, "clone")
        spent("git", "clone", "--quiet", "--shared", ".", str(clone))
        (clone / ".dvc" / "config.local").write_text(f"[cache]\n    dir = {said.stdout.strip()}\n")
        own = {"PYTHONPATH": f"{clone}:{clone / 'src'}", "DVC_SITE_CACHE_DIR": f"{scratch}/site"}
        spent("dvc", "checkout", "--quiet", "--allow-missing", folder=clone, **own)
        path = clone / "params.yaml"
        text, changed = re.subn(r"(aligned_cosine: 0\.\d+)", r"\g<1>1", path.read_text())
        assert changed == 1
        path.write_text(text)
        load = os.getloadavg()[0]
        wall, cpu = spent(sys.executable, "ops/scripts/grid.py", folder=clone, **own)
    runs = len(tasks.of_every_run()[1])
    yield {"runs": runs, "wall": round(wall), "cpu": round(cpu), "load": round(load, 1)}


def many() -> Iterator[Rows]:
    """CPU seconds of DVC and of gathering, for some and for many runs."""
    found = []
    for count in EMPTY:
        with TemporaryDirectory() as scratch:
            folder = Path(scratch, "project")
            empty_runs.project(folder, count)
            empty_runs.record(folder, count)
            lock = folder / files.lock(tasks.RUNS)
            row: dict[str, float] = {"runs": count, "stages": count * len(empty_runs.KINDS)}
            row["status"] = round(spent("dvc", "status", "--quiet", folder=folder)[1], 1)
            row["repro"] = round(spent("dvc", "repro", "--quiet", tasks.RUNS, folder=folder)[1], 1)
            whole = lock.stat().st_size
            lock.unlink()
            row["gather"] = round(spent(sys.executable, "-c", GATHER, folder=folder)[1], 1)
            assert abs(lock.stat().st_size - whole) < whole / 100
            row["lock"] = round(whole / 1e6, 2)
            found.append(row)
            yield found


def written(found: dict[str, Any]) -> str:
    """All that was measured, as Markdown."""
    parts = [simulated()]
    if rows := found.get("slurm"):
        head = ("nodes", "8 tiny trainings", "CPU in all", "CPU per run, beside its stages", "load")
        lines = [f"| {' | '.join(head)} |", f"|{'--:|' * len(head)}"]
        lines += [
            f"| {x['nodes']} | {x['seconds']:.0f} s | {x['cpu']:.0f} s | "
            f"{x['cpu'] / 8 - x['stages']:.1f} s | {x['load']:.1f} |"
            for x in rows
        ]
        note = f"SLURM on loopback, {found['machine']}, shared by all nodes. Load: how many other "
        parts.append("\n".join([*lines, "", note + "processes wanted to run just before."]))
    if one := found.get("gather"):
        what = f"{one['runs']} runs ({one['stages']} stages)"
        parts.append(f"Gathering {what} takes {one['cpu']:.0f} s of CPU.")
    if one := found.get("analyses"):
        parts.append(
            f"Measured: metrics and page of {one['runs']} runs, after a changed threshold, take "
            f"{one['wall'] / 60:.1f} min with gathering ({one['cpu'] / 60:.1f} min of CPU), on "
            f"{found['machine']}."
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
    measures = {"slurm": on_slurm, "gather": gathered, "analyses": analysed, "many": many}
    for name in what:
        for rows in measures[name]():  # so far: what is interrupted keeps its rows
            found |= {name: rows, "machine": f"{times.cores()} cores"}
            FOUND.write_text(json.dumps(found, indent=1) + "\n")
    (HERE / "workers.md").write_text(written(found))


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent / "tests"))
    main(*sys.argv[1:])
