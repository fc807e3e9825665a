"""The pipeline files as one, and the code of a stage as one file."""

from pathlib import Path

import pytest
from ruamel.yaml import YAML
from tiny import dvc

from ops import files
from strata.run import InputError

ROOT = Path(__file__).parents[2]


def written(folder: Path, **files: dict) -> Path:
    """A folder with these pipeline files, given as top and by their folders."""
    for name, content in files.items():
        path = folder / ("dvc.yaml" if name == "top" else f"pipelines/{name}/dvc.yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        YAML().dump(content, path)
    return folder


def test_the_files_are_one_pipeline_and_a_stage_is_called_as_dvc_calls_it(tmp_path):
    top = {"stages": {"train": {"cmd": "a"}}}
    folder = written(tmp_path, top=top, studies={"stages": {"grid": {"cmd": "b"}}})
    assert files.stages(folder) == {"train": {"cmd": "a"}, "grid": {"cmd": "b"}}
    assert files.locked(folder) == {}
    assert files.address("train@n6-s1", folder) == "train@n6-s1"
    assert files.address("grid", folder) == "pipelines/studies/dvc.yaml:grid"


def test_a_name_that_two_files_use_is_refused(tmp_path):
    one = {"stages": {"grid": {"cmd": "a"}}}
    folder = written(tmp_path, top=one, headline=one)
    with pytest.raises(InputError, match=r"headline/dvc\.yaml: grid: this stage is in another"):
        files.stages(folder)


def test_variables_are_those_of_the_files_that_any_pipeline_names(tmp_path):
    (tmp_path / "params.yaml").write_text("n: 6\n")
    (tmp_path / "more.yaml").write_text("exact: X=1\n")
    folder = written(tmp_path, studies={"vars": ["../../more.yaml"], "stages": {}})
    assert files.variables(folder) == {"n": 6, "exact": "X=1"}


def test_every_stage_of_ours_is_called_as_dvc_calls_it():
    listed = set(dvc("stage", "list", "--all", "--name-only").split())
    assert {files.address(x.rpartition(":")[2], ROOT) for x in listed} == listed
