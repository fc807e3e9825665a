"""`make verify` passes on what was really made, and fails on whatever was made up or damaged."""

import hashlib
import io
import json
import re
import shutil
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from PIL import Image
from safetensors.numpy import save
from tiny import ROOT, RUN, Project, copied

from ops import again, compare, files, first_epochs, verify
from ops.claim import Claim
from strata import store
from strata.params import load
from strata.run import InputError, Run
from strata.train import environment, machine
from strata.train.trainer import Trainer

METRICS, HISTORY = f"data/metrics/{RUN}.json", f"data/train/{RUN}/history.parquet"
ACTIVATIONS = f"data/activations/{RUN}.parquet"
WEIGHTS = f"data/train/{RUN}/weights.safetensors"
INTERVENTIONS = f"data/interventions/{RUN}.json"
EPOCHS = first_epochs.EPOCHS


@pytest.fixture
def project(made, tmp_path) -> Project:
    return copied(made, tmp_path)


def verified(project: Project) -> tuple[int, str]:
    """Exit code and report."""
    done = project.run(sys.executable, "ops/scripts/verify.py")
    return done.returncode, done.stdout


def shipped(project: Project, path: str) -> Path:
    """The object of an output in the project's remote."""
    outs = verify.outs(files.locked(project.folder))
    return verify.at(project.folder / "remote", outs[path].md5)


def make_up(project: Project, path: str, content: bytes) -> None:
    """Other content for an output, with every md5 in dvc.lock and the remote as it should be."""
    old = shipped(project, path)
    md5 = hashlib.md5(content).hexdigest()
    new = verify.at(project.folder / "remote", md5)
    new.parent.mkdir(exist_ok=True)
    new.write_bytes(content)
    for lock in files.present(project.folder, map(files.lock, files.FILES)):
        text = lock.read_text().replace(old.parent.name + old.name, md5)
        lock.write_text(text.replace(f"size: {old.stat().st_size}\n", f"size: {len(content)}\n"))
    old.unlink()


def failed(report: str) -> list[str]:
    return [line for line in report.splitlines() if line.startswith("FAIL ")]


def test_what_was_made_passes_and_the_project_is_only_read(project):
    before = {p: p.read_bytes() for p in project.folder.rglob("*") if p.is_file()}
    code, report = verified(project)
    assert code == 0, report
    assert not failed(report)
    for line in (
        f"{RUN}: first {EPOCHS} epochs, trained again: the same bytes",
        f"metrics@{RUN}: made again: the same bytes",
        "fig01-hierarchy: made again: the same bytes",
    ):
        assert f"pass  {line}" in report
    after = {p: p.read_bytes() for p in project.folder.rglob("*") if p.is_file()}
    assert {p: x for p, x in after.items() if "__pycache__" not in p.parts} == {
        p: x for p, x in before.items() if "__pycache__" not in p.parts
    }


def moved(history: pd.DataFrame) -> pd.DataFrame:
    """A history whose every loss is that of the epoch after."""
    return history.assign(loss=[*history["loss"][1:], history["loss"].iloc[-1]])


def parquet_of(history: pd.DataFrame, folder: Path) -> bytes:
    path = folder / "history.parquet"
    store.write_history(path, {name: history[name].to_numpy() for name in history})
    return path.read_bytes()


