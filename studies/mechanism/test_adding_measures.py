"""Statements 6 to 10: planted models come out as criteria-3.md says, and networks are decided."""

import numpy as np
import pandas as pd
import pytest
from small import ROOT, TRAIN, random_weights

from strata import results, store
from strata.api import by_hand, second_adder
from strata.measure.activations import forward
from strata.patch.patching import forward_pass
from strata.results import FAILS, HOLDS, UNDECIDED, Row
from studies.mechanism.code import (
    adding_decide,
    adding_measures,
    adding_planted,
    adding_tables,
    classes_first,
    symmetricity,
)
from studies.mechanism.code.adding_decide import CRITERIA, PLANTED, STATEMENTS
from studies.mechanism.code.records import Part
from studies.mechanism.stages import adding
from studies.mechanism.stages import adding_tables as stage
from studies.params import load

N = 77
SECOND = adding_planted.Model(second_adder.weights(N), N)
SMALL = {
    "second adder": lambda: SECOND,
    "by hand": lambda: adding_planted.Model(by_hand.weights(N), N),
    "by hand, gated": lambda: adding_planted.Model(by_hand.weights(N, gate=(7, 11)), N),
    "classes first": lambda: adding_planted.Model(classes_first.weights(105), 105),
    "renamed": lambda: adding_planted.renamed(SECOND, np.random.default_rng(1)),
    "untrained": lambda: adding_planted.Model(random_weights(21), 21),
}


@pytest.fixture(scope="module")
def params():
    return load(ROOT)


SLOW = pytest.param("renamed", marks=pytest.mark.slow)


@pytest.mark.parametrize("name", [*(x for x in SMALL if x != "renamed"), SLOW])
def test_planted_models_come_out_as_the_criteria_say(name, params):
    model = SMALL[name]()
    rows = adding_planted.measure({name: model}, params.adding.measures)
    verdicts = {row.id: row.verdict for row in rows if not row.measure}
    for id in STATEMENTS:
        verdict = verdicts.get(id, "")
        assert adding_decide.comes_out(name, id, verdict), (id, verdict)
    [right] = [row.value for row in rows if (row.id, row.measure) == ("whole", "right")]
    assert right == 1 or name == "untrained"


def test_random_functions_in_the_place_of_characters_are_as_many_and_of_their_primes():
    n = 105
    use = adding_measures.RandomFunctions(n, np.arange(n), 2)
    plain = adding_measures.ResidueFunctions(n, np.arange(n))
    for label in ((3, 1),), ((7, 2),), ((5, 1), (7, 1)):
        parts = tuple(Part(p, 0, (k,)) for p, k in label)
        drawn, Q = use.character(parts), int(np.prod([p for p, _ in label]))
        assert drawn.shape == plain.character(parts).shape
        assert np.array_equal(drawn[:Q], drawn[Q : 2 * Q])
        assert np.array_equal(drawn.any(axis=1), plain.character(parts).any(axis=1))
        [r, *_] = [p for p in (3, 5, 7) if p not in [p for p, _ in label]]
        gate = use.gates(parts)[:, : drawn.shape[1]]
        assert np.array_equal(gate, drawn * (np.arange(n) % r == 0)[:, None])


