"""The figure of regular classes and the others."""

from drawing import ROOT, check
from handmade import run_metrics

from strata import store
from studies.moduli.code import moduli


def test_classes_are_drawn_by_their_size(tmp_path, monkeypatch):
    rows = moduli.classes([run_metrics(n) for n in (121, 180)])
    store.write_text(tmp_path / "classes.csv", rows.to_csv(index=False))
    template = ROOT / "studies/moduli/notebooks/extension-sizes.ipynb"
    check(template, {"classes": str(tmp_path / "classes.csv")}, tmp_path, monkeypatch)