def test_what_was_made_up_fails_by_name_even_where_every_md5_fits(project, tmp_path):
    """A history moved by one epoch, a cell of a table, another figure's picture, numbers made up,
    an object with one bit flipped, a stage that dvc.lock says read something else."""
    history = moved(store.read_history(shipped(project, HISTORY)))
    make_up(project, HISTORY, parquet_of(history, tmp_path))
    cells = shipped(project, "tables/jclasses.csv").read_text()
    make_up(project, "tables/jclasses.csv", cells[::-1].replace("1", "2", 1)[::-1].encode())
    other = shipped(project, "figures/logits.png").read_bytes()
    make_up(project, "figures/fig01-hierarchy.png", other)
    numbers = json.loads(shipped(project, INTERVENTIONS).read_bytes())
    make_up(project, INTERVENTIONS, json.dumps(numbers | {"accuracy": 1.0}).encode())
    table = shipped(project, "tables/claims.csv")
    content = bytearray(table.read_bytes())
    content[9] ^= 1
    table.chmod(0o644)
    table.write_bytes(content)
    lock = project.folder / "pipelines" / "runs" / "dvc.lock"
    lock.write_text(lock.read_text().replace("variance: 0.95", "variance: 0.9"))
    with (project.folder / "studies" / "dynamics" / "code" / "schedule.py").open("a") as module:
        module.write("# changed\n")
    code, report = verified(project)
    assert code == 1
    lines = failed(report)
    assert report.splitlines()[-1].startswith(f"verify: {len(lines) // 2} of ")  # each said twice
    for what, named in (
        ("objects of remote/", table.parent.name + table.name),
        ("against dvc.yaml, code and params.yaml", "code, check@runs"),
        (f"{RUN}: first {EPOCHS} epochs", "other bytes from epoch 1 on"),
        ("tables: made again", "other bytes: tables/jclasses.csv"),
        ("fig01-hierarchy: made again", "other bytes: figures/fig01-hierarchy.png"),
        (f"interventions@{RUN}: made again", f"other bytes: {INTERVENTIONS}"),
    ):
        assert any(what in line and named in line for line in lines), (what, report)


@pytest.mark.parametrize(
    ("tensor", "stage", "path"),
    [("W_E", "metrics", METRICS), ("W_U", "activations", ACTIVATIONS)],
)
def test_a_weight_changed_by_a_thousandth_fails(
    project, tmp_path, monkeypatch, tensor, stage, path
):
    weights, config = store.read_tensors(shipped(project, WEIGHTS))
    weights[tensor][1, 1] += np.float32(1e-3)
    make_up(project, WEIGHTS, store.tensors_bytes(weights, config))
    monkeypatch.chdir(project.folder)
    claim, copy = Claim(), tmp_path / "copy"
    assert f"{stage}@{RUN}" in claim.again
    claim.again = [f"{stage}@{RUN}"]
    again.copy(claim, copy)
    [(name, ran)] = again.done(again.stages(claim, copy), 1)
    found = again.compared(claim, name, ran, copy, exact=True)
    assert found == (f"{stage}@{RUN}: made again", False, f"other bytes: {path}")


@pytest.fixture
def folder(made, tmp_path) -> Path:
    """What train wrote for the run, to do anything with."""
    shutil.copytree(made.folder / "data" / "train" / RUN, tmp_path / "train")
    return tmp_path / "train"


def test_a_run_under_the_name_of_another_fails(made, folder):
    given, run, other = load(made.folder / "params.yaml"), Run.parse(RUN), Run.parse("n6-s2")
    trainer = Trainer(other, given.train, verify.dealt(other, given.split))
    trainer.advance(given.train.epochs)
    _, config = store.read_tensors(folder / "weights.safetensors")
    content = store.tensors_bytes(trainer.weights(), config)
    store.write_bytes(folder / "weights.safetensors", content)
    store.write_history(folder / "history.parquet", trainer.history())
    for known in (True, False):
        if not known:
            strange(folder)
        found = first_epochs.compared(folder, run, given.split, given.train)
        assert ("other bytes from epoch 1" if known else "at epoch 1:") in found.fault


def strange(folder: Path, **more: str) -> None:
    """Make the record one that names the vendor of the processor, and not what it was."""
    old = store.read_json(folder / "environment.json")
    store.write_json(folder / "environment.json", old | {"processor": None} | more)


