"""The paper's claims: the verdict on each follows by a rule from tables and metrics. The words are
those of site/claims.html; a claim whose numbers are not there is not tested.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from report.code.numbers import Missing, Results, components, tried
from strata.results import FAILS, HOLDS, UNTESTED

Json = dict[str, Any]
DIFFERS, REJECTED, UNSHOWN = "differs", "rejected by intervention", "not shown"  # by too few runs
VERDICTS = (HOLDS, DIFFERS, REJECTED, UNSHOWN, UNTESTED)
# Whether the claim holds, or else the verdict; the numbers of its sentence, with runs where these
# are not the seeds.
Rule = Callable[[Results], tuple[bool | str, Json]]


def most(r: Results, value: Callable[[Json], bool]) -> bool:
    """Whether it is so in most of the seeds."""
    return r.mean(value) > 0.5


def accuracy(r: Results) -> tuple[bool, Json]:
    """All pairs right in most of the seeds."""
    known = [x["accuracy"]["all"] for x in r.seeds]
    holds = most(r, lambda x: x["accuracy"]["all"] == 1)
    return holds, {"mean": np.mean(known), "min": min(known)}


def of_table(where: str) -> Rule:
    """Most numbers of one of the paper's tables within the seeds."""

    def rule(r: Results) -> tuple[bool, Json]:
        found = r.within(where=where)
        return 2 * found["within"] > found["of"], found

    return rule


def reuse(r: Results) -> tuple[bool, Json]:
    """The energy on frequencies of one cyclic factor, above what even energy would put there."""
    rows = [x for x in r.rows("key-freqs") if x["atomic_uniform"] < 1]
    if not rows:
        raise Missing("key-freqs: no class of several factors")
    above = all(x["atomic_share"] > x["atomic_uniform"] for x in rows)
    return above, {"runs": 1, "shares": [x["atomic_share"] for x in rows]}


def dimension(r: Results) -> tuple[bool, Json]:
    """The components that a class needs, as a share of all: below the paper's bound in most of the
    seeds."""
    bound = r.printed["embedding_pca_n165_seed1"]["share_of_components_for_95_percent_less_than"]

    def largest(x: Json) -> float:
        needed = [c["pca"]["components"] for c in x["classes"] if c["pca"]]
        return max(needed, default=0) / x["pca"]["of"]

    return most(r, lambda x: largest(x) < bound), {"max": max(map(largest, r.seeds))}


def regions(r: Results) -> tuple[bool, Json]:
    """Classes explain more of the first components than residues modulo one prime power."""
    found = components(r)
    return found["classes"] >= found["modulo"], found


def token_order(r: Results) -> tuple[bool, Json]:
    """The plain transform has no more energy than twice an even one where the period is a prime
    power."""
    own, even = (r.mean(lambda x, k=k: x["token_order"][k]) for k in ("share", "uniform"))
    return own <= 2 * even, {"own": own, "even": even}


def directions(r: Results) -> tuple[bool, Json]:
    """The energy of head 0's OV circuit in its first directions: above the paper's bound in most of
    the seeds."""
    least = r.printed["ov_circuit_head_0_n165_seed1"]["top_8_variance_percent_more_than"] / 100

    def top(x: Json) -> float:
        return x["heads"][0]["ov"]["top"]

    return most(r, lambda x: top(x) > least), {"mean": r.mean(top)}


def neurons(r: Results) -> tuple[bool, Json]:
    """Classes explain more of the neurons than residues modulo one prime power each."""
    own, prime = (r.mean(lambda x, k=k: x["neurons"][k]) for k in ("classes", "one_power"))
    return own >= prime, {"own": own, "prime": prime}


def criterion(id: str) -> Rule:
    """A criterion of the interventions that most of the runs pass."""

    def rule(r: Results) -> tuple[bool | str, Json]:
        met, runs = r.criterion(id)
        return 2 * met > runs or REJECTED, {"runs": runs, "met": met}

    return rule


def mechanism(r: Results) -> tuple[bool, Json]:
    """The verdict on the logits: strata or primes."""
    rows = r.accounts()
    strata, primes = (sum(x["L"] == name for x in rows) for name in ("strata", "primes"))
    return 2 * strata > len(rows), {"runs": len(rows), "strata": strata, "primes": primes}


def architecture(r: Results) -> tuple[bool | str, Json]:
    """By the first epoch at the level MLP-only models generalise earlier over the pairs of all
    moduli, and they are as accurate in each: it differs where the opposite of one of both is shown.
    The epoch from which accuracy stays there would count how often models fall back."""
    [faster] = r.rows("mlp-seeds", id="first", n=None)
    equal = [x for x in r.rows("mlp-seeds", id="equal") if x["verdict"] != UNTESTED]
    if not equal or faster["verdict"] == UNTESTED:
        raise Missing("mlp-seeds: too few seeds")
    said = [x["verdict"] for x in (faster, *equal)]
    found = {"earlier": faster["held"], "later": faster["later"], "of": len(equal)}
    found |= {"equal": said[1:].count(HOLDS), "runs": sum(x["seeds"] for x in equal)}
    return (DIFFERS if FAILS in said else {*said} == {HOLDS} or UNSHOWN), found


CLAIMS: dict[str, Rule] = {
    "accuracy": accuracy,
    "sparse": of_table("Table 2"),
    "reuse": reuse,
    "dimension": dimension,
    "regions": regions,
    "token-order": token_order,
    "routing": criterion("all-heads-share"),
    "directions": directions,
    "writes": criterion("writes"),
    "neurons": neurons,
    "subspaces": criterion("class-outside"),
    "characters": of_table("Table 3"),
    "key": criterion("keep-embedding-all"),
    "mechanism": mechanism,
    "architecture": architecture,
}


def judged(r: Results) -> dict[str, Json]:
    """The verdict on each claim, over how many runs, and the numbers of its sentence."""
    found = {}
    for name, rule in CLAIMS.items():
        verdict, told = tried(rule, r) or (UNTESTED, {"runs": 0})
        if not isinstance(verdict, str):
            verdict = HOLDS if verdict else DIFFERS
        found[name] = {"runs": len(r.seeds)} | told | {"verdict": verdict}
    return found
