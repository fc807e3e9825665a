"""What the list of runs may ask."""

import pytest
from ruamel.yaml import YAML
from small import ROOT

from strata import store
from strata.inputs import InputError
from strata.run import read_yaml
from studies.stages import check


def test_a_run_of_another_task_may_be_trained_and_asked_nothing_of_multiplication(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(ROOT)
    runs = dict(read_yaml("studies/runs.yaml"))
    name, folders, listed = "units-n15-s1", {"units-n15-s1": "studies/data"}, tmp_path / "runs.yaml"

    def check_with(**parts: dict[str, str]) -> None:
        YAML(typ="safe").dump(runs | {"more": runs["more"] | folders} | parts, listed)
        check.main(str(tmp_path), str(listed))

    check_with()
    assert store.read_json(tmp_path / "split" / f"{name}.json")["task"] == "units"
    assert name not in store.read_json(tmp_path / "measured.json")
    for part in ("all", "measured", "attending"):
        with pytest.raises(InputError, match=r"units-n15-s1: learns \(Z_15, ·\) without zeros"):
            check_with(**{part: folders})
    # A line of its own that nothing trains; runs that a study cannot compare.
    with pytest.raises(InputError, match="demo: n35-s1: must be under more"):
        check_with(demo={"n35-s1": "studies/data"})
    two_moduli = {"n35-s1": "studies/data", "n15-s1": "studies/data"}
    with pytest.raises(InputError, match="seeds = runs of 15 and 35: must have runs of one n"):
        check_with(seeds=two_moduli, more=runs["more"] | folders | two_moduli)
