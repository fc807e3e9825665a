"""A study is its folder and its runs: without them lint, the paper, the report and all other tests
stand."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from ops.git import here, laid_out

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("study", ["fractions", "zeros"])
def test_a_study_is_deleted_with_its_folder_and_its_runs(study, tmp_path):
    """What is collected of the other tests imports all that they test; what DVC lists is what it
    can read of a project."""
    top = tmp_path / "clone"
    laid_out(here(), top, {})
    for name in ("remote", "studies/remote"):  # what packs fill, which tests read as they begin
        (top / name).symlink_to(ROOT / name)
    shutil.rmtree(top / "studies" / study)
    runs = top / "studies" / "runs.yaml"
    yaml = YAML(typ="safe")
    listed = yaml.load(runs)
    own = listed.pop(study)
    for name in ("more", "all", "measured"):
        listed[name] = {run: at for run, at in listed[name].items() if run not in own}
    yaml.dump(listed, runs)

    def done(*command: str) -> str:
        found = subprocess.run(
            [sys.executable, *command], cwd=top, capture_output=True, text=True, check=False
        )
        assert found.returncode == 0, found.stdout + found.stderr
        return found.stdout

    subprocess.run(["git", "init", "--quiet"], cwd=top, check=True)
    done("-m", "ruff", "check", "--quiet")
    assert f"{study}/" not in done(
        "-m", "pytest", "--quiet", "--collect-only", "-p", "no:cacheprovider"
    )
    for project in ("", "studies", "report"):
        assert f"{study}/" not in done("-m", "dvc", "--cd", project or ".", "stage", "list", "-R")
