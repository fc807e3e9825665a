"""Decide each of the paper's claims, by a rule, from tables and metrics. The words are those of
site/claims.html; a claim whose numbers are not there is not tested.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from report.code.numbers import Missing, Results, components, try_rule
from strata.results import FAILS, HOLDS, UNTESTED
from strata.tables.table import Column, Table

Json = dict[str, Any]
DIFFERS, REJECTED, UNSHOWN = "differs", "rejected by intervention", "not shown"  # by too few runs
VERDICTS = (HOLDS, DIFFERS, REJECTED, UNSHOWN, UNTESTED)
# Whether the claim holds, or else the verdict; the numbers of its sentence, with runs where these
# are not the seeds.
Rule = Callable[[Results], tuple[bool | str, Json]]


def in_most_seeds(r: Results, value: Callable[[Json], bool]) -> bool:
    """Whether a property holds in most of the seeds."""
    return r.mean(value) > 0.5


def accuracy(r: Results) -> tuple[bool, Json]:
    """Check that all pairs are right in most of the seeds."""
    accuracies = [x["accuracy"]["all"] for x in r.seeds]
    holds = in_most_seeds(r, lambda x: x["accuracy"]["all"] == 1)
    return holds, {"mean": np.mean(accuracies), "min": min(accuracies)}


def table_rule(where: str) -> Rule:
    """Return the rule that most numbers of one of the paper's tables lie within the seeds."""

    def rule(r: Results) -> tuple[bool, Json]:
        counts = r.count_within(where=where)
        return 2 * counts["within"] > counts["of"], counts

    return rule


def reuse(r: Results) -> tuple[bool, Json]:
    """Check that each class has more energy on frequencies of one cyclic factor than even energy
    would put there."""
    rows = [x for x in r.rows("key-freqs") if x["atomic_uniform"] < 1]
    if not rows:
        raise Missing("key-freqs: no class of several factors")
    above = all(x["atomic_share"] > x["atomic_uniform"] for x in rows)
    return above, {"runs": 1, "shares": [x["atomic_share"] for x in rows]}


def dimension(r: Results) -> tuple[bool, Json]:
    """Check that the share of components that a class needs is below the paper's bound in most of
    the seeds."""
    bound = r.printed["embedding_pca_n165_seed1"]["share_of_components_for_95_percent_less_than"]

    def largest(x: Json) -> float:
        needed = [c["pca"]["components"] for c in x["classes"] if c["pca"]]
        return max(needed, default=0) / x["pca"]["of"]

    return in_most_seeds(r, lambda x: largest(x) < bound), {"max": max(map(largest, r.seeds))}


def regions(r: Results) -> tuple[bool, Json]:
    """Check that classes explain at least as much of the first components as residues modulo one
    prime power."""
    shares = components(r)
    return shares["classes"] >= shares["modulo"], shares


def token_order(r: Results) -> tuple[bool, Json]:
    """Check that the plain transform has no more energy than twice an even one where the period is
    a prime power."""
    share, uniform = (r.mean(lambda x, k=k: x["token_order"][k]) for k in ("share", "uniform"))
    return share <= 2 * uniform, {"own": share, "even": uniform}


def directions(r: Results) -> tuple[bool, Json]:
    """Check that the first directions of head 0's OV circuit have more energy than the paper's
    bound in most of the seeds."""
    least = r.printed["ov_circuit_head_0_n165_seed1"]["top_8_variance_percent_more_than"] / 100

    def top(x: Json) -> float:
        return x["heads"][0]["ov"]["top"]

    return in_most_seeds(r, lambda x: top(x) > least), {"mean": r.mean(top)}


def neurons(r: Results) -> tuple[bool, Json]:
    """Check that classes explain at least as much of the neurons as residues modulo one prime power
    each."""
    classes, prime = (r.mean(lambda x, k=k: x["neurons"][k]) for k in ("classes", "one_power"))
    return classes >= prime, {"own": classes, "prime": prime}


def criterion(id: str) -> Rule:
    """Return the rule that most of the runs pass a criterion of the interventions."""

    def rule(r: Results) -> tuple[bool | str, Json]:
        met, runs = r.criterion(id)
        return 2 * met > runs or REJECTED, {"runs": runs, "met": met}

    return rule


def mechanism(r: Results) -> tuple[bool, Json]:
    """Check that the verdict on the logits is strata, not primes, in most runs."""
    rows = r.accounts()
    strata, primes = (sum(x["L"] == name for x in rows) for name in ("strata", "primes"))
    return 2 * strata > len(rows), {"runs": len(rows), "strata": strata, "primes": primes}


def architecture(r: Results) -> tuple[bool | str, Json]:
    """Check that MLP-only models reach the level earlier, by the first epoch there and over the
    pairs of all moduli, and that they are as accurate in each modulus. The claim differs where the
    opposite of either half is shown. The epoch from which accuracy stays at the level would count
    how often models fall back."""
    [faster] = r.rows("mlp-seeds", id="first", n=None)
    equal = [x for x in r.rows("mlp-seeds", id="equal") if x["verdict"] != UNTESTED]
    if not equal or faster["verdict"] == UNTESTED:
        raise Missing("mlp-seeds: too few seeds")
    verdicts = [x["verdict"] for x in (faster, *equal)]
    counts = {"earlier": faster["held"], "later": faster["later"], "of": len(equal)}
    counts |= {"equal": verdicts[1:].count(HOLDS), "runs": sum(x["seeds"] for x in equal)}
    return (DIFFERS if FAILS in verdicts else {*verdicts} == {HOLDS} or UNSHOWN), counts


CLAIMS: dict[str, Rule] = {
    "accuracy": accuracy,
    "sparse": table_rule("Table 2"),
    "reuse": reuse,
    "dimension": dimension,
    "regions": regions,
    "token-order": token_order,
    "routing": criterion("all-heads-share"),
    "directions": directions,
    "writes": criterion("writes"),
    "neurons": neurons,
    "subspaces": criterion("class-outside"),
    "characters": table_rule("Table 3"),
    "key": criterion("keep-embedding-all"),
    "mechanism": mechanism,
    "architecture": architecture,
}


def claims(r: Results) -> dict[str, Json]:
    """Decide each claim: the verdict, over how many runs, and the numbers of its sentence."""
    decided = {}
    for name, rule in CLAIMS.items():
        verdict, values = try_rule(rule, r) or (UNTESTED, {"runs": 0})
        if not isinstance(verdict, str):
            verdict = HOLDS if verdict else DIFFERS
        decided[name] = {"runs": len(r.seeds)} | values | {"verdict": verdict}
    return decided


def table(claims: dict[str, Json]) -> Table:
    """Return the table that counts the claims with each verdict."""
    rows = [
        (verdict, len(names), ", ".join(names))
        for verdict in VERDICTS
        if (names := [name for name, x in claims.items() if x["verdict"] == verdict])
    ]
    frame = pd.DataFrame([*rows, ("all", len(claims), "")], columns=[*TALLY])
    return Table("verdicts", "Verdicts on the paper's claims.", frame, TALLY)


TALLY = {
    "verdict": Column("verdict", align="l"),
    "claims": Column("claims", "count"),
    "which": Column("which", align="l", missing=""),
}
