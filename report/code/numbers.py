"""The numbers of the front page, each from a table or from the metrics of runs, and the verdict on
each claim of the paper, which follows from them by a rule. The words are those of site/.

A number whose table is not there is left out with its sentence; a claim without its numbers is not
tested.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd
from typing import Any

import numpy as np
from sympy.ntheory import factorint

from strata.monoid import classes, idempotent
from strata.run import Run

Json = dict[str, Any]
HOLDS, DIFFERS, REJECTED = "holds", "differs", "rejected by intervention"
UNSHOWN, UNTESTED = "not shown", "not tested"  # too few runs to say; no run
WITHIN = "within the seeds"  # what a table says of a number that lies there
# What the study of the architecture says of a modulus that has its seeds.
SAID = {HOLDS, UNSHOWN, "not decided", "the opposite", "better", "worse"}


class Missing(LookupError):
    """A table or a row that is not there."""


@dataclass
class Results:
    """Tables by name; the metrics of the transformers of the headline's modulus, one for each seed;
    what the paper prints."""

    n: int
    tables: Mapping[str, Sequence[Json]]
    seeds: Sequence[Json]
    printed: Json = field(default_factory=dict)

    def rows(self, table: str, **wanted: Any) -> list[Json]:
        """The rows in which these columns have these values, missing ones None; at least one."""
        found = [x for x in self.tables.get(table, ()) if wanted.items() <= x.items()]
        if not found:
            raise Missing(table)
        return found

    def mean(self, value: Callable[[Json], float]) -> float:
        """Over the seeds."""
        if not self.seeds:
            raise Missing("metrics")
        return float(np.mean([value(x) for x in self.seeds]))

    def criterion(self, section: str, test: str) -> tuple[int, int]:
        """How many transformers pass a criterion of the interventions, of how many that it applies
        to."""
        [row] = self.rows("evidence-runs", section=section, test=test)
        return row["passes"], row["runs"]

    def accounts(self) -> list[Json]:
        """The transformers that generalise, of moduli that are products of different primes."""
        rows = self.rows("accounts-runs", architecture="transformer", generalised=True)
        found = [x for x in rows if composite(x["n"])]
        if not found:
            raise Missing("accounts-runs")
        return found

    def within(self, **wanted: Any) -> Json:
        """Of the numbers of the paper's tables that are among those of our seeds: how many are
        within them, of how many, over how many runs."""
        rows = [x for x in self.rows("classes-verdict", **wanted) if x["verdict"]]
        if not rows:
            raise Missing("classes-verdict")
        inside = sum(x["verdict"] == WITHIN for x in rows)
        return {"within": inside, "of": len(rows), "runs": rows[0]["runs"]}


def composite(n: int) -> bool:
    """Whether n is a product of at least two different primes, each once.

    >>> [n for n in (113, 121, 143, 165, 180) if composite(n)]
    [143, 165]
    """
    return len(factorint(n)) > 1 and max(factorint(n).values()) == 1


def seeds(metrics: Sequence[Json], n: int) -> list[Json]:
    """The metrics of the transformers of this modulus, trained as the paper's, that are finite."""
    usual = [x for x in metrics if str(Run(n, x["seed"])) == x["run"]]
    return [x for x in usual if x["finite"]]


# ---- the steps -------------------------------------------------------------------------------


def algebra(n: int) -> Json:
    """What the modulus alone decides."""
    own, primes = classes(n), sorted(factorint(n).items())
    J = max((J for J in own if J.d > 1 and J.regular), key=len, default=own[0])
    d, e = [*(p for p, _ in primes), 1][:2]
    return {
        "primes": primes,
        "powers": [p**k for p, k in primes],
        "without_inverse": n - len(own[0]),
        "classes": len(own),
        "groups": sum(J.regular for J in own),
        "group": {"d": J.d, "size": len(J), "one": idempotent(J.d, n)},
        "product": (d, e, gcd(d * e, n)),
    }


def spectra(r: Results) -> Json:
    """Key frequencies and their energy in the headline run."""
    rows = r.rows("key-freqs")
    large = [x["fve"] for x in rows if x["total"] > 3] or [rows[0]["fve"]]
    return {"fve": large, "top": rows[0]}


def components(r: Results) -> Json:
    """What the first principal components follow: classes, or a residue modulo a prime power."""
    own = r.mean(lambda x: x["pca"]["shown"]["classes"])
    powers = r.seeds[0]["pca"]["shown"]["modulo"]
    moduli = {q: r.mean(lambda x, q=q: x["pca"]["shown"]["modulo"][q]) for q in powers}
    q = max(moduli, key=moduli.__getitem__)
    return {"classes": own, "q": q, "modulo": moduli[q], "runs": len(r.seeds)}


def axes(r: Results) -> Json:
    """What the directions of a prime, and those of a class, are needed for; attention by class."""
    return {
        "own": r.criterion("specificity, axis", "own: pairs with it, an operand in the class"),
        "spared": r.criterion("specificity, axis", "spared: pairs without the axis are intact"),
        "class": r.criterion("specificity, class", "own subspaces: the other pairs are intact"),
        "routing": r.criterion("routing", "all heads route by class, share of lost skill"),
    }


def accounts(r: Results) -> Json:
    """Gating, the verdict on logits and embedding, and how much of the logits primes explain."""
    rows, names = r.accounts(), ("run", "n", "gating", "r2_S", "r2_C", "ceiling")
    embedding = {}
    for x in sorted(rows, key=lambda x: -x["n"]):
        embedding.setdefault(x["n"], []).append(x["E"] == "primes")
    return {
        "gating": (min(x["gating"] for x in rows), max(x["gating"] for x in rows)),
        "logits": (sum(x["L"] == "primes" for x in rows), len(rows)),
        "embedding": [(n, sum(own), len(own)) for n, own in embedding.items()],
        "explained": [x["r2_C"] for x in rows],
        "ceiling": [x["ceiling"] for x in rows],
        "runs": [{name: x[name] for name in names} for x in rows],
    }


NUMBERS = {
    "spectra": spectra,
    "printed": Results.within,
    "components": components,
    "changes": axes,
    "accounts": accounts,
}


def found(r: Results) -> Json:
    """The numbers of the steps, by what they are about; None for those that are not there."""
    return {"algebra": algebra(r.n)} | {name: tried(rule, r) for name, rule in NUMBERS.items()}


def tried(rule: Callable[[Results], Any], r: Results) -> Any:
    """What a rule gives, or None."""
    try:
        return rule(r)
    except Missing:
        return None


# ---- the claims ------------------------------------------------------------------------------


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
    """MLP-only models generalise earlier over the pairs of all moduli, and are as accurate in each:
    it differs where the opposite of one of both is shown."""
    [faster] = r.rows("mlp-seeds", statement="generalise faster", n=None)
    equal = [x for x in r.rows("mlp-seeds", statement="perform equally well") if x["said"] in SAID]
    if not equal or faster["said"] not in SAID:
        raise Missing("mlp-seeds: too few seeds")
    said = [x["said"] for x in equal]
    verdict = HOLDS if {faster["said"], *said} == {HOLDS} else UNSHOWN
    if {"the opposite", "worse", "better"} & {faster["said"], *said}:
        verdict = DIFFERS
    found = {"counted": faster["counted"], "equal": said.count(HOLDS), "of": len(said)}
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
