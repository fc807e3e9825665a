"""What is said of zero divisors, from runs in which it is planted; and from runs as they are."""

import numpy as np
import pandas as pd
import pytest
import torch
from drawing import check
from handmade import changed, run_metrics
from small import ROOT

from strata import params, store
from strata.api.model import model_of
from strata.inputs import InputError
from strata.results import CONFIRMED, HOLDS, REFUTED, UNDECIDED, UNTESTED
from strata.run import Run, Settings
from strata.statistics import share_interval
from strata.task import Residues, Task, parse_task
from strata.train import network
from studies.params import ZerosSettings, load
from studies.zeros.code import measures, tables, votes
from studies.zeros.code.measures import ABSORBING, ALL, NONE, ONE, OTHER, TWO, Measured
from studies.zeros.code.mixing import KeyCharacter, Pair
from studies.zeros.parts import automorphisms, part
from studies.zeros.stages import measure_zeros, zeros_tables

SETTINGS = ZerosSettings(**load(ROOT).zeros.model_dump(), key_threshold=0.5)
DECIDING = [Run(n, s, v) for n in (195, 231, 273) for v in ("z12", "z13", "z23") for s in (1, 2)]
UNITS = [Run(195, s, "z0") for s in (1, 2)]


def deciding(run: Run, F: float = 0.1, pure: int = 1, accuracy: float = 1.0) -> Measured:
    """Return the measures of a run with zeros of 3 and 5, all else as planted."""
    others = {(3, 13): 1, (5, 13): 1}
    pairs = [Pair(share=F / 2, even=0.5, primes=(3, 5), zeros=2)]
    pairs += [Pair(share=0.5, even=0.5, primes=x, zeros=z) for x, z in others.items()]
    felt = [(13,)] * pure + [(3,), (5, 13), (3, 5, 13)]
    keys = tuple(KeyCharacter(frequency=(0,), share=0.1, primes=x) for x in felt)
    return Measured(run=str(run), group=TWO, modulus=195, zeros=(3, 5), accuracy=accuracy,
                    pairs=tuple(pairs), keys=keys, votes=0.5)  # fmt: skip


def units(run: Run, *shares: float) -> Measured:
    names: list[str] = ["3, 5", "3, 13", "5, 13"]
    images = dict(zip(names, shares, strict=True))
    return Measured(run=str(run), group=NONE, modulus=195, zeros=(), accuracy=1, images=images)


def verdicts(measured: dict[Run, Measured]) -> dict[str, tuple[int, int, str]]:
    """Return for each statement in how many runs it holds, of how many, and the verdict."""
    rows = tables.tables([*measured], measured, SETTINGS)[0].frame.to_dict("records")
    return {x["id"]: (x["held"], x["runs"], x["verdict"]) for x in rows}


@pytest.mark.parametrize(
    ("held", "count", "verdict"),
    [(14, 18, CONFIRMED), (13, 18, UNDECIDED), (10, 12, CONFIRMED), (9, 12, UNDECIDED),
     (4, 18, REFUTED), (5, 18, UNDECIDED), (11, 11, UNTESTED)],
)  # fmt: skip
def test_both_statements_are_decided_by_one_rule(held, count, verdict):
    counting = DECIDING[:count]
    measured = {UNITS[0]: units(UNITS[0], 0, 0, 0)}
    measured |= {run: deciding(run, *((0.5, 1) if i < held else (0.51, 0)), SETTINGS.answers)
              for i, run in enumerate(counting)}  # fmt: skip
    assert verdicts(measured) == {"apart": (held, count, verdict), "own": (held, count, verdict)}
    failed = {run: deciding(run, accuracy=0.989) for run in DECIDING[count:]}
    assert verdicts(measured | failed) == verdicts(measured)


def test_the_interval_has_the_confidence_of_the_settings():
    measured = {run: deciding(run, *((0.5, 1) if i < 13 else (0.51, 0)))
                for i, run in enumerate(DECIDING)}  # fmt: skip
    measured[UNITS[0]] = units(UNITS[0], 0, 0, 0)
    for confidence, verdict in ((0.95, UNDECIDED), (0.9, CONFIRMED)):
        settings = SETTINGS.model_copy(update={"confidence": confidence})
        frame = tables.tables([*measured], measured, settings)[0].frame
        assert {*frame["verdict"]} == {verdict}


