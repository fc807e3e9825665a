"""Snapshots: whole and of this configuration or refused, one process at a time, gone once
recorded."""

import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from strata import store
from strata.run import InputError
from strata.train import snapshots

STATE = {"row": np.array([3]), "parameter": np.arange(6, dtype=np.float32)}


@pytest.fixture
def snapshot(tmp_path) -> snapshots.Snapshot:
    made = snapshots.Snapshot(tmp_path / "s", "n6-s1", "key")
    made.save(STATE, seconds=1.5)
    return made


def refused(snapshot: snapshots.Snapshot, word: str) -> None:
    with pytest.raises(InputError) as fault:
        snapshot.load()
    assert word in str(fault.value)
    assert str(snapshot.path) in str(fault.value)
    assert "\n" not in str(fault.value)


def test_a_snapshot_comes_back_to_the_bit_with_its_notes(snapshot):
    state, notes = snapshot.load()
    assert notes["seconds"] == 1.5
    assert state.keys() == STATE.keys()
    assert all(state[name].tobytes() == x.tobytes() for name, x in STATE.items())
    snapshot.save(STATE | {"row": np.array([4])}, seconds=2)
    assert snapshot.load()[0]["row"] == [4]
    assert [path.name for path in snapshot.path.parent.iterdir()] == ["n6-s1.safetensors"]


def test_a_torn_snapshot_is_refused(snapshot):
    whole = snapshot.path.read_bytes()
    for size in range(0, len(whole), 7):
        snapshot.path.write_bytes(whole[:size])
        refused(snapshot, "truncated")


def test_a_snapshot_with_any_byte_of_its_tensors_changed_is_refused(snapshot):
    whole = snapshot.path.read_bytes()
    for place in range(len(whole) - 4 * 6 - 8, len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1
        snapshot.path.write_bytes(damaged)
        refused(snapshot, "checksum")


def test_a_snapshot_of_another_configuration_is_refused(snapshot):
    refused(snapshots.Snapshot(snapshot.path.parent, "n6-s1", "other"), "another configuration")


@pytest.mark.parametrize("notes", [["key"], "key", 5])
def test_a_file_of_ours_that_is_no_snapshot_is_refused(snapshot, notes):
    store.write_bytes(snapshot.path, store.tensors_bytes(STATE, notes))
    refused(snapshot, "")


def test_the_fingerprint_tells_every_input_apart(tmp_path):
    code, data = tmp_path / "code", tmp_path / "data"
    code.write_text("x")
    data.write_text("y")
    found = {
        snapshots.fingerprint({"lr": 0.1, "n": 6}, [code, data]),
        snapshots.fingerprint({"lr": 0.2, "n": 6}, [code, data]),
        snapshots.fingerprint({"lr": 0.1}, [code, data]),
        snapshots.fingerprint({"lr": 0.1, "n": 6}, [data, code]),
        snapshots.fingerprint({"lr": 0.1, "n": 6}, [code]),
    }
    assert len(found) == 5
    assert snapshots.fingerprint({"n": 6, "lr": 0.1}, [code, data]) in found
    code.write_text("xy")
    data.write_text("")  # the same bytes in a row, cut at another place
    assert snapshots.fingerprint({"lr": 0.1, "n": 6}, [code, data]) not in found


def test_due_is_counted_from_the_last_save(snapshot):
    assert snapshot.due(0.0)
    assert not snapshot.due(1000.0)
    snapshot.saved -= 2000
    assert snapshot.due(1000.0)
    snapshot.save(STATE)
    assert not snapshot.due(1000.0)


HOLDER = """
import sys
from strata.train.snapshots import Snapshot
with Snapshot(sys.argv[1], "n6-s1", "key").locked():
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_run_that_another_process_trains_gets_one_line_that_names_it(snapshot):
    folder = str(snapshot.path.parent)
    command = [sys.executable, "-c", HOLDER, folder]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True) as holder:
        assert holder.stdin
        assert holder.stdout
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(InputError, match=f"^n6-s1: process {holder.pid} is training"):
            snapshot.locked().__enter__()
        with snapshots.Snapshot(folder, "n7-s1", "key").locked():
            pass  # another run is free
        holder.kill()
    for _ in range(2):  # free again, however the holder ended
        with snapshot.locked():
            lock = snapshot.path.with_suffix(".lock")
            assert lock.read_text(encoding="utf-8") == str(os.getpid())


def finished(folder: Path, name: str, weights: bytes) -> str:
    md5 = hashlib.md5(weights).hexdigest()
    snapshots.Snapshot(folder, name, "key").save(STATE, weights_md5=md5)
    return md5


def test_only_what_is_recorded_is_pruned(tmp_path):
    folder, lock = tmp_path / "s", tmp_path / "dvc.lock"
    snapshots.Snapshot(folder, "unfinished", "key").save(STATE, seconds=1)
    recorded = finished(folder, "n6-s1", b"recorded")
    finished(folder, "n7-s1", b"not yet")
    (folder / "n8-s1.safetensors").write_bytes(b"torn")
    before = sorted(path.name for path in folder.iterdir())
    assert snapshots.prune(folder, lock) == []
    lock.write_text(f"unfinished: {'0' * 32}\n", encoding="utf-8")
    assert snapshots.prune(folder, lock) == []
    assert sorted(path.name for path in folder.iterdir()) == before
    lock.write_text(f"- path: weights\n  md5: {recorded}\n", encoding="utf-8")
    assert snapshots.prune(folder, lock) == ["n6-s1"]
    left = sorted(path.stem for path in folder.glob("*.safetensors"))
    assert left == ["n7-s1", "n8-s1", "unfinished"]
    assert snapshots.prune(tmp_path / "nowhere", lock) == []


def test_what_a_killed_save_left_behind_is_pruned_too(tmp_path):
    folder = tmp_path / "s"
    snapshots.Snapshot(folder, "n6-s1", "key").save(STATE)
    left = folder / ".n6-s1.safetensors.999999.tmp"
    left.write_bytes(b"half")
    two_hours_ago = time.time() - 7200
    os.utime(left, (two_hours_ago, two_hours_ago))
    snapshots.prune(folder, tmp_path / "dvc.lock")
    assert [path.name for path in folder.iterdir()] == ["n6-s1.safetensors"]
