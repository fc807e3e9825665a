"""Runs are found from anywhere: in a clone, in its DVC remote, at an address, and say if not."""

import subprocess
import sys
import tarfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.numpy import load_file
from small import TRAIN, history_of, kind_of, weights_of

import strata
from strata import store
from strata.api import clones, console
from strata.api.repository import SUMMARY
from strata.inputs import InputError
from strata.run import Run, Settings, SplitParams

RUNS = [Run(6, 1), Run(6, 1, "mlp")]
SPLIT = SplitParams(train_fraction=0.3, validation_fraction=0.3)
LINE = {
    "run": "n6-s1", "n": 6, "seed": 1, "variant": "", "architecture": "transformer", "epochs": 1,
    "accuracy": 0.5, "validation": 0.25, "key": 2, "frequencies": 3, "spared": None,
}  # fmt: skip


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=tester", "-c", "user.email=tester@example.org"]
    subprocess.run(["git", "-C", str(folder), *identity, *words], check=True, capture_output=True)


def dvc(folder: Path, *words: str) -> None:
    command = [sys.executable, "-m", "dvc", *words]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def clone(tmp_path_factory) -> Path:
    """Make a repository with two runs that only its remote has, a folder inside the repository."""
    folder = tmp_path_factory.mktemp("clone")
    (folder / clones.PIPELINE).parent.mkdir(parents=True)
    (folder / clones.PIPELINE).write_text("stages: {}\n")
    for run in RUNS:
        record = Settings(split=SPLIT, train=kind_of(run, TRAIN)).record(run)
        content = store.tensors_bytes(weights_of(run), record)
        store.write_bytes(folder / "data/train" / str(run) / "weights.safetensors", content)
        history = {str(k): x.to_numpy() for k, x in history_of([0.5, 1.0]).items()}
        store.write_history(folder / "data/train" / str(run) / "history.parquet", history)
    store.write_json(folder / SUMMARY, [LINE])
    (folder / "runs/artifacts").mkdir(parents=True)
    with tarfile.open(folder / "runs/artifacts/mlp-n6-s1.tar.xz", "w:xz") as pack:
        pack.add(folder / "data/train/mlp-n6-s1", "data/train/mlp-n6-s1")
    git(folder, "init", "--quiet", "--initial-branch", "main")
    git(folder, "config", "uploadpack.allowFilter", "true")
    dvc(folder, "init", "--quiet")
    dvc(folder, "remote", "add", "--quiet", "--default", "here", "remote")
    dvc(folder, "add", "--quiet", "data", "report/data")
    dvc(folder, "push", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "runs")
    return folder


@pytest.fixture
def bare(clone, tmp_path_factory) -> Path:
    """Clone the repository without data and without a cache."""
    folder = tmp_path_factory.mktemp("bare") / "clone"
    git(clone, "clone", "--quiet", str(clone), str(folder))
    return folder


