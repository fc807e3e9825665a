"""Which worker makes a run, and what workers copy."""

import os
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tiny import RUN

from ops.calls import last_line
from ops.git import ANYBODY, git, worktree_tree
from ops.grid import grid
from ops.grid.worker import STAGES, Failed, Worker, record
from strata import store
from strata.inputs import InputError


@pytest.fixture
def worker(tmp_path, monkeypatch) -> Worker:
    """Return a worker for an empty folder, in which the tests run."""
    monkeypatch.chdir(tmp_path)
    empty = Worker.__new__(Worker)
    empty.parent, empty.copy = os.getppid(), tmp_path
    return empty


def test_workers_that_go_through_the_same_runs_make_each_once(worker, monkeypatch):
    runs, reproduced = [f"n6-s{seed}" for seed in range(20)], []
    monkeypatch.setattr(worker, "reproduce", lambda run: (time.sleep(0.01), reproduced.append(run)))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: [worker.make(run) for run in runs], range(4)))
    assert sorted(reproduced) == sorted(runs)
    assert {record(run).read_text() for run in runs} == {"done"}


def test_a_run_that_failed_is_not_tried_again_and_one_that_was_stopped_is(worker, monkeypatch):
    reasons = [KeyboardInterrupt(), Failed("why")]

    def reproduce(_: str) -> None:
        raise reasons.pop(0)

    monkeypatch.setattr(worker, "reproduce", reproduce)
    with pytest.raises(KeyboardInterrupt):
        worker.make(RUN)
    assert not record(RUN).read_text()
    worker.make(RUN)
    worker.make(RUN)
    assert record(RUN).read_text() == "failed: why" and not reasons


def test_a_full_disk_is_named_before_dvc_tries_for_ever(worker, tmp_path, monkeypatch):
    worker.check()
    full = shutil.disk_usage(tmp_path)._replace(free=4096)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: full)
    with pytest.raises(Failed, match="the disk is full: make room, then repeat"):
        worker.check()


def test_in_an_array_job_workers_of_this_machine_make_all_runs(worker, monkeypatch, tmp_path):
    script = "import os, sys; open('seen', 'w').write(str([x for x in os.environ if 'SLURM' in x]))"
    (tmp_path / "ops/grid").mkdir(parents=True)
    (tmp_path / "ops/grid/worker.py").write_text(script)
    for name in ("SLURM_ARRAY_TASK_ID", "SLURM_CPUS_PER_TASK", "SLURM_JOB_ID"):
        monkeypatch.setenv(name, "7")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    grid.work_here("tree", [RUN], 1)
    assert Path("seen").read_text() == "['SLURM_JOB_ID']"


@pytest.mark.parametrize("variables", [{"ON": "pbs"}, {"ARGS": "--time=1"}])
def test_variables_without_a_meaning_are_refused(variables, monkeypatch):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
        with pytest.raises(InputError, match=f"^{name} = {value}: "):
            grid.main()


def test_runs_are_those_that_are_named_or_all_that_are_listed():
    assert grid.choose([], ["n6-s1", "n6-s2"]) == ["n6-s1", "n6-s2"]
    assert grid.choose(["n6-s2", "n6-s2"], ["n6-s1", "n6-s2"]) == ["n6-s2"]
    with pytest.raises(InputError, match=r"^RUNS = n7-s1: must be listed in runs/dvc\.yaml"):
        grid.choose(["n7-s1"], [RUN])


def test_why_a_stage_failed_is_its_own_last_line_or_else_dvcs():
    dvc = "ERROR: failed to reproduce 'train@n6-s1': failed to run: python stages/train.py"
    assert last_line(f"Running stage 'train@n6-s1':\ntrain: bad\n{dvc}\n\n") == "train: bad"
    assert last_line(f"Running stage 'train@n6-s1':\n> python\n{dvc}\n") == dvc
    assert last_line(f"{dvc}\nHaving any troubles? Hit us up at <https://dvc.org>\n") == dvc
    assert last_line("") == ""


def test_a_worker_gets_what_is_not_committed_and_nothing_here_changes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    git("init", "--quiet")
    git("config", "core.safecrlf", "true")  # by which git add may refuse ends of lines
    Path("src").mkdir()
    Path(".gitattributes").write_text("* text=auto eol=lf\n")
    Path("params.yaml").write_text("n: 6\n")
    Path("notes").write_text("mine")
    git("add", "params.yaml", ".gitattributes")
    git(*ANYBODY, "commit", "--quiet", "--message", "first")
    assert worktree_tree() == git("rev-parse", "HEAD^{tree}")
    Path("params.yaml").write_bytes(b"n: 7\r\nseed: 1\r\n")
    Path("src/größe 1.py").write_text("x = 1\n")
    before = git("status", "--porcelain")
    tree = worktree_tree()
    names = git("ls-tree", "-r", "--name-only", tree).splitlines()
    assert names == [".gitattributes", "params.yaml", "src/größe 1.py"]
    assert git("show", f"{tree}:params.yaml") == "n: 7\nseed: 1"
    assert git("status", "--porcelain") == before


def test_stages_of_a_worker_run_in_its_python_though_the_job_has_no_path_to_it(
    tmp_path, monkeypatch
):
    # sbatch --export=NONE, or a cluster's own settings, give a job another PATH.
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.defpath)
    git("init", "--quiet")
    store.write_json(STAGES, [])
    git("add", "--all")
    worker = Worker(git("write-tree"), tmp_path / "copy")
    python = shutil.which("python", path=worker.environment["PATH"])
    assert python == str(Path(sys.executable).with_name("python"))
