"""The numbers of the front page come from tables, and a verdict follows from them."""

import pytest
from small import ROOT

from report.code import decide, numbers
from report.code.decide import DIFFERS, REJECTED, UNSHOWN
from report.code.numbers import WITHIN, Results
from strata.inputs import InputError
from strata.results import FAILS, HOLDS, UNDECIDED, UNTESTED


def metrics(seed: int, **changes: object) -> dict:
    """Return the metrics of a seed that is right on all pairs."""
    pca = {"classes": 0.1, "modulo": {"3": 0.4, "5": 0.6}}
    values = {"run": f"n15-s{seed}", "seed": seed, "finite": True, "accuracy": {"all": 1.0}}
    values |= {"pca": {"of": 10, "shown": pca}, "token_order": {"share": 0.9, "uniform": 0.2}}
    values |= {"classes": [{"pca": {"components": 1}}, {"pca": None}]}
    values |= {"neurons": {"classes": 0.2, "one_power": 0.9}, "heads": [{"ov": {"top": 0.9995}}]}
    return values | changes


PRINTED = {
    "embedding_pca_n165_seed1": {"share_of_components_for_95_percent_less_than": 0.2},
    "ov_circuit_head_0_n165_seed1": {"top_8_variance_percent_more_than": 99.9},
}


def results(seeds: list[dict], **tables: list[dict]) -> Results:
    by_name = {k.replace("_", "-"): v for k, v in tables.items()}
    return Results(15, by_name, seeds, PRINTED)


def test_without_tables_and_runs_no_claim_is_tested_and_no_number_is_said():
    assert {x["verdict"] for x in decide.claims(results([])).values()} == {UNTESTED}
    assert {*numbers.screen_numbers(results([])).values()} == {None}


def test_metrics_alone_decide_what_is_about_one_modulus():
    wrong = metrics(2, accuracy={"all": 0.9}, classes=[{"pca": {"components": 3}}])
    seeds = [metrics(1), wrong, metrics(3)]
    claims = decide.claims(results(seeds))
    assert (claims["accuracy"]["verdict"], claims["accuracy"]["min"]) == (HOLDS, 0.9)
    assert (claims["dimension"]["verdict"], claims["dimension"]["max"]) == (HOLDS, 0.3)
    assert claims["directions"]["verdict"] == HOLDS
    for name in ("regions", "token-order", "neurons"):
        assert claims[name]["verdict"] == DIFFERS and claims[name]["runs"] == 3
    claims = decide.claims(results([wrong, wrong, metrics(3)]))
    assert claims["accuracy"]["verdict"] == claims["dimension"]["verdict"] == DIFFERS
    assert numbers.components(results(seeds))["q"] == "5"
    claims = decide.claims(results([wrong, metrics(3)]))  # half are not most
    assert claims["accuracy"]["verdict"] == claims["dimension"]["verdict"] == DIFFERS


def test_only_runs_trained_as_the_papers_count_as_seeds():
    others = [metrics(1) | {"run": name} for name in ("mlp-n15-s1", "n15-s1-w2", "n35-s1")]
    diverged = metrics(2, finite=False)
    assert numbers.seeds([metrics(1), *others, diverged], 15) == [metrics(1)]


@pytest.mark.parametrize(("passes", "verdict"), [(8, HOLDS), (5, REJECTED), (0, REJECTED)])
def test_a_criterion_holds_where_most_of_the_runs_that_it_applies_to_pass(passes, verdict):
    claim = decide.claims(results([], evidence_runs=evidence(passes)))["writes"]
    assert claim == {"verdict": verdict, "runs": 10, "met": passes}


def evidence(passes: int) -> list[dict]:
    ids = ("writes", "all-heads-share", "class-outside", "keep-embedding-all")
    return [{"id": x, "passes": passes, "runs": 10, "of": 40} for x in ids]


def test_an_id_may_not_be_missing():
    with pytest.raises(InputError, match="evidence-runs: no id 'writes': there are all-heads"):
        decide.claims(results([], evidence_runs=evidence(8)[1:]))