def test_a_run_is_the_weights_of_its_file_from_any_working_directory(clone, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for run in RUNS:
        model = strata.load(str(run), clone)
        assert model.run == run and type(model).__name__ in {"Transformer", "MLP"}
        for name, x in weights_of(run).items():
            np.testing.assert_array_equal(model.weights()[name], x)
    frame = strata.runs(clone)
    assert frame.loc["n6-s1", "accuracy"] == 0.5 and frame.index.name == "run"


def test_activations_of_many_runs_are_one_frame_or_files_of_it(clone, tmp_path):
    names = [str(run) for run in RUNS]
    frame = strata.activations(names, "mlp_post", clone)
    for name in names:
        _, cache = strata.load(name, clone).run_with_cache([2], [5])
        row = frame.query(f"run == {name!r} and a == 2 and b == 5").drop(columns=["run", "a", "b"])
        np.testing.assert_allclose(row.to_numpy(), cache["post"].flatten(1), rtol=1e-4)
    assert strata.activations(names, "mlp_post", clone, out=tmp_path / "all").empty
    assert len(pd.read_parquet(tmp_path / "all")) == len(frame) == 2 * 36
    with pytest.raises(InputError, match="is there already"):
        strata.activations(names, "mlp_post", clone, out=tmp_path / "all")


def test_what_a_clone_lacks_comes_from_its_remote(bare, monkeypatch):
    assert not (bare / "data").exists()
    monkeypatch.setenv(clones.REPOSITORY, str(bare))
    monkeypatch.chdir(bare / "runs")
    assert strata.load("n6-s1").n == 6
    assert not (bare / "data").exists()


def test_a_bare_repository_is_cloned_as_an_address_is(clone, tmp_path, monkeypatch):
    monkeypatch.setattr(clones, "user_cache_path", lambda *a, **k: tmp_path / "cache")
    git(clone, "clone", "--quiet", "--bare", str(clone), str(tmp_path / "bare.git"))
    monkeypatch.chdir(tmp_path)
    assert strata.load("n6-s1", "bare.git").n == 6


def test_an_address_is_cloned_once_and_its_packs_are_fetched_when_they_are_asked_for(
    clone, tmp_path, monkeypatch
):
    monkeypatch.setattr(clones, "user_cache_path", lambda *a, **k: tmp_path)
    address = clone.as_uri()
    assert strata.load("n6-s1", address, rev="main").n == 6
    [cached] = tmp_path.iterdir()
    git(cached, "remote", "add", "other", "nowhere")  # still there: it was not made again

    def lacks_objects() -> bool:
        command = ["git", "-C", str(cached), "rev-list", "--objects", "HEAD", "--missing=print"]
        return b"?" in subprocess.run(command, capture_output=True, check=True).stdout

    assert lacks_objects()
    model = strata.load("mlp-n6-s1", address, rev="main")
    assert isinstance(model, strata.MLP) and not lacks_objects()
    assert strata.runs(address, rev="main").index.tolist() == ["n6-s1"]
    assert [*tmp_path.iterdir()] == [cached]
    assert b"other" in subprocess.check_output(["git", "-C", str(cached), "remote"])


def test_the_working_directory_counts_where_the_package_is_in_no_clone(clone, monkeypatch):
    monkeypatch.delenv(clones.REPOSITORY, raising=False)
    monkeypatch.setattr(clones, "__file__", "/usr/lib/python3/strata/api/repository.py")
    monkeypatch.chdir(clone / "data")
    assert clones.locate(None) == str(clone)
    monkeypatch.chdir("/")
    with pytest.raises(InputError, match="give load or runs the path or address of one, or set"):
        strata.load("n6-s1")


@pytest.mark.parametrize(
    ("name", "options", "line"),
    [
        ("n6-s2", {}, r"n6-s2: .+ has no weights of this run; strata\.runs\(\) lists .+ dvc pull"),
        ("n6", {}, "run = 'n6': must look like n165-s1"),
        ("n6-s1", {"device": "tpu"}, "device = 'tpu': must be one of cpu"),
        ("n6-s1", {"rev": "nope"}, "unknown Git revision 'nope'"),
    ],
)
def test_what_is_not_there_is_said_in_one_line(clone, name, options, line):
    with pytest.raises(InputError, match=rf"\A.*{line}.*\Z"):
        strata.load(name, clone, **options)


def test_an_address_that_is_none_is_said_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(clones, "user_cache_path", lambda *a, **k: tmp_path)
    with pytest.raises(InputError, match="nowhere: no folder, and git cannot fetch it"):
        strata.runs("nowhere")
    assert [*tmp_path.iterdir()] == []


@pytest.fixture
def run_command(clone, monkeypatch, capsys):
    """Run the command and return what it prints."""

    def call(*words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["strata", *words, "--repository", str(clone)])
        console.main()
        return capsys.readouterr().out

    return call


def test_the_command_asks_a_model_and_says_whether_it_is_right(run_command):
    first, second, third = run_command("ask", "n6-s1", "5", "4").splitlines()
    assert first == "5 · 4 = 2 mod 6" and second.startswith("n6-s1 answers ")
    assert second.endswith(": right") == ("answers 2," in second) and third.startswith("next: ")


def test_the_command_lists_the_runs(run_command):
    heading, line = run_command("runs").splitlines()
    assert heading.split()[:2] == ["n", "seed"] and line.split()[0] == "n6-s1" and "50.0%" in line


def test_the_command_writes_a_run_in_each_format(run_command, clone, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_command("export", "n6-s1", "--to", "safetensors") == "wrote n6-s1.safetensors\n"
    path = clone / "data/train/n6-s1/weights.safetensors"
    assert Path("n6-s1.safetensors").read_bytes() == path.read_bytes()
    run_command("export", "n6-s1", "--to", "published", "--out", "x.pt")
    assert set(torch.load("x.pt", weights_only=True)) > {"model_state_dict", "config"}
    run_command("export", "n6-s1", "--to", "lens")
    tensors = load_file("n6-s1-lens.safetensors")
    for name, x in strata.load("n6-s1", clone).state_dict().items():
        np.testing.assert_array_equal(tensors[name], x)
    _, metadata = store.read_tensors("n6-s1-lens.safetensors")
    assert metadata["cfg"]["n_heads"] == 3 and not tensors["pos_embed.W_pos"].any()


def test_the_command_ends_with_one_line_and_code_1(run_command, monkeypatch):
    with pytest.raises(SystemExit) as stop:
        run_command("ask", "n6-s1", "6", "1")
    assert stop.value.code == "strata ask: a = 6: must be from 0 to 5"


def test_every_public_name_is_there_and_in_the_stub():
    stub = Path(strata.__file__ or "").with_suffix(".pyi").read_text()
    names = {*dir(strata)} - {"__version__"}
    assert all(f" {name} as {name}\n" in stub for name in names)
    assert len(stub.splitlines()) == len(names) + 2 and "__version__: str" in stub
    assert all(getattr(strata, name) is not None for name in dir(strata))
    with pytest.raises(AttributeError, match="no attribute 'lod'"):
        getattr(strata, "lod")  # noqa: B009
