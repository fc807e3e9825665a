"""Say what DVC would run, and how long its trainings take: ``make plan``, for other values of
params.yaml ``make plan SET='n=35 variant=quick'``, with STUDIES=1 in the studies too.

The locks are compared with a copy of the project that has no results. Stages that take seconds and
decide what others do are run there where they are stale. What a stage will write is not known
before it runs, so everything that reads it counts as well, although DVC leaves out what reads the
same bytes as before: the plan names what runs at most.
"""

import logging
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import chdir, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from dvc.dependency.base import Dependency, DependencyDoesNotExistError
from dvc.dvcfile import ProjectFile
from dvc.exceptions import ConfirmRemoveError, DvcException
from dvc.repo import Repo
from dvc.repo.reproduce import get_active_graph, plan_repro
from dvc.stage import Stage
from dvc.stage.cache import RunCacheNotFoundError
from dvc.stage.exceptions import StageCmdFailedError
from dvc.utils.hydra import apply_overrides

from ops import files, packages, recover
from ops.calls import alive
from ops.git import advice, lay_out, worktree_tree
from ops.times import duration, quantity, trainings
from strata.inputs import InputError
from strata.params import Params, load
from strata.run import Run, command
from strata.train.environment import threads

logging.getLogger("dvc").setLevel(logging.ERROR)  # what the run cache has is no news
QUICK = {"code", "params", "check"}  # these run while planning, as they decide what others do


class Planner:
    """Finds the stages that ``dvc repro`` would run, in one project after the other.

    In the project itself it is ``live``: what DVC's run cache has of a stale stage is brought in.
    In a copy without results, an output that is missing counts as what the locks say of it, unless
    no cache keeps it and ``top``, the project, lacks it too.
    """

    def __init__(self, live: bool, top: Path | str = "."):
        self.live, self.folder, self.top = live, Path.cwd(), Path(top).resolve()
        self.stages: list[str] = []  # all that are not frozen
        self.rewritten: set[str] = set()  # the outputs of stale stages
        self.around: set[str] = set()  # the folders that these lie in
        self.md5s: dict[str, str] = {}  # of other outputs, by their paths
        self.unlocked: dict[str, list[Stage]] = {}  # stages that no lock has yet, by pipeline file

    def stale(self, project: str = "") -> list[str]:
        """Return the stages of a project that would run, in order, when this was asked of the
        projects before it."""
        with Repo(project or ".") as repo, repo.lock:
            stages = {x.addressing: x for x in plan_repro(get_active_graph(repo.index.graph))}
            self.stages += [name for name, stage in stages.items() if not stage.frozen]
            with chdir(project or "."):  # where DVC lays out what its run cache has
                try:
                    return [name for name, stage in stages.items() if self._is_stale(name, stage)]
                finally:
                    self._write_locks()

    def _is_stale(self, name: str, stage: Stage) -> bool:
        reads_other = any(map(self._is_other, stage.deps))
        changed = reads_other or stage.changed(allow_missing=not self.live)
        if files.kind(name) in QUICK:
            self._bring_up_to_date(stage, bool(changed))
            return False
        if changed and not stage.frozen and (reads_other or not self._restore(stage)):
            self.rewritten |= {out.fs_path for out in stage.outs}
            self.around |= {str(x) for out in stage.outs for x in Path(out.fs_path).parents}
            return True
        self.md5s |= {x.fs_path: str(x.hash_info.value) for x in stage.outs if x.hash_info}
        uncached = [os.path.relpath(x.fs_path, self.folder) for x in stage.outs if not x.use_cache]
        return not all((self.top / path).exists() for path in uncached)

    def _is_other(self, dep: Dependency) -> bool:
        """Whether what a stage reads will not be what its lock says."""
        path, md5 = dep.fs_path, dep.hash_info.value if dep.hash_info else None
        if path in self.around or self.rewritten & {path, *map(str, Path(path).parents)}:
            return True
        return not self.live and not Path(path).exists() and self.md5s.get(path, md5) != md5

    def _restore(self, stage: Stage) -> bool:
        """Bring in what the run cache has of a stage, as ``dvc repro`` does, if it has that."""
        if not self.live:
            return False
        try:
            stage.repo.stage_cache.restore(stage)
        except (RunCacheNotFoundError, DependencyDoesNotExistError, ConfirmRemoveError):
            return False  # the last: it would replace what is recorded nowhere
        stage.save()
        stage.commit()
        self.unlocked.setdefault(stage.path, []).append(stage)
        return True

    def _bring_up_to_date(self, stage: Stage, changed: bool) -> None:
        """Check a quick stage out, or run it. Ends where it refuses, as it has said why."""
        if not changed and not any(out.changed_cache() for out in stage.outs):
            stage.checkout()
            return
        try:
            if stage.reproduce() and self.live:
                self.unlocked.setdefault(stage.path, []).append(stage)
        except StageCmdFailedError:
            sys.exit(1)

    def _write_locks(self) -> None:
        """Write each lock once, because DVC would write all of it for every stage."""
        for path, stages in self.unlocked.items():
            ProjectFile(stages[0].repo, path).dump_stages(stages, update_pipeline=False)
        self.unlocked.clear()