def test_primes_apart_have_to_be_so_more_often_than_by_chance():
    measured = {run: deciding(run) for run in DECIDING}
    low = 0.8146980  # of 18 of 18
    chance = {UNITS[0]: units(UNITS[0], 0, 0.1, 0.8), UNITS[1]: units(UNITS[1], 0, 0.1, 0.82)}
    assert verdicts(measured | chance)["apart"] == (18, 18, CONFIRMED)
    chance |= {UNITS[1]: units(UNITS[1], 0, 0.1, 2 * low - 0.799)}
    assert verdicts(measured | chance)["apart"] == (18, 18, UNDECIDED)
    assert verdicts(measured | chance)["own"] == (18, 18, CONFIRMED)
    exactly, _ = share_interval(18, 18, SETTINGS.confidence)
    at_the_end = verdicts(measured | {UNITS[0]: units(UNITS[0], 0, 0, exactly)})
    assert at_the_end["apart"] == (18, 18, UNDECIDED)
    rows = tables.null(chance).to_dict("records")
    assert [(x["units"], x["primes"], x["runs"]) for x in rows] == [
        (195, "3, 5", 2), (195, "3, 13", 2), (195, "5, 13", 2)
    ]  # fmt: skip
    assert [x["share"] for x in rows] == pytest.approx([0, 0.1, low + 0.0005])


def test_a_verdict_on_a_run_is_by_levels_and_a_pure_key_is_one_of_the_prime_without_zeros():
    runs = DECIDING[:3]
    values = ((0.5, 0), (0.7, 1), (1.0, 3))
    measured = {run: deciding(run, *x) for run, x in zip(runs, values, strict=True)}
    table = tables.runs(runs, measured, SETTINGS)
    assert table["apart"].tolist() == [HOLDS, UNDECIDED, "does not hold"]
    assert table["own"].tolist() == ["does not hold", HOLDS, HOLDS]
    assert table["pure"].tolist() == [0, 1, 3] and table["F"].tolist() == [0.5, 0.7, 1.0]


def settings_of(run: Run) -> Settings:
    return params.load(ROOT / "params.yaml").settings(run)


def initial(run: Run) -> tuple[Task, dict[str, np.ndarray], Settings]:
    """Return the task and the initial weights of a run, with narrow layers."""
    settings = settings_of(run)
    small = settings.train.model_copy(update={"d_model": 8, "d_mlp": 6})
    settings, task = settings.model_copy(update={"train": small}), settings.task(run)
    weights = network.initial(run, small, task.order)
    return task, {name: x.numpy() for name, x in weights.items()}, settings


GROUPS = {
    "z13-n105-s1": TWO, "z0-n105-s1": NONE, "z2-n105-s1": ONE, "small-n105-s1": ALL,
    "absorbing-n97-s1": ABSORBING, "coprime-n143-s1": OTHER, "square-n121-s1": OTHER,
}  # fmt: skip


def test_runs_as_they_are_go_through_the_stages_into_tables_and_the_picture(tmp_path, monkeypatch):
    for name, group in GROUPS.items():
        run = Run.parse(name)
        task, weights, settings = initial(run)
        store.write_bytes(tmp_path / "w", store.tensors_bytes(weights, settings.record(run)))
        metrics = run_metrics(12, 1)
        accuracy = changed(metrics.accuracy, all=0.995)
        store.write_json(tmp_path / "m", changed(metrics, accuracy=accuracy))
        store.write_json(tmp_path / "zeros.json", SETTINGS)
        (tmp_path / "measures").mkdir(exist_ok=True)
        out = tmp_path / "measures" / f"{name}.json"
        settings, w, m = (str(tmp_path / x) for x in ("zeros.json", "w", "m"))
        measure_zeros.main(name, settings, w, m, str(out))
        measured = store.read_model(out, Measured)
        assert measured.group == group and measured.accuracy == 0.995
        assert (measured.F is None) == (measured.pure is None) == (group != TWO)
        assert (measured.images is None) == (group not in (NONE, ABSORBING))
        assert (measured.factors is None) == (group != OTHER)
        assert (measured.votes is None) == (not isinstance(task, Residues))
        if measured.F is not None:
            assert measured.pairs[1].over_even == measured.F and measured.pairs[1].primes == (3, 7)
    planned = [*GROUPS, "z12-n105-s2"]  # which is not trained
    store.write_json(tmp_path / "zeros.json", SETTINGS.model_copy(update={"planned": planned}))
    out = tmp_path / "tables"
    zeros_tables.main(str(out), str(tmp_path / "zeros.json"), str(tmp_path / "measures"))
    runs = pd.read_csv(out / "zeros-runs.csv")
    assert runs["run"].tolist() == planned
    assert "not trained" in (out / "zeros-runs.md").read_text().splitlines()[-1]
    assert "7 of 8 runs" in (out / "zeros-said.md").read_text()
    pairs = pd.read_csv(out / "zeros-pairs.csv")
    assert pairs["pairs"].tolist() == [3 + 1, 2 + 2, 1 + 3]
    null = pd.read_csv(out / "zeros-null.csv")
    assert sorted(null["units"]) == [105] * 3 + [195] * 3
    assert not any("nan" in x.read_text().lower() for x in out.glob("*.md"))
    parameters = {"measures": str(tmp_path / "measures")}
    check(ROOT / "studies/zeros/notebooks/zeros-mixing.ipynb", parameters, tmp_path, monkeypatch)


