"""`make verify` passes on what was really made, and fails on whatever was made up or damaged."""

import hashlib
import io
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image
from safetensors.numpy import save
from test_pipeline import RUN, Project, copied

from strata import likeness, pipelines, store, verify
from strata.params import load
from strata.run import InputError, Run

METRICS, HISTORY = f"data/metrics/{RUN}.json", f"data/train/{RUN}/history.parquet"
WEIGHTS = f"data/train/{RUN}/weights.safetensors"


@pytest.fixture
def project(made, tmp_path) -> Project:
    return copied(made, tmp_path)


def verified(project: Project) -> tuple[int, str]:
    """Exit code and report."""
    done = project.run(sys.executable, "scripts/verify.py")
    return done.returncode, done.stdout


def shipped(project: Project, path: str) -> Path:
    """The object of an output in the project's remote."""
    outs = verify.outs(pipelines.locked(project.folder))
    return verify.at(project.folder / "remote", outs[path].md5)


def make_up(project: Project, path: str, content: bytes) -> None:
    """Other content for an output, with every md5 in dvc.lock and the remote as it should be."""
    old = shipped(project, path)
    md5 = hashlib.md5(content).hexdigest()
    new = verify.at(project.folder / "remote", md5)
    new.parent.mkdir(exist_ok=True)
    new.write_bytes(content)
    for lock in pipelines.present(project.folder, map(pipelines.lock, pipelines.FILES)):
        text = lock.read_text().replace(old.parent.name + old.name, md5)
        lock.write_text(text.replace(f"size: {old.stat().st_size}\n", f"size: {len(content)}\n"))
    old.unlink()


def test_what_was_made_passes_and_the_project_is_only_read(project):
    before = {p: p.read_bytes() for p in project.folder.rglob("*") if p.is_file()}
    code, report = verified(project)
    assert code == 0, report
    assert "FAIL" not in report
    assert f"n6-s1: first {verify.EPOCHS} epochs, trained again" in report
    assert f"metrics@{RUN}: made again" in report and "hierarchy: made again" in report
    after = {p: p.read_bytes() for p in project.folder.rglob("*") if p.is_file()}
    assert {p: x for p, x in after.items() if "__pycache__" not in p.parts} == {
        p: x for p, x in before.items() if "__pycache__" not in p.parts
    }


def test_what_was_made_up_fails_by_name_even_where_every_md5_fits(project):
    """Numbers and a course of training that nobody computed, an object with one bit flipped, and a
    stage that dvc.lock says read something else."""
    numbers = json.loads(shipped(project, METRICS).read_bytes())
    numbers["accuracy"]["all"] = 1.0
    make_up(project, METRICS, (json.dumps(numbers, indent=1, sort_keys=True) + "\n").encode())
    history = store.read_history(shipped(project, HISTORY))
    history.loc[2, "loss"] += np.float32(1e-4)
    made_up = project.folder.parent / "history.parquet"
    store.write_history(made_up, {name: history[name].to_numpy() for name in history})
    make_up(project, HISTORY, made_up.read_bytes())
    table = shipped(project, "tables/claims.csv")
    content = bytearray(table.read_bytes())
    content[9] ^= 1
    table.chmod(0o644)
    table.write_bytes(content)
    lock = project.folder / "runs" / "dvc.lock"
    lock.write_text(lock.read_text().replace("variance: 0.95", "variance: 0.9"))
    with (project.folder / "src" / "strata" / "moments.py").open("a") as module:
        module.write("# changed\n")
    code, report = verified(project)
    assert code == 1
    failed = [line for line in report.splitlines() if " FAIL " in line]
    assert report.splitlines()[-1].startswith(f"verify: {len(failed)} of ")
    for what, named in (
        ("objects of remote/", table.parent.name + table.name),
        ("against dvc.yaml, code and params.yaml", f"code, metrics@{RUN}"),
        ("n6-s1: first 100 epochs", "from epoch 3 on"),
        (f"metrics@{RUN}: made again", f"other bytes: {METRICS}"),
    ):
        assert any(what in line and named in line for line in failed), (what, report)


def history(*losses: float) -> pd.DataFrame:
    columns = {name: np.full(len(losses), np.nan) for name in store.HISTORY.names}
    columns |= {"epoch": np.arange(1, len(losses) + 1), "loss": np.array(losses, np.float32)}
    return pd.DataFrame(columns)


def test_histories_of_one_platform_are_equal_or_part_at_a_named_epoch():
    one = history(3, 2, 1, np.nan)
    assert "from epoch 2 on" in verify.parting(one, history(3, 2.0001, 1, np.nan), exact=True)
    assert "from epoch 4 on" in verify.parting(one, history(3, 2, 1, 1), exact=True)


@pytest.mark.parametrize(
    ("epoch", "by", "allowed"),
    [(1, 1e-5, True), (5, 1e-3, False), (6, 1e-3, True), (50, 0.02, False), (51, 0.02, True),
     (100, 0.2, False), (100, np.nan, False)],
)  # fmt: skip
def test_histories_of_two_machines_may_part_the_more_the_later(epoch, by, allowed):
    losses = np.linspace(1, 0.5, 100)
    other = losses.copy()
    other[epoch - 1] += by
    said = verify.parting(history(*losses), history(*other), exact=False)
    assert (said == "") == allowed
    assert allowed or f"at epoch {epoch}," in said


def test_a_lock_that_contradicts_itself_names_the_stage():
    stages = {
        "a": {"outs": [{"path": "x", "md5": "1"}]},
        "b": {"deps": [{"path": "x", "md5": "1"}, {"path": "code", "md5": "5"}], "outs": []},
    }
    assert verify.contradictions(stages) == []
    stages["b"]["deps"][0]["md5"] = "2"
    assert verify.contradictions(stages) == ["b read another x"]


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
    assert likeness.difference(one, one, name) == ""
    found = likeness.difference(one, two, name)
    assert (found == "") == (said == "") and said in found


def test_weights_must_fit_the_end_of_their_history(made, tmp_path):
    folder = tmp_path / "train"
    shutil.copytree(made.folder / "data" / "train" / RUN, folder)
    given, run = load(made.folder / "params.yaml"), Run.parse(RUN)
    assert verify.ending(folder, run, given.split, given.train).passed
    course = store.read_history(folder / "history.parquet")
    made_up = course.assign(validation_accuracy=1.0)
    store.write_history(folder / "history.parquet", {x: made_up[x].to_numpy() for x in made_up})
    found = verify.ending(folder, run, given.split, given.train)
    assert found.passed is False and "recorded 1.0000" in found.note
    store.write_history(folder / "history.parquet", {x: course[x].to_numpy()[:-1] for x in course})
    assert "epochs, must be 40" in verify.ending(folder, run, given.split, given.train).note
    other = given.train.model_copy(update={"lr": 0.5})
    assert "other parameters" in verify.ending(folder, run, given.split, other).note