def test_gradients_are_those_of_the_logits():
    n, rng = 10, np.random.default_rng(0)
    pairs, step = forward_pass(random_weights(n), n), 1e-6
    rows, candidate = pairs.row[rng.integers(n, size=(2, 6))[0], [1, 7, 3, 3, 0, 9]], np.arange(6)
    both = symmetricity.gradients(pairs, rows, candidate)
    towards, w = rng.normal(size=both[0].shape[1]), pairs.weights

    def logit(a: int, b: int, c: int, embedding: np.ndarray) -> float:
        return forward(w | {"W_E": embedding}, np.array([a]), np.array([b])).logits[0, c]

    for row, c, by_a, by_b in zip(rows, candidate.tolist(), *both, strict=True):
        a, b = int(pairs.a[row]), int(pairs.b[row])
        for token, places, exact in ((a, (0, b + 1), by_a), (b, (a + 1, 0), by_b)):
            # Token 0 is a copy of the operand, one step off; all others are one further.
            moved = np.insert(w["W_E"], 0, w["W_E"][token] + step * towards, axis=0)
            change = logit(*places, c, moved) - logit(a, b, c, w["W_E"])
            assert change / step == pytest.approx(exact @ towards, rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("kind", ["transformer", "mlp"])
@pytest.mark.parametrize("n", [2, 5, 8, 12])
def test_any_model_of_any_modulus_can_be_measured(n, kind, params):
    rows = adding_measures.measure(random_weights(n, kind), n, params.adding.measures)
    assert [row.id for row in rows[: len(STATEMENTS)]] == [*STATEMENTS]
    assert {*CRITERIA} <= {row.id for row in rows}


def test_a_network_that_prefers_nothing_is_not_identified(params):
    weights = random_weights(6, "mlp")
    weights |= {name: np.zeros_like(weights[name]) for name in ("W_U", "b_U")}
    rows = adding_measures.measure(weights, 6, params.adding.measures)
    [row] = [x for x in rows if x.id == "identified-preference"]
    assert (row.value, row.verdict) == (0, FAILS)


# ---- verdicts --------------------------------------------------------------------------------


@pytest.mark.parametrize("verdict", [HOLDS, UNDECIDED, FAILS, ""])
def test_a_planted_model_comes_out_where_its_statement_holds_fails_or_has_no_verdict(verdict):
    comes_out = {
        name: adding_decide.comes_out(name, "hole", verdict)
        for name in ("second adder", "renamed", "by hand")
    }
    assert comes_out == {
        "second adder": verdict == HOLDS, "renamed": verdict != HOLDS, "by hand": not verdict
    }  # fmt: skip


def network(run: str, verdict: str, accuracy=1.0, rival=0.8, carries=1.0, **others: str):
    """Return what a run has where every statement comes out like this, but for others."""
    verdicts = dict.fromkeys(STATEMENTS, verdict) | others
    rows = [Row(run, id, "", verdict=x) for id, x in verdicts.items()]
    rows += [Row(run, id, "", value=0.5, verdict=verdicts[CRITERIA[id].statement])
             for id in CRITERIA]  # fmt: skip
    numbers = {("whole", "right"): accuracy, ("attention", "carries skill"): carries}
    numbers |= dict.fromkeys(adding_tables.MORE, 0.5) | {("adding", "rival"): rival}
    return rows + [Row(run, id, "", name, value=x) for (id, name), x in numbers.items()]


def planted(**others):
    """Return the verdicts of planted models as they must be, but for others."""
    rows = []
    for name, asks in PLANTED.items():
        rows += [Row(name, id, "", verdict=HOLDS) for id in asks.must]
        rows += [Row(name, id, "", verdict=FAILS) for id in asks.must_not]
        rows += [Row(name, id, "", verdict=x) for id, x in others.get(name, {}).items()]
    return pd.DataFrame(rows, columns=[*Row._fields])


def tables(params, runs, controls=None):
    """Return the tables of such networks, by name."""
    rows = pd.DataFrame([x for run in runs for x in run], columns=[*Row._fields])
    controls = planted() if controls is None else controls
    five = pd.DataFrame([Row("lookup", "votes", "", verdict=FAILS)], columns=[*Row._fields])
    written = adding_tables.tables(rows, controls, five, params.mechanism, params.adding)
    return {table.name: table for table in written}


def forty(params, verdict, *first):
    """Return all networks that decide, with one verdict, but for the first fresh ones."""
    names = [*params.mechanism.fresh, *params.adding.new]
    verdicts = [*first, *[verdict] * (len(names) - len(first))]
    return [network(*x) for x in zip(names, verdicts, strict=True)]


@pytest.mark.parametrize(
    ("first", "verdict"),
    [
        ([], "confirmed"),
        ([UNDECIDED] * 13, "confirmed"),
        ([FAILS] * 14, "undecided"),
        ([""] * 28, "no verdict before 20"),
        ([""] * 20, "confirmed"),
        ([FAILS] * 28, "refuted"),
    ],
)
def test_what_decides_is_the_interval_over_both_groups(params, first, verdict):
    frame = tables(params, forty(params, HOLDS, *first))["adding-said"].frame
    assert frame.set_index("id").loc["hole", "verdict"] == verdict
    assert frame.set_index("id").loc["identified", ["holds", "verdict"]].tolist() == [
        12, "confirmed"]  # fmt: skip


def test_nothing_is_decided_before_all_networks_are_there(params):
    fresh = [network(name, HOLDS) for name in params.mechanism.fresh]
    frame = tables(params, fresh)["adding-said"].frame.set_index("id")
    assert frame.loc["hole", "verdict"] == "no verdict: 28 of 40 networks"
    assert frame.loc["identified", "verdict"] == "no verdict: 0 of 12 networks"
    assert frame.loc["hole", "holds"] == 28


def test_what_holds_for_a_model_of_which_it_must_not_is_not_confirmed(params):
    controls = planted(**{"memorised": {"identified": HOLDS}, "classes first": {"formulas": HOLDS}})
    written = tables(params, forty(params, HOLDS), controls)
    verdicts = written["adding-said"].frame.set_index("id")["verdict"].to_dict()
    assert verdicts["formulas"] == "not confirmed: holds for classes first, too"
    assert verdicts["identified"] == "not confirmed: holds for memorised, too"
    assert verdicts["adding"] == "confirmed"
    otherwise = written["adding-planted"].frame.set_index("model")["otherwise"].to_dict()
    assert otherwise["classes first"] == "formulas" and not otherwise["second adder"]


def test_votes_are_tabulated_by_the_order_of_their_character(params):
    """Plant the law for 11:1, of order ten, and for 13:4, of order three, whose farthest angles are
    120 degrees apart; and a vote that is full at every other angle for 5:1, of order four."""
    votes = {"11:1": np.cos(np.pi * np.arange(6) / 10),
             "13:4": np.abs(np.cos(4 * np.pi * np.arange(7) / 12)), "5:1": [1, 2, 0]}  # fmt: skip
    rows = [Row("n143-s15", "vote at mean", "", f"{x} {delta}", value=float(y))
            for x, vote in votes.items() for delta, y in enumerate(vote)]  # fmt: skip
    frame = tables(params, [network("n143-s15", HOLDS) + rows])["adding-orders"].frame
    assert frame[["order", "characters"]].to_numpy().tolist() == [[3, 1], [4, 1], [10, 1]]
    of_four = np.corrcoef([1, 0.5**0.5, 0], votes["5:1"])[0, 1]
    assert frame["correlation"].tolist() == pytest.approx([1, of_four, 1])
    assert frame["farthest"].tolist() == pytest.approx([0.5, 0, 0], abs=1e-9)


def test_adding_is_not_confirmed_where_its_rival_is_not_refuted(params):
    runs = forty(params, HOLDS)
    right = params.adding.measures.levels.right[0]

    def verdicts(carries: float) -> dict[str, str]:
        stands = [
            network(name, HOLDS, rival=right, carries=carries)
            for name in params.mechanism.fresh[:15]
        ]
        frame = tables(params, [*runs[15:], *stands])["adding-said"].frame
        return frame.set_index("id")["verdict"].to_dict()

    carrying = verdicts(1.0)
    assert carrying["adding"] == "not confirmed: the rival stands in 15"
    assert carrying["hole"] == "confirmed" and carrying["rival"] == "undecided"
    # Where attention carries no skill, nothing is asked of the rival.
    assert [verdicts(0.0)[x] for x in ("adding", "rival")] == ["confirmed", "refuted"]


def test_networks_that_do_not_generalise_are_listed_and_not_counted(params):
    runs = forty(params, HOLDS)
    runs[0] = network(params.mechanism.fresh[0], FAILS, 0.5)
    runs[1] = network(params.mechanism.fresh[1], HOLDS, params.adding.accuracy)
    runs += [network("n143-s1", UNDECIDED), network("mlp-n143-s1", "")]
    written = tables(params, runs)
    frame = written["adding-statements"].frame.set_index(["group", "id"])
    assert frame.loc[("fresh and new", "hole"), ["generalising", "counted"]].tolist() == [39, 39]
    assert frame.loc[("earlier", "hole"), ["holds", "undecided"]].tolist() == [0, 1]
    assert frame.loc[("MLP-only", "hole"), "counted"] == 0
    failing = written["adding-failures"].frame
    assert {*failing["run"]} == {params.mechanism.fresh[0], "n143-s1"}
    assert "votes at mean attention" in failing["why"].iloc[0] and "0.500" in failing["why"].iloc[0]
    assert len(written["adding-runs"].frame) == 42


# ---- stages ----------------------------------------------------------------------------------


def test_the_stages_write_what_could_be_measured(tmp_path, params, monkeypatch):
    monkeypatch.chdir(ROOT)
    train = TRAIN.model_copy(update={"d_model": 8, "n_heads": 2, "d_mlp": 12}).model_dump()
    weights, about = random_weights(15, "transformer"), {"run": "n15-s1", "train": train}
    (tmp_path / "weights").write_bytes(store.tensors_bytes(weights, about))
    store.write_json(tmp_path / "settings", params.adding.measures)
    store.write_json(tmp_path / "names", ["n15-s1", "n15-s2"])
    results.write_rows(tmp_path / "n15-s2.parquet", network("n15-s2", HOLDS))
    paths = {x: str(tmp_path / x) for x in ("settings", "weights", "names", "planted", "folder")}
    one = str(tmp_path / "n15-s1.parquet")
    adding.main("n15-s1", paths["settings"], paths["weights"], one)
    table = results.read_rows(one)
    assert {*table["run"]} == {"n15-s1"} and "identified" in {*table["id"]}
    assert all(
        x == x or verdict for x, verdict in zip(table["value"], table["verdict"], strict=True)
    )
    results.write_rows(paths["planted"], planted())
    stage.main(
        paths["names"], str(tmp_path), paths["planted"], str(tmp_path / "all"), paths["folder"],
        f"planted={paths['planted']}",
    )  # fmt: skip
    assert (tmp_path / "folder" / "adding-runs.md").is_file()
    assert {*results.read_rows(tmp_path / "all")["run"]} == {"n15-s1", "n15-s2"}
