"""What an experiment leaves is taken back; what it did not make is not lost."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest
from psutil import NoSuchProcess, Process
from tiny import Project, copied

from ops import provenance

DVC = (sys.executable, "-m", "dvc")
BACK = (sys.executable, "ops/scripts/back.py")


@pytest.fixture(scope="module")
def project(made, tmp_path_factory) -> Project:
    return copied(made, tmp_path_factory.mktemp("back"))


def refused(project: Project) -> str:
    """What `make back` says where it does nothing."""
    done = project.run(*BACK)
    assert done.returncode == 1, done.stdout
    return done.stdout


def as_published(project: Project) -> bool:
    """Whether git sees no change, and its branch is checked out, without what DVC left."""
    left = project.do("git", "for-each-ref", "refs/exps/exec")
    return not (left + project.do("git", "status", "--porcelain")) and bool(
        project.do("git", "branch", "--show-current").strip()
    )


def trains(pid: int) -> bool:
    """Whether a process of its own trains for it."""
    for process in Process(pid).children(recursive=True):
        with suppress(NoSuchProcess):  # it has just ended
            if "stages/train.py" in process.cmdline():
                return True
    return False


def test_an_experiment_killed_in_its_training_is_taken_back(project):
    before = project.outputs()
    words = ("-S", "n=7", "-S", "train.epochs=1000000", "pipelines/runs/dvc.yaml:train@n7-s1")
    process = subprocess.Popen(
        (*DVC, "exp", "run", *words), cwd=project.folder, env=project.environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    while not trains(process.pid):
        assert process.poll() is None
        time.sleep(0.1)
    (project.folder / "data" / "split" / f".{'aB3_' * 5}-x.tmp").touch()  # as DVC leaves it
    rwlock = project.folder / ".dvc" / "tmp" / "rwlock"
    assert "make back" in refused(project)  # it is still running
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    rwlock.write_text("")  # as where it was just being written
    config = project.folder / "data" / "config" / "train" / "n6-s1.json"
    config.unlink()  # the cache has it; a link there must not be written to
    config.write_text("{}")  # as where DVC had not recorded it yet
    assert not as_published(project)
    project.do(*BACK)
    assert not rwlock.exists()
    assert as_published(project)
    assert project.outputs() == before
    assert "n: 7" in project.do("git", "stash", "show", "--patch")


def test_a_finished_experiment_is_taken_back_and_other_files_stay(project):
    before = project.outputs()
    project.dvc("exp", "run", "-S", "n=5", "split@n5-s1")
    own = project.folder / "figures" / "own.txt"
    own.write_text("mine")
    project.do(*BACK)
    assert as_published(project)
    assert project.outputs() == before | {"figures/own.txt": provenance.md5(own)}
    own.unlink()


def test_an_output_that_is_recorded_nowhere_is_named_and_nothing_is_done(project):
    path = project.folder / "figures" / "fig01-hierarchy.png"
    path.write_bytes(b"mine")
    project.set("star", 0.3)
    before = project.outputs()
    assert "figures/fig01-hierarchy.png" in refused(project)
    assert project.outputs() == before
    assert "params.yaml" in project.do("git", "status", "--porcelain")
    path.unlink()
    project.do(*BACK)
    assert as_published(project)
    assert path.read_bytes() != b"mine"
