"""What came of published weights is kept with a receipt if they are those of the receipt."""

import hashlib
import json
import runpy
import shutil
from pathlib import Path

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
KEPT = Path("paper", "published")


@pytest.fixture
def keep(tmp_path, monkeypatch):
    """The script in a folder with the results of some weights; returns the lock of their making."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / KEPT, KEPT)
    script = runpy.run_path(str(ROOT / "ops" / "scripts" / "keep_published.py"))
    made = Path("published")
    for path in script["RESULTS"].values():
        (made / path).parent.mkdir(parents=True, exist_ok=True)
        (made / path).write_text(f"new {path}")
    (made / "data" / "run.txt").write_text("n165-s2\n")
    (made / "checkpoint.pt").write_bytes(b"weights")
    stage = {"cmd": "do", "deps": [{"path": "../data/code/x.txt", "md5": "0" * 32}]}
    lock = {"schema": "2.0", "stages": dict.fromkeys(script["STEPS"], stage)}
    settings = {"path": "../data/config/logits.json", "md5": "1" * 32}
    lock["stages"]["logits"] = stage | {"deps": [settings, *stage["deps"]]}
    Path("data", "config").mkdir(parents=True)
    Path("data", "config", "logits.json").write_text('{"key_threshold": 1}')
    YAML().dump(lock, made / "dvc.lock")
    return script["main"]


def contents() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in KEPT.iterdir()}


def test_results_of_other_weights_leave_what_is_kept(keep, capsys):
    before = contents()
    keep()
    assert contents() == before and capsys.readouterr().out.count("\n") == 1


def test_results_of_the_same_weights_take_their_place_with_a_new_receipt(keep):
    receipt = json.loads((KEPT / "receipt.json").read_bytes())
    receipt["sha256"] = hashlib.sha256(b"weights").hexdigest()
    (KEPT / "receipt.json").write_text(json.dumps(receipt))
    keep()
    new = json.loads((KEPT / "receipt.json").read_bytes())
    assert (KEPT / "logits.json").read_text() == "new data/logits.json"
    for name, sha256 in new["results"].items():
        assert hashlib.sha256((KEPT / name).read_bytes()).hexdigest() == sha256
    assert new["run"] == "n165-s2" and new["steps"]["convert"]["params"] == {}
    step = {"cmd": "do", "code": "0" * 32, "params": {"key_threshold": 1}}
    assert new["steps"]["logits"] == step
    assert new["results"].keys() == receipt["results"].keys()
