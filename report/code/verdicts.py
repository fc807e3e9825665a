"""The paper's claims: the verdict on each follows by a rule from tables and metrics. The words are
those of site/claims.html; a claim whose numbers are not there is not tested.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from report.code.numbers import Missing, Results, components, tried

Json = dict[str, Any]
HOLDS, DIFFERS, REJECTED = "holds", "differs", "rejected by intervention"
UNSHOWN, UNTESTED = "not shown", "not tested"  # too few runs to say; no run
VERDICTS = (HOLDS, DIFFERS, REJECTED, UNSHOWN, UNTESTED)
# What the study of the architecture says of a modulus that has its seeds.
SAID = {HOLDS, UNSHOWN, "not decided", "the opposite", "better", "worse"}


def most(r: Results, value: Callable[[Json], bool]) -> str:
    """Whether it is so in most of the seeds."""
    return HOLDS if r.mean(value) > 0.5 else DIFFERS


def accuracy(r: Results) -> Json:
    """All pairs right in most of the seeds."""
    verdict = most(r, lambda x: x["accuracy"]["all"] == 1)
    known = [x["accuracy"]["all"] for x in r.seeds]
    return {"verdict": verdict, "runs": len(known), "mean": np.mean(known), "min": min(known)}


def of_table(where: str) -> Callable[[Results], Json]:
    """Most numbers of one of the paper's tables within the seeds."""

    def rule(r: Results) -> Json:
        found = r.within(where=where)
        return found | {"verdict": HOLDS if 2 * found["within"] > found["of"] else DIFFERS}

    return rule


def reuse(r: Results) -> Json:
    """The energy on frequencies of one cyclic factor, above what even energy would put there."""
    rows = [x for x in r.rows("key-freqs") if x["atomic_uniform"] < 1]
    if not rows:
        raise Missing("key-freqs: no class of several factors")
    above = all(x["atomic_share"] > x["atomic_uniform"] for x in rows)
    shares = [x["atomic_share"] for x in rows]
    return {"verdict": HOLDS if above else DIFFERS, "runs": 1, "shares": shares}


def dimension(r: Results) -> Json:
    """The components that a class needs, as a share of all: below the paper's bound in most of the
    seeds."""
    bound = r.printed["embedding_pca_n165_seed1"]["share_of_components_for_95_percent_less_than"]

    def largest(x: Json) -> float:
        needed = [c["pca"]["components"] for c in x["classes"] if c["pca"]]
        return max(needed, default=0) / x["pca"]["of"]

    verdict = most(r, lambda x: largest(x) < bound)
    return {"verdict": verdict, "runs": len(r.seeds), "max": max(map(largest, r.seeds))}


def regions(r: Results) -> Json:
    """Classes explain more of the first components than residues modulo one prime power."""
    found = components(r)
    return found | {"verdict": HOLDS if found["classes"] >= found["modulo"] else DIFFERS}


def token_order(r: Results) -> Json:
    """The plain transform has its energy where the period is a prime power."""
    own, even = (r.mean(lambda x, k=k: x["token_order"][k]) for k in ("share", "uniform"))
    verdict = DIFFERS if own > 2 * even else HOLDS
    return {"verdict": verdict, "runs": len(r.seeds), "own": own, "even": even}


def directions(r: Results) -> Json:
    """The energy of head 0's OV circuit in its first directions: above the paper's bound in most of
    the seeds."""
    least = r.printed["ov_circuit_head_0_n165_seed1"]["top_8_variance_percent_more_than"] / 100

    def top(x: Json) -> float:
        return x["heads"][0]["ov"]["top"]

    verdict = most(r, lambda x: top(x) > least)
    return {"verdict": verdict, "runs": len(r.seeds), "mean": r.mean(top)}


def neurons(r: Results) -> Json:
    """Classes explain more of the neurons than residues modulo one prime power each."""
    own, prime = (r.mean(lambda x, k=k: x["neurons"][k]) for k in ("classes", "one_power"))
    verdict = HOLDS if own >= prime else DIFFERS
    return {"verdict": verdict, "runs": len(r.seeds), "own": own, "prime": prime}


def criterion(section: str, test: str) -> Callable[[Results], Json]:
    """A criterion of the interventions that most of the runs pass."""

    def rule(r: Results) -> Json:
        met, runs = r.criterion(section, test)
        return {"verdict": HOLDS if 2 * met > runs else REJECTED, "runs": runs, "met": met}

    return rule


def mechanism(r: Results) -> Json:
    """The verdict on the logits: strata or primes."""
    rows = r.accounts()
    strata, primes = (sum(x["L"] == name for x in rows) for name in ("strata", "primes"))
    verdict = HOLDS if 2 * strata > len(rows) else DIFFERS
    return {"verdict": verdict, "runs": len(rows), "strata": strata, "primes": primes}


def architecture(r: Results) -> Json:
    """By the first epoch at the level MLP-only models generalise earlier over the pairs of all
    moduli, and they are as accurate in each: it differs where the opposite of one of both is shown.
    The epoch from which accuracy stays there would count how often models fall back."""
    [faster] = r.rows("mlp-seeds", statement="generalise faster, by first epoch", n=None)
    equal = [x for x in r.rows("mlp-seeds", statement="perform equally well") if x["said"] in SAID]
    if not equal or faster["said"] not in SAID:
        raise Missing("mlp-seeds: too few seeds")
    said = [x["said"] for x in equal]
    verdict = HOLDS if {faster["said"], *said} == {HOLDS} else UNSHOWN
    if {"the opposite", "worse", "better"} & {faster["said"], *said}:
        verdict = DIFFERS
    found = {"earlier": faster["held"], "later": faster["later"]}
    found |= {"equal": said.count(HOLDS), "of": len(said)}
    return found | {"verdict": verdict, "runs": sum(x["seeds"] for x in equal)}


CLAIMS: dict[str, Callable[[Results], Json]] = {
    "accuracy": accuracy,
    "sparse": of_table("Table 2"),
    "reuse": reuse,
    "dimension": dimension,
    "regions": regions,
    "token-order": token_order,
    "routing": criterion("routing", "all heads route by class, share of lost skill"),
    "directions": directions,
    "writes": criterion("routing", "writes into the classes"),
    "neurons": neurons,
    "subspaces": criterion("specificity, class", "own subspaces: the other pairs are intact"),
    "characters": of_table("Table 3"),
    "key": criterion("keep, embedding", "all classes at once"),
    "mechanism": mechanism,
    "architecture": architecture,
}


def judged(r: Results) -> dict[str, Json]:
    """The verdict on each claim, over how many runs, and the numbers of its sentence."""
    return {
        name: tried(rule, r) or {"verdict": UNTESTED, "runs": 0} for name, rule in CLAIMS.items()
    }
