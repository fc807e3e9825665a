"""A study is one folder: with it and its line in the list of runs deleted, all others stand."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[1]
DELETED = "fractions"


@pytest.fixture(scope="module")
def without(tmp_path_factory):
    """A copy of all that git tracks, without the study."""
    folder = tmp_path_factory.mktemp("without")
    tracked = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines()
    for name in tracked:
        if not name.startswith(("remote/", f"studies/{DELETED}/")) and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    runs = folder / "studies" / "runs.yaml"
    listed = re.sub(rf"(?m)^{DELETED}:[^}}]*}}\n", "", runs.read_text())
    runs.write_text(listed.replace(f", *{DELETED}", ""))
    return folder


def run(folder: Path, *command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True, check=False,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": f"{folder}:{folder}/src:{folder}/tests"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_lint_finds_nothing(without):
    run(without, "ruff", "check", "--no-cache", "src", "stages", "studies", "report", "ops")


def test_no_test_of_another_study_asks_for_it(without):
    run(without, "pytest", "-q", "-n", "0", "--collect-only", "-p", "no:cacheprovider", "studies")


def test_no_pipeline_names_it(without):
    assert DELETED not in YAML(typ="safe").load(without / "studies" / "runs.yaml")
    for path in (without / "studies").glob("**/dvc.yaml"):
        assert f"/{DELETED}/" not in path.read_text()
    assert f"studies/{DELETED}/" not in (without / "dvc.yaml").read_text()
