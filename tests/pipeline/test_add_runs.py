"""Runs are added wherever the runs are listed, and nothing else is changed."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from strata.run import read_yaml

ROOT = Path(__file__).parents[2]
FILES = ("dvc.yaml", "studies/dvc.yaml", "runs/dvc.yaml", "params.yaml")
NEW = ["n165-s77", "n6-s1", "mlp-n113-s77"]


@pytest.fixture
def project(tmp_path):
    for name in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def add(folder: Path, *runs: str) -> str:
    """What the script says; nothing where it does what it is asked."""
    command = [sys.executable, str(ROOT / "scripts" / "add_runs.py"), *runs]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode != 0) == bool(done.stderr)
    return done.stdout + done.stderr


def without(found: Any, names: list[str]) -> Any:
    """What is left when all that names one of the runs is taken out."""

    def kept(text: str) -> bool:
        return not any(f"{name}." in f"{text}." for name in names)

    if isinstance(found, dict):
        return {k: without(v, names) for k, v in found.items()}
    if isinstance(found, list):
        return [without(x, names) for x in found if not isinstance(x, str) or kept(x)]
    return " ".join(filter(kept, found.split())) if isinstance(found, str) else found


def test_runs_that_are_there_change_no_byte(project):
    texts = {name: (project / name).read_bytes() for name in FILES}
    assert add(project, "n165-s1", "mlp-n113-s1") == ""
    assert {name: (project / name).read_bytes() for name in FILES} == texts


def test_new_runs_stand_wherever_the_others_do_and_nothing_else_is_changed(project):
    before = {name: without(read_yaml(project / name), []) for name in FILES}
    assert add(project, *NEW) == ""
    after = {name: read_yaml(project / name) for name in FILES}
    for name in FILES:
        assert without(after[name], NEW) == before[name]
        text = (project / name).read_text()
        assert {text.count(f"{run}.") for run in NEW} == {text.count("/mlp-n113-s1.")}
    split = after["runs/dvc.yaml"]["stages"]["split"]
    assert set(NEW) < set(after["params.yaml"]["grid"]["runs"]) < set(split["matrix"]["run"])
    assert add(project, *NEW) == ""
    assert {name: read_yaml(project / name) for name in FILES} == after


@pytest.mark.parametrize("written", [1, 2, 3])
def test_an_interrupted_call_is_completed_by_the_same_one(project, written):
    old = {name: (project / name).read_bytes() for name in FILES}
    add(project, *NEW)
    new = {name: (project / name).read_bytes() for name in FILES}
    for i, name in enumerate(FILES):
        (project / name).write_bytes((new if i < written else old)[name])
    assert add(project, *NEW) == ""
    assert {name: (project / name).read_bytes() for name in FILES} == new


def test_a_list_in_another_form_is_refused_and_nothing_is_written(project):
    params = project / "params.yaml"
    params.write_text(params.read_text().replace("  runs: [", "  runs:\n    ["))
    texts = {name: (project / name).read_bytes() for name in FILES}
    (line,) = add(project, "n165-s77").splitlines()
    assert line.startswith("add_runs: runs: must be followed by a list in brackets")
    assert {name: (project / name).read_bytes() for name in FILES} == texts


@pytest.mark.parametrize(
    ("words", "said"),
    [((), "must be called with the runs"), (("n165-s2", "n165"), "must look like n165-s1")],
)
def test_a_wrong_call_is_refused_in_one_line_and_writes_nothing(project, words, said):
    texts = {name: (project / name).read_bytes() for name in FILES}
    (line,) = add(project, *words).splitlines()
    assert line.startswith("add_runs: ") and said in line
    assert {name: (project / name).read_bytes() for name in FILES} == texts
