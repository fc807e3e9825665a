"""Experiments, queued and shared, by the commands of docs/experiments.md: none is lost, and nothing
is written but to what was named."""

import re
import sys
import time
from pathlib import Path

import anywhere
import pytest
from tiny import DVC, PACKS, ROOT, Project

PAGE = (ROOT / "docs" / "experiments.md").read_text("utf-8")
FIGURE = "fig01-hierarchy"
OUTSIDE = Path("/remote")  # where DVC looks in revisions for a remote of .dvc/config


def commands(kind: str) -> list[list[str]]:
    """The commands of the page under that mark, with what is in capitals left to replace."""
    (block,) = re.findall(rf"<!-- commands: {kind} -->\n```\n(.*?)\n```", PAGE, re.DOTALL)
    return [line.split() for line in block.splitlines()]


def done(project: Project, kind: str, **values: object) -> list[str]:
    """What the commands of the page print, with these values."""
    lines = [[str(values.get(x, x)) for x in line] for line in commands(kind)]
    return [project.do(*((*DVC, *line[1:]) if line[0] == "dvc" else line)) for line in lines]


@pytest.fixture
def project(made, tmp_path) -> Project:
    """A clone for sweeps, with everything restored."""
    found = anywhere.cloned(made, tmp_path / "clone")
    found.do(*PACKS)
    found.dvc("pull", "--quiet")
    return found


def listed(project: Project) -> list[str]:
    return project.do(*DVC, "exp", "list", "--name-only").split()


def star(project: Project) -> str:
    """The md5 of the page of the figure that is here, which shows its parameters."""
    return project.outputs()[f"figures/{FIGURE}.html"]


def finished(project: Project) -> None:
    """Wait for the queue's end. Every experiment in it went well."""
    while re.search("Queued|Running", said := project.do(*DVC, "queue", "status")):
        time.sleep(2)
    assert "Failed" not in said and "Success" in said


def test_what_was_queued_is_there_can_be_taken_and_goes_to_another_clone(made, project, tmp_path):
    there = OUTSIDE.exists()
    project.do("git", "init", "--quiet", "--bare", str(tmp_path / "lab.git"))
    for value in ("0.3", "0.4"):
        words = ("-S", f"figures.fig01_hierarchy.star={value}", FIGURE)
        project.do(*DVC, "exp", "run", "--queue", *words)
    project.do(*DVC, "queue", "start", "--jobs", "2")
    finished(project)
    names = listed(project)
    assert len(names) == 2
    assert all(name in project.do(*DVC, "exp", "show", "--csv") for name in names)
    project.do(*DVC, "exp", "run", "--temp", "-S", "figures.fig01_hierarchy.star=0.2", FIGURE)
    assert len(listed(project)) == 3
    taken = set()
    for name in names:
        project.do(*DVC, "exp", "apply", name)
        project.do(*DVC, "checkout", "--quiet", FIGURE)
        taken.add((project.folder / "params.yaml").read_text())
        assert star(project) != star(made)
    assert len(taken) == 2
    last = star(project)
    project.do(*DVC, "exp", "branch", names[-1], "kept")
    assert project.do("git", "branch", "--list", "kept").strip() == "kept"
    own = {"LAB": tmp_path / "lab.git", "FOLDER": tmp_path / "folder", "EXPERIMENT": names[-1]}
    done(project, "share", **own)
    other = anywhere.cloned(made, tmp_path / "other")
    other.do(*PACKS)
    other.dvc("pull", "--quiet")
    done(other, "take", **own)
    assert star(other) == last
    for words in (("push", "-a"), ("fetch", "-a"), ("status", "-a", "-c")):
        project.do(*DVC, *words)
    assert OUTSIDE.exists() == there


@pytest.mark.parametrize("words", [("--depth", "1"), ("--filter=blob:none",)])
def test_a_clone_that_would_lose_them_says_so_and_trains_nothing(words, made, tmp_path):
    whole = anywhere.cloned(made, tmp_path / "whole")
    whole.do("git", "commit", "--quiet", "--allow-empty", "--message", "history to lose")
    whole.do("git", "config", "uploadpack.allowFilter", "true")
    clone = anywhere.cloned(whole, tmp_path / "clone", *words)
    said = "it would lose experiments of --queue and --temp"
    for command in ("paper", "plan"):
        assert said in clone.do(sys.executable, "-m", f"ops.{command}")
    clone.set("seed", 2)
    assert said in clone.do(*DVC, "repro", "runs/dvc.yaml:check@runs")
    clone.do("git", "restore", ".")
    done(clone, "alone")
    assert said not in clone.do(sys.executable, "-m", "ops.plan")
    clone.do(*DVC, "exp", "run", "--queue", "-S", "figures.fig01_hierarchy.star=0.3", FIGURE)
    clone.do(*DVC, "queue", "start")
    finished(clone)
    assert len(listed(clone)) == 1
