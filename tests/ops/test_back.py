"""What an experiment leaves is taken back; what it did not make is not lost."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest
from psutil import NoSuchProcess, Process
from tiny import DVC, Project, copied

from ops import provenance
from ops.files import RUNS

BACK = (sys.executable, "-m", "ops.back")


@pytest.fixture(scope="module")
def project(both, tmp_path_factory) -> Project:
    return copied(both, tmp_path_factory.mktemp("back"))


def refused(project: Project) -> str:
    """What `make back` says where it does not all of it."""
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
    words = ("-S", "n=7", "-S", "train.epochs=1000000", f"{RUNS}:train@n7-s1")
    process = subprocess.Popen(
        (*DVC, "exp", "run", *words), cwd=project.folder, env=project.environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    while not trains(process.pid):
        assert process.poll() is None
        time.sleep(0.1)
    assert "make back" in refused(project)  # it is still running
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    (project.folder / ".dvc" / "tmp" / "repro.dat").touch()  # as DVC stages it
    project.do("git", "add", "--force", ".dvc/tmp/repro.dat")
    (project.folder / ".dvc" / "tmp" / "repro.dat").unlink()
    config = project.folder / "data" / "config" / "train" / "n6-s1.json"
    config.unlink()  # the cache has it; a link there must not be written to
    config.write_text("{}")  # as where DVC had not recorded it yet
    assert not as_published(project)
    project.do(*BACK)
    assert as_published(project)
    assert project.outputs() == before
    assert "n: 7" in project.do("git", "stash", "show", "--patch")


def test_a_finished_experiment_is_taken_back_and_other_files_stay(project):
    before = project.outputs()
    project.dvc("exp", "run", "-S", "n=5", f"{RUNS}:split@n5-s1")
    more = project.folder / "studies" / "data" / "metrics" / "n5-s9.json"  # of a run of the studies
    more.write_text("{}")
    own = project.folder / "figures" / "own.txt"
    own.write_text("mine")
    project.set("star", 0.4)  # which a killed experiment stashes and does not bring back
    project.do("git", "stash", "push", "--message", "exp", "--", "params.yaml")
    assert "git stash list has 'On " in project.do(*BACK)
    project.do("git", "stash", "drop")
    assert as_published(project)
    assert project.outputs() == before | {"figures/own.txt": provenance.md5(own)}
    own.unlink()


def test_outputs_that_are_recorded_nowhere_are_named_and_none_is_replaced(project):
    paths = [project.folder / x for x in ("tables/moduli.md", "studies/data/metrics/n6-s2.json")]
    for path in paths:
        path.unlink()
        path.write_bytes(b"mine")
    project.set("star", 0.3)
    before = project.outputs()
    said = refused(project)
    assert "tables/moduli.md" in said and "studies/data/metrics/n6-s2.json" in said
    assert project.outputs() == before
    for path in paths:
        path.unlink()
    project.do(*BACK)
    assert as_published(project)
    assert all(path.read_bytes() != b"mine" for path in paths)


def test_git_bisect_tells_commits_apart_by_it(project):
    """Although a git that is at work has called it."""
    whole, path = project.do("git", "rev-parse", "HEAD").strip(), project.folder / "dvc.yaml"
    text = path.read_text()
    for more in ("\n", "\nstages: [\n", "\nstages: [\n\n"):
        path.write_text(text + more)
        project.do("git", "commit", "--quiet", "--all", "--message", "another")
    bad = project.do("git", "rev-parse", "HEAD~1").strip()
    project.do("git", "bisect", "start", "HEAD", whole)
    assert f"{bad} is the first bad commit" in project.do("git", "bisect", "run", *BACK)
    project.do("git", "bisect", "reset")
    project.do("git", "reset", "--quiet", "--hard", whole)
