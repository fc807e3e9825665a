"""Tables over seeds: each run where it belongs."""

import numpy as np
import pandas as pd
import pytest
from handmade import changed
from over_seeds import ALL, DIVERGED, GRID, NEVER, PRINTED, planted, untrained
from small import history_of, measured, split_of, weights_of

from strata.measure.metrics import Metrics
from strata.run import Run
from strata.tables import format, spread
from strata.tables.printed import PrintedFit, PrintedSpectrum
from strata.tables.table import Table
from studies.seeds.code import over_seeds as seeds


@pytest.fixture(scope="module")
def runs() -> list[Metrics]:
    names = ("n15-s1", "n10-s1", "n15-s2", "n15-s3", "mlp-n15-s1", "mlp-n10-s2")
    return [untrained(name) for name in names]


def every(runs: list[Metrics]) -> list[Table]:
    """The tables over the runs of the grid."""
    return [spread.table(runs, PRINTED, ALL), *seeds.grid(runs, PRINTED, ALL)]


def test_a_model_that_is_not_symmetric_has_no_epoch_of_mirror_free_pairs(runs):
    made = [planted(15, 1), planted(15, 1, architecture="mlp", run="mlp-n15-s1", first_099=NEVER)]
    frame = seeds.architectures(made)
    assert frame["first_mirror_free"].isna().tolist() == [False, True]
    table = format.shown(Table("architectures", "", frame, seeds.ARCHITECTURES))
    of = table.set_index("model")
    assert of.loc["mlp", "first, mirror-free"] == of.loc["mlp", "to stay, mirror-free"] == "—"
    assert of.loc["mlp", "first, validation"] == "never"
    assert of.loc["transformer", "first, mirror-free"] == "150"


@pytest.mark.parametrize("measure", [seeds.of_classes, seeds.of_neurons])
def test_every_value_of_every_run_is_in_its_row(measure, runs):
    rows = seeds.table(runs, measure, GRID).to_dict("records")
    about = [name for name in rows[0] if name not in (*spread.STATISTICS, "unit", "of", "values")]
    assert len({tuple(row[name] for name in about) for row in rows}) == len(rows)
    for row in rows:
        key = {name: row[name] for name in about}
        own = [v for r in runs for k, _, v in measure(r) if k == key and v is not None]
        assert row["runs"] == len(own)
        assert row["mean"] == pytest.approx(np.mean(own))
        assert [float(x) for x in row["values"].split()] == pytest.approx(own)


def test_measures_over_seeds_are_those_of_the_runs():
    ten = [planted(143, seed) for seed in range(1, 11)]
    measures = seeds.of_classes, seeds.of_neurons, seeds.of_generalisation
    classes, neurons, epochs = (seeds.table(ten, of, GRID) for of in measures)
    for row in pd.concat([classes, neurons, epochs]).to_dict("records"):
        assert row["runs"] == row["of"] == 10
        assert row["low"] - 1e-9 <= row["mean"] <= row["high"] + 1e-9
    epochs = epochs.set_index("measure")
    assert epochs.loc["epoch to stay, train", "mean"] == 550
    assert epochs.loc["first epoch, train", "mean"] == 275
    assert epochs.loc["epoch to stay, mirror-free", ["min", "max"]].tolist() == [300, 3000]
    followed = neurons.set_index("measure")
    assert followed.loc["a and b modulo one prime power", "mean"] == pytest.approx(0.855)
    fve = classes.set_index(["measure", "d"])
    assert fve.loc[("FVE", 1), ["mean", "max"]].tolist() == pytest.approx([0.9055, 0.91])