@pytest.mark.parametrize(("inside", "verdict"), [(3, HOLDS), (2, DIFFERS)])
def test_a_table_of_the_paper_holds_where_most_of_its_numbers_are_within_the_seeds(inside, verdict):
    verdicts = [WITHIN] * inside + ["above every seed"] * (4 - inside) + [None]
    rows = [{"where": "Table 2", "verdict": x, "runs": 10} for x in verdicts]
    claims = decide.claims(results([], classes_verdict=rows))
    assert claims["sparse"] == {"verdict": verdict, "within": inside, "of": 4, "runs": 10}
    assert claims["characters"]["verdict"] == UNTESTED


@pytest.mark.parametrize(
    ("logits", "verdict"),
    [(("strata", "strata"), HOLDS), (("strata", "primes"), DIFFERS), (("primes",) * 2, DIFFERS)],
)
def test_the_mechanism_is_judged_over_products_of_different_primes(logits, verdict):
    row = {"architecture": "transformer", "generalised": True, "L": logits[0], "E": "primes"}
    rows = [row | {"run": f"n{n}-s1", "n": n} for n in (15, 35, 12, 113)]
    rows[1]["L"] = logits[1]
    rows += [rows[0] | {"architecture": "mlp"}, rows[0] | {"generalised": False}]
    accounts = results([], accounts_runs=rows)
    assert decide.claims(accounts)["mechanism"]["verdict"] == verdict
    assert decide.claims(accounts)["mechanism"]["runs"] == 2
    assert numbers.accounts(accounts) == {"embedding": [(35, 1, 1), (15, 1, 1)], "classes": 0}


def test_statements_are_those_of_fresh_networks_and_of_those_written_by_hand():
    row = {"id": "votes", "sentence": "Primes vote.", "holds": 8, "generalising": 10}
    kinds = ("fresh", "earlier", "written by hand")
    fresh, earlier, hand = ({"kind": kind} | row for kind in kinds)
    asks = [{"statement": "votes", "id": x} for x in ("votes-share", "votes-right")]
    for rows, expected in (
        ([fresh, earlier, hand], [fresh, hand]),
        ([fresh | {"generalising": 0}, earlier, hand], [hand]),
    ):
        measures = [*asks, {"statement": "code"}]
        tables = {"mechanism_statements": rows, "mechanism_measures": measures}
        statements = numbers.statements(results([], **tables))
        assert statements == [x | {"needed": 9, "just": False, "asks": asks} for x in expected]
    barely = results([], mechanism_statements=[fresh | {"holds": 9}, hand])
    assert [x["just"] for x in numbers.statements(barely)] == [True, False]


def test_layers_are_those_of_fresh_networks():
    row = {"fresh median": 0.9, "fresh worst": 0.8, "fresh runs": 3, "earlier median": 0.7}
    measures = [row | {"id": x} for x in (*numbers.LAYERS, "code-count")]
    fixed = [{"n": 15, "id": "all-heads", "lost_mean": 0.25, "runs": 10}]
    layers = numbers.layers(results([], mechanism_measures=measures, routing_runs=fixed))
    assert layers["neurons-right"] == [0.9, 0.8, 3] and layers["fixed"] == [0.75, 10]


def test_attention_is_said_of_the_prime_whose_residues_bring_back_most():
    shares = {"classes": 0.1, "3": 0.2, "11": 0.7, "5": 0.3}
    rows = [
        {"id": f"share-all-heads-{x}", "unit": "share", "mean": share, "runs": 10}
        for x, share in shares.items()
    ]
    others = [rows[0] | {"id": "share-head-0-5", "mean": 0.9}]
    others += [rows[0] | {"id": "shuffled-all-heads-classes", "mean": 0.3}]
    heads = numbers.heads(results([], published_heads=rows + others))
    assert heads == {"classes": 0.1, "shuffled": 0.3, "q": "11", "residues": 0.7, "runs": 10}


