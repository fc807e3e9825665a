"""`make verify` passes on what was really made, and names what drifted, was damaged or left out: on
a tiny project whose locks and remote fit whatever lies in it."""

import hashlib
import io
import json
import math
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from locked import FIGURE, FROZEN_PAGE, PAGE, PICTURE, ROOT, RUNS, Project
from PIL import Image
from ruamel.yaml import YAML
from safetensors.numpy import save

from ops import compare, files, shipped, trainings, verify
from ops.shipped import Out, Outs
from strata import store
from strata.inputs import InputError
from strata.run import Run
from strata.train import machine

TRAINED = f"data/train/{RUNS[0]}"


@pytest.fixture
def project(together, tmp_path) -> Project:
    return Project.copy(together, tmp_path)


def run_verify(project: Project, share: int) -> tuple[int, list[str]]:
    """Run verify, and return its exit code and the lines that it prints."""
    process = project.run("env", f"SAMPLE={share}", sys.executable, "-m", "ops.verify")
    return process.returncode, process.stdout.splitlines()


def test_what_was_made_passes_and_every_outcome_is_counted(project):
    def contents() -> dict[Path, bytes]:
        files = (x for x in project.folder.rglob("*") if x.is_file())
        apart = {".git", "__pycache__", "config.local"}  # the last names where the project is
        return {x: x.read_bytes() for x in files if not apart & {*x.parts}}

    project.commit()
    before = contents()
    code, lines = run_verify(project, 60)
    assert code == 0, lines
    # 3 splits, 3 metrics, collected, table, figure, 2 interventions, the report's, two pages; 2
    # trainings. Not drawn: a training, an intervention; never: a frozen stage, its page, one that
    # nothing keeps, two sources outside.
    assert lines[-1] == "verify: 14 made again, 2 tried in part, 7 not checked, 0 failed"
    assert sum("its first 30 epochs are the same bytes" in line for line in lines) == 2
    for name, note in (
        ("report/dvc.yaml:front", "cache: false"),
        ("studies/dynamics/dvc.yaml:dynamics@n6-s1", "frozen"),
        (FROZEN_PAGE, "it rests on studies/dynamics/dvc.yaml:dynamics@n6-s1"),
    ):
        assert any(x.startswith(f"not checked    {name}: ") and note in x for x in lines), name
    after = contents()
    result = json.loads(after.pop(project.folder / verify.RESULT))
    locks = project.do("sh", "-c", "git ls-files '*dvc.lock' | xargs cat | sha256sum").split()[0]
    commit = project.do("git", "rev-parse", "HEAD").strip()
    counts = {"made again": 14, "tried in part": 2, "not checked": 7, "failed": 0}
    assert result == {"commit": commit, "locks": locks, "sample": 60, **counts}
    assert f"commit {commit}" in lines and f"SHA-256 of all locks {locks}" in lines
    assert after == before


