"""What the list of runs may ask."""

import pytest
from drawing import ROOT
from ruamel.yaml import YAML

from strata import store
from strata.inputs import InputError
from strata.run import read_yaml
from studies.stages import check


def test_a_run_of_another_task_may_be_trained_and_asked_nothing_of_multiplication(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(ROOT)
    runs = dict(read_yaml("studies/runs.yaml"))
    name, own, listed = "units-n15-s1", {"units-n15-s1": "studies/data"}, tmp_path / "runs.yaml"

    def checked(**parts: dict[str, str]) -> None:
        YAML(typ="safe").dump(runs | {"more": own} | parts, listed)
        check.main(str(tmp_path), str(listed))

    checked()
    assert store.read_json(tmp_path / "split" / f"{name}.json")["task"] == "units"
    assert name not in store.read_json(tmp_path / "measured.json")
    for part in ("all", "measured"):
        with pytest.raises(InputError, match=r"units-n15-s1: learns \(Z_15, ·\) without zeros"):
            checked(**{part: own})
