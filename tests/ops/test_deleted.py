"""A study is its folder and its runs: without them lint, the paper, the report and all other tests
stand."""

import shutil
import subprocess
import sys
from pathlib import Path

from ruamel.yaml import YAML

from ops.git import lay_out, worktree_tree

ROOT = Path(__file__).parents[2]


def test_a_study_is_deleted_with_its_folder_and_its_runs(tmp_path):
    # Collecting the other tests imports what they test, and listing stages reads a project.
    top, study = tmp_path / "clone", "zeros"
    lay_out(worktree_tree(), top, {})
    for name in ("remote", "studies/remote"):  # what packs fill, which tests read as they begin
        (top / name).symlink_to(ROOT / name)
    shutil.rmtree(top / "studies" / study)
    runs = top / "studies" / "runs.yaml"
    yaml = YAML(typ="safe")
    listed = yaml.load(runs)
    study_runs = listed.pop(study)
    for name in ("more", "all", "measured", "attending"):
        listed[name] = {run: at for run, at in listed[name].items() if run not in study_runs}
    yaml.dump(listed, runs)

    def run_python(*command: str) -> str:
        process = subprocess.run(
            [sys.executable, *command], cwd=top, capture_output=True, text=True, check=False
        )
        assert process.returncode == 0, process.stdout + process.stderr
        return process.stdout

    subprocess.run(["git", "init", "--quiet"], cwd=top, check=True)
    run_python("-m", "ruff", "check", "--quiet")
    assert f"{study}/" not in run_python(
        "-m", "pytest", "--quiet", "--collect-only", "-p", "no:cacheprovider"
    )
    for project in ("", "studies", "report"):
        words = ("--cd", project or ".", "stage", "list", "-R")
        assert f"{study}/" not in run_python("-m", "dvc", *words)