def test_a_head_has_blocks_where_its_score_is_above_what_shuffled_classes_give():
    run = planted(143, 5)  # every head scores 5 %: within two deviations of 4 %
    scores = zip(run.heads, (0.2, 0.061, 0.059, 0.001), strict=True)
    run = changed(run, heads=tuple(changed(head, block_score=score) for head, score in scores))
    rows = seeds.blocks([planted(143, 7), planted(165, 5), run, planted(113, 2, **DIVERGED)])
    assert rows[["n", "seed", "above", "heads"]].to_numpy().tolist() == [
        [165, 5, 0, 4], [143, 5, 2, 4], [143, 7, 4, 4],
    ]  # fmt: skip
    assert rows.loc[1, ["block_max", "block_min", "block_shuffled"]].tolist() == [0.2, 0.001, 0.04]


def test_a_run_counts_among_those_of_its_modulus_and_model_alone():
    mlp = planted(113, 1, architecture="mlp", heads=(), pca=None)
    four = [planted(113, 1), planted(113, 2), planted(143, 1), mlp]
    epochs = seeds.table(four, seeds.of_generalisation, GRID).set_index(["n", "architecture"])
    of = {kind: set(epochs.loc[[kind], "of"]) for kind in epochs.index}
    assert of == {(113, "transformer"): {2}, (143, "transformer"): {1}, (113, "mlp"): {1}}


def test_diverged_weights_go_through_every_table(runs):
    run = Run.parse("n15-s4")
    broken = {name: np.full_like(x, np.nan) for name, x in weights_of(run).items()}
    lost = measured(run, broken, split_of(15, 4), history_of([0.5], np.nan))
    made = {table.name: table.frame for table in every([*runs, lost])}
    assert "n15-s4" in made["not-generalised"]["run"].tolist()
    assert not made["not-generalised"].set_index("run").loc["n15-s4", "finite"]
    pca = made["pca-seeds"].set_index("n")
    assert pca.loc[15, ["runs", "of"]].tolist() == [3, 4]
    accuracy = made["verdict"].set_index("id").loc["accuracy-all"]
    assert accuracy["runs"] == 4
    assert np.isfinite(made["classes-seeds"]["mean"].dropna()).all()


def test_the_verdict_is_about_the_seeds_of_the_first_run(runs):
    frame = seeds.of_seeds(runs, PRINTED, ALL)[0].frame
    rows = {row["id"]: row for row in frame.to_dict("records")}
    accuracy, own = rows["accuracy-all"], [r for r in runs[:4] if r.n == 15]
    assert accuracy["runs"] == len(own) == 3
    assert accuracy["ours"] == runs[0].accuracy.all
    assert accuracy["mean"] == pytest.approx(np.mean([r.accuracy.all for r in own]))
    assert pd.isna(accuracy["verdict"])  # the paper prints nothing for n = 15


def test_tables_2_and_3_stand_among_the_seeds_class_by_class(runs):
    theirs = {
        "n": 15,
        "table_key_frequencies": {1: PrintedSpectrum(key=99, total=99, fve_percent=0.1)},
        "table_character_fit": {1: PrintedFit(pairs=(1, 1), r2_percent=100.0)},
    }
    frame = seeds.of_seeds(runs, PRINTED.model_copy(update=theirs), ALL)[1].frame
    rows = {row["id"]: row for row in frame.to_dict("records")}
    own = [r.of_class(1) for r in runs[:4] if r.n == 15]
    key, fve, fit = rows["J1-key"], rows["J1-fve"], rows["J1-r2"]
    assert [row["runs"] for row in (key, fve, fit)] == [3, 3, 3]
    assert (key["paper"], key["verdict"]) == (99, "above")
    assert (fve["paper"], fve["verdict"]) == (0.001, "below")
    assert (fit["paper"], fit["verdict"]) == (1.0, "above")
    assert fve["mean"] == pytest.approx(np.mean([c.fve for c in own]))
    assert fit["ours"] == own[0].character_fit.r2
    other = rows["J3-key"]
    assert np.isnan(other["paper"]) and pd.isna(other["verdict"])


def test_no_table_says_nan(runs):
    for table in every(runs):
        for write in (format.csv, format.latex, format.markdown):
            assert "nan" not in write(table).lower()
