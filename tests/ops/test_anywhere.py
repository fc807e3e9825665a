"""However people obtained the repository, and whatever their machine is set to: the commands work,
and the bytes are the same; or one line says what to do."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tiny import DVC, FIGURE, PACKS, ROOT, Project, cloned, copied

from strata.plots.base import PAGE

MAKE = ("make", "-o", ".venv/.ready")  # in this environment: nothing is set up
STAR = ("exp", "run", "--set-param", "figures.fig01_hierarchy.star=0.3", FIGURE)


def figure(project: Project) -> dict[str, str]:
    """Return the md5 of each file of the figure of a project."""
    return {k: v for k, v in project.outputs().items() if k.startswith(f"figures/{FIGURE}")}


def download(original: Project, folder: Path) -> Project:
    """Return a project of the files of the last commit without .git, none of them executable."""
    (folder / "archive").mkdir(parents=True)
    original.do("git", "archive", "--output", str(folder / "archive.zip"), "HEAD")
    shutil.unpack_archive(folder / "archive.zip", folder / "archive")
    for path in (folder / "archive").rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return Project(folder / "archive")


# Files of a home folder in which git, DVC, IPython and matplotlib are set to what breaks a command
# or changes a figure. Git for Windows sets core.autocrlf.
HOME = {
    ".gitconfig": "[core]\nautocrlf = true\nhooksPath = ~/hooks\nexcludesFile = ~/ignored\n"
    "[color]\nui = always\n[commit]\ngpgSign = true\n[status]\nshowUntrackedFiles = no\n"
    "[user]\nuseConfigOnly = true\n",
    "ignored": "*.csv\n*.json\n*.lock\n",
    "hooks/post-checkout": "#!/bin/sh\nexit 1\n",
    ".config/dvc/config": "[core]\nautostage = true\nremote = elsewhere\n[cache]\ntype = symlink\n"
    "[remote \"elsewhere\"]\nurl = /nowhere\n",
    ".config/matplotlib/matplotlibrc": "font.size: 20\ntext.usetex: True\nbackend: TkAgg\n",
    ".ipython/profile_default/startup/first.py": "raise SystemExit('of the user')\n",
    "share/kernels/python3/kernel.json": '{"argv": ["false"], "display_name": "", "language": ""}',
}  # fmt: skip
VARIABLES = {
    "PYTHONOPTIMIZE": "1", "PYTHONWARNINGS": "always", "MPLBACKEND": "module://nowhere",
    "FORCE_COLOR": "1", "COLUMNS": "20", "MAKEFLAGS": "-j8", "SOURCE_DATE_EPOCH": "1700000000",
    "OPENBLAS_NUM_THREADS": "8", "OMP_NUM_THREADS": "8", "NPY_DISABLE_CPU_FEATURES": "AVX2",
    "MKL_CBWR": "AUTO", "TZ": "Asia/Tokyo", "LC_ALL": "C", "LANG": "C",
    "GIT_LITERAL_PATHSPECS": "1", "BASH_ENV": "/nowhere", "SHELLOPTS": "nounset:noclobber",
}  # fmt: skip


@pytest.mark.slow
def test_an_archive_at_an_odd_path_does_the_same_whatever_is_set_for_programs(
    made_project, tmp_path
):
    # As a refusal says, git gets the files first. Other modules have the names of ours, the folder
    # for temporary files has a long path, files are private, and the shell is no POSIX shell.
    drawn = copied(made_project, tmp_path)  # the figure with another parameter, as it should be
    drawn.dvc(*STAR)
    assert figure(drawn) != figure(made_project)
    project = download(made_project, tmp_path / 'it\'s a "größer" $HOME; clone & more')
    home = tmp_path / "home"
    project.do("git", "init", "--quiet")
    project.commit("archive")
    for name, text in HOME.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    (home / "hooks/post-checkout").chmod(0o755)
    for name in ("numpy", "torch", "strata", "ops"):
        (home / f"{name}.py").write_text("raise ImportError('of the user')\n")
    scratch = home / ("n" * max(1, 120 - len(str(home))))
    scratch.mkdir()
    for name in [x for x in project.environment if x.startswith(("GIT_", "XDG_"))]:
        del project.environment[name]
    project.environment |= VARIABLES | {
        "HOME": str(home), "JUPYTER_PATH": str(home / "share"), "PYTHONPATH": str(home),
        "TMPDIR": str(scratch), "SHELL": shutil.which("tcsh") or "/bin/sh",
    }  # fmt: skip
    project.umask = 0o077
    assert "tables/claims.md" in project.do(*MAKE, "paper").splitlines()[-1]
    outputs = project.outputs()
    assert made_project.published().items() <= outputs.items()
    assert "nothing to do" in project.do(*MAKE, "plan")
    project.do("dvc", *STAR)
    assert figure(project) == figure(drawn)
    assert "back: outputs as published" in project.do(*MAKE, "back")
    assert project.outputs() == outputs
    assert project.do("git", "status", "--porcelain") == ""


@pytest.mark.slow
def test_dvc_writes_its_databases_into_the_clone_also_when_it_was_moved(made_project, tmp_path):
    clone = cloned(made_project, tmp_path / "clone")
    del clone.environment["DVC_SITE_CACHE_DIR"]
    for place in ("clone", "moved"):
        clone.folder.rename(tmp_path / place)
        clone.folder = tmp_path / place
        clone.do(*PACKS)
        folder = clone.folder / ".dvc/tmp/site/repo"
        assert clone.do(*DVC, "config", "core.site_cache_dir").strip() == str(folder.parent)
        clone.do(*DVC, "pull", "--quiet", "tables")
        assert any(folder.iterdir()) and not folder.stat().st_mode & 0o002
        shutil.rmtree(folder)


@pytest.mark.parametrize(
    ("name", "begin", "advice"),
    [
        ("x", "true", "git init"),  # the files of an archive
        ("x", "git init -q && export GIT_TEST_ASSUME_DIFFERENT_OWNER=1", "safe.directory"),
        ("x", "git init -q --object-format=sha256", "git init --object-format=sha1"),
        ("x", "git init -q && git config extensions.preciousObjects 1", "work in a clone"),
        ("a:b", "git init -q", "with a colon"),
        ("{n}", "git init -q", "with braces"),
    ],
)
def test_where_git_or_dvc_is_of_no_use_one_line_says_so_before_anything_is_installed(
    name, begin, advice, tmp_path
):
    folder = tmp_path / name
    shutil.copytree(ROOT / "ops/scripts", folder / "ops/scripts")
    for path in (ROOT / "Makefile", *ROOT.glob("requirements*.lock")):
        shutil.copy(path, folder)
    german = "export LC_ALL=C.UTF-8 LANGUAGE=de"  # which git speaks where it can
    command = f"{german}; {begin} && MAKEFLAGS= make paper PYTHON=/nowhere"
    process = subprocess.run(command, cwd=folder, shell=True, capture_output=True, text=True)
    errors = process.stderr.splitlines()
    assert advice in errors[0] and len(errors) == 2  # make’s own last


@pytest.mark.slow
def test_an_experiment_in_another_folder_runs_the_code_that_it_was_given(made_project, tmp_path):
    # Python also finds the strata of another tree, which is installed.
    project = copied(made_project, tmp_path)
    path = project.folder / "src/strata/plots/base.py"
    path.write_text(re.sub(r"(?m)^DPI = 224", "DPI = 100", path.read_text()))
    project.environment["PYTHONPATH"] = f"{ROOT}{os.pathsep}{ROOT / 'src'}"
    project.do(*DVC, "exp", "run", "--temp", FIGURE)
    [experiment] = project.do(*DVC, "exp", "list", "--name-only").split()
    project.do(*DVC, "exp", "apply", experiment)
    width = (project.folder / f"figures/{FIGURE}.png").read_bytes()[16:20]
    assert int.from_bytes(width, "big") == PAGE * 100
