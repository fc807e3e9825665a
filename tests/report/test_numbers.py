"""The numbers of the front page come from tables, and a verdict follows from them."""

import pytest

from report.code import numbers, verdicts
from report.code.numbers import WITHIN, Results
from report.code.verdicts import DIFFERS, REJECTED, UNSHOWN
from strata.inputs import InputError
from strata.results import FAILS, HOLDS, UNDECIDED, UNTESTED


def metrics(seed: int, **changed: object) -> dict:
    """The metrics of a seed that is right on all pairs."""
    shown = {"classes": 0.1, "modulo": {"3": 0.4, "5": 0.6}}
    found = {"run": f"n15-s{seed}", "seed": seed, "finite": True, "accuracy": {"all": 1.0}}
    found |= {"pca": {"of": 10, "shown": shown}, "token_order": {"share": 0.9, "uniform": 0.2}}
    found |= {"classes": [{"pca": {"components": 1}}, {"pca": None}]}
    found |= {"neurons": {"classes": 0.2, "one_power": 0.9}, "heads": [{"ov": {"top": 0.9995}}]}
    return found | changed


PRINTED = {
    "embedding_pca_n165_seed1": {"share_of_components_for_95_percent_less_than": 0.2},
    "ov_circuit_head_0_n165_seed1": {"top_8_variance_percent_more_than": 99.9},
}


def results(seeds: list[dict], **tables: list[dict]) -> Results:
    named = {k.replace("_", "-"): v for k, v in tables.items()}
    return Results(15, named, seeds, PRINTED)


def test_without_tables_and_runs_no_claim_is_tested_and_no_number_is_said():
    assert {x["verdict"] for x in verdicts.judged(results([])).values()} == {UNTESTED}
    assert {*numbers.found(results([])).values()} == {None}


def test_metrics_alone_decide_what_is_about_one_modulus():
    wrong = metrics(2, accuracy={"all": 0.9}, classes=[{"pca": {"components": 3}}])
    seeds = [metrics(1), wrong, metrics(3)]
    found = verdicts.judged(results(seeds))
    assert (found["accuracy"]["verdict"], found["accuracy"]["min"]) == (HOLDS, 0.9)
    assert (found["dimension"]["verdict"], found["dimension"]["max"]) == (HOLDS, 0.3)
    assert found["directions"]["verdict"] == HOLDS
    for name in ("regions", "token-order", "neurons"):
        assert found[name]["verdict"] == DIFFERS and found[name]["runs"] == 3
    found = verdicts.judged(results([wrong, wrong, metrics(3)]))
    assert found["accuracy"]["verdict"] == found["dimension"]["verdict"] == DIFFERS
    assert numbers.components(results(seeds))["q"] == "5"
    found = verdicts.judged(results([wrong, metrics(3)]))  # half are not most
    assert found["accuracy"]["verdict"] == found["dimension"]["verdict"] == DIFFERS


def test_only_runs_trained_as_the_papers_count_as_seeds():
    others = [metrics(1) | {"run": name} for name in ("mlp-n15-s1", "n15-s1-w2", "n35-s1")]
    diverged = metrics(2, finite=False)
    assert numbers.seeds([metrics(1), *others, diverged], 15) == [metrics(1)]


@pytest.mark.parametrize(("passes", "verdict"), [(8, HOLDS), (5, REJECTED), (0, REJECTED)])
def test_a_criterion_holds_where_most_of_the_runs_that_it_applies_to_pass(passes, verdict):
    found = verdicts.judged(results([], evidence_runs=evidence(passes)))["writes"]
    assert found == {"verdict": verdict, "runs": 10, "met": passes}


def evidence(passes: int = 8, sentence: str = "", without: str = "") -> list[dict]:
    ids = {"writes", "all-heads-share", "class-outside", "keep-embedding-all"} - {without}
    ids |= {"axis-own", "axis-spared"}
    return [{"id": x, "sentence": sentence, "passes": passes, "runs": 10, "of": 40} for x in ids]


def test_a_sentence_may_be_worded_otherwise_and_an_id_may_not_be_missing():
    one, other = (results([], evidence_runs=evidence(sentence=x)) for x in ("this", "that"))
    assert verdicts.judged(one) == verdicts.judged(other)
    assert numbers.found(one) == numbers.found(other) != numbers.found(results([]))
    with pytest.raises(InputError, match="evidence-runs: no id 'writes': there are all-heads"):
        verdicts.judged(results([], evidence_runs=evidence(without="writes")))


@pytest.mark.parametrize(("inside", "verdict"), [(3, HOLDS), (2, DIFFERS)])
def test_a_table_of_the_paper_holds_where_most_of_its_numbers_are_within_the_seeds(inside, verdict):
    said = [WITHIN] * inside + ["above every seed"] * (4 - inside) + [None]
    rows = [{"where": "Table 2", "verdict": x, "runs": 10} for x in said]
    found = verdicts.judged(results([], classes_verdict=rows))
    assert found["sparse"] == {"verdict": verdict, "within": inside, "of": 4, "runs": 10}
    assert found["characters"]["verdict"] == UNTESTED


