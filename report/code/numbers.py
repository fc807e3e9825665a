"""The numbers of the front page, each from a table or from the metrics of runs. The words are those
of site/steps.html; a number whose table is not there is left out with its sentence.
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
WITHIN = "within"  # what a table says of a number that lies among the seeds


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
