"""What an experiment leaves is taken back; what it did not make is not lost."""

import os
import signal
import sys
import time
from contextlib import suppress

import pytest
from psutil import NoSuchProcess, Process
from tiny import DVC, FIGURE, Project, copied

from ops import provenance
from ops.files import RUNS

BACK = (sys.executable, "-m", "ops.back")


@pytest.fixture(scope="module")
def project(both, tmp_path_factory) -> Project:
    return copied(both, tmp_path_factory.mktemp("back"))


def refusal(project: Project) -> str:
    """Return what `make back` prints where it refuses."""
    process = project.run(*BACK)
    assert process.returncode == 1, process.stdout
    return process.stdout


def as_published(project: Project) -> bool:
    """Whether git sees no change, and its branch is checked out, without what DVC left."""
    refs = project.do("git", "for-each-ref", "refs/exps/exec")
    branch = project.do("git", "branch", "--show-current").strip()
    return bool(branch) and not refs + project.do("git", "status", "--porcelain")


def trains(pid: int) -> bool:
    """Whether a process below that one trains."""
    for process in Process(pid).children(recursive=True):
        with suppress(NoSuchProcess):  # it has just ended
            if "stages/train.py" in process.cmdline():
                return True
    return False


def test_an_experiment_killed_in_its_training_is_taken_back(project):
    before = project.outputs()
    words = ("-S", "n=7", "-S", "train.epochs=1000000", f"{RUNS}:train@n7-s1")
    process = project.start(*DVC, "exp", "run", *words)
    while not trains(process.pid):
        assert process.poll() is None
        time.sleep(0.1)
    assert "make back" in refusal(project)  # it is still running
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert "params.yaml still has n = 7" in project.do(sys.executable, "-m", "ops.plan")
    repro = project.folder / ".dvc" / "tmp" / "repro.dat"  # which DVC stages
    repro.touch()
    project.do("git", "add", "--force", str(repro))
    repro.unlink()
    for name in ("config/train/n6-s1.json", "params.json"):
        path = project.folder / "data" / name
        path.unlink()  # the cache has it; a link there must not be written to
        path.write_text("{}")  # as where DVC had not recorded it yet
    lock = project.folder / "runs" / "dvc.lock"
    lock.write_text(lock.read_text()[:-100])
    assert not as_published(project)
    project.do(*BACK)
    assert as_published(project)
    assert project.outputs() == before
    assert "n: 7" in project.do("git", "stash", "show", "--patch")
    project.do("git", "stash", "drop")


def test_a_finished_experiment_is_taken_back_and_other_files_stay(project):
    before = project.outputs()
    project.dvc("exp", "run", "-S", "n=5", f"{RUNS}:split@n5-s1")
    unpublished = project.folder / "studies" / "data" / "metrics" / "n5-s9.json"
    unpublished.write_text("{}")
    mine = project.folder / "figures" / "mine.txt"
    mine.write_text("mine")
    output = project.do(*BACK).splitlines()
    assert output[-1] == "back: outputs as published, 2 of other runs deleted"
    assert as_published(project) and not project.do("git", "stash", "list")
    assert project.outputs() == before | {"figures/mine.txt": provenance.md5(mine)}
    mine.unlink()
    project.set("star", 0.4)  # which a killed experiment stashes and does not bring back
    project.do("git", "stash", "push", "--message", "exp", "--", "params.yaml")
    assert "git stash list has 'On " in project.do(*BACK)
    project.do("git", "stash", "drop")


def test_outputs_that_are_recorded_nowhere_are_named_and_none_is_replaced(project):
    paths = [project.folder / x for x in ("tables/moduli.md", "studies/data/metrics/n6-s2.json")]
    for path in paths:
        path.unlink()
        path.write_bytes(b"mine")
    before, message = project.outputs(), refusal(project)
    assert "tables/moduli.md" in message and "studies/data/metrics/n6-s2.json" in message
    assert project.outputs() == before
    for path in paths:
        path.unlink()
    project.do(*BACK)
    assert as_published(project)
    assert all(path.read_bytes() != b"mine" for path in paths)


def test_a_file_that_an_experiment_may_have_changed_is_named_and_stays(project):
    path = project.folder / "notebooks" / f"{FIGURE}.ipynb"
    text = path.read_text()
    path.write_text(text.replace('"metadata": {', '"metadata": { ', 1))
    assert f"not taken back: notebooks/{FIGURE}.ipynb " in project.do(*BACK)
    assert path.read_text() != text
    path.write_text(text)
    assert FIGURE not in project.do(*BACK)


def test_what_was_recorded_without_a_run_is_not_up_to_date_and_is_not_brought_in_later(project):
    first = project.page()
    project.set("star", 0.35)
    project.do(*DVC, "exp", "save")
    project.do(*DVC, "status", "--quiet")
    output = project.do(sys.executable, "-m", "ops.paper")
    assert f"{FIGURE}: " in output and "up to date" not in output
    second = project.page()
    assert second != first
    assert "up to date" in project.do(sys.executable, "-m", "ops.paper")
    project.set("star", 0.25)
    project.do(*DVC, "exp", "save")
    project.do(*BACK)
    assert project.page() == first
    words = "exp", "run", "-S", "figures.fig01_hierarchy.star=0.25", FIGURE
    printed = project.do(*DVC, *words)
    assert FIGURE in printed and "figures.fig01_hierarchy.star = 0.25\n" in printed
    assert project.page() not in {first, second}
    project.do(*BACK)
