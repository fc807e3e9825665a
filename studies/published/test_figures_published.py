"""The figures of the published weights, from tables of a few rows."""

import pandas as pd
from drawing import ROOT, check

NOTEBOOKS = ROOT / "studies/published/notebooks"


def test_classes_are_drawn_where_the_paper_prints_a_value_and_where_not(tmp_path, monkeypatch):
    columns = ["claim", "unit", "paper", "published", "mean", "low", "high", "min", "max"]
    rows = [
        ("J1: key frequencies", "count", 8, 8, 7.6, 6.8, 8.4, 6, 10),
        ("J5: key frequencies", "count", None, 3, 2.5, 2.1, 2.9, 2, 3),
        ("J1: R² of the character fit", "share", 0.7, 0.7, 0.8, 0.7, 0.9, 0.6, 0.9),
    ]
    pd.DataFrame(rows, columns=columns).to_csv(tmp_path / "classes.csv", index=False)
    given = {"classes": str(tmp_path / "classes.csv")}
    check(NOTEBOOKS / "published-classes.ipynb", given, tmp_path, monkeypatch)
