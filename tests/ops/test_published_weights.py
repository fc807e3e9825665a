"""The published file alone is taken, and what came of it is kept with a receipt."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from ops import published
from ops.published import CHECKPOINT, KEPT, WEIGHTS
from strata.inputs import InputError

ROOT = Path(__file__).parents[2]


@pytest.fixture
def results_folder(tmp_path, monkeypatch) -> Path:
    """Return a folder with the results of some weights, which have not been published yet."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / KEPT, KEPT)
    for path in published.RESULTS:
        (WEIGHTS / path).parent.mkdir(parents=True, exist_ok=True)
        (WEIGHTS / path).write_text(f"new {path}")
    CHECKPOINT.write_bytes(b"weights")
    code = {"path": "../../../data/code/x.txt", "md5": "0" * 32}
    settings = {"path": "../../data/config/interventions.json", "md5": "1" * 32}
    lock = {"stages": {"measure": {"cmd": ["do", "more"], "deps": [settings, code]}}}
    YAML().dump(lock, WEIGHTS / "dvc.lock")
    Path("studies/data/config").mkdir(parents=True)
    Path("studies/data/config/interventions.json").write_text('{"key_threshold": 1}')
    return tmp_path


def test_results_of_the_same_weights_take_their_place_with_a_new_receipt(results_folder):
    receipt = json.loads((KEPT / "receipt.json").read_bytes())
    receipt["sha256"] = hashlib.sha256(b"weights").hexdigest()
    (KEPT / "receipt.json").write_text(json.dumps(receipt))
    published.keep()
    written = json.loads((KEPT / "receipt.json").read_bytes())
    assert (KEPT / "metrics.json").read_text() == "new data/metrics.json"
    for name, sha256 in written["results"].items():
        assert hashlib.sha256((KEPT / name).read_bytes()).hexdigest() == sha256
    assert (written["commands"], written["code"]) == (["do", "more"], {"x": "0" * 32})
    assert written["params"] == {"interventions": {"key_threshold": 1}}


def test_weights_of_others_get_one_line_and_leave_those_before(results_folder):
    Path("other.pt").write_bytes(b"other")
    with pytest.raises(InputError, match=r"^other\.pt: not the weights that .* strata analyse"):
        published.take("other.pt")
    assert CHECKPOINT.read_bytes() == b"weights"