def test_what_code_does_not_give_again_is_named_and_so_is_damage(project, tmp_path):
    folder = project.folder
    for path in ("data/metrics/n6-s1.json", "data/collected.json", "tables/sums.md", FIGURE,
                 "studies/interventions/n6-s3.json", "report/runs.json",
                 "data/split/n6-s3.parquet"):  # fmt: skip
        (folder / path).write_text("of other code\n")
    rewrite_history(folder / TRAINED, lambda h: h.assign(loss=h["loss"] / 2))
    store.write_text(folder / "docs/more.md", "![gone](../studies/gone.png)\n![](../figure.png)\n")
    (folder / "ops/link.py").symlink_to("calls.py")
    project.lock()
    lock = folder / "runs/dvc.lock"
    content = YAML(typ="safe").load(lock)
    content["stages"]["old"] = {"cmd": "true", "outs": []}
    del content["stages"]["split@n6-s2"]
    content["stages"]["metrics@n6-s2"]["params"] = {"params.yaml": {"n": 7}}
    YAML().dump(content, lock)
    md5 = hashlib.md5((folder / "data/metrics/n6-s3.json").read_bytes()).hexdigest()
    shipped.at(md5, folder / "remote").write_text("damaged")
    project.run("git", "add", "--all")
    store.write_text(folder / "sum.py", "# not staged\n")
    killed = tmp_path / "strata-verify-killed" / "lock"
    store.write_text(killed, "")
    project.environment["TMPDIR"] = str(tmp_path)
    code, lines = run_verify(project, 100)
    failed = lines[lines.index("") :]
    assert code == 1
    assert not killed.exists()
    assert any("not staged" in x.lower() and "sum.py" in x for x in lines)
    for name, note in (
        ("runs/dvc.yaml:metrics@n6-s1", "data/metrics/n6-s1.json: other words"),
        ("collect", "data/collected.json: other words"),
        ("tables", "tables/sums.md: other words"),
        ("studies/dvc.yaml:figure", FIGURE),
        ("studies/interventions/dvc.yaml:interventions@n6-s3", "made again, "),
        ("runs/dvc.yaml:split@n6-s3", "data/split/n6-s3.parquet"),
        ("runs/dvc.yaml:train@n6-s1", "other bytes from epoch 1 on"),
        ("runs/dvc.yaml:train@n6-s2", "reads data/split/n6-s2.parquet, which is not there"),
        ("runs/dvc.yaml:old", "in no pipeline file"),
        ("runs/dvc.yaml:split@n6-s2", "it is in no lock"),
        ("runs/dvc.yaml:metrics@n6-s2", "other parameters"),
        ("runs/dvc.yaml:metrics@n6-s3", "is damaged"),
        ("report/dvc.yaml:runs", "report/runs.json"),
        (PAGE, PICTURE),
        ("docs/more.md", "studies/gone.png"),
        ("ops/link.py", "as a link"),
    ):
        assert any(f"  {name}: " in line and note in line for line in failed), (name, lines)
    assert lines[-1].endswith(f", {sum(x.startswith('failed') for x in failed)} failed")


def test_of_each_kind_a_tenth_is_drawn():
    names = files.locked_stages(ROOT)
    drawn = verify.draw(names, verify.SAMPLE)
    for kinds in verify.SAMPLED:
        pool = {x for x in names if verify.base(x) in kinds}
        assert len(drawn & pool) == math.ceil(len(pool) / 10)


@pytest.fixture
def train_folder(project, monkeypatch) -> Path:
    """Return the folder of a training, and work in its project."""
    for name in ("STRATA_THREADS", "STRATA_DEVICE"):
        monkeypatch.setenv(name, "")  # to have it as it was at the end
    monkeypatch.chdir(project.folder)
    return project.folder / TRAINED