def test_runs_are_held_to_the_byte_where_another_of_their_kind_came_out_so(made, folder):
    given, run = load(made.folder / "params.yaml"), Run.parse(RUN)
    same = first_epochs.compared(folder, run, given.split, given.train)
    assert same.same and first_epochs.judged(RUN, same, set()).passed
    strange(folder)
    history = store.read_history(folder / "history.parquet")
    history.loc[2, "loss"] += np.float32(1e-6)
    parquet_of(history, folder)
    near = first_epochs.compared(folder, run, given.split, given.train)
    assert not near.settled
    assert first_epochs.judged(RUN, near, set()).passed
    assert first_epochs.judged(RUN, near, {same.kind}).passed is False
    strange(folder, vendor="another")
    other = first_epochs.compared(folder, run, given.split, given.train)
    assert first_epochs.judged(RUN, other, {same.kind}).passed
    parquet_of(moved(history), folder)
    assert "at epoch 1: " in first_epochs.compared(folder, run, given.split, given.train).fault


def history(*losses: float) -> pd.DataFrame:
    columns = {name: np.full(len(losses), np.nan) for name in store.HISTORY.names}
    columns |= {"epoch": np.arange(1, len(losses) + 1), "loss": np.array(losses, np.float32)}
    return pd.DataFrame(columns)


def test_histories_are_equal_or_differ_from_an_epoch_on():
    one = history(3, 2, 1, np.nan)
    assert first_epochs.differs(one, history(3, 2, 1, np.nan)) is None
    assert first_epochs.differs(one, history(3, 2.0001, 1, np.nan)) == 2
    assert first_epochs.differs(one, history(3, 2, 1, 1)) == 4


@pytest.mark.parametrize(
    ("epoch", "by", "allowed"),
    [(1, 0.019, True), (20, 0.021, False), (21, 0.099, True), (40, 0.11, False),
     (40, np.nan, False), (1, 1, False), (40, 1, False)],
)  # fmt: skip
def test_histories_of_two_machines_may_be_apart_by_a_share_of_an_epoch(epoch, by, allowed):
    rate = 0.01
    losses = 5 - rate * np.arange(100)
    other = losses[:EPOCHS].copy()
    other[epoch - 1] += by * rate
    said = first_epochs.parting(history(*losses), history(*other))
    assert (said == "") == allowed
    assert allowed or said.startswith(f"at epoch {epoch}: ")


def test_a_history_moved_by_one_epoch_is_one_epoch_apart_at_every_epoch():
    losses = 5 * np.exp(-np.arange(100) / 40)
    found = first_epochs.apart(history(*losses), history(*losses[1:41]))
    np.testing.assert_allclose(found, 1, atol=0.15)
    assert not first_epochs.apart(history(3, np.nan), history(3, np.nan)).any()
    assert np.isinf(first_epochs.apart(history(3, np.nan), history(3, 2))[1])


def slow(seconds: float, path: Path) -> float:
    time.sleep(seconds)
    with path.open("a") as file:
        file.write(f"{seconds}\n")
    return seconds


def test_a_task_waits_for_those_it_names_and_what_most_rests_on_goes_first(tmp_path):
    path = tmp_path / "order"
    tasks = {
        "alone": again.Task(slow, (0.1, path)),
        "last": again.Task(slow, (0.2, path), frozenset({"first", "unknown"})),
        "first": again.Task(slow, (0.3, path)),
    }
    assert dict(again.done(tasks, 1)) == {"alone": 0.1, "last": 0.2, "first": 0.3}
    assert path.read_text().split() == ["0.3", "0.1", "0.2"]


def test_analyses_may_differ_where_machine_or_packages_do(tmp_path):
    here = machine.describe(torch.device("cpu")).model_copy(
        update={"platform": "Linux x86_64", "instructions": ("avx2", "fma3")}
    )
    assert compare.reasons(here, ROOT) == []
    old = here.model_copy(update={"instructions": ("avx",)})
    assert compare.reasons(old, ROOT) == ["the processor lacks AVX2", "the processor lacks FMA3"]
    arm = here.model_copy(update={"platform": "Linux aarch64"})
    assert "Linux aarch64" in compare.reasons(arm, ROOT)[0]
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    lock = (ROOT / "requirements.lock").read_text()
    (tmp_path / "requirements.lock").write_text(re.sub("numpy==.*", "numpy==1.0", lock))
    assert compare.reasons(here, tmp_path)[0].endswith("not 1.0")