def test_moduli_are_those_of_several_primes_with_how_these_interact():
    groups = {"15": "earlier", "15, MLP": "MLP-only", "13, MLP": "MLP-only", "12": "with squares"}
    votes = [{"group": x, "kind": k, "n": 15, "classes": 0.9} for x, k in groups.items()]
    votes[2]["classes"] = None
    kinds = [{"group": x, "gated": len(x)} for x in reversed(groups)]
    tables = {"mechanism_votes": votes, "mechanism_kinds": kinds}
    page = results([], **tables)
    moduli = [(x["group"], x["gated"]) for x in numbers.moduli(page)]
    assert moduli == [("15", 2), ("15, MLP", 7)] and numbers.screen_numbers(page)["total"] is None
    all_networks = {"group": "all", "n": None, "classes": 0.9, "whole": 20.0, "runs": 28}
    votes += [all_networks | {"kind": x} for x in ("earlier", "fresh")]
    kinds += [{"group": "all", "primes apart": 17}]
    total = numbers.total(results([], **tables))
    assert total == votes[-1] | kinds[-1] | {"strict": ["confirmed", "undecided"]}


def test_zeros_are_shown_once_there_is_a_verdict():
    pairs = [{"words": "both", "pairs": 3, "median": 0.2}, {"words": "neither", "pairs": 0}]
    for verdict, expected in ((UNTESTED, False), (UNDECIDED, True)):
        page = results([], zeros_said=[{"id": "apart", "verdict": verdict}], zeros_pairs=pairs)
        zeros = numbers.screen_numbers(page)["zeros"]
        assert (zeros is not None) == expected and (not zeros or zeros["mixing"] == pairs[:1])


@pytest.mark.parametrize(
    ("faster", "equal", "verdict"),
    [
        (HOLDS, HOLDS, HOLDS),
        (UNDECIDED, HOLDS, UNSHOWN),
        (FAILS, HOLDS, DIFFERS),
        (HOLDS, FAILS, DIFFERS),
        (UNDECIDED, FAILS, DIFFERS),
        (HOLDS, UNDECIDED, UNSHOWN),
        (UNTESTED, HOLDS, UNTESTED),
    ],
)
def test_the_claim_on_the_architecture_needs_both_its_halves(faster, equal, verdict):
    rows = [{"id": "first", "n": None, "held": 8, "later": 2, "verdict": faster}]
    for n, outcome in ((15, equal), (35, UNTESTED)):
        rows.append({"id": "equal", "n": n, "seeds": 5, "verdict": outcome})
    claim = decide.claims(results([], mlp_seeds=rows))["architecture"]
    assert claim["verdict"] == verdict and claim["runs"] == (5 if verdict != UNTESTED else 0)


def test_what_a_cut_spares_is_of_all_runs_primes_first():
    cuts = ({"cut": "a class", "intact": 0, "runs": 4}, {"cut": "a prime", "intact": 3, "runs": 4})
    rows = [{"group": x} | cut for x in ("all", "n = 15") for cut in cuts]
    screen = numbers.screen_numbers(results([], directions_cut=rows))
    assert screen["cut"] == rows[1::-1] and screen["spared"] == (3, 4)


def test_networks_by_modulus_are_those_of_several_primes_that_generalise(monkeypatch):
    monkeypatch.chdir(ROOT)  # for the level of params.yaml
    row = {"kind": "fresh", "accuracy": 1.0, "interact": "mixed", "votes": "holds"}
    rows = [row | {"run": "n15-s1"}, row | {"run": "n15-s2", "interact": "primes apart"}]
    rows += [row | {"run": "n113-s1"}, row | {"run": "n35-s1", "accuracy": 0.5}]
    rows += [row | {"run": "mlp-n21-s1", "kind": "MLP-only"}, row | {"run": "x", "kind": "beside"}]
    networks = numbers.networks(results([], mechanism_runs=rows))
    assert networks["moduli"] == [15, 21]
    assert [x["run"] for x in networks["kinds"]["fresh"][15]] == ["n15-s2", "n15-s1"]
