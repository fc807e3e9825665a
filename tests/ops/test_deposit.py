"""From the folder that `make deposit` writes, and nothing else, everything comes again."""

import json
import re
import shutil
from pathlib import Path

import pytest
from tiny import ROOT, RUN, Project

from ops import files, verify

NEEDED = ("Makefile", "CITATION.cff", "codemeta.json", ".zenodo.json", "LICENSE")


def ready(project: Project) -> None:
    """An environment that make takes for a whole one."""
    (project.folder / ".venv").mkdir()
    (project.folder / ".venv" / ".ready").touch()


@pytest.fixture
def project(made, tmp_path) -> Project:
    """A clone with what a deposit holds beside the pipeline."""
    clone = Project(tmp_path / "project")
    made.do("git", "clone", "--quiet", str(made.folder), str(clone.folder))
    for path in (*(ROOT / name for name in NEEDED), *ROOT.glob("requirements*.lock")):
        shutil.copy(path, clone.folder)
    clone.do("git", "add", "--all")
    clone.do("git", "commit", "--quiet", "--message", "more")
    ready(clone)
    return clone


def sums(folder: Path) -> str:
    return (folder / "SHA256SUMS").read_text()


def test_from_the_deposit_alone_every_result_comes_and_is_verified(project, made, tmp_path):
    """By the commands of its README; the environment is the one of the tests."""
    assert re.search(r"(?m)^deposit/: \d+ files, ", project.do("make", "deposit"))
    first = sums(project.folder / "deposit")
    project.do("make", "deposit")
    assert sums(project.folder / "deposit") == first  # the same commit gives the same bytes
    shutil.move(project.folder / "deposit", tmp_path / "deposit")
    shutil.rmtree(project.folder)

    (block,) = re.findall(
        r"^```\n(.*?)^```", (tmp_path / "deposit/README.md").read_text(), re.M | re.S
    )
    lines = block.splitlines()
    begin = lines.index("make paper")
    outside = Project(tmp_path / "deposit")
    outside.do("sh", "-ec", "\n".join(lines[:begin]))
    restored = Project(tmp_path / "deposit" / "strata")
    ready(restored)
    said = [restored.do(*line.split()) for line in lines[begin:]]
    assert restored.outputs() == made.outputs()
    assert "FAIL" not in said[-1] and said[-1].count("pass") > 20
    graph = json.loads((restored.folder / "ro-crate-metadata.json").read_text())["@graph"]
    inside = [x["@id"] for x in graph if "File" in x["@type"]]
    assert len(inside) > 20 and all((restored.folder / name).is_file() for name in inside)


def test_what_is_not_committed_or_lacks_in_the_remote_is_told(project):
    params = project.folder / "params.yaml"
    text = params.read_text()
    params.write_text(text + "\n")
    done = project.run("make", "deposit")
    assert "deposit: params.yaml: must be as in the last commit: git commit" in done.stdout
    params.write_text(text)
    out = verify.outs(files.locked(project.folder))[f"data/train/{RUN}/history.parquet"]
    path = verify.at(project.folder / "remote", out.md5)
    path.unlink()
    project.do("git", "commit", "--quiet", "--all", "--message", "less")
    done = project.run("make", "deposit")
    assert done.returncode
    assert f"deposit: {out.path}: remote: must hold what dvc.lock names: dvc push" in done.stdout
    assert not (project.folder / "deposit").exists()
