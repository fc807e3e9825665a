"""The numbers of the front page, each from a table or from the metrics of runs. The words are those
of site/screens.html; a number whose table is not there is left out with its sentence.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sympy.ntheory import factorint

from strata.results import CONFIRMED, UNTESTED, check, over_runs
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
    printed: Json

    def rows(self, table: str, **wanted: Any) -> list[Json]:
        """The rows in which these columns have these values, missing ones None; at least one.
        Raises InputError for an id that no row of the table has."""
        known = self.tables.get(table, ())
        if "id" in wanted:
            check(wanted["id"], [x.get("id", "") for x in known], table)
        found = [x for x in known if wanted.items() <= x.items()]
        if not found:
            raise Missing(table)
        return found

    def mean(self, value: Callable[[Json], float]) -> float:
        """Over the seeds."""
        if not self.seeds:
            raise Missing("metrics")
        return float(np.mean([value(x) for x in self.seeds]))

    def criterion(self, id: str) -> tuple[int, int]:
        """How many transformers pass a criterion of the interventions, of how many that it applies
        to."""
        [row] = self.rows("evidence-runs", id=id)
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
    return [x for x in metrics if x["finite"] and str(Run(n, x["seed"])) == x["run"]]


# Of a part replaced by what is said of it, the right answers; last, of all but attention.
LAYERS = "interaction-right", "neurons-right", "code-right", "decoding-right", "replaced"

# ---- the screens -----------------------------------------------------------------------------


def components(r: Results) -> Json:
    """What the first principal components follow: classes, or a residue modulo a prime power."""
    own = r.mean(lambda x: x["pca"]["shown"]["classes"])
    powers = r.seeds[0]["pca"]["shown"]["modulo"]
    moduli = {q: r.mean(lambda x, q=q: x["pca"]["shown"]["modulo"][q]) for q in powers}
    q = max(moduli, key=moduli.__getitem__)
    return {"classes": own, "q": q, "modulo": moduli[q], "runs": len(r.seeds)}


def embedding(r: Results) -> Json:
    """The share of the whole embedding that functions of one residue each explain."""
    share = {"id": "effects_share", "architecture": "transformer"}
    [row] = r.rows("accounts-intervals", n=r.n, **share)
    return {"share": row["mean"], "runs": row["runs"]}


def spared(r: Results) -> tuple[int, int]:
    """In how many runs pairs survive the cut of a prime that they do not need, of how many."""
    return r.criterion("axis-spared")


def cut(r: Results) -> list[Json]:
    """What skill is left without the directions of a class, and of a prime, or as many random ones,
    over all runs; primes first."""
    return r.rows("directions-cut", group="all")[::-1]


def attention(r: Results) -> Json:
    """In how many runs with several primes patterns by class, or by the residues modulo one of
    them, bring back a part of what mean patterns lose, and in how many all of it."""
    rows = [x for x in r.rows("routing-runs", id="all-heads") if len(factorint(x["n"])) > 1]
    keys = {"runs": "used", "part": "class_part", "all": "class_yes"}
    keys |= {"residues": "residue_yes", "residues_part": "residue_part"}
    return {name: sum(x[key] for x in rows) for name, key in keys.items()}


def accounts(r: Results) -> Json:
    """For each modulus in how many runs the embedding sides with primes, and in how many
    of all with classes."""
    rows = r.accounts()
    moduli = sorted({x["n"] for x in rows}, reverse=True)
    sides = {n: [x["E"] for x in rows if x["n"] == n] for n in moduli}
    primes = [(n, some.count("primes"), len(some)) for n, some in sides.items()]
    return {"embedding": primes, "classes": sum(x["E"] == "strata" for x in rows)}


def statements(r: Results) -> list[Json]:
    """Each statement on the mechanism, as the fresh runs decide it, or earlier ones illustrate it
    before these are enough, and that on networks written by hand: its sentence and verdict, for how
    many it holds, the interval of that share, and each measure that it asks for, with its level."""
    kinds = deciding(r), "written by hand"
    rows = (x for kind in kinds for x in r.rows("mechanism-statements", kind=kind))
    asked = r.tables.get("mechanism-measures", ())
    return [
        x | {"just": just(x), "asks": [m for m in asked if m["statement"] == x["id"]]}
        for x in rows
        if x["generalising"]
    ]


def just(row: Json) -> bool:
    """Whether a statement is confirmed, and would not be if it held for one network fewer.

    >>> [just({"holds": x, "generalising": 28}) for x in (21, 20, 19)]
    [False, True, False]
    """
    held, runs = row["holds"], row["generalising"]
    return CONFIRMED == over_runs(held, runs) != over_runs(held - 1, runs)


def deciding(r: Results) -> str:
    """The runs that numbers on the mechanism are of: fresh ones where they have verdicts."""
    fresh = r.rows("mechanism-statements", kind="fresh")
    return "fresh" if all(x["decided"] for x in fresh) else "earlier"


def layers(r: Results) -> Json:
    """How many answers are right with a part of the network replaced by what is said of it: in the
    median network and the worst of each; and what is lost where attention is fixed."""
    rows = {x: r.rows("mechanism-measures", id=x)[0] for x in (*LAYERS, "code-count")}
    kind = deciding(r)
    names = [f"{kind} {x}" for x in ("median", "worst", "runs")]
    said = {id: [row[x] for x in names] for id, row in rows.items()}
    [fixed] = r.rows("routing-runs", n=r.n, id="all-heads")
    return said | {"kind": kind, "fixed": [1 - fixed["lost_mean"], fixed["runs"]]}


def heads(r: Results) -> Json:
    """How much of the skill that is lost where attention is fixed comes back, in the networks of
    the paper's modulus, if it depends on classes, or on the residues modulo the prime for which
    that is most."""
    start, found = "share-all-heads-", r.rows("published-heads", unit="share")
    mean = {x["id"].removeprefix(start): x["mean"] for x in found if x["id"].startswith(start)}
    q = max(filter(str.isdigit, mean), key=mean.__getitem__)
    [shuffled] = [x["mean"] for x in found if x["id"] == "shuffled-all-heads-classes"]
    own = {"classes": mean["classes"], "shuffled": shuffled, "q": q, "residues": mean[q]}
    return own | {"runs": found[0]["runs"]}


def moduli(r: Results) -> list[Json]:
    """For each modulus and kind of network with several primes: what votes explain, and how primes
    interact."""
    kinds = {x["group"]: x for x in r.rows("mechanism-kinds")}
    votes = r.rows("mechanism-votes")
    found = [x | kinds[x["group"]] for x in votes if x["kind"] in {"fresh", "earlier", "MLP-only"}]
    return [x for x in found if x["classes"] is not None]


def total(r: Results) -> Json:
    """The same of all networks that decide; and what the rule says of two things that no statement
    asks: that primes are apart, and that every product of every left-out class is answered."""
    row = next((x for x in moduli(r) if x["kind"] == "fresh" and x["n"] is None), None)
    if row is None:
        raise Missing("mechanism-votes: all fresh runs")
    strict = {over_runs(int(row[x]), row["runs"]) for x in ("primes apart", "whole")}
    return row | {"strict": sorted(strict)}


def zeros(r: Results) -> Json:
    """The statements on zero divisors that have a verdict; how much pairs of primes mix, by how
    many of the two have them."""
    said = [x for x in r.rows("zeros-said") if x["verdict"] != UNTESTED]
    if not said:
        raise Missing("zeros-said: no verdict")
    return {"said": said, "mixing": [x for x in r.rows("zeros-pairs") if x["pairs"]]}


RULES = (
    components,
    embedding,
    spared,
    cut,
    attention,
    accounts,
    statements,
    layers,
    heads,
    moduli,
    total,
    zeros,
)


def found(r: Results) -> Json:
    """The numbers of the screens, by what they are about; None for those that are not there."""
    return {rule.__name__: tried(rule, r) for rule in RULES}


def tried(rule: Callable[[Results], Any], r: Results) -> Any:
    """What a rule gives, or None."""
    try:
        return rule(r)
    except Missing:
        return None
