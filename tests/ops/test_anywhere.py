"""However people obtained the repository, and whatever their machine is set to: the commands work,
and the bytes are the same; or one line says what to do. And every stage runs the code of its own
tree."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import anywhere
import pytest
from anywhere import MAKE
from tiny import DVC, PACKS, ROOT, RUN, Project, copied

from ops.files import RUNS
from ops.readme import rows
from strata.plots.base import PAGE

STAR = ("exp", "run", "--set-param", "figures.fig01_hierarchy.star=0.3", "fig01-hierarchy")
DRAWN = "figures/fig01-hierarchy"


def figure(project: Project) -> dict[str, str]:
    """The md5 of each file of the figure that is drawn here."""
    return {k: v for k, v in project.outputs().items() if k.startswith(DRAWN)}


@pytest.fixture(scope="module")
def changed(made, tmp_path_factory) -> dict[str, str]:
    """The figure under another parameter, as this machine draws it in the project itself."""
    project = copied(made, tmp_path_factory.mktemp("changed"))
    project.dvc(*STAR)
    assert figure(project) != figure(made)
    return figure(project)


def tried(made: Project, project: Project, changed: dict[str, str]) -> None:
    """make paper, plan and back, and between them an experiment that draws a figure."""
    project.do(*MAKE, "paper")
    there = project.outputs()
    assert made.published().items() <= there.items()
    assert "nothing to do" in project.do(*MAKE, "plan")
    done = project.run("dvc", *STAR)
    assert done.returncode == 0 and "Ran experiment" in done.stdout, done.stdout
    assert figure(project) == changed
    assert "back: outputs as published" in project.do(*MAKE, "back")
    assert project.outputs() == there
    assert project.do("git", "status", "--porcelain") == ""


def name(function) -> str:
    return function.__name__


@pytest.mark.slow
@pytest.mark.parametrize("way", anywhere.WAYS, ids=name)
def test_whatever_way_the_repository_came_its_commands_work(way, made, changed, tmp_path):
    tried(made, way(made, tmp_path), changed)


@pytest.mark.slow
@pytest.mark.parametrize("setting", anywhere.SETTINGS, ids=name)
def test_whatever_is_set_changes_no_byte(setting, made, changed, tmp_path):
    clone = anywhere.cloned(made, tmp_path / "clone")
    (tmp_path / "home").mkdir()
    tried(made, setting(clone, tmp_path / "home"), changed)


@pytest.mark.parametrize(
    ("way", "advice"),
    [(anywhere.downloaded, "git init"), (anywhere.owned_by_another, "safe.directory")],
    ids=["archive", "owner"],
)
def test_where_git_is_of_no_use_one_line_says_so_before_anything_is_installed(
    way, advice, made, tmp_path
):
    said = way(made, tmp_path).run("make", "paper", "PYTHON=/nowhere").stdout
    assert advice in said.splitlines()[0] and len(said.splitlines()) == 2  # make’s own last


def here(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([ROOT / "ops/scripts/here"], cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("has", "mends"),
    [
        ("git init -q --object-format=sha256", "mv .git other && git init --object-format=sha1"),
        ("git init -q && git update-index --split-index", "git update-index --no-split-index"),
        ("git init -q && git sparse-checkout set x", "git sparse-checkout disable"),
    ],
)
def test_a_repository_that_dvc_cannot_read_is_refused_and_mended_as_it_is_said(
    has, mends, tmp_path
):
    subprocess.run(has, cwd=tmp_path, shell=True, check=True)
    refused = here(tmp_path)
    assert refused.returncode == 1 and mends in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    subprocess.run(mends, cwd=tmp_path, shell=True, check=True)
    assert here(tmp_path).returncode == 0


def test_the_repository_is_that_of_the_folder_whichever_is_named(tmp_path):
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    own = os.environ | {"GIT_DIR": f"{tmp_path}/.git", "GIT_WORK_TREE": str(tmp_path)}
    ask = "from ops.git import git; print(git('rev-parse', '--show-toplevel'))"
    command = [sys.executable, "-c", ask]
    done = subprocess.run(command, cwd=ROOT, env=own, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(ROOT.resolve())


@pytest.mark.parametrize(("name", "why"), [("a:b", "with a colon"), ("{n}", "with braces")])
def test_a_path_that_programs_cannot_read_is_refused(name, why, tmp_path):
    folder = tmp_path / name
    folder.mkdir()
    done = here(folder)
    assert done.returncode == 1 and why in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("here", "said"),
    [
        (((3, 14), "Linux", "aarch64", "glibc", ""), ""),
        (((3, 11), "Darwin", "arm64", "", "14.5"), ""),
        (((3, 11), "Darwin", "arm64", "", "13.6"), "Darwin arm64 13.6: "),
        (((3, 11), "Darwin", "x86_64", "", "14.5"), "Darwin x86_64 14.5: "),
        (((3, 11), "Linux", "x86_64", "", ""), "Linux x86_64: "),  # musl
        (((3, 11), "Windows", "AMD64", "", ""), "Windows AMD64: "),
        (((3, 10), "Linux", "x86_64", "glibc", ""), "Python 3.11 to 3.14 is needed, this is 3.10"),
        (((3, 15), "Linux", "x86_64", "glibc", ""), "Python 3.11 to 3.14 is needed, this is 3.15"),
    ],
)
def test_a_system_without_packages_is_named_in_one_line(here, said):
    fault = runpy.run_path(str(ROOT / "ops/scripts/supported.py"))["fault"](*here)
    assert fault.startswith(said) and bool(fault) == bool(said) and "\n" not in fault


PLATFORMS = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "aarch64-apple-darwin"]


@pytest.mark.slow
@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_the_locks_have_a_wheel_of_every_package_for_every_system(platform, version, tmp_path):
    """But of one pure Python package, which is built."""
    words = ["--dry-run", "--no-deps", "--require-hashes", "--python-platform", platform]
    words += ["--only-binary", ":all:", "--no-binary", "antlr4-python3-runtime"]
    words += ["--python-version", version, "--target", str(tmp_path)]
    words += ["-r", "requirements.lock", "-r", "requirements-torch.lock"]
    done = subprocess.run(
        [sys.executable, "ops/scripts/install.py", *words], cwd=ROOT, capture_output=True,
        text=True, env=os.environ | {"MACOSX_DEPLOYMENT_TARGET": "14.0"},
    )  # fmt: skip
    if "error sending request" in done.stderr or "was not found in the package" in done.stderr:
        pytest.skip("the index does not answer, or has not all of it")
    assert done.returncode == 0, done.stderr


def coarser(project: Project) -> None:
    """The code of a project changed, so that its figures have 100 pixels an inch."""
    path = project.folder / "src/strata/plots/base.py"
    text = path.read_text()
    path.write_text(re.sub(r"(?m)^DPI = 224", "DPI = 100", text))
    assert path.read_text() != text
    # Another tree's strata is installed, and where Python looks for modules.
    project.environment["PYTHONPATH"] = f"{ROOT}{os.pathsep}{ROOT / 'src'}"


def width(project: Project) -> int:
    """That of the figure, in pixels."""
    return int.from_bytes((project.folder / f"{DRAWN}.png").read_bytes()[16:20], "big")


@pytest.mark.slow
@pytest.mark.parametrize("how", ["--queue", "--temp"])
def test_an_experiment_in_another_folder_runs_the_code_that_it_was_given(how, made, tmp_path):
    project = copied(made, tmp_path)
    coarser(project)
    project.do(*DVC, "exp", "run", how, "fig01-hierarchy")
    project.do("git", "checkout", "--quiet", "src")
    if how == "--queue":
        project.do(*DVC, "exp", "run", "--run-all")
    assert width(project) == PAGE * 224
    [experiment] = project.do(*DVC, "exp", "list", "--name-only").split()
    project.do(*DVC, "exp", "apply", experiment)
    assert width(project) == PAGE * 100


@pytest.mark.slow
@pytest.mark.parametrize("way", [anywhere.worktree, anywhere.shallow], ids=name)
def test_another_tree_runs_its_own_code(way, made, tmp_path):
    project = way(made, tmp_path)
    project.do(*PACKS)
    project.do(*DVC, "pull", "--quiet", "fig01-hierarchy")
    coarser(project)
    project.do(*DVC, "pull", "--quiet", f"{RUNS}:train@{RUN}")
    project.do(*DVC, "repro", "--single-item", "code", "fig01-hierarchy")
    assert width(project) == PAGE * 100


def test_the_table_of_the_docs_has_what_is_tried_here():
    tried = [["obtained as", x.__doc__] for x in anywhere.WAYS]
    tried += [["set to", x.__doc__] for x in anywhere.SETTINGS]
    assert rows((ROOT / "benchmarks/machines.md").read_text("utf-8"))[1:] == tried