@contextmanager
def scratch(overrides: Sequence[str]) -> Iterator[Path]:
    """Go into a copy of the project without results, with values set as ``dvc exp run -S`` sets
    them, and yield where the project is. Raises InputError for what DVC would refuse."""
    top = Path.cwd()
    with TemporaryDirectory() as folder:
        lay_out(worktree_tree(), Path(folder), {x: recover.cache(x) for x in files.projects()})
        os.environ["DVC_SITE_CACHE_DIR"] = str(Path(folder, ".dvc", "tmp", "site"))
        with chdir(folder):
            try:
                apply_overrides(Path("params.yaml"), list(overrides))
            except DvcException as error:
                cause = str(error.__cause__ or error).strip().splitlines()[0]
                keys = "keys are those of params.yaml, ++KEY=VALUE adds one"
                raise InputError(f"SET = {' '.join(overrides)}: {cause} {keys}") from None
            yield top


def to_train(stages: Sequence[str]) -> list[Run]:
    """Return the runs that these stages train."""
    return [Run.parse(x.partition("@")[2]) for x in stages if files.kind(x) == "train"]


def describe(
    stages: Sequence[str], params: Params, count: int | None = None, at_once: int = 1
) -> list[str]:
    """Return a line on the models that these stages train, and one on the others by their kinds.
    The time is for so many threads, by default all of this machine."""
    kinds, runs, lines = Counter(map(files.kind, stages)), to_train(stages), list[str]()
    if models := kinds.pop("train", 0):
        time = duration(trainings(runs, params, count or threads(), at_once))
        lines = [f"train {quantity(models, 'model')}, about {time}: {', '.join(map(str, runs))}"]
    if kinds:
        names = [f"{kind} ({number})" if number > 1 else kind for kind, number in kinds.items()]
        lines.append(f"run at most {quantity(kinds.total(), 'stage')}: {', '.join(names)}")
    return lines or ["nothing to do"]


@alive("plan")
def main() -> None:
    files.require_top()
    packages.refuse()
    files.refuse_cut_off()
    # The name of a variant alone will do: pipeline files need it with its dash.
    words = os.environ.get("SET", "").split()
    overrides = [re.sub(r"^(variant=[a-z0-9]+)$", r"\1-", word) for word in words]
    with scratch(overrides) as top:
        planner, params = Planner(live=False, top=top), load("params.yaml")
        for project in files.with_runs() if os.environ.get("STUDIES") else [""]:
            stages = planner.stale(project)
            if project and stages:
                print(f"{project}, by make {project}:")
            if stages or not project:
                print("\n".join(describe(stages, params)))
    for line in (*advice(), *recover.unfinished()):
        print(line)
    if overrides:
        print("do it by: dvc exp run", *(f"-S {x}" for x in overrides))


if __name__ == "__main__":
    command(main)