def test_the_factors_of_a_product_of_groups_are_those_that_it_names():
    run = Run.parse("coprime-n143-s1")
    task, weights, _ = initial(run)
    a, b = np.divmod(np.arange(143), 13)
    one, other = (np.cos(2 * np.pi * x) for x in (3 * a / 11, 2 * b / 13))
    for rows, share in ((one + other, 0), (one * other, 1)):
        weights["W_E"][:143] = rows[:, None]
        factors = measures.measure(str(run), weights, task, 1.0, SETTINGS).factors
        assert factors and factors.share == pytest.approx(share, abs=1e-6)
        assert factors.even == 120 / 142


@pytest.mark.parametrize("zeros", [(3, 7), (3, 5, 7), ()])
def test_votes_inside_classes_are_fitted_over_all_pairs(zeros):
    task = part(105, zeros)
    y = np.random.default_rng(0).normal(size=(task.order, task.order))
    columns = np.hstack([np.equal.outer(task.modulo(p), np.arange(p)) for p in task.factors])
    centred = [np.array(x, dtype=float) for x in (y, columns)]
    for x in centred:
        for J in task.classes:
            x[J.elements] -= x[J.elements].mean(axis=0)
    logits, columns_of_pairs = (x[task.table.ravel()] for x in centred)  # a row for each pair
    residual = logits - columns_of_pairs @ np.linalg.lstsq(columns_of_pairs, logits, rcond=1e-10)[0]
    expected = 1 - (residual**2).sum() / (logits**2).sum()
    assert votes.inside_classes(y, task) == pytest.approx(expected)


def test_a_table_has_to_be_the_units_with_an_absorbing_element():
    task = settings_of(Run(97, 1, "absorbing")).task(Run(97, 1, "absorbing"))
    units = measures.without_absorbing(task, 195)
    assert units.order == 96 and not units.zeros
    for other in (parse_task("C97", 97), Task({}, "a table", np.zeros((97, 97), np.int64))):
        with pytest.raises(InputError, match="must be the units of 195"):
            measures.without_absorbing(other, 195)


@pytest.mark.parametrize(("n", "zeros"), [(15, ()), (21, (7,))])
def test_training_cannot_tell_a_task_from_its_image(n, zeros):
    # With initial weights and pairs moved along, gradients are those moved along, bit for bit but
    # rounding. AdamW steps are entry by entry, so the trained weights are moved along, too.
    task = part(n, zeros)
    drawn = network.initial(Run(n, 1), settings_of(Run(n, 1, "small")).train, task.order)
    weights = {name: x.numpy() for name, x in drawn.items()}
    pairs = np.random.default_rng(0).permutation(task.order**2)[: task.order**2 // 2]
    a, b = np.divmod(pairs, task.order)

    def gradients(weights: dict[str, np.ndarray], a: np.ndarray, b: np.ndarray):
        model = model_of(None, weights, task=task).requires_grad_()
        right = torch.from_numpy(task.table[a, b])
        torch.nn.functional.cross_entropy(model(a, b), right).backward()
        by_name = {name.rpartition(".")[2]: x.grad for name, x in model.named_parameters()}
        return {name: x.numpy() for name, x in by_name.items() if x is not None}

    def permuted(x: dict[str, np.ndarray], f: np.ndarray) -> dict[str, np.ndarray]:
        back = np.argsort(f)
        W_E = np.concatenate([x["W_E"][back], x["W_E"][-1:]])
        return {**x, "W_E": W_E, "W_U": x["W_U"][:, back], "b_U": x["b_U"][back]}

    base, maps = gradients(weights, a, b), list(automorphisms(task.table))
    assert {*base} == {*weights} and len(maps) > 2
    for f in maps[:4]:
        expected = permuted(base, f)
        for name, x in gradients(permuted(weights, f), f[a], f[b]).items():
            np.testing.assert_allclose(x, expected[name], atol=1e-7)
