"""What DVC would restore and run, and how long that takes: ``make plan``, for other values of
params.yaml ``make plan SET='n=35 variant=quick'``; with STUDIES=1 for the studies too.

It is found in a copy of the project without results, where DVC compares the locks with what is
there. Stages that take seconds and decide what others do are run in it where they are stale. What a
stage will write is not known before it has run, so all that reads it counts as well, although DVC
leaves out what reads the same bytes again: the plan names what runs at most.
"""

import logging
import os
import re
import subprocess
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
from dvc.utils.hydra import apply_overrides

from ops import files, packages, recover
from ops.calls import last_line
from ops.git import here, laid_out, loses_queued
from ops.times import Times, counted, shared, words
from strata.inputs import InputError
from strata.params import load
from strata.run import command
from strata.train.environment import threads

logging.getLogger("dvc").setLevel(logging.ERROR)  # what is taken from the run cache is no news
QUICK = {"code", "params", "check"}  # are brought up to date to plan what follows
TRAINS = {"train", "checkpoints", "controls"}


class Ahead:
    """What will be written, over the projects in their order. Where everything is ``pulled``, what
    DVC's run cache has of a stage is taken from there. Else what is missing counts as what the
    locks say of it, unless no cache keeps it and it is not in ``top`` either, the project with its
    results. Stages that take seconds and decide what others do are run on the way."""

    def __init__(self, pulled: bool, top: Path | str = "."):
        self.pulled, self.top = pulled, Path(top).resolve()
        self.here = Path.cwd()
        self.every: list[str] = []  # all stages that were looked at
        self.written: set[str] = set()  # the outputs of stages that run
        self.holding: set[str] = set()  # the folders that these lie in
        self.md5s: dict[str, str] = {}  # of other outputs
        self.restored: list[str] = []  # those of them that are not there, and that a cache keeps
        self.recorded: dict[str, list[Stage]] = {}  # what no lock has yet, by pipeline file

    def stages(self, project: str = "") -> list[str]:
        """The stages of a project that run, in order, when the projects before it were asked."""
        with Repo(project or ".") as repo, repo.lock:
            order = {x.addressing: x for x in plan_repro(get_active_graph(repo.index.graph))}
            self.every += order
            with chdir(project or "."):  # where DVC lays out what its run cache has
                try:
                    return [name for name, stage in order.items() if self._runs(stage)]
                finally:
                    self._locked()

    def _runs(self, stage: Stage) -> bool:
        other = any(map(self._other, stage.deps))
        as_is = stage.frozen or not (other or stage.changed(allow_missing=not self.pulled))
        if files.kind(stage.addressing) in QUICK:
            if as_is and not any(out.changed_cache() for out in stage.outs):
                stage.checkout()
            elif not as_is or not all(Path(out.fs_path).exists() for out in stage.outs):
                self._made(stage)
            return False
        if as_is or (not other and self._taken(stage)):
            self.md5s |= {x.fs_path: str(x.hash_info.value) for x in stage.outs if x.hash_info}
            at = {Path(self.top, os.path.relpath(x.fs_path, self.here)): x for x in stage.outs}
            away = [out for path, out in at.items() if not path.exists()]
            self.restored += [out.fs_path for out in away if out.use_cache]
            return not all(out.use_cache for out in away)
        self.written |= {out.fs_path for out in stage.outs}
        self.holding |= {str(x) for out in stage.outs for x in Path(out.fs_path).parents}
        return True

    def _other(self, dep: Dependency) -> bool:
        """Whether something that a stage reads will be another."""
        path, md5 = dep.fs_path, dep.hash_info.value if dep.hash_info else None
        inside = {path, *map(str, Path(path).parents)} & self.written
        away = not self.pulled and not Path(path).exists()
        return bool(inside or path in self.holding or (away and self.md5s.get(path, md5) != md5))

    def _taken(self, stage: Stage) -> bool:
        """Take a stage from the run cache, as `dvc repro` does; whether it was there."""
        if not self.pulled:
            return False
        try:
            stage.repo.stage_cache.restore(stage)
        except (RunCacheNotFoundError, DependencyDoesNotExistError, ConfirmRemoveError):
            return False  # of the last, it would replace what is recorded nowhere
        self._recorded(stage)
        return True

    def _made(self, stage: Stage) -> None:
        """Run a stage as `dvc repro` does. Raises InputError with what it says where it refuses."""
        stage.remove_outs()
        done = subprocess.run(
            str(stage.cmd), shell=True, cwd=stage.wdir, text=True, check=False,
            env=os.environ | {"DVC_ROOT": stage.repo.root_dir},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        if done.returncode:
            raise InputError(last_line(done.stdout))
        if self.pulled:
            self._recorded(stage)

    def _recorded(self, stage: Stage) -> None:
        """Have the cache know what a stage has written, and its lock in the end."""
        stage.save()
        stage.commit()
        self.recorded.setdefault(stage.path, []).append(stage)

    def _locked(self) -> None:
        """Write each lock once: DVC writes all of it for a stage."""
        for path, stages in self.recorded.items():
            ProjectFile(stages[0].repo, path).dump_stages(stages, update_pipeline=False)
        self.recorded.clear()


@contextmanager
def scratch(given: Sequence[str]) -> Iterator[Path]:
    """Be in a copy of the project without results, with these values set as `dvc exp run -S` sets
    them; where the project is. Raises InputError for what DVC would refuse."""
    top = Path.cwd()
    with TemporaryDirectory() as folder:
        laid_out(here(), Path(folder), {x: recover.cache(x) for x in files.projects()})
        os.environ["DVC_SITE_CACHE_DIR"] = str(Path(folder, ".dvc", "tmp", "site"))
        with chdir(folder):
            try:
                apply_overrides(Path("params.yaml"), list(given))
            except DvcException as error:
                cause = str(error.__cause__ or error).strip().splitlines()[0]
                known = "keys are those of params.yaml, and ++variants.NAME.KEY=VALUE adds one"
                raise InputError(f"{' '.join(given)}: {cause.rstrip('.')}; {known}") from None
            yield top


def lines(run: Sequence[str], restored: int, times: Times) -> list[str]:
    """A plan: what is restored, the models that are trained, the stages by kind, the time."""
    trained = [name for name in run if files.kind(name) in TRAINS]
    kinds = Counter(files.kind(name) for name in run if name not in trained)
    many = [f"{name} ({count})" if count > 1 else name for name, count in kinds.items()]
    shown = [f"restore  {counted(restored, 'output')}"] * bool(restored)
    if trained:
        names, took = (name.partition("@")[2] for name in trained), sum(map(times.stage, trained))
        shown.append(
            f"train    {counted(len(trained), 'model')}, about {words(took)}: {', '.join(names)}"
        )
    if kinds:
        most = counted(sum(kinds.values()), "stage")
        shown.append(f"run      at most {most}: {', '.join(many)}")
    about = f"about {shared(times.all(run))}, with {counted(threads(), 'thread')}"
    return [*shown, f"in all   {about}"] if shown else ["nothing to do"]


def main() -> None:
    files.at_top()
    packages.refuse()
    files.refuse_cut_off()
    # The name of a variant alone will do: pipeline files need it with its dash.
    given = [re.sub(r"^(variant=[a-z0-9]+)$", r"\1-", x) for x in os.environ.get("SET", "").split()]
    with scratch(given) as top:
        ahead, times = Ahead(pulled=False, top=top), Times(load("params.yaml"))
        for project in files.with_runs() if os.environ.get("STUDIES") else [""]:
            before = len(ahead.restored)
            run = ahead.stages(project)
            away = len(ahead.restored) - before
            if project and (run or away):
                print(f"{project}, by make {project}:")
            if not project or run or away:
                print("\n".join(lines(run, away, times)))
    if said := loses_queued():
        print(said)
    if given:
        print("do it    dvc exp run", *(f"-S {x}" for x in given))


if __name__ == "__main__":
    command(main)
