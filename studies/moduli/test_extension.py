"""Regular classes against the others: each class in its kind, each mean that of its classes."""

import runpy
from math import gcd

import numpy as np
import pandas as pd
import pytest
from handmade import changed, run_metrics
from small import ROOT, TRAIN, measured, weights_of

from strata.collected import write_collected
from strata.inputs import InputError
from strata.measure.metrics import Metrics
from strata.run import Run
from strata.tables import format
from studies.moduli.code import moduli


def untrained(n: int, variant: str = "", **changes) -> Metrics:
    run = Run(n, 1, variant)
    metrics = measured(run, weights_of(run) | changes)
    return changed(metrics, generalised=True)  # all but what a test says of it


@pytest.fixture(scope="module")
def runs() -> list[Metrics]:
    return [untrained(n) for n in (27, 36)]


def test_every_class_of_three_elements_or_more_is_in_its_kind(runs):
    frame = moduli.classes(runs)
    expected = {}
    for n in (27, 36):
        for a in range(n):
            d = gcd(a, n)
            expected.setdefault((n, d, gcd(d, n // d) == 1), []).append(a)
    expected = {key: len(members) for key, members in expected.items() if len(members) >= 3}
    sizes = {
        (n, d, r): s for n, d, r, s in frame[["n", "d", "regular", "size"]].itertuples(index=False)
    }
    assert sizes == expected


def test_means_are_those_of_the_classes_and_all_moduli_come_last(runs):
    per_class = moduli.classes(runs)
    rows, members = (x.to_dict("records") for x in (moduli.kinds(runs, per_class), per_class))
    assert [str(row["n"]) for row in rows] == ["27", "27", "36", "36", "None", "None"]
    for row in rows:
        over_all, kind = row["n"] is None, row["regular"]
        group = [m for m in members if m["regular"] == kind and (over_all or m["n"] == row["n"])]
        assert row["classes"] == len(group)
        for name in ("fve", "r2", "r2_uniform", "pca_ratio", "accuracy_target"):
            assert row[name] == pytest.approx(np.mean([m[name] for m in group]))


def test_a_run_that_did_not_generalise_counts_for_its_modulus_alone(runs):
    pair = [changed(runs[0], generalised=False), runs[1]]
    rows = moduli.kinds(pair, moduli.classes(pair)).to_dict("records")
    assert [str(row["n"]) for row in rows] == ["27", "27", "36", "36", "None", "None"]
    assert [row["fve"] for row in rows[4:]] == [row["fve"] for row in rows[2:4]]


def test_a_share_above_chance_is_its_way_from_chance_to_all(runs):
    [units] = [c for c in runs[0].classes if c.d == 1]
    shares = [(0.9, 0.5), (0.5, 0.5), (0.4, 0.5), (1.0, 1.0)]  # of energy, and by chance
    classes = tuple(changed(units, fve=fve, fve_uniform=uniform) for fve, uniform in shares)
    run = changed(runs[0], classes=classes)
    frame = moduli.classes([run])
    assert frame["fve_above"].tolist() == pytest.approx([0.8, 0, -0.2, np.nan], nan_ok=True)
    assert moduli.kinds([run], frame)["fve_above"].tolist() == pytest.approx([0.2, 0.2])


def test_fits_of_every_frequency_are_not_held_against_as_many_at_random(runs):
    [units] = [c for c in runs[0].classes if c.d == 1]
    fit = changed(units.character_fit, r2=0.75, r2_uniform=0.5)
    classes = tuple(changed(units, character_fit=fit, key=key, total=8) for key in (4, 8))
    frame = moduli.classes([changed(runs[0], classes=classes)])
    assert frame["r2_above"].tolist() == pytest.approx([0.5, np.nan], nan_ok=True)


def test_block_scores_are_means_over_the_heads(runs):
    rows = moduli.kinds(runs, moduli.classes(runs)).to_dict("records")
    for run in runs:
        by_kind = [head.block_score_by_kind for head in run.heads]
        kinds = {True: [x.regular for x in by_kind], False: [x.non_regular for x in by_kind]}
        for regular, scores in kinds.items():
            [row] = [r for r in rows if str(r["n"]) == str(run.n) and r["regular"] == regular]
            assert row["block"] == pytest.approx(np.mean([s.score for s in scores]))
            assert row["block_shuffled"] == pytest.approx(np.mean([s.mean for s in scores]))


def test_a_run_that_diverged_has_no_row(runs):
    broken = untrained(25, W_E=np.full((26, TRAIN.d_model), np.nan, np.float32))
    assert set(moduli.classes([*runs, broken])["n"]) == {27, 36}
    assert moduli.kinds([broken], moduli.classes([broken])).empty


@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_a_modulus_without_a_class_of_three_elements_has_empty_tables(n):
    for table in moduli.tables([untrained(n)]):
        assert table.frame.empty
        assert format.markdown(table) and format.latex(table).isascii()


def test_the_stage_takes_moduli_with_a_class_that_is_no_group_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    runs = [run_metrics(210, 1), run_metrics(210, 2), run_metrics(165, 1), untrained(12)]
    write_collected(tmp_path / "metrics.parquet", [x.model_dump_json().encode() for x in runs])
    main = runpy.run_path("studies/moduli/stages/extension.py")["main"]
    main(str(tmp_path), str(tmp_path / "metrics.parquet"))
    assert set(pd.read_csv(tmp_path / "extension-classes.csv")["n"]) == {12}


def test_two_runs_of_a_modulus_are_refused(runs):
    with pytest.raises(InputError, match="n27-s1, n36-s1, n27-s1: must be of one run for each n"):
        moduli.tables([*runs, runs[0]])
