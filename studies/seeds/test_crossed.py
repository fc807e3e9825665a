"""Split against initial weights, on runs in which one of both is planted to decide."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from planted_runs import Studied, found, studied
from scipy import stats

from strata.run import Run
from strata.statistics import holm
from strata.tables import format
from strata.tables.table import Table
from studies.seeds.code import crossed

NOISE = np.random.default_rng(0).normal(size=(4, 4))
SEEDS = (1, 2, 3)
PLANNED = [Run(165, s, "", w) for s, w in product(SEEDS, SEEDS) if s != w]
PLANNED += [Run(165, 1, crossed.AGAIN, 2), Run(165, 2, crossed.AGAIN, 1)]
Planted = Callable[[int, int], dict[str, Any]]


def again(s: int, w: int, **planted: Any) -> Studied:
    """The same run, trained on another machine."""
    return studied((165, s, "transformer"), weights_seed=w, variant=crossed.AGAIN, **planted)


def runs(planted: Planted, missing: tuple[int, int] = (0, 0)) -> list[Studied]:
    pairs = [x for x in product(SEEDS, SEEDS) if x != missing]
    return [studied((165, s, "transformer"), weights_seed=w, **planted(s, w)) for s, w in pairs]


def tables(own: list[Studied]) -> tuple[Table, Table]:
    return crossed.tables(PLANNED, [x.metrics for x in own], found(own), 0.95)


def components(own: list[Studied]) -> dict[str, dict[Any, Any]]:
    """The row of each measure, nothing for what is missing."""
    frame = tables(own)[0].frame.astype(object)
    rows = frame.where(frame.notna(), None).to_dict("records")
    return dict(zip(crossed.MEASURES, rows, strict=True))


@pytest.mark.parametrize("decides", ["split", "weights"])
def test_the_factor_that_is_planted_decides_and_measures_that_do_not_vary_say_so(decides):
    def planted(s: int, w: int) -> dict[str, Any]:
        factor = s if decides == "split" else w
        return {"fve": 0.01 * factor**2 + 1e-4 * NOISE[s, w], "epoch": 5000}

    rows = components(runs(planted))
    own = rows["fve_classes"]
    assert own["verdict"] == decides
    assert own[f"share_{decides}"] > 0.99 and own[f"p_holm_{decides}"] < 0.05
    assert sum(own[f"share_{x}"] for x in ("split", "weights", "rest")) == pytest.approx(1)
    steady = rows["stays_validation"]
    assert steady["verdict"] == "nothing varies" and steady["p_split"] is None


def test_of_two_factors_that_matter_the_one_with_most_of_the_variance_decides():
    rows = components(runs(lambda s, w: {"fve": 0.01 * (s + 1.2 * w) + 1e-4 * NOISE[s, w]}))
    own = rows["fve_classes"]
    assert own["verdict"] == "weights" and own["share_split"] > 0.3
    assert own["p_holm_split"] < 0.05 and own["p_holm_weights"] < 0.05


def noise(s: int, w: int) -> dict[str, Any]:
    """What neither the split nor the initial weights decide."""
    return {"fve": 0.01 * NOISE[s, w], "epoch": round(9000 + 3000 * NOISE[w, s])}


def test_of_noise_no_factor_is_shown_to_decide_and_tests_are_corrected_over_all():
    rows = components(runs(noise))
    known = [x for x in rows.values() if x["p_split"] is not None]
    assert {x["verdict"] for x in known} == {"none"} and len(known) == 2
    tests = [x[f"p_{y}"] for x in known for y in ("split", "weights")]
    assert [x[f"p_holm_{y}"] for x in known for y in ("split", "weights")] == holm(tests)


def test_with_a_cell_missing_or_a_run_that_does_not_generalise_nothing_is_said():
    def planted(s: int, w: int) -> dict[str, Any]:
        return {"fve": 0.01 * s + 1e-4 * NOISE[s, w]}

    lacking = runs(planted, missing=(2, 3))
    failed = runs(lambda s, w: planted(s, w) | {"validation": 0.9 if (s, w) == (3, 1) else 1.0})
    for own in (lacking, failed):
        row = components(own)["fve_classes"]
        assert (row["verdict"], row["runs"]) == ("not called", 8) and row["share_split"] is None
    other = studied((165, 4, "transformer")), studied((154, 1, "transformer"))
    assert components([*lacking, *other]) == components(lacking)


def test_beside_the_rest_stands_what_other_rounding_does():
    own, epochs = runs(noise), {(1, 2): 500, (2, 1): -700}
    moved = [
        again(s, w, fve=0.01 * NOISE[s, w] + 1e-5, epoch=noise(s, w)["epoch"] + by)
        for (s, w), by in epochs.items()
    ]
    failed = again(3, 1, fve=9.0, epoch=1, validation=0.9)
    without, rows = components(own), components([*own, *moved, failed])
    late = rows["stays_validation"]
    assert late["again"] == 2 and late["variance_rounding"] == (500**2 + 700**2) / 4
    total = late["variance_rest"] / late["share_rest"]
    assert late["share_rounding"] == pytest.approx(late["variance_rounding"] / total)
    energy = rows["fve_classes"]
    assert energy["variance_rounding"] == pytest.approx(1e-10 / 2)
    assert energy["rounding"] is False
    for name, row in rows.items():
        of_pairs = {key for key in row if key.endswith("rounding")} | {"again"}
        assert {k: v for k, v in row.items() if k not in of_pairs} == {
            k: v for k, v in without[name].items() if k not in of_pairs
        }
        assert {without[name][key] for key in of_pairs} <= {None, 0}


@pytest.mark.parametrize(("times", "said"), [(0.99, False), (1, True), (1.01, True)])
def test_that_rounding_does_as_much_is_said_from_the_share_of_the_rest_on(times, said):
    apart = {(1, 1): 1, (1, 2): -1, (2, 1): -1, (2, 2): 1}  # mean square 1/256
    own = runs(lambda s, w: {"fve": 0.5 + apart.get((s, w), 0) / 16})
    moved = [again(1, 2, fve=0.5 + (2 * times - 1) / 16), again(2, 1, fve=0.5 - 1 / 16)]
    row = components([*own, *moved])["fve_classes"]
    assert row["again"] == 2 and row["share_rest"] > 0 and row["rounding"] is said
    assert (row["share_rounding"] == row["share_rest"]) == (times == 1)


def test_every_run_of_the_crossing_is_shown_with_what_was_measured(tmp_path):
    made = tables(runs(lambda s, w: {"epoch": 100 * s + w}))
    rows = made[1].frame.to_dict("records")
    assert [x["run"] for x in rows][:4] == ["n165-s1", "n165-s1-w2", "n165-s1-w3", "n165-s2-w1"]
    assert all(x["stays_validation"] == 100 * x["split_seed"] + x["weights_seed"] for x in rows)
    format.write([*made, *tables([])], tmp_path)
    assert all(x.read_text().isascii() for x in tmp_path.glob("*.tex"))
    assert not any("nan" in x.read_text().lower() for x in tmp_path.glob("*.md"))


def left(y, *factors):
    """Sum of squares that least squares on the constant and these factors leaves."""
    X = np.hstack([np.ones((y.size, 1)), *factors])
    return ((y.ravel() - X @ np.linalg.lstsq(X, y.ravel(), rcond=None)[0]) ** 2).sum()


@pytest.mark.parametrize("shape", [(3, 3), (2, 4)])
def test_mean_squares_are_what_each_factor_takes_from_least_squares(shape):
    y, (r, c) = np.random.default_rng(0).normal(size=shape), shape
    rows, columns = np.kron(np.eye(r), np.ones((c, 1))), np.kron(np.ones((r, 1)), np.eye(c))
    every, rest = (r - 1, c - 1), (r - 1) * (c - 1)
    both = left(y, rows, columns)
    squares = [(left(y, x) - both) / df for x, df in zip((columns, rows), every, strict=True)]
    found = crossed.crossed(y)
    assert found and np.allclose(found.squares, [*squares, both / rest])
    # The F-test of nested models.
    F = [x / (both / rest) for x in squares]
    assert np.allclose(found.p, [stats.f.sf(x, df, rest) for x, df in zip(F, every, strict=True)])
    other = crossed.crossed(y.T)
    assert other and np.allclose(other.components[:2], found.components[1::-1])
    assert np.allclose(other.shares, [found.shares[i] for i in (1, 0, 2)])


def test_components_are_the_planted_variances_on_average_and_a_factor_that_is_all_has_no_test():
    rng, planted = np.random.default_rng(1), np.array([4.0, 0.0, 1.0])
    found = []
    for _ in range(400):
        s, w, e = (
            rng.normal(size=x) * v**0.5 for x, v in zip((3, 5, (3, 5)), planted, strict=True)
        )
        one = crossed.crossed(s[:, None] + w + e)
        assert one and min(one.shares) >= 0 and sum(one.shares) == pytest.approx(1)
        found.append(one.components)
    error = np.std(found, axis=0) / 20
    assert (np.abs(np.mean(found, axis=0) - planted) < 4 * error).all()
    assert crossed.crossed(np.add.outer([1.0, 2.0, 4.0], [0.0, 1.0, 0.0])) is None
    assert crossed.crossed(np.ones((3, 3))) is None
