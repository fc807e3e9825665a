"""Two people add a run each, and a merge keeps what either has."""

import subprocess
import sys
from pathlib import Path

import pytest

from ops import files, packs
from ops.merge import union
from strata.inputs import InputError
from strata.run import read_yaml
from strata.store import write_text

ROOT = Path(__file__).parents[2]
LOCK, RUNS = "studies/dvc.lock", "studies/runs.yaml"
PACK = "studies/artifacts/metrics.tar.xz"
SETTINGS = ("-c", "user.name=a", "-c", "user.email=a", "-c", "init.defaultBranch=main")


def git(*words: str, check: bool = True) -> None:
    subprocess.run(["git", *SETTINGS, *words], check=check, capture_output=True)


def lock(runs: list[str]) -> str:
    """Return a lock with the training of these runs, and a stage that reads the list of all."""
    check = f"  check:\n    cmd: check\n    deps:\n    - path: runs.yaml\n      md5: {runs[-1]}\n"
    trainings = (f"  train@{x}:\n    cmd: train {x}\n    outs:\n    - path: {x}\n" for x in runs)
    return f"schema: '2.0'\nstages:\n{check}{''.join(trainings)}"


def commit(runs: list[str], message: str) -> None:
    """Commit a list of runs, its lock, the packs of weights and that of the metrics of all."""
    write_text(RUNS, "paper:\n" + "".join(f"  {x}: data\n" for x in runs))
    write_text(LOCK, lock(runs))
    write_text("README.md", f"{len(runs)} runs, the last is {runs[-1]}\n")
    Path(PACK).parent.mkdir(exist_ok=True)
    Path(PACK).write_bytes(packs.compress({f"{x}.json": x.encode() for x in runs}))
    for run in runs:
        weights = packs.compress({f"{run}/weights.safetensors": run.encode()})
        Path(PACK).with_name(f"{run}.tar.xz").write_bytes(weights)
    git("add", "--all")
    git("commit", "--message", message)


@pytest.fixture
def conflict(tmp_path, monkeypatch):
    """Return a clone in which git could not merge what two people did."""
    monkeypatch.chdir(tmp_path)
    git("init")
    for name in (".dvc/config", "params.yaml", "dvc.yaml", "studies/dvc.yaml"):
        write_text(name, "stages: {}\n" if name.endswith("dvc.yaml") else "")
    commit(["n6-s1"], "both begin with this")
    git("checkout", "-b", "theirs")
    commit(["n6-s1", "n6-s3"], "they add a run")
    git("checkout", "main")
    commit(["n6-s1", "n6-s2"], "we add a run")
    git("merge", "theirs", check=False)
    return tmp_path


def merge() -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ops.merge"]
    path = {"PYTHONPATH": f"{ROOT}:{ROOT / 'src'}", "PATH": "/usr/bin:/bin"}
    return subprocess.run(command, env=path, capture_output=True, text=True, check=False)


def test_a_merge_has_the_runs_stages_and_files_of_both_sides(conflict):
    with pytest.raises(
        InputError, match=r"studies/dvc.lock: has the markers of a merge: make merge"
    ):
        files.locked_stages()
    done = merge()
    assert done.returncode == 0
    assert "README.md: left to you" in done.stdout
    assert (
        f"{LOCK}: has what either side has; both sides changed check: ours is kept" in done.stdout
    )
    stages = read_yaml(LOCK)["stages"]
    assert [*stages] == ["check", "train@n6-s1", "train@n6-s2", "train@n6-s3"]
    assert stages["check"]["deps"][0]["md5"] == "n6-s2"
    assert [*read_yaml(RUNS)["paper"]] == ["n6-s1", "n6-s2", "n6-s3"]
    content = dict(packs.inside(Path(PACK).read_bytes(), PACK))
    assert content == {f"n6-s{i}.json": f"n6-s{i}".encode() for i in (1, 2, 3)}
    assert {x.name for x in Path("studies/artifacts").iterdir()} >= {
        "n6-s2.tar.xz", "n6-s3.tar.xz"}  # fmt: skip


def test_a_run_that_both_sides_add_stands_once_wherever_they_put_it(conflict):
    git("merge", "--abort")
    commit(["n6-s1", "n6-s2", "n6-s4", "n6-s5"], "we add three")
    git("checkout", "theirs")
    commit(["n6-s1", "n6-s3", "n6-s5", "n6-s4"], "they too, two of them the same")
    git("merge", "main", check=False)
    assert merge().returncode == 0
    assert read_yaml(RUNS)["paper"].keys() == {f"n6-s{i}" for i in range(1, 6)}


def test_a_run_that_a_branch_or_the_list_names_keeps_its_weights(conflict):
    git("merge", "--abort")
    commit(["n6-s2", "mlp-n6-s4", "n6-s51"], "runs whose names have others in them")
    assert packs.is_named("n6-s3")  # by the other branch's lock
    assert all(map(packs.is_named, ("n6-s2", "mlp-n6-s4", "n6-s51")))
    assert not any(map(packs.is_named, ("n6-s4", "n6-s5", "n6-s6", "metrics")))


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged", "both"),
    [
        ({"a": "1"}, {"a": "1", "b": "2"}, {"a": "3"}, {"a": "3", "b": "2"}, []),
        ({"a": "1"}, {"a": "2"}, {"a": "3"}, {"a": "2"}, ["a"]),
        ({"a": "1", "b": "1"}, {"b": "1"}, {"a": "1", "b": "1"}, {"b": "1"}, []),
        ({"a": "1"}, {}, {"a": "2"}, {"a": "2"}, ["a"]),
        ({}, {"a": "1"}, {"a": "1"}, {"a": "1"}, []),
    ],
)
def test_each_part_is_that_of_the_side_that_changed_it(base, ours, theirs, merged, both):
    assert union(base, ours, theirs) == (merged, both)