def rewrite_history(train_folder: Path, change: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    """Write another history."""
    history = change(store.read_history(train_folder / "history.parquet"))
    columns = {name: history[name].to_numpy() for name in history}
    store.write_history(train_folder / "history.parquet", columns)


@pytest.mark.parametrize("same", [True, False])
def test_the_first_epochs_are_those_of_the_recorded_seed_and_settings(train_folder, same):
    # The bytes are the same on the machine that trained, and near on one of another kind.
    run = Run.parse(RUNS[0])
    if not same:
        path = train_folder / "environment.json"
        store.write_json(path, store.read_json(path) | {"vendor": "another", "threads": 3})
        rewrite_history(train_folder, lambda h: h.assign(loss=h["loss"] + np.float32(1e-6)))
    near = "the same bytes" if same else "as near as rounding allows"
    assert trainings.compare_first_epochs(run, train_folder).endswith(f"are {near}")
    # Each loss is now that of the epoch after.
    rewrite_history(train_folder, lambda h: h.assign(loss=h["loss"].shift(-1).ffill()))
    with pytest.raises(InputError, match="from epoch 1 on" if same else "at epoch 1: loss "):
        trainings.compare_first_epochs(run, train_folder)
    weights, config = store.read_tensors(train_folder / "weights.safetensors")
    content = store.tensors_bytes(weights, config | {"lr": 1})
    store.write_bytes(train_folder / "weights.safetensors", content)
    with pytest.raises(InputError, match="other settings"):
        trainings.compare_first_epochs(run, train_folder)


def test_a_training_repeats_where_all_that_decides_its_bits_is_known_and_the_same():
    record = machine.describe(torch.device("cpu"))
    assert record.repeats(record.model_copy(update={"seconds": 5.0, "cores": 99}))
    for update in ({"vendor": None}, {"threads": 99}, {"mkl": "2025"}, {"instructions": ()}):
        other = record.model_copy(update=update)
        assert not record.repeats(other)
        assert other.repeats(other) == ("vendor" not in update)


def test_analyses_may_differ_where_the_machine_does():
    record = machine.describe(torch.device("cpu")).model_copy(
        update={"platform": "Linux x86_64", "instructions": ("avx2", "fma3")}
    )
    assert compare.reasons(record) == []
    old = record.model_copy(update={"instructions": ("avx",)})
    assert compare.reasons(old) == ["the processor lacks AVX2", "the processor lacks FMA3"]
    arm = record.model_copy(update={"platform": "Linux aarch64"})
    assert "Linux aarch64" in compare.reasons(arm)[0]


@pytest.mark.parametrize("path", ["../x", "/etc/x", "data/../../x"])
def test_a_path_that_leaves_the_project_is_refused(path, tmp_path):
    with pytest.raises(InputError, match="must lie inside the project"):
        Outs({"a": {"outs": [{"path": path, "md5": "1" * 32}]}})
    listing = json.dumps([{"md5": "f" * 32, "relpath": path}]).encode()
    md5 = hashlib.md5(listing).hexdigest() + shipped.DIR
    store.write_bytes(shipped.at(md5, tmp_path), listing)
    with pytest.raises(InputError, match="must lie inside the project"):
        shipped.parts(Out("report", "report", md5), [tmp_path])
    with pytest.raises(InputError, match="must be an md5"):
        shipped.at(path, tmp_path)


def test_outputs_are_found_at_above_and_below_a_path():
    outs = Outs({"a": {"outs": [{"path": "x/y", "md5": "1"}, {"path": "x/z/w", "md5": "2"}]}})
    outputs = {path: [x.path for x in outs.at(path)] for path in ("x", "x/y", "x/y/v", "x/z", "q")}
    assert outputs == {"x": ["x/y", "x/z/w"], "x/y": ["x/y"], "x/y/v": ["x/y"], "x/z": ["x/z/w"],
                     "q": []}  # fmt: skip


def png(colour: int, size: int = 20) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (size, size), (colour, 0, 0)).save(file, "PNG")
    return file.getvalue()


def parquet(**columns: object) -> bytes:
    return pd.DataFrame(columns).to_parquet()


W = np.ones((2, 2), np.float32)


@pytest.mark.parametrize(
    ("name", "one", "two", "start"),
    [
        ("a.json", b'{"x": 0.123456, "n": 6}', b'{"x": 0.123457, "n": 6}', ""),
        ("a.json", b'{"x": 0.123456, "n": 6}', b'{"x": 0.124456, "n": 6}', "0.124456, shipped"),
        ("a.json", b'{"x": 1e-9}', b'{"x": 3e-9}', ""),
        ("a.csv", b"J3,96.4\n", b"J3,96.5\n", ""),
        ("a.md", "| −3 | 1,000.0 |".encode(), "| −3 |  999.9 |".encode(), ""),
        ("a.png", png(100), png(101), ""),
        ("a.png", png(100), png(200), "another picture"),
        ("a.png", png(100), png(100, 21), "21 × 21 pixels"),
        ("a.png", png(100), b"nonsense", "not to be compared"),
        ("a.parquet", parquet(x=[1.0, 2.0]), parquet(x=[1.0, 2.0001]), ""),
        ("a.parquet", parquet(x=[1.0, 2.0]), parquet(x=[1.0, 2.5]), "x differs in 1 of 2 values"),
        ("a.parquet", parquet(x=[1, 2]), parquet(x=[1, 3]), "x differs in 1 of 2 values"),
        ("a.parquet", parquet(x=[1, 2]), parquet(y=[1, 2]), "other columns"),
        ("a.parquet", parquet(x=[[1.0, 2.0]]), parquet(x=[[1.0, 2.5]]), "x differs in 1 of 2"),
        ("a.safetensors", save({"W": W}), save({"W": W * 1.0001}), ""),
        ("a.safetensors", save({"W": W}), save({"W": W * 1.1}), "W differs in 4 of 4 values"),
    ],
)
def test_files_of_another_kind_of_machine_are_alike_within_a_tolerance(name, one, two, start):
    difference = compare.difference(one, two, name)
    assert difference.startswith(start) if start else difference == ""
