"""Tables over seeds: each statistic that of the values, each run where it belongs."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from handmade import changed, run_metrics
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from small import history_of, measured, split_of, weights_of

from strata import params, store
from strata.measure.accuracy import Accuracy, Epochs, StayingEpochs
from strata.measure.heads import MeanStd
from strata.measure.metrics import Metrics
from strata.run import InputError, Run, validated
from strata.statistics import holm, t_interval, welch
from strata.tables import format, spread
from strata.tables.printed import Printed, PrintedFit, PrintedSeeds, PrintedSpectrum
from strata.tables.table import Table
from studies.seeds.code import over_seeds as seeds

ROOT = Path(__file__).parents[2]
PRINTED = store.read_model(ROOT / "paper" / "printed_values.json", Printed)
ALL = params.load(ROOT / "params.yaml")
GRID = ALL.grid


def untrained(name: str, validation: float = 0.5) -> Metrics:
    run = Run.parse(name)
    split, history = split_of(run.n, run.seed), history_of([validation])
    return measured(run, weights_of(run), split, history)


@pytest.fixture(scope="module")
def runs() -> list[Metrics]:
    names = ("n15-s1", "n10-s1", "n15-s2", "n15-s3", "mlp-n15-s1", "mlp-n10-s2")
    return [untrained(name) for name in names]


def every(runs: list[Metrics]) -> list[Table]:
    """The tables over the runs of the grid."""
    return [spread.table(runs, PRINTED, ALL), *seeds.grid(runs, PRINTED, ALL)]


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=12))
def test_statistics_are_those_of_the_values(values):
    found, x = spread.spread(values, GRID), np.array(values)
    assert found["runs"] == len(values)
    assert (found["mean"], found["min"], found["max"]) == (x.mean(), x.min(), x.max())
    if len(values) > 1:
        assert found["std"] == pytest.approx(np.std(x, ddof=1), abs=1e-6)
        interval = (found["low"], found["high"])
        assert interval == t_interval(values, GRID.confidence)


def test_the_interval_covers_a_planted_mean_as_often_as_it_says():
    rng = np.random.default_rng(0)
    hits = [
        s["low"] <= 3 <= s["high"]
        for s in (spread.spread(rng.normal(3, 1, size=30), GRID) for _ in range(200))
    ]
    assert 0.88 <= np.mean(hits) <= 0.99


@pytest.mark.parametrize("std", [0.0, 0.6])
def test_welchs_p_is_the_larger_of_those_with_either_divisor(std):
    ours, paper = [9, 10, 10, 11, 12, 10, 9, 13], np.array([-1.0, 1] * 5) * std + 8.0
    assert paper.std() == pytest.approx(std)
    found = welch(ours, 8.0, std)
    # Beside values that do not vary Welch's test is that of one sample; paper.std() has divisor n.
    exact = stats.ttest_ind(ours, paper, equal_var=False) if std else stats.ttest_1samp(ours, 8.0)
    assert found is not None and found >= getattr(exact, "pvalue") * (1 - 1e-9)  # noqa: B009
    assert welch([8, 8, 8], 8.0, 0.0) is None and welch([9], 8.0, 1.0) is None


def test_holm_rejects_in_steps():
    assert holm([0.04, 0.01, None, 0.03]) == pytest.approx([0.06, 0.03, None, 0.06])


def test_a_model_that_is_not_symmetric_has_no_epoch_of_mirror_free_pairs(runs):
    made = [planted(15, 1), planted(15, 1, architecture="mlp", run="mlp-n15-s1", first_099=NEVER)]
    frame = seeds.architectures(made)
    assert frame["first_mirror_free"].isna().tolist() == [False, True]
    table = format.shown(Table("architectures", "", frame, seeds.ARCHITECTURES))
    of = table.set_index("model")
    assert of.loc["mlp", "first, mirror-free"] == of.loc["mlp", "to stay, mirror-free"] == "—"
    assert of.loc["mlp", "first, validation"] == "never"
    assert of.loc["transformer", "first, mirror-free"] == "150"


def test_missing_values_do_not_count():
    assert spread.spread([None, 2.0, None, 4.0], GRID) == spread.spread([2.0, 4.0], GRID)
    assert spread.spread([None], GRID) == dict.fromkeys(spread.STATISTICS) | {"runs": 0}
    one = spread.spread([7.0], GRID)
    assert (one["runs"], one["mean"], one["std"], one["low"]) == (1, 7.0, None, None)


@pytest.mark.parametrize("measure", [seeds.of_classes, seeds.of_heads, seeds.of_directions])
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


def test_classes_and_moduli_keep_their_numbers_apart(runs):
    rows = seeds.table(runs, seeds.of_classes, GRID).to_dict("records")
    for run in runs:
        for c in (c for c in run.classes if c.size > 1):
            [row] = [r for r in rows if (r["n"], r["d"], r["measure"]) == (run.n, c.d, "FVE")]
            assert row["min"] <= c.fve <= row["max"]


def test_components_stand_beside_the_paper_where_it_prints_them(runs):
    theirs = {15: PrintedSeeds(mean=10.0, std=0.6, min=9, max=11, mean_fve_percent=96.0)}
    paper = PRINTED.model_copy(update={"table_pca_across_10_seeds": theirs})
    ten, fifteen = spread.pca(runs, paper, GRID).to_dict("records")
    assert (ten["n"], fifteen["n"]) == (10, 15)
    assert (fifteen["paper_mean"], fifteen["paper_max"]) == (10.0, 11)
    assert pd.isna(ten["paper_mean"])
    own = [r.pca for r in runs if r.n == 15]
    assert fifteen["mean"] == np.mean([x.components for x in own])
    assert fifteen["fve"] == pytest.approx(np.mean([x.fve for x in own]))


def planted(n: int, seed: int, **values: object) -> Metrics:
    """The metrics of a run that generalised, with numbers that follow its seed."""
    run = run_metrics(n, seed)
    assert run.pca and run.neurons
    units, *others = run.classes
    heads = tuple(
        changed(
            head,
            ov=changed(head.ov, components=4 + seed % 2),
            block_score=seed / 100,
            block_score_shuffled=MeanStd(mean=0.04, std=0.01),
        )
        for head in run.heads
    )
    followed = {
        "classes": (changed(units, fve=0.9 + seed / 1000), *others),
        "pca": changed(run.pca, components=9 + seed % 3, fve=0.95 + seed / 1000),
        "neurons": changed(run.neurons, one_power=0.8 + seed / 100),
        "first_099": Epochs(train=50 * seed, validation=100 * seed, mirror_free=150 * seed),
        "epoch_099": StayingEpochs(
            train=100 * seed, validation=200 * seed, mirror_free=300 * seed, train_relapses=0
        ),
        "heads": heads,
    }
    return changed(run, **(followed | values))


NEVER = Epochs(train=None, validation=None, mirror_free=None)
DIVERGED = {
    "finite": False, "generalised": False, "pca": None, "token_order": None, "neurons": None,
    "heads": (), "first_099": NEVER, "epoch_099": StayingEpochs(**dict(NEVER), train_relapses=None),
    "accuracy": Accuracy(
        all=0.01, train=0.01, validation=0.01, mirror_free=0.01, by_target={}, by_operands={}
    ),
}  # fmt: skip


def test_table_5_has_ten_seeds_of_four_moduli_beside_the_papers_numbers():
    ten = [planted(n, seed) for n in (165, 143, 113, 154) for seed in range(1, 11)]
    rows = spread.pca(ten, PRINTED, GRID).to_dict("records")
    assert [row["n"] for row in rows] == [113, 143, 154, 165]
    components = [10, 11, 9, 10, 11, 9, 10, 11, 9, 10]
    for row in rows:
        assert (row["runs"], row["of"], row["mean"], row["min"], row["max"]) == (10, 10, 10, 9, 11)
        assert row["std"] == pytest.approx(np.std(components, ddof=1))
        assert 9 < row["low"] < 10 < row["high"] < 11
        assert row["fve"] == pytest.approx(0.9555)
        paper = PRINTED.table_pca_across_10_seeds[row["n"]]
        theirs = [row[f"paper_{name}"] for name in ("mean", "std", "min", "max")]
        assert theirs == [paper.mean, paper.std, paper.min, paper.max]
        assert row["paper_fve"] == pytest.approx(paper.mean_fve_percent / 100)


def test_every_measure_over_seeds_is_there_with_its_baseline():
    ten = [planted(143, seed) for seed in range(1, 11)]
    every = (
        seeds.of_classes,
        seeds.of_heads,
        seeds.of_directions,
        seeds.of_generalisation,
    )
    every += (seeds.of_neurons,)
    over = {of: seeds.table(ten, of, GRID) for of in every}
    found = {f.__name__: set(frame["measure"]) for f, frame in over.items()}
    assert found == {
        "of_classes": {
            "FVE", "FVE, uniform", "atomic share", "atomic, uniform", "R²", "R², all prompts",
            "R², product and candidate",
        },
        "of_heads": {
            "rank of OV", "block score", "block score, shuffled", "attention of ‘=’ to itself",
        },
        "of_directions": {
            "read", "read, by random residues", "written", "written, by random residues",
        },
        "of_neurons": {
            "classes of a and b", "a and b modulo one prime power", "neurons with 11",
            "neurons with 13",
        },
        "of_generalisation": {
            "first epoch, train", "first epoch, validation", "first epoch, mirror-free",
            "epoch to stay, train", "epoch to stay, validation", "epoch to stay, mirror-free",
            "accuracy on all pairs",
        },
    }  # fmt: skip
    epochs = over[seeds.of_generalisation].set_index("measure")
    assert epochs.loc["epoch to stay, train", "mean"] == 550
    assert epochs.loc["first epoch, train", "mean"] == 275
    assert epochs.loc["epoch to stay, mirror-free", ["min", "max"]].tolist() == [300, 3000]
    assert {*over[seeds.of_directions]["d"]} == {1, 11, 13}  # {0} has no direction
    followed = over[seeds.of_neurons].set_index("measure")
    assert followed.loc["a and b modulo one prime power", "mean"] == pytest.approx(0.855)
    heads = over[seeds.of_heads].set_index(["measure", "head"])
    assert heads.loc[("block score", 3), "mean"] == pytest.approx(0.055)
    assert heads.loc[("rank of OV", 0), "mean"] == 4.5
    fve = over[seeds.of_classes].set_index(["measure", "d"])
    assert fve.loc[("FVE", 1), ["mean", "max"]].tolist() == pytest.approx([0.9055, 0.91])
    for row in (row for frame in over.values() for row in frame.to_dict("records")):
        assert row["runs"] == row["of"] == 10
        assert row["low"] - 1e-9 <= row["mean"] <= row["high"] + 1e-9


def test_a_head_has_blocks_where_its_score_is_above_what_shuffled_classes_give():
    run = planted(143, 5)  # every head scores 5 %: within two deviations of 4 %
    scores = zip(run.heads, (0.2, 0.061, 0.059, 0.001), strict=True)
    run = changed(run, heads=tuple(changed(head, block_score=score) for head, score in scores))
    rows = seeds.blocks([planted(143, 7), planted(165, 5), run, planted(113, 2, **DIVERGED)])
    assert rows[["n", "seed", "above", "heads"]].to_numpy().tolist() == [
        [165, 5, 0, 4], [143, 5, 2, 4], [143, 7, 4, 4],
    ]  # fmt: skip
    assert rows.loc[1, ["block_max", "block_min", "block_shuffled"]].tolist() == [0.2, 0.001, 0.04]


def test_a_run_that_diverged_is_counted_as_lacking_its_measures():
    lost = planted(113, 3, **DIVERGED)
    lost = changed(
        lost, classes=tuple(changed(c, fve=None, character_fit=None) for c in lost.classes)
    )
    three = [planted(113, 1), planted(113, 2), lost]
    assert spread.pca(three, PRINTED, GRID)[["runs", "of"]].to_numpy().tolist() == [[2, 3]]
    for of, lacking in {
        seeds.of_classes: "FVE",
        seeds.of_heads: "block score",
        seeds.of_generalisation: "first epoch, validation",
    }.items():
        rows = seeds.table(three, of, GRID).set_index("measure").loc[[lacking]]
        assert {*rows["runs"]} == {2} and {*rows["of"]} == {3}
    assert seeds.failed(three)["run"].tolist() == ["n113-s3"]


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
    accuracy = made["verdict"].set_index("claim").loc["accuracy on all pairs"]
    assert accuracy["runs"] == 4
    assert np.isfinite(made["classes-seeds"]["mean"].dropna()).all()


def test_architectures_are_compared_where_both_have_the_seed(runs):
    frame = seeds.architectures(runs)
    assert frame["architecture"].tolist() == ["transformer", "mlp"]
    assert frame[["n", "seed"]].to_numpy().tolist() == [[15, 1], [15, 1]]


def test_a_run_that_failed_is_listed(runs):
    assert seeds.failed(runs)["run"].tolist() == [run.run for run in runs]
    done = [changed(run, generalised=True) for run in runs]
    assert seeds.failed(done).empty
    broken = [*done, changed(done[0], finite=False)]
    assert seeds.failed(broken)["run"].tolist() == ["n15-s1"]


def test_the_verdict_is_about_the_seeds_of_the_first_run(runs):
    frame = seeds.of_seeds(runs, PRINTED, ALL)[0].frame
    rows = {row["claim"]: row for row in frame.to_dict("records")}
    accuracy, own = rows["accuracy on all pairs"], [r for r in runs[:4] if r.n == 15]
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
    rows = {row["claim"]: row for row in frame.to_dict("records")}
    own = [r.of_class(1) for r in runs[:4] if r.n == 15]
    key, fve = rows["J1: key frequencies"], rows["J1: energy at key frequencies"]
    fit = rows["J1: R² of the character fit"]
    assert [row["runs"] for row in (key, fve, fit)] == [3, 3, 3]
    assert (key["paper"], key["verdict"]) == (99, "above")
    assert (fve["paper"], fve["verdict"]) == (0.001, "below")
    assert (fit["paper"], fit["verdict"]) == (1.0, "above")
    assert fve["mean"] == pytest.approx(np.mean([c.fve for c in own]))
    assert fit["ours"] == own[0].character_fit.r2
    other = rows["J3: key frequencies"]
    assert np.isnan(other["paper"]) and pd.isna(other["verdict"])


@pytest.mark.parametrize(
    ("relation", "paper", "values", "verdict", "agree"),
    [
        ("=", 5.0, [4, 6], "within", None),
        ("=", 4.0, [4, 6], "within", None),
        ("=", 3.0, [4, 6], "below", None),
        ("=", 7.0, [4, 6], "above", None),
        ("<", 0.5, [0.4, 0.5, 0.6], "fails", 1),
        (">", 0.5, [0.4, 0.55, 0.6], "holds", 2),
        ("", 0.5, [0.5], None, None),
        ("=", float("nan"), [0.5], None, None),
        ("=", 0.5, [float("nan")], None, None),
    ],
)
def test_verdicts(relation, paper, values, verdict, agree):
    found = spread.place(relation, paper, np.array(values, dtype=float), "count")
    assert found == {"verdict": verdict, "agree": agree}


def test_a_printed_share_is_no_more_exact_than_its_digits():
    ours = np.array([0.9996, 0.9998])
    assert spread.place("=", 1.0, ours, "share")["verdict"] == "within"
    assert spread.place("=", 1.0, ours, "ratio")["verdict"] == "above"
    assert spread.place("=", 1.0, ours - 0.001, "share")["verdict"] == "above"


def test_no_table_says_nan(runs):
    for table in every(runs):
        for write in (format.csv, format.latex, format.markdown):
            assert "nan" not in write(table).lower()


@pytest.mark.parametrize(
    ("moduli", "named"),
    [
        ([1], "grid.moduli.0 = 1: Input should be"),
        ([15, 15], "grid.moduli: 15: must be named once"),
        ([], "grid.moduli = []: List should have at least 1 item"),
    ],
)
def test_moduli_that_are_none_are_refused(moduli, named):
    values = GRID.model_dump() | {"moduli": moduli}
    with pytest.raises(InputError, match="grid") as fault:
        validated(params.GridParams, values, "params.yaml", "grid")
    assert named in str(fault.value)


def test_a_run_is_compared_over_seeds_or_extends_the_moduli_or_is_of_a_variant():
    names = ["n165-s3", "mlp-n113-s1", "n121-s1", "mlp-n121-s1", "d64-n165-s1", "n165-s1-w2"]
    assert [name for name in names if GRID.compares(name)] == names[:2]
    assert [name for name in names if GRID.extends(name)] == names[2:4]
