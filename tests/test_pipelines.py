"""The pipeline files as one, and the code of a stage as one file."""

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML
from test_layout import dvc

from strata import imports, pipelines
from strata.run import InputError

ROOT = Path(__file__).parents[1]


def written(folder: Path, **files: dict) -> Path:
    """A folder with these pipeline files, given as top, headline and studies."""
    for name, content in files.items():
        path = folder / ("dvc.yaml" if name == "top" else f"{name}/dvc.yaml")
        path.parent.mkdir(exist_ok=True)
        YAML().dump(content, path)
    return folder


def test_the_files_are_one_pipeline_and_a_stage_is_called_as_dvc_calls_it(tmp_path):
    top = {"stages": {"train": {"cmd": "a"}}}
    folder = written(tmp_path, top=top, studies={"stages": {"grid": {"cmd": "b"}}})
    assert pipelines.stages(folder) == {"train": {"cmd": "a"}, "grid": {"cmd": "b"}}
    assert pipelines.locked(folder) == {}
    assert pipelines.address("train@n6-s1", folder) == "train@n6-s1"
    assert pipelines.address("grid", folder) == "studies/dvc.yaml:grid"


def test_a_name_that_two_files_use_is_refused(tmp_path):
    one = {"stages": {"grid": {"cmd": "a"}}}
    folder = written(tmp_path, top=one, headline=one)
    with pytest.raises(InputError, match=r"headline/dvc\.yaml: grid: this stage is in another"):
        pipelines.stages(folder)


def test_variables_are_those_of_the_files_that_any_pipeline_names(tmp_path):
    (tmp_path / "params.yaml").write_text("n: 6\n")
    (tmp_path / "more.yaml").write_text("exact: X=1\n")
    folder = written(tmp_path, studies={"vars": ["../more.yaml"], "stages": {}})
    assert pipelines.variables(folder) == {"n": 6, "exact": "X=1"}


def test_every_stage_of_ours_is_called_as_dvc_calls_it():
    listed = set(dvc("stage", "list", "--all", "--name-only").split())
    assert {pipelines.address(x.rpartition(":")[2], ROOT) for x in listed} == listed


def test_modules_are_reached_through_one_another(tmp_path, monkeypatch):
    monkeypatch.setattr(imports, "SRC", tmp_path)
    for name, text in {
        "one": "from strata import two\n",
        "two": "import strata.three\nfrom strata.four import x\n",
        "three": "import numpy\n",
        "four": "from . import three\n",
        "five": "from strata import one\n",
    }.items():
        (tmp_path / f"{name}.py").write_text(text)
    script = tmp_path / "script.py"
    script.write_text("from strata import one\n")
    assert imports.reached(script) == {"one", "two", "three", "four"}


def test_the_file_of_a_stage_names_its_script_and_the_modules_it_reaches_with_their_md5(tmp_path):
    command = [sys.executable, "stages/code.py", str(tmp_path), "page", "metrics"]
    subprocess.run(command, cwd=ROOT, check=True)
    for name in ("page", "metrics"):
        lines = [x.split("  ") for x in (tmp_path / f"{name}.txt").read_text().splitlines()]
        script = f"stages/{name}.py"
        modules = {f"src/strata/{x}.py" for x in imports.reached(ROOT / script)}
        assert [path for _, path in lines] == [script, *sorted(modules)]
        for md5, path in lines:
            assert hashlib.md5((ROOT / path).read_bytes()).hexdigest() == md5