def test_a_training_repeats_where_all_that_decides_its_bits_is_known_and_the_same():
    here = machine.describe(torch.device("cpu"))
    assert here.repeats(here.model_copy(update={"seconds": 5.0, "cores": 99}))
    for update in ({"vendor": None}, {"threads": 99}, {"mkl": "2025"}, {"instructions": ()}):
        assert not here.repeats(here.model_copy(update=update))
        other = here.model_copy(update=update)
        assert other.repeats(other) == ("vendor" not in update)


@pytest.mark.parametrize(
    ("change", "named"),
    [({"threads": "x"}, "threads"), ({"turbo": True}, "turbo"), ({"torch": None}, "torch")],
)
def test_a_record_of_a_machine_is_refused_by_the_key_that_is_wrong(change, named, folder):
    path = folder / "environment.json"
    assert environment.read(path).vendor == machine.describe(torch.device("cpu")).vendor
    store.write_json(path, store.read_json(path) | change)
    with pytest.raises(InputError, match=named):
        environment.read(path)


def test_a_lock_that_contradicts_itself_names_the_stage():
    stages = {
        "a": {"outs": [{"path": "x", "md5": "1"}]},
        "b": {"deps": [{"path": "x", "md5": "1"}, {"path": "code", "md5": "5"}], "outs": []},
    }
    assert verify.contradictions(stages) == []
    stages["b"]["deps"][0]["md5"] = "2"
    assert verify.contradictions(stages) == ["b read another x"]
    stages["b"]["deps"] = [{"path": "x/y", "md5": "2"}]
    assert verify.contradictions(stages, [verify.Out("a", "x/y", "2")]) == []
    assert verify.contradictions(stages, [verify.Out("a", "x/y", "3")]) == ["b read another x/y"]


def test_a_folder_is_its_files(tmp_path):
    listing = json.dumps([{"md5": "f" * 32, "relpath": "sub/page.html"}]).encode()
    md5 = hashlib.md5(listing).hexdigest() + ".dir"
    verify.at(tmp_path, md5).parent.mkdir(parents=True)
    verify.at(tmp_path, md5).write_bytes(listing)
    assert verify.objects(tmp_path) == {md5: True}
    files = list(verify.files(tmp_path, verify.Out("report", "report", md5)))
    assert files == [verify.Out("report", "report/sub/page.html", "f" * 32)]


@pytest.mark.parametrize("path", ["../x", "/etc/x", "data/../../x"])
def test_a_path_that_leaves_the_project_is_refused(path, tmp_path):
    with pytest.raises(InputError, match="must lie inside the project"):
        verify.outs({"a": {"outs": [{"path": path, "md5": "1" * 32}]}})
    listing = json.dumps([{"md5": "f" * 32, "relpath": path}]).encode()
    md5 = hashlib.md5(listing).hexdigest() + ".dir"
    verify.at(tmp_path, md5).parent.mkdir(parents=True)
    verify.at(tmp_path, md5).write_bytes(listing)
    with pytest.raises(InputError, match="must lie inside the project"):
        list(verify.files(tmp_path, verify.Out("report", "report", md5)))


def png(colour: int, size: int = 20) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (size, size), (colour, 0, 0)).save(file, "PNG")
    return file.getvalue()


