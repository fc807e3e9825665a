"""From the folder that `make deposit` writes, and nothing else, everything is verified again."""

import re
import shutil
import sys
import tomllib

import pytest
from locked import ROOT, RUNS, Project

from ops import deposit
from strata.run import read_yaml

CFF = read_yaml(ROOT / "CITATION.cff")


@pytest.fixture(scope="module")
def honest(together, tmp_path_factory) -> Project:
    project = Project.copy(together, tmp_path_factory.mktemp("deposit"))
    for name in deposit.COPIED:
        shutil.copy(ROOT / name, project.folder)
    with (project.folder / ".gitignore").open("a") as ignored:
        ignored.write("__pycache__/\n/deposit/\n/deposit.part/\n/.snapshots/\n")
    project.run(sys.executable, "-m", "ops.packs", "write")
    project.commit()
    return project


def run_deposit(project: Project) -> str:
    return project.run(sys.executable, "-m", "ops.deposit").stdout


def test_from_the_deposit_alone_all_is_verified(honest, tmp_path):
    # These are the commands of its README up to the environment, which is that of the tests.
    assert re.search(r"(?m)^deposit/: \d+ files, ", run_deposit(honest))
    first = (honest.folder / "deposit" / "SHA256SUMS").read_text()
    run_deposit(honest)
    assert (honest.folder / "deposit" / "SHA256SUMS").read_text() == first
    shutil.move(honest.folder / "deposit", tmp_path / "deposit")
    text = (tmp_path / "deposit/README.md").read_text()
    (block,) = re.findall(r"^```\n(.*?)^```", text, re.M | re.S)
    lines = block.splitlines()
    outside = Project(tmp_path / "deposit")
    process = outside.run("sh", "-ec", "\n".join(lines[: lines.index("make paper")]))
    assert process.returncode == 0, process.stdout
    restored = Project(tmp_path / "deposit" / CFF["title"])
    report = restored.run("env", "SAMPLE=0", sys.executable, "-m", "ops.verify").stdout
    assert report.endswith(", 0 failed\n"), report


@pytest.mark.parametrize("attribute", ["export-ignore", "export-subst"])
def test_a_zip_that_would_not_have_what_git_has_is_refused(attribute, honest, tmp_path):
    shutil.copytree(honest.folder, tmp_path / "project", symlinks=True)
    project = Project(tmp_path / "project")
    (project.folder / "note.txt").write_text("$Format:%H$\n")
    (project.folder / ".gitattributes").write_text(f"note.txt {attribute}\n")
    project.commit()
    process = project.run(sys.executable, "-m", "ops.deposit")
    assert process.returncode and "deposit: note.txt: " in process.stdout
    assert not (project.folder / "deposit").exists()


def test_what_is_not_committed_or_lacks_in_the_packs_is_told(honest, tmp_path):
    shutil.copytree(honest.folder, tmp_path / "project", symlinks=True)
    project = Project(tmp_path / "project")
    params = project.folder / "params.yaml"
    text = params.read_text()
    params.write_text(text + "\n")
    process = project.run(sys.executable, "-m", "ops.deposit")
    assert "deposit: params.yaml: must be as in the last commit: git commit" in process.stdout
    params.write_text(text)
    pack = f"runs/artifacts/{RUNS[0]}.tar.xz"
    (project.folder / pack).unlink()
    for name in ("remote", "studies/remote"):
        shutil.rmtree(project.folder / name)
    project.commit()
    process = project.run(sys.executable, "-m", "ops.deposit")
    assert process.returncode
    assert f"deposit: {pack}: the packs must hold what the locks name" in process.stdout
    assert not (project.folder / "deposit").exists()


def test_the_software_is_cited_as_the_package_names_itself():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert {"cff-version", "message", "title", "authors"} <= set(CFF)  # what CFF 1.2.0 requires
    assert (CFF["title"], CFF["version"]) == (project["name"], project["version"])
    assert CFF["license"] == project["license"]
