"""The published file alone is taken, and what came of it is kept with a receipt."""

import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from ops import published
from ops.published import KEPT, TAKEN, WEIGHTS
from strata.inputs import InputError

ROOT = Path(__file__).parents[2]


@pytest.fixture
def made(tmp_path, monkeypatch) -> Path:
    """A folder in which the results of some weights lie, of which nothing is kept yet."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / KEPT, KEPT)
    for path in published.RESULTS:
        (WEIGHTS / path).parent.mkdir(parents=True, exist_ok=True)
        (WEIGHTS / path).write_text(f"new {path}")
    TAKEN.write_bytes(b"weights")
    code = {"path": "../../../data/code/x.txt", "md5": "0" * 32}
    settings = {"path": "../../data/config/logits.json", "md5": "1" * 32}
    lock = {"stages": {"measure": {"cmd": ["do", "more"], "deps": [settings, code]}}}
    YAML().dump(lock, WEIGHTS / "dvc.lock")
    Path("studies/data/config").mkdir(parents=True)
    Path("studies/data/config/logits.json").write_text('{"key_threshold": 1}')
    return tmp_path


def test_results_of_the_same_weights_take_their_place_with_a_new_receipt(made):
    receipt = json.loads((KEPT / "receipt.json").read_bytes())
    receipt["sha256"] = hashlib.sha256(b"weights").hexdigest()
    (KEPT / "receipt.json").write_text(json.dumps(receipt))
    published.keep()
    new = json.loads((KEPT / "receipt.json").read_bytes())
    assert (KEPT / "logits.json").read_text() == "new data/logits.json"
    for name, sha256 in new["results"].items():
        assert hashlib.sha256((KEPT / name).read_bytes()).hexdigest() == sha256
    assert (new["commands"], new["code"]) == (["do", "more"], {"x": "0" * 32})
    assert new["params"] == {"logits": {"key_threshold": 1}}


def test_weights_of_others_get_one_line_and_leave_those_before(made):
    Path("other.pt").write_bytes(b"other")
    os.mkfifo("pipe")
    for name, said in (("other.pt", "not the weights that .* strata analyse"), ("pipe", "regular")):
        with pytest.raises(InputError, match=f"^{name}: [^\\n]*{said}[^\\n]*$"):
            published.take(name)
    assert TAKEN.read_bytes() == b"weights"
