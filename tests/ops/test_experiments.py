"""Experiments, queued and shared, by the commands of docs/experiments.md: none is lost, and nothing
is written but to what was named."""

import re
import sys
import time
from pathlib import Path

import pytest
from tiny import DVC, FIGURE, PACKS, Project, cloned, commands

OUTSIDE = Path("/remote")  # where DVC looks in revisions for a remote of .dvc/config


def run_commands(project: Project, kind: str, **values: object) -> None:
    """Run the commands of the page with these values in place of its words in capitals."""
    for line in commands("experiments.md", kind):
        words = [str(values.get(x, x)) for x in line.split()]
        project.do(*((*DVC, *words[1:]) if words[0] == "dvc" else words))


@pytest.fixture
def project(made_project, tmp_path) -> Project:
    """Return a clone for sweeps, in which everything is restored."""
    clone = cloned(made_project, tmp_path / "clone")
    clone.do(*PACKS)
    clone.dvc("pull", "--quiet")
    return clone


def experiments(project: Project) -> list[str]:
    return project.do(*DVC, "exp", "list", "--name-only").split()


def wait_for_queue(project: Project) -> None:
    """Wait for the end of the queue, in which every experiment succeeds."""
    while re.search("Queued|Running", status := project.do(*DVC, "queue", "status")):
        time.sleep(2)
    assert "Failed" not in status and "Success" in status


def test_what_was_queued_is_there_can_be_taken_and_goes_to_another_clone(
    made_project, project, tmp_path
):
    existed = OUTSIDE.exists()
    project.do("git", "init", "--quiet", "--bare", str(tmp_path / "lab.git"))
    for value in ("0.3", "0.4"):
        words = ("-S", f"figures.fig01_hierarchy.star={value}", FIGURE)
        project.do(*DVC, "exp", "run", "--queue", *words)
    project.do(*DVC, "queue", "start", "--jobs", "2")
    wait_for_queue(project)
    names = experiments(project)
    assert len(names) == 2
    params = set()
    for name in names:
        project.do(*DVC, "exp", "apply", name)
        project.do(*DVC, "checkout", "--quiet", FIGURE)
        params.add((project.folder / "params.yaml").read_text())
        assert project.page() != made_project.page()
    assert len(params) == 2
    last = project.page()
    values = {"LAB": tmp_path / "lab.git", "FOLDER": tmp_path / "folder", "EXPERIMENT": names[-1]}
    run_commands(project, "share", **values)
    other = cloned(made_project, tmp_path / "other")
    other.do(*PACKS)
    other.dvc("pull", "--quiet")
    run_commands(other, "take", **values)
    assert other.page() == last
    for words in (("push", "-a"), ("fetch", "-a"), ("status", "-a", "-c")):
        project.do(*DVC, *words)
    assert OUTSIDE.exists() == existed


def test_a_clone_that_would_lose_them_says_so_and_trains_nothing(made_project, tmp_path):
    full_clone = cloned(made_project, tmp_path / "whole")
    full_clone.do("git", "commit", "--quiet", "--allow-empty", "--message", "history to lose")
    full_clone.do("git", "config", "uploadpack.allowFilter", "true")
    clone = cloned(full_clone, tmp_path / "clone", "--depth", "1")
    warning = "it would lose experiments of --queue and --temp, and push none whole: git fetch"
    assert warning in clone.do(sys.executable, "-m", "ops.paper")
    clone.set("seed", 2)
    assert warning in clone.do(*DVC, "repro", "runs/dvc.yaml:check@runs")
    clone.do("git", "restore", ".")
    run_commands(clone, "alone")
    assert warning not in clone.do(sys.executable, "-m", "ops.plan")
    clone.do(*DVC, "exp", "run", "--queue", "-S", "figures.fig01_hierarchy.star=0.3", FIGURE)
    clone.do(*DVC, "queue", "start")
    wait_for_queue(clone)
    [name] = experiments(clone)
    lab = tmp_path / "lab.git"
    clone.do("git", "init", "--quiet", "--bare", str(lab))
    clone.do(*DVC, "exp", "push", "--no-cache", str(lab), name)
    assert name in clone.do("git", "-C", str(lab), "for-each-ref")
    clone.do("git", "-C", str(lab), "fsck", "--strict")
