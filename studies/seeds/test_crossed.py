"""Split against initial weights, on runs in which one of both is planted to decide."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from handmade import Studied, long_table, studied
from scipy import stats

from strata.run import Run
from strata.statistics import holm
from strata.tables import format
from strata.tables.table import Table
from studies.seeds.code import crossed, decide

NOISE = np.random.default_rng(0).normal(size=(4, 4))
SEEDS = (1, 2, 3)
PLANNED = [Run(165, s, "", w) for s, w in product(SEEDS, SEEDS) if s != w]
PLANNED += [Run(165, 1, decide.AGAIN, 2), Run(165, 2, decide.AGAIN, 1)]
Planted = Callable[[int, int], dict[str, Any]]


def again(s: int, w: int, **planted: Any) -> Studied:
    """Return the same run, trained on another machine."""
    return studied((165, s, "transformer"), weights_seed=w, variant=decide.AGAIN, **planted)


def runs(planted: Planted, missing: tuple[int, int] = (0, 0)) -> list[Studied]:
    pairs = [x for x in product(SEEDS, SEEDS) if x != missing]
    return [studied((165, s, "transformer"), weights_seed=w, **planted(s, w)) for s, w in pairs]


def tables(models: list[Studied]) -> tuple[Table, Table]:
    return decide.tables(PLANNED, [x.metrics for x in models], long_table(models), 0.95)


def components(models: list[Studied]) -> dict[str, dict[Any, Any]]:
    """Return the row of each measure, with None for what is missing."""
    frame = tables(models)[0].frame.astype(object)
    rows = frame.where(frame.notna(), None).to_dict("records")
    return dict(zip(decide.MEASURES, rows, strict=True))


@pytest.mark.parametrize("decides", ["split", "weights"])
def test_the_factor_that_is_planted_decides_and_measures_that_do_not_vary_say_so(decides):
    def planted(s: int, w: int) -> dict[str, Any]:
        factor = s if decides == "split" else w
        return {"fve": 0.01 * factor**2 + 1e-4 * NOISE[s, w], "epoch": 5000}

    rows = components(runs(planted))
    energy = rows["fve_classes"]
    assert energy["verdict"] == decides
    assert energy[f"share_{decides}"] > 0.99 and energy[f"p_holm_{decides}"] < 0.05
    assert sum(energy[f"share_{x}"] for x in ("split", "weights", "rest")) == pytest.approx(1)
    steady = rows["stays_validation"]
    assert steady["verdict"] == "nothing varies" and steady["p_split"] is None


def test_of_two_factors_that_matter_the_one_with_most_of_the_variance_decides():
    rows = components(runs(lambda s, w: {"fve": 0.01 * (s + 1.2 * w) + 1e-4 * NOISE[s, w]}))
    energy = rows["fve_classes"]
    assert energy["verdict"] == "weights" and energy["share_split"] > 0.3
    assert energy["p_holm_split"] < 0.05 and energy["p_holm_weights"] < 0.05


def noise(s: int, w: int) -> dict[str, Any]:
    """Return measures that neither the split nor the initial weights decide."""
    return {"fve": 0.01 * NOISE[s, w], "epoch": round(9000 + 3000 * NOISE[w, s])}


def test_of_noise_no_factor_is_shown_to_decide_and_tests_are_corrected_over_all():
    rows = components(runs(noise))
    tested = [x for x in rows.values() if x["p_split"] is not None]
    assert {x["verdict"] for x in tested} == {"none"} and len(tested) == 2
    tests = [x[f"p_{y}"] for x in tested for y in ("split", "weights")]
    assert [x[f"p_holm_{y}"] for x in tested for y in ("split", "weights")] == holm(tests)
    later = components(runs(lambda s, w: noise(s, w) | {"first": round(900 + 100 * NOISE[s, w])}))
    assert later["first_validation"]["p_split"] is not None
    assert later["first_validation"]["p_holm_split"] is None
    assert [later[x] for x in rows if x != "first_validation"] == [
        rows[x] for x in rows if x != "first_validation"
    ]


def test_with_a_cell_missing_or_a_run_that_does_not_generalise_nothing_is_said():
    def planted(s: int, w: int) -> dict[str, Any]:
        return {"fve": 0.01 * s + 1e-4 * NOISE[s, w]}

    lacking = runs(planted, missing=(2, 3))
    failed = runs(lambda s, w: planted(s, w) | {"validation": 0.9 if (s, w) == (3, 1) else 1.0})
    for models in (lacking, failed):
        row = components(models)["fve_classes"]
        assert (row["verdict"], row["runs"]) == ("not called", 8) and row["share_split"] is None
    other = studied((165, 4, "transformer")), studied((154, 1, "transformer"))
    assert components([*lacking, *other]) == components(lacking)


def test_beside_the_rest_stands_what_other_rounding_does():
    models, epochs = runs(noise), {(1, 2): 500, (2, 1): -700}
    repeated = [
        again(s, w, fve=0.01 * NOISE[s, w] + 1e-5, epoch=noise(s, w)["epoch"] + shift)
        for (s, w), shift in epochs.items()
    ]
    failed = again(3, 1, fve=9.0, epoch=1, validation=0.9)
    without, rows = components(models), components([*models, *repeated, failed])
    late = rows["stays_validation"]
    assert late["again"] == 2 and late["variance_rounding"] == (500**2 + 700**2) / 4
    total = late["variance_rest"] / late["share_rest"]
    assert late["share_rounding"] == pytest.approx(late["variance_rounding"] / total)
    energy = rows["fve_classes"]
    assert energy["variance_rounding"] == pytest.approx(1e-10 / 2)
    assert energy["rounding"] is False
    for name, row in rows.items():
        of_rounding = {key for key in row if key.endswith("rounding")} | {"again"}
        assert {k: v for k, v in row.items() if k not in of_rounding} == {
            k: v for k, v in without[name].items() if k not in of_rounding
        }
        assert {without[name][key] for key in of_rounding} <= {None, 0}


@pytest.mark.parametrize(("times", "rounding"), [(0.99, False), (1, True), (1.01, True)])
def test_that_rounding_does_as_much_is_said_from_the_share_of_the_rest_on(times, rounding):
    signs = {(1, 1): 1, (1, 2): -1, (2, 1): -1, (2, 2): 1}  # mean square 1/256
    models = runs(lambda s, w: {"fve": 0.5 + signs.get((s, w), 0) / 16})
    repeated = [again(1, 2, fve=0.5 + (2 * times - 1) / 16), again(2, 1, fve=0.5 - 1 / 16)]
    row = components([*models, *repeated])["fve_classes"]
    assert row["again"] == 2 and row["share_rest"] > 0 and row["rounding"] is rounding
    assert (row["share_rounding"] == row["share_rest"]) == (times == 1)


def test_every_run_of_the_crossing_is_shown_with_what_was_measured(tmp_path):
    both_tables = tables(runs(lambda s, w: {"epoch": 100 * s + w}))
    rows = both_tables[1].frame.to_dict("records")
    assert [x["run"] for x in rows][:4] == ["n165-s1", "n165-s1-w2", "n165-s1-w3", "n165-s2-w1"]
    assert all(x["stays_validation"] == 100 * x["split_seed"] + x["weights_seed"] for x in rows)
    format.write([*both_tables, *tables([])], tmp_path)
    assert all(x.read_text().isascii() for x in tmp_path.glob("*.tex"))
    assert not any("nan" in x.read_text().lower() for x in tmp_path.glob("*.md"))


def unexplained(y, *factors):
    """Sum the squares that least squares on the constant and these factors leaves."""
    X = np.hstack([np.ones((y.size, 1)), *factors])
    return ((y.ravel() - X @ np.linalg.lstsq(X, y.ravel(), rcond=None)[0]) ** 2).sum()


@pytest.mark.parametrize("shape", [(3, 3), (2, 4)])
def test_mean_squares_are_what_each_factor_takes_from_least_squares(shape):
    y, (r, c) = np.random.default_rng(0).normal(size=shape), shape
    rows, columns = np.kron(np.eye(r), np.ones((c, 1))), np.kron(np.ones((r, 1)), np.eye(c))
    degrees, residual_degrees = (r - 1, c - 1), (r - 1) * (c - 1)
    residual = unexplained(y, rows, columns)
    squares = [
        (unexplained(y, x) - residual) / df for x, df in zip((columns, rows), degrees, strict=True)
    ]
    analysis = crossed.analyse(y)
    assert analysis and np.allclose(analysis.squares, [*squares, residual / residual_degrees])
    # The F-test of nested models.
    F = [x / (residual / residual_degrees) for x in squares]
    assert np.allclose(
        analysis.p, [stats.f.sf(x, df, residual_degrees) for x, df in zip(F, degrees, strict=True)]
    )
    transposed = crossed.analyse(y.T)
    assert transposed and np.allclose(transposed.components[:2], analysis.components[1::-1])
    assert np.allclose(transposed.shares, [analysis.shares[i] for i in (1, 0, 2)])


def test_components_are_the_planted_variances_on_average_and_a_factor_that_is_all_has_no_test():
    rng, planted = np.random.default_rng(1), np.array([4.0, 0.0, 1.0])
    estimates = []
    for _ in range(400):
        s, w, e = (
            rng.normal(size=x) * v**0.5 for x, v in zip((3, 5, (3, 5)), planted, strict=True)
        )
        analysis = crossed.analyse(s[:, None] + w + e)
        assert analysis and min(analysis.shares) >= 0 and sum(analysis.shares) == pytest.approx(1)
        estimates.append(analysis.components)
    error = np.std(estimates, axis=0) / 20
    assert (np.abs(np.mean(estimates, axis=0) - planted) < 4 * error).all()
    assert crossed.analyse(np.add.outer([1.0, 2.0, 4.0], [0.0, 1.0, 0.0])) is None
    assert crossed.analyse(np.ones((3, 3))) is None