@pytest.mark.parametrize(
    ("logits", "verdict"),
    [(("strata", "strata"), HOLDS), (("strata", "primes"), DIFFERS), (("primes",) * 2, DIFFERS)],
)
def test_the_mechanism_is_judged_over_products_of_different_primes(logits, verdict):
    row = {"architecture": "transformer", "generalised": True, "L": logits[0], "E": "primes"}
    rows = [row | {"run": f"n{n}-s1", "n": n} for n in (15, 35, 12, 113)]
    rows[1]["L"] = logits[1]
    rows += [rows[0] | {"architecture": "mlp"}, rows[0] | {"generalised": False}]
    found = results([], accounts_runs=rows)
    assert verdicts.judged(found)["mechanism"]["verdict"] == verdict
    assert verdicts.judged(found)["mechanism"]["runs"] == 2
    assert numbers.accounts(found) == {"embedding": [(35, 1, 1), (15, 1, 1)], "classes": 0}


def test_a_statement_is_shown_as_the_fresh_runs_decide_it():
    row = {"id": "votes", "sentence": "Primes vote.", "holds": 8, "verdict": "confirmed"}
    row |= {"generalising": 10}
    fresh = row | {"kind": "fresh", "decided": True, "low": 0.6, "high": 0.9}
    few, earlier = fresh | {"decided": False}, row | {"kind": "earlier", "decided": False}
    hand = fresh | {"kind": "written by hand"}
    asks = [{"statement": "votes", "id": x} for x in ("votes-share", "votes-right")]
    for rows, shown in (
        ([fresh, earlier, hand], [fresh, hand]),
        ([few, earlier, hand], [earlier, hand]),
        ([few, earlier | {"generalising": 0}, hand], [hand]),
    ):
        measures = [*asks, {"statement": "code"}]
        tables = {"mechanism_statements": rows, "mechanism_measures": measures}
        found = numbers.statements(results([], **tables))
        assert found == [x | {"just": False, "asks": asks} for x in shown]


@pytest.mark.parametrize(("decided", "shown"), [(True, [0.9, 0.8, 3]), (False, [0.7, 0.6, 5])])
def test_layers_are_those_of_fresh_runs_if_these_decide(decided, shown):
    row = {"fresh median": 0.9, "fresh worst": 0.8, "fresh runs": 3}
    row |= {"earlier median": 0.7, "earlier worst": 0.6, "earlier runs": 5}
    measures = [row | {"id": x} for x in (*numbers.LAYERS, "code-count")]
    fixed = [{"n": 15, "id": "all-heads", "lost_mean": 0.25, "runs": 10}]
    said = [{"kind": "fresh", "decided": decided}]
    tables = {"mechanism_measures": measures, "routing_runs": fixed, "mechanism_statements": said}
    found = numbers.layers(results([], **tables))
    assert found["neurons-right"] == shown and found["fixed"] == [0.75, 10]
    assert found["kind"] == ("fresh" if decided else "earlier")


def test_attention_is_said_of_the_prime_whose_residues_bring_back_most():
    shares = {"classes": 0.1, "3": 0.2, "11": 0.7, "5": 0.3}
    rows = [
        {"id": f"share-all-heads-{x}", "unit": "share", "mean": share, "runs": 10}
        for x, share in shares.items()
    ]
    others = [rows[0] | {"id": "share-head-0-5", "mean": 0.9}]
    others += [rows[0] | {"id": "shuffled-all-heads-classes", "mean": 0.3}]
    found = numbers.heads(results([], published_heads=rows + others))
    assert found == {"classes": 0.1, "shuffled": 0.3, "q": "11", "residues": 0.7, "runs": 10}


def test_moduli_are_those_of_several_primes_with_how_these_interact():
    groups = {"15": "earlier", "15, MLP": "MLP-only", "13, MLP": "MLP-only", "12": "with squares"}
    votes = [{"group": x, "kind": k, "n": 15, "classes": 0.9} for x, k in groups.items()]
    votes[2]["classes"] = None
    kinds = [{"group": x, "gated": len(x)} for x in reversed(groups)]
    tables = {"mechanism_votes": votes, "mechanism_kinds": kinds}
    found = results([], **tables)
    moduli = [(x["group"], x["gated"]) for x in numbers.moduli(found)]
    assert moduli == [("15", 2), ("15, MLP", 7)] and numbers.found(found)["total"] is None
    every = {"group": "all", "n": None, "classes": 0.9, "whole": 20.0, "runs": 28}
    votes += [every | {"kind": x} for x in ("earlier", "fresh")]
    kinds += [{"group": "all", "primes apart": 17}]
    found = numbers.total(results([], **tables))
    assert found == votes[-1] | kinds[-1] | {"strict": ["confirmed", "undecided"]}


def test_zeros_are_shown_once_there_is_a_verdict():
    pairs = [{"words": "both", "pairs": 3, "median": 0.2}, {"words": "neither", "pairs": 0}]
    for verdict, shown in ((UNTESTED, False), (UNDECIDED, True)):
        found = results([], zeros_said=[{"id": "apart", "verdict": verdict}], zeros_pairs=pairs)
        said = numbers.found(found)["zeros"]
        assert (said is not None) == shown and (not said or said["mixing"] == pairs[:1])


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
    for n, said in ((15, equal), (35, UNTESTED)):
        rows.append({"id": "equal", "n": n, "seeds": 5, "verdict": said})
    found = verdicts.judged(results([], mlp_seeds=rows))["architecture"]
    assert found["verdict"] == verdict and found["runs"] == (5 if verdict != UNTESTED else 0)


def test_what_a_cut_spares_is_of_all_runs_primes_first():
    rows = [{"group": x, "cut": cut} for x in ("all", "n = 15") for cut in ("a class", "a prime")]
    found = numbers.found(results([], directions_cut=rows))["cut"]
    assert found == [{"group": "all", "cut": x} for x in ("a prime", "a class")]
