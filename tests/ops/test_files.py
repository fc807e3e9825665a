"""The pipelines as one, commands at the top of the repository, times of stages, in any locale."""

import os
import subprocess
from pathlib import Path

import pytest
from ruamel.yaml import YAML
from tiny import DVC, ROOT

from ops import files
from ops.times import RATE, SECONDS, Times, shared, words
from strata.inputs import InputError
from strata.params import load
from strata.run import Run
from strata.train.environment import cores, gflop


def written(folder: Path, **pipelines: dict) -> Path:
    """A folder with these pipeline files, given by their folders: top, or studies__seeds."""
    for name, content in pipelines.items():
        path = folder / name.replace("top", "").replace("__", "/") / "dvc.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        YAML().dump(content, path)
    return folder


def test_a_stage_has_the_name_that_dvc_gives_it_at_the_top_and_paths_from_there(tmp_path):
    train = {"cmd": "a", "deps": ["data/x"], "outs": [{"data/y": {"cache": False}}]}
    table = {"foreach": [1], "do": {"cmd": "b", "deps": ["../../data/y"], "outs": ["z"]}}
    top, seeds = {"stages": {"train": train}}, {"stages": {"tables": table}}
    folder = written(tmp_path, top=top, studies__seeds=seeds)
    found = files.stages(folder)
    assert [*found] == ["train", "studies/seeds/dvc.yaml:tables"]
    assert files.paths(found["train"]["outs"]) == ["data/y"]
    other = found["studies/seeds/dvc.yaml:tables"]
    assert (other["deps"], other["outs"]) == (["data/y"], ["studies/seeds/z"])
    assert files.locked(folder) == {}


def test_variables_are_those_of_the_files_that_a_pipeline_names(tmp_path):
    (tmp_path / "params.yaml").write_text("n: 6\n")
    (tmp_path / "more.yaml").write_text("exact: X=1\n")
    folder = written(tmp_path, studies={"vars": ["../more.yaml"]}, top={"stages": {}})
    assert files.variables("studies/dvc.yaml", folder) == {"exact": "X=1"}
    assert files.variables("dvc.yaml", folder) == {"n": 6}


@pytest.mark.parametrize("project", ["", *files.PROJECTS])
def test_every_stage_of_ours_is_called_as_dvc_calls_it(project):
    own = ("--cd", project) if project else ()
    words = [*DVC, *own, "stage", "list", "--all", "--name-only"]
    listed = subprocess.check_output(words, cwd=ROOT, text=True).split()
    kinds = [x for x in files.stages(ROOT) if files.project(x) == project]
    given = {"import"}  # of a run from elsewhere: DVC lists it where there is one
    assert {x.partition("@")[0] for x in listed} | given == {*map(files.inside, kinds)} | given


def test_a_folder_below_the_top_is_refused_by_name(monkeypatch):
    monkeypatch.chdir(ROOT)
    files.at_top()
    monkeypatch.chdir(ROOT / "notebooks")
    with pytest.raises(InputError, match=f"^{ROOT / 'notebooks'} is not the top"):
        files.at_top()


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ({}, "C.UTF-8"),
        ({"LC_ALL": "C"}, "C.UTF-8"),
        ({"LC_ALL": "de_DE.UTF-8", "LANG": "C"}, "de_DE.UTF-8"),
        ({"LANG": "en_US.UTF-8"}, ""),
    ],
)
def test_make_reads_a_path_that_is_not_ascii_in_the_locale_without_characters(given, used):
    kept = {k: v for k, v in os.environ.items() if k not in {"LC_ALL", "LC_CTYPE", "LANG"}}
    told = subprocess.run(
        ["make", "--no-print-directory", "--eval", "told:; @echo $$LC_ALL", "told"],
        cwd=ROOT, env=kept | given, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert told.stdout.strip() == used


@pytest.fixture
def times(monkeypatch) -> Times:
    monkeypatch.chdir(ROOT)
    return Times(load("params.yaml"), 2)


def test_a_stage_takes_the_longer_the_more_pairs_its_run_has(times):
    assert times.stage("describe@n165-s3") == SECONDS["describe"]
    assert times.stage("describe@n330-s1") > SECONDS["describe"]
    assert times.stage("describe@n35-s1") < SECONDS["describe"]


def test_a_machine_with_a_load_says_how_long_it_takes_then(monkeypatch):
    monkeypatch.setenv("STRATA_THREADS", str(cores()))
    monkeypatch.setattr(os, "getloadavg", lambda: (3.0 * cores(), 0, 0))
    assert shared(600) == f"{words(2400)}, {words(600)} were nothing else at work here"
    monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0, 0))
    assert shared(600) == words(600)


def test_a_training_takes_its_epochs_and_its_products_shared_by_the_threads(times):
    run, settings = Run(165, 1), times.params.settings(Run(165, 1))
    products = settings.train.epochs * gflop(165, settings) / RATE
    alone = Times(times.params, 1)
    assert alone.training(run) - times.training(run) == pytest.approx(products / 2)
    assert times.stage(f"train@{run}") == (whole := times.training(run))
    half = settings.train.model_copy(update={"epochs": settings.train.epochs // 2})
    times.params = times.params.model_copy(update={"train": half})
    assert 2 * times.training(run) == pytest.approx(whole)
    # benchmarks/training.md: 7.04 Gflop over 6931 distinct pairs, drawn at random
    assert gflop(165, settings) == pytest.approx(7.04, rel=5e-3)
