"""Values of params.yaml as ``-S`` sets them, without touching the file."""

from pathlib import Path

import pytest

from ops import resolved
from strata.run import InputError

WRITTEN = "n: 165\nvariants:\n  quick: {epochs: 2000}\n"


@pytest.fixture(autouse=True)
def params(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("params.yaml").write_text(WRITTEN)


def test_values_are_set_in_a_copy():
    found = resolved.values(["n=154", "++variants.quick.lr=0.002"])
    assert found == {"n": 154, "variants": {"quick": {"epochs": 2000, "lr": 0.002}}}
    assert resolved.values() == {"n": 165, "variants": {"quick": {"epochs": 2000}}}
    assert Path("params.yaml").read_text() == WRITTEN


@pytest.mark.parametrize("wrong", ["nonsense=3", "n=[3", "variants.quick.lr=0.002"])
def test_what_dvc_would_refuse_is_refused_in_one_line_that_names_the_keys(wrong):
    with pytest.raises(InputError) as refused:
        resolved.values([wrong])
    said = str(refused.value)
    assert said.startswith(f"{wrong}: ") and "keys are those of params.yaml" in said
    assert "\n" not in said
