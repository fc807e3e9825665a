"""Snapshots: whole or refused, of one configuration, gone once recorded."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from strata.inputs import InputError
from strata.train import snapshots

STATE = {"row": np.array([3]), "parameter": np.arange(6, dtype=np.float32)}


@pytest.fixture
def snapshot(tmp_path) -> snapshots.Snapshot:
    written = snapshots.Snapshot(tmp_path / "s", "n6-s1", "key")
    written.save(STATE, seconds=1.5)
    return written


def test_a_snapshot_comes_back_to_the_bit_with_its_notes(snapshot):
    state, notes = snapshot.load()
    assert notes["seconds"] == 1.5
    assert state.keys() == STATE.keys()
    assert all(state[name].tobytes() == x.tobytes() for name, x in STATE.items())
    snapshot.save(STATE | {"row": np.array([4])}, seconds=2)
    assert snapshot.load()[0]["row"] == [4]
    assert [path.name for path in snapshot.path.parent.iterdir()] == ["n6-s1.safetensors"]


def test_a_snapshot_with_any_byte_of_its_tensors_changed_is_refused(snapshot):
    content = snapshot.path.read_bytes()
    for position in range(len(content) - 4 * 6 - 8, len(content)):
        damaged = bytearray(content)
        damaged[position] ^= 1
        snapshot.path.write_bytes(damaged)
        with pytest.raises(InputError, match=rf"\A{snapshot.path}: .*checksum\Z"):
            snapshot.load()


def test_the_fingerprint_tells_every_input_apart(tmp_path):
    code, data = tmp_path / "code", tmp_path / "data"
    code.write_text("x")
    data.write_text("y")
    fingerprints = {
        snapshots.fingerprint({"lr": 0.1, "n": 6}, [code, data]),
        snapshots.fingerprint({"lr": 0.2, "n": 6}, [code, data]),
        snapshots.fingerprint({"lr": 0.1}, [code, data]),
        snapshots.fingerprint({"lr": 0.1, "n": 6}, [data, code]),
        snapshots.fingerprint({"lr": 0.1, "n": 6}, [code]),
    }
    assert len(fingerprints) == 5
    assert snapshots.fingerprint({"n": 6, "lr": 0.1}, [code, data]) in fingerprints
    code.write_text("xy")
    data.write_text("")  # the same bytes in a row, cut at another place
    assert snapshots.fingerprint({"lr": 0.1, "n": 6}, [code, data]) not in fingerprints


def save_finished(folder: Path, name: str, weights: bytes) -> str:
    md5 = hashlib.md5(weights).hexdigest()
    snapshots.Snapshot(folder, name, "key").save(STATE, weights_md5=md5)
    return md5


def test_only_what_is_recorded_is_pruned(tmp_path):
    folder, lock = tmp_path / "s", tmp_path / "dvc.lock"
    snapshots.Snapshot(folder, "unfinished", "key").save(STATE, seconds=1)
    recorded = save_finished(folder, "n6-s1", b"recorded")
    save_finished(folder, "n7-s1", b"not yet")
    (folder / "n8-s1.safetensors").write_bytes(b"torn")
    before = sorted(path.name for path in folder.iterdir())
    assert snapshots.prune(folder, [lock]) == []
    lock.write_text(f"unfinished: {'0' * 32}\n", encoding="utf-8")
    assert snapshots.prune(folder, [lock]) == []
    assert sorted(path.name for path in folder.iterdir()) == before
    lock.write_text(f"- path: weights\n  md5: {recorded}\n", encoding="utf-8")
    assert snapshots.prune(folder, [lock]) == ["n6-s1"]
    remaining = sorted(path.stem for path in folder.glob("*.safetensors"))
    assert remaining == ["n7-s1", "n8-s1", "unfinished"]
    assert snapshots.prune(tmp_path / "nowhere", [lock]) == []
