"""The clone that workers work for: what is missing there, who makes it, and that it comes in."""

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from dvc.repo import Repo

from ops import files, objects, plan
from ops.grid import clone, gather, pin, pool, slurm, tasks
from ops.grid.slurm import Seen
from ops.grid.state import Folder
from ops.grid.tasks import TRAIN, Task
from ops.times import Times, cores
from strata import store
from strata.inputs import few
from strata.params import Params
from strata.run import InputError, read_yaml, validated

Todo = Mapping[str, tuple[str, ...]]
BATCH = 60.0  # seconds of analyses that one task of SLURM has at least
OVERHEAD = 10.0  # seconds until a worker has cloned and DVC has started; benchmarks/workers.md


class Asked(NamedTuple):
    """What `make grid` was asked for, by variables of its command line."""

    on: str
    runs: tuple[str, ...]
    args: tuple[str, ...]
    remote: str  # where no disk is shared: a remote of DVC's, and
    source: str  # the URL that workers clone
    go: bool

    @classmethod
    def given(cls) -> "Asked":
        """From the environment, where make puts them. Raises InputError."""
        get = os.environ.get
        on, args = get("ON") or "here", tuple(shlex.split(get("ARGS") or ""))
        if on not in {"here", "slurm"}:
            raise InputError(f"ON = {on}: must be slurm, or nothing for this machine")
        if on == "slurm":
            slurm.here()
        if args and on == "here":
            raise InputError(f"ARGS = {' '.join(args)}: is for sbatch: make grid ON=slurm ARGS=…")
        remote, source = get("REMOTE") or "", get("FROM") or ""
        if bool(remote) != bool(source):
            raise InputError(
                "REMOTE, FROM: both or none: the remote of DVC and the URL of git that workers use "
                "where they do not share this folder"
            )
        runs = (get("RUNS") or "").split()
        return cls(on, tuple(runs), args, remote, source, bool(get("GO")))


class Recorded:
    """Tasks that another `make grid` gave to workers of this machine: their states say more."""

    def __init__(self, work: Sequence[Task], alive: bool):
        self.tasks, self.alive = work, alive

    def look(self) -> dict[int, Seen]:
        return {n: Seen("RUNNING") for n in range(len(self.tasks))} if self.alive else {}

    def cancel(self) -> None:
        """They are another's."""


def remember(folder: Folder, jobs: Sequence[pool.Job]) -> None:
    """Record what was given to workers."""
    found = [[getattr(job, "job", ""), [str(task) for task in job.tasks]] for job in jobs]
    store.write_json(folder.path / "jobs.json", found)


def remembered(folder: Folder, alive: bool) -> list[pool.Job]:
    """What was given to workers the last time."""
    try:
        found = store.read_json(folder.path / "jobs.json")
    except InputError:
        return []
    jobs: list[pool.Job] = []
    for name, texts in found:
        work = [Task.parse(text) for text in texts]
        jobs.append(pool.Array(name, work) if name else Recorded(work, alive))
    return jobs


def going_on(folder: Folder) -> list[pool.Job]:
    """Jobs of SLURM that outlived the `make grid` that submitted them."""
    found = [job for job in remembered(folder, False) if isinstance(job, pool.Array)]
    return [job for job in found if any(seen.goes_on for seen in (job.look() or {}).values())]


def todo(runs: Sequence[str], remote: str) -> Todo:
    """What is missing of these runs, when what there is has been brought in; the stages that decide
    what others do are run here."""
    found = gather.gather(runs, remote)
    if any(plan.kind(name) in plan.QUICK for name in found.run):
        # Both of them: in a clone without `dvc pull` the valid one is not there either.
        gather.dvc("repro", "--single-item", *map(files.address, clone.BEFORE))
        found = gather.gather(runs, remote)
    return tasks.missing(found.run, runs)


def again(missing: Todo) -> list[str]:
    """The runs that would be trained although a training of them is recorded."""
    locked = files.locked()
    return [run for run, kinds in missing.items() if TRAIN in kinds and f"train@{run}" in locked]


def threads(folder: Folder, missing: Todo) -> int:
    """The threads of each worker here: those with which a training that was interrupted began, as
    it would start over with others; else as many as the cores have for each."""
    given = os.environ.get("STRATA_THREADS", "")
    if given.isdecimal():
        return int(given)
    for run, kinds in missing.items():
        state = folder.read(run)
        if TRAIN in kinds and state and Path(".snapshots", f"{run}.safetensors").exists():
            return state.threads
    return max(1, cores() // len(missing))


class Work(NamedTuple):
    """The tasks to give away, what each takes in seconds, and with how many threads."""

    tasks: list[Task]
    seconds: list[float]
    threads: int
    at_once: int  # 0: as many as SLURM allows


def work(missing: Todo, asked: Asked, folder: Folder) -> Work:
    """Deal what is missing to workers."""
    count = threads(folder, missing) if asked.on == "here" else 1
    at_once = min(max(1, cores() // count), len(missing)) if asked.on == "here" else 0
    times = Times(validated(Params, read_yaml("params.yaml"), "params.yaml"))
    took = {run: tasks.seconds(times, run, kinds, count) for run, kinds in missing.items()}
    short = sum(took[run] for run, kinds in missing.items() if TRAIN not in kinds)
    dealt = tasks.tasks(took, missing, at_once or max(1, int(short / BATCH)))
    seconds = [OVERHEAD + sum(took[run] for run in task.stages) for task in dealt]
    return Work(dealt, seconds, count, at_once)


def supplied(work: Sequence[Task], asked: Asked) -> Path:
    """The folder of DVC's cache, with all in it that these tasks read; where no disk is shared, the
    remote of the workers has it too."""
    with Repo() as repo:
        cache, stored = Path(repo.cache.local.path).parents[1], objects.Objects(repo, remote=False)
    locked = files.locked()
    read = {path: md5 for x in work for path, md5 in clone.inputs(x, locked).items()}
    away = [path for path, md5 in read.items() if not stored.cached(md5)]
    if away:
        gather.dvc("fetch", *away)
    if asked.remote:
        gather.dvc("push", "--remote", asked.remote, *read)
    return cache.resolve()


def start(asked: Asked, found: Work, folder: Folder) -> pool.Job:
    """Give the tasks to workers. Raises InputError where they would lack something."""
    revision, changed = pin.revision(carry=not asked.remote)
    own = [name for name in changed if not name.endswith("dvc.lock")]
    if own:
        print(f"workers have your changes of {few(own)}, committed or not")
    cache = supplied(found.tasks, asked)
    for task in found.tasks:
        for run in task.stages:
            folder.forget(run)
    here = str(Path.cwd())
    words = [str(Path(sys.executable).parent), asked.source or here, revision]
    words += ["" if asked.remote else str(cache), asked.remote]
    if asked.on == "here":
        return pool.Local(words, found.tasks, found.at_once, found.threads)
    script = [str(pool.SCRIPT.resolve()), *words, *map(str, found.tasks)]
    return pool.Array(slurm.submit(script, len(found.tasks), asked.args), found.tasks)