def parquet(**columns: object) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize(
    ("name", "one", "two", "said"),
    [
        ("a.json", b'{"x": 0.123456, "n": 6}', b'{"x": 0.123457, "n": 6}', ""),
        ("a.json", b'{"x": 0.123456, "n": 6}', b'{"x": 0.124456, "n": 6}', "0.124456, shipped"),
        ("a.json", b'{"x": 1.5}', b'{"y": 1.5}', "other words"),
        ("a.json", b'{"x": 1e-9}', b'{"x": 3e-9}', ""),
        ("a.csv", b"J3,96.4\n", b"J3,96.5\n", ""),
        ("a.csv", b"J3,96.4\n", b"J3,97.0\n", "97.0, shipped 96.4"),
        ("a.md", "| −0.8 |".encode(), b"| 0.8 |", "0.8, shipped"),
        ("a.html", b"<img src='data:image/png;base64,A1'>", b"<img src='data:image/png;Q'>", ""),
        ("a.html", b"<code>" + b"a1" * 16, b"<code>" + b"b2" * 16, ""),
        ("a.js", b"x=1.5,'" + b"a1" * 16 + b"'", b"x=1.50001,'" + b"b2" * 16 + b"'", ""),
        ("a.js", b"x=1.50", b"x=1.60", "1.60, shipped 1.50"),
        ("a.txt", b"a1" * 16 + b"  a.py", b"b2" * 16 + b"  a.py", "other words"),
        ("a.md", b"| 6,400 |", b"| 6,401 |", ""),
        ("a.md", b"| 6,400 |", b"| 6,500 |", "6500, shipped 6400"),
        ("a.png", png(100), png(101), ""),
        ("a.json", b'{"x": 1.0, "md5": "b5e412c"}', b'{"x": 1.00001, "md5": "b5e412c"}', ""),
        ("a.png", png(100), png(200), "another picture"),
        ("a.png", png(100), png(100, 21), "21 × 21 pixels, shipped 20 × 20"),
        ("a.png", png(100), b"none", "not to be compared"),
        ("a.pdf", b"%PDF-1", b"%PDF-2", ""),
        ("a.pdf", b"%PDF-1", b"<html>", "other bytes"),
        ("a.bin", b"1", b"2", "other bytes"),
        ("a.parquet", parquet(x=[1.0, 2.0]), parquet(x=[1.0, 2.0001]), ""),
        ("a.parquet", parquet(x=[1.0, 2.0]), parquet(x=[1.0, 2.1]), "x differs in 1 of 2 values"),
        ("a.parquet", parquet(x=["a"]), parquet(x=["b"]), "x differs in 1 of 1 values"),
        ("a.parquet", parquet(x=[[1.0, 2.0]]), parquet(x=[[1.0, 3.0]]), "x differs in 1 of 2"),
        ("a.parquet", parquet(x=[1]), parquet(y=[1]), "other columns"),
        ("a.safetensors", save({"W": np.ones(2)}), save({"W": np.ones(3)}), "W is float64 (3,)"),
    ],
)  # fmt: skip
def test_files_of_two_machines_are_alike_within_a_tolerance(name, one, two, said):
    assert compare.difference(one, one, name) == ""
    found = compare.difference(one, two, name)
    assert (found == "") == (said == "") and said in found


def test_weights_must_fit_the_end_of_their_history(made, folder):
    given, run = load(made.folder / "params.yaml"), Run.parse(RUN)
    table = made.folder / "data" / "split" / f"{RUN}.parquet"

    def ending(split=given.split, train=given.train) -> verify.Outcome:
        return verify.ending(folder, table, run, split, train)

    def thin(history: pd.DataFrame) -> None:
        columns = {name: history[name].to_numpy() for name in history}
        store.write_thinned(folder / "history.csv", columns)

    assert ending().passed
    course = store.read_history(folder / "history.parquet")
    parquet_of(course.assign(validation_accuracy=1.0), folder)
    assert "not its history, thinned" in ending().note
    thin(course.assign(validation_accuracy=1.0))
    assert ending().passed is False and "recorded 1.0000" in ending().note
    parquet_of(course.iloc[:-1], folder)
    thin(course.iloc[:-1])
    assert "epochs, must be 40" in ending().note
    assert "other parameters" in ending(train=given.train.model_copy(update={"lr": 0.5})).note
    other = given.split.model_copy(update={"train_fraction": 0.5})
    assert "not the split of seed 1" in ending(split=other).note
