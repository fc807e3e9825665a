"""Tables over seeds: each run where it belongs."""

import numpy as np
import pandas as pd
import pytest
from handmade import DIVERGED, NEVER, changed, run_metrics
from small import ALL, PRINTED, history_of, measured, weights_of

from strata.measure.heads import MeanStd
from strata.measure.metrics import Metrics
from strata.run import Run
from strata.tables import format, spread
from strata.tables.printed import PrintedFit, PrintedSpectrum
from strata.tables.table import Table
from studies.seeds.code import over_seeds as seeds

GRID = ALL.grid


@pytest.fixture(scope="module")
def runs() -> list[Metrics]:
    names = ("n15-s1", "n10-s1", "n15-s2", "n15-s3", "mlp-n15-s1", "mlp-n10-s2")
    return [measured(Run.parse(name)) for name in names]


def all_tables(runs: list[Metrics]) -> list[Table]:
    """Return the tables over the runs of the grid."""
    return [spread.table(runs, PRINTED, ALL), *seeds.grid(runs, PRINTED, ALL)]


def test_a_model_that_is_not_symmetric_has_no_epoch_of_mirror_free_pairs(runs):
    mlp = {"architecture": "mlp", "run": "mlp-n15-s1", "first_099": NEVER}
    metrics = [run_metrics(15), run_metrics(15, **mlp)]
    frame = seeds.architectures(metrics)
    assert frame["first_mirror_free"].isna().tolist() == [False, True]
    table = format.rounded(Table("architectures", "", frame, seeds.ARCHITECTURES))
    by_model = table.set_index("model")
    mirror_free = by_model.loc["mlp", ["first, mirror-free", "to stay, mirror-free"]]
    assert mirror_free.tolist() == ["—", "—"]
    assert by_model.loc["mlp", "first, validation"] == "never"
    assert by_model.loc["transformer", "first, mirror-free"] == "7,000"


@pytest.mark.parametrize("measure", [seeds.class_measures, seeds.neuron_measures])
def test_every_value_of_every_run_is_in_its_row(measure):
    runs = [run_metrics(n, seed) for n in (143, 165) for seed in (1, 2, 3)]
    rows = seeds.table(runs, measure, GRID).to_dict("records")
    about = [name for name in rows[0] if name not in (*spread.STATISTICS, "unit", "of", "values")]
    assert len({tuple(row[name] for name in about) for row in rows}) == len(rows)
    for row in rows:
        key = {name: row[name] for name in about}
        values = [v for r in runs for k, _, v in measure(r) if k == key and v is not None]
        assert row["runs"] == len(values)
        assert row["mean"] == pytest.approx(np.mean(values))
        assert [float(x) for x in row["values"].split()] == pytest.approx(values)


def test_measures_over_seeds_are_those_of_the_runs():
    ten = [run_metrics(143, seed) for seed in range(1, 11)]
    mean = {}
    for measures in (seeds.class_measures, seeds.neuron_measures, seeds.generalisation_measures):
        for row in seeds.table(ten, measures, GRID).to_dict("records"):
            mean[row["measure"], row.get("d")] = row["mean"]
    assert mean["epoch to stay, train", None] == 2200
    assert mean["first epoch, train", None] == 1650
    assert mean["first epoch, mirror-free", None] == 38500
    assert mean["a and b modulo one prime power", None] == pytest.approx(0.965)
    assert mean["FVE", 1] == pytest.approx(1 - 1 / 240 - 0.0045)  # of 120 units


def test_a_head_has_blocks_where_its_score_is_above_what_shuffled_classes_give():
    def scored(n: int, seed: int, *scores: float) -> Metrics:
        run, chance = run_metrics(n, seed), MeanStd(mean=0.04, std=0.01)
        heads = [changed(head, block_score=score, block_score_shuffled=chance)
                 for head, score in zip(run.heads, scores, strict=True)]  # fmt: skip
        return changed(run, heads=tuple(heads))

    runs = [scored(143, 7, *[0.07] * 4), scored(165, 5, *[0.05] * 4)]
    runs += [scored(143, 5, 0.2, 0.061, 0.059, 0.001), run_metrics(113, 2, **DIVERGED)]
    rows = seeds.blocks(runs)
    assert rows[["n", "seed", "above", "heads"]].to_numpy().tolist() == [
        [165, 5, 0, 4], [143, 5, 2, 4], [143, 7, 4, 4],
    ]  # fmt: skip
    assert rows.loc[1, ["block_max", "block_min", "block_shuffled"]].tolist() == [0.2, 0.001, 0.04]


def test_a_run_counts_among_those_of_its_modulus_and_model_alone():
    mlp = run_metrics(113, architecture="mlp", heads=(), pca=None)
    four = [run_metrics(113), run_metrics(113, 2), run_metrics(143), mlp]
    epochs = seeds.table(four, seeds.generalisation_measures, GRID).set_index(["n", "architecture"])
    counts = {kind: set(epochs.loc[[kind], "of"]) for kind in epochs.index}
    assert counts == {(113, "transformer"): {2}, (143, "transformer"): {1}, (113, "mlp"): {1}}


def test_diverged_weights_go_through_every_table_and_none_says_nan(runs):
    run = Run.parse("n15-s4")
    broken = {name: np.full_like(x, np.nan) for name, x in weights_of(run).items()}
    diverged = measured(run, broken, history=history_of([0.5], np.nan))
    tables = all_tables([*runs, diverged])
    frames = {table.name: table.frame for table in tables}
    assert "n15-s4" in frames["not-generalised"]["run"].tolist()
    assert not frames["not-generalised"].set_index("run").loc["n15-s4", "finite"]
    pca = frames["pca-seeds"].set_index("n")
    assert pca.loc[15, ["runs", "of"]].tolist() == [3, 4]
    accuracy = frames["verdict"].set_index("id").loc["accuracy-all"]
    assert accuracy["runs"] == 4
    assert np.isfinite(frames["classes-seeds"]["mean"].dropna()).all()
    for write in (format.csv, format.latex, format.markdown):
        assert not any("nan" in write(table).lower() for table in tables)


def test_tables_2_and_3_stand_among_the_seeds_class_by_class(runs):
    theirs = {
        "n": 15,
        "table_key_frequencies": {1: PrintedSpectrum(key=99, total=99, fve_percent=0.1)},
        "table_character_fit": {1: PrintedFit(pairs=(1, 1), r2_percent=100.0)},
    }
    frame = seeds.claims_over_seeds(runs, PRINTED.model_copy(update=theirs), ALL)[1].frame
    rows = {row["id"]: row for row in frame.to_dict("records")}
    units = [r.of_class(1) for r in runs[:4] if r.n == 15]
    key, fve, fit = rows["J1-key"], rows["J1-fve"], rows["J1-r2"]
    assert [row["runs"] for row in (key, fve, fit)] == [3, 3, 3]
    assert (key["paper"], key["verdict"]) == (99, "above")
    assert (fve["paper"], fve["verdict"]) == (0.001, "below")
    assert (fit["paper"], fit["verdict"]) == (1.0, "above")
    assert fve["mean"] == pytest.approx(np.mean([c.fve for c in units]))
    assert fit["ours"] == units[0].character_fit.r2
    other = rows["J3-key"]
    assert np.isnan(other["paper"]) and pd.isna(other["verdict"])
