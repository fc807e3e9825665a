"""The pipelines as one; commands at the top of the repository, in any locale; training times."""

import os
import subprocess
from pathlib import Path

import pytest
from ruamel.yaml import YAML
from tiny import ROOT

from ops import files, times
from strata.inputs import InputError
from strata.params import load
from strata.run import Run
from strata.train.environment import gflop


def write_pipelines(folder: Path, **pipelines: dict) -> Path:
    """Write pipeline files, named by their folders: top, or studies__seeds."""
    for name, content in pipelines.items():
        path = folder / name.replace("top", "").replace("__", "/") / "dvc.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        YAML().dump(content, path)
    return folder


def test_a_stage_has_the_name_that_dvc_gives_it_at_the_top_and_paths_from_there(tmp_path):
    train = {"cmd": "a", "deps": ["data/x"], "outs": [{"data/y": {"cache": False}}]}
    table = {"foreach": [1], "do": {"cmd": "b", "deps": ["../../data/y"], "outs": ["z"]}}
    top, seeds = {"stages": {"train": train}}, {"stages": {"tables": table}}
    folder = write_pipelines(tmp_path, top=top, studies__seeds=seeds)
    stages = files.stages(folder)
    assert [*stages] == ["train", "studies/seeds/dvc.yaml:tables"]
    assert files.paths(stages["train"]["outs"]) == ["data/y"]
    other = stages["studies/seeds/dvc.yaml:tables"]
    assert (other["deps"], other["outs"]) == (["data/y"], ["studies/seeds/z"])
    assert files.locked_stages(folder) == {}


def test_variables_are_those_of_the_files_that_a_pipeline_names(tmp_path):
    (tmp_path / "params.yaml").write_text("n: 6\n")
    (tmp_path / "more.yaml").write_text("exact: X=1\n")
    folder = write_pipelines(tmp_path, studies={"vars": ["../more.yaml"]}, top={"stages": {}})
    assert files.variables("studies/dvc.yaml", folder) == {"exact": "X=1"}
    assert files.variables("dvc.yaml", folder) == {"n": 6}


def test_a_folder_below_the_top_is_refused_by_name(monkeypatch):
    monkeypatch.chdir(ROOT)
    files.require_top()
    monkeypatch.chdir(ROOT / "notebooks")
    with pytest.raises(InputError, match=f"^{ROOT / 'notebooks'} is not the top"):
        files.require_top()


@pytest.mark.parametrize(
    ("locale", "used"),
    [
        ({}, "C.UTF-8"),
        ({"LC_ALL": "C"}, "C.UTF-8"),
        ({"LC_ALL": "de_DE.UTF-8", "LANG": "C"}, "de_DE.UTF-8"),
        ({"LANG": "en_US.UTF-8"}, ""),
    ],
)
def test_make_reads_a_path_that_is_not_ascii_in_the_locale_without_characters(locale, used):
    environment = {k: v for k, v in os.environ.items() if k not in {"LC_ALL", "LC_CTYPE", "LANG"}}
    process = subprocess.run(
        ["make", "--no-print-directory", "--eval", "locale:; @echo $$LC_ALL", "locale"],
        cwd=ROOT, env=environment | locale, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert process.stdout.strip() == used


def test_a_training_takes_its_epochs_and_its_products_shared_by_the_threads(monkeypatch):
    monkeypatch.chdir(ROOT)
    run, params = Run(165, 1), load("params.yaml")
    settings = params.settings(run)
    products = settings.train.epochs * gflop(165, settings) / times.RATE
    one, two = (times.training(run, params, threads) for threads in (1, 2))
    assert one - two == pytest.approx(products / 2)
    assert times.trainings([run] * 4, params, 1, at_once=2) == pytest.approx(2 * one)
    assert times.trainings([run], params, 1, at_once=2) == one
    half = params.train.model_copy(update={"epochs": params.train.epochs // 2})
    params = params.model_copy(update={"train": half})
    assert 2 * times.training(run, params, 2) == pytest.approx(two)
    # benchmarks/training.md: 7.04 Gflop over 6931 distinct pairs, drawn at random
    assert gflop(165, settings) == pytest.approx(7.04, rel=5e-3)
