"""The figure of both models of each seed."""

import pandas as pd
from drawing import ROOT, check

FIRST = ["first_train", "first_validation", "stays_validation"]


def test_two_models_of_a_seed_are_drawn_where_one_never_generalises(tmp_path, monkeypatch):
    rows = [
        (n, 1, model, 10, at, at)
        for n, at in ((6, None), (15, 30))
        for model, at in (("transformer", at), ("mlp", 20))
    ]
    frame = pd.DataFrame(rows, columns=["n", "seed", "architecture", *FIRST])
    frame.to_csv(tmp_path / "epochs.csv", index=False)
    template = ROOT / "studies/architectures/notebooks/first-epochs.ipynb"
    check(template, {"epochs": str(tmp_path / "epochs.csv")}, tmp_path, monkeypatch)
