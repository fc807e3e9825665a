"""The numbers of the front page, each from a table or from the metrics of runs. The words are those
of site/screens.html; a number whose table is not there is left out with its sentence.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from strata.arithmetic import factorint
from strata.params import load
from strata.results import CONFIRMED, HOLDS, UNTESTED, check, over_runs
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
        """Return the rows in which these columns have these values; a value that a row lacks is
        None. Raise Missing if there is no such row, InputError for an id that no row of the table
        has."""
        table_rows = self.tables.get(table, ())
        if "id" in wanted:
            check(wanted["id"], [x.get("id", "") for x in table_rows], table)
        rows = [x for x in table_rows if wanted.items() <= x.items()]
        if not rows:
            raise Missing(table)
        return rows

    def mean(self, value: Callable[[Json], float]) -> float:
        """Average a number over the seeds."""
        if not self.seeds:
            raise Missing("metrics")
        return float(np.mean([value(x) for x in self.seeds]))

    def criterion(self, id: str) -> tuple[int, int]:
        """Count the transformers that pass a criterion of the interventions, and those that it
        applies to."""
        [row] = self.rows("evidence-runs", id=id)
        return row["passes"], row["runs"]

    def accounts(self) -> list[Json]:
        """Return the transformers that generalise and whose modulus is a product of different
        primes."""
        rows = self.rows("accounts-runs", architecture="transformer", generalised=True)
        composites = [x for x in rows if composite(x["n"])]
        if not composites:
            raise Missing("accounts-runs")
        return composites

    def count_within(self, **wanted: Any) -> Json:
        """Count the numbers of the paper's tables that lie among those of our seeds, the numbers
        that are compared, and the runs."""
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
    """Return the metrics of the transformers of this modulus that were trained as the paper's and
    are finite."""
    return [x for x in metrics if x["finite"] and str(Run(n, x["seed"])) == x["run"]]


INTERACT = "primes apart", "gated", "mixed"
DECIDING = "fresh", "written by hand"  # kinds of networks
# The right answers with one part replaced by its best fit; the last, with all but attention.
LAYERS = "interaction-right", "neurons-right", "code-right", "decoding-right", "replaced"

# ---- the screens -----------------------------------------------------------------------------


def components(r: Results) -> Json:
    """Compare what the first principal components follow: classes, or a residue modulo a prime
    power."""
    classes = r.mean(lambda x: x["pca"]["shown"]["classes"])
    powers = r.seeds[0]["pca"]["shown"]["modulo"]
    moduli = {q: r.mean(lambda x, q=q: x["pca"]["shown"]["modulo"][q]) for q in powers}
    q = max(moduli, key=moduli.__getitem__)
    return {"classes": classes, "q": q, "modulo": moduli[q], "runs": len(r.seeds)}


def embedding(r: Results) -> Json:
    """Return the share of the whole embedding that functions of one residue each explain."""
    share = {"id": "effects_share", "architecture": "transformer"}
    [row] = r.rows("accounts-intervals", n=r.n, **share)
    return {"share": row["mean"], "runs": row["runs"]}


def spared(r: Results) -> tuple[int, int]:
    """Count the runs in which pairs survive the cut of a prime that they do not need, and all
    runs."""
    [row] = r.rows("directions-cut", group="all", cut="a prime")
    return row["intact"], row["runs"]


def cut(r: Results) -> list[Json]:
    """Return what skill is left without the directions of a class, and of a prime, or as many
    random ones, over all runs; primes come first."""
    return r.rows("directions-cut", group="all")[::-1]


def attention(r: Results) -> Json:
    """Count the runs with several primes in which patterns by class, or by the residues modulo one
    prime, bring back a part of what mean patterns lose, and those in which they bring back all of
    it."""
    rows = [x for x in r.rows("routing-runs", id="all-heads") if len(factorint(x["n"])) > 1]
    keys = {"runs": "used", "part": "class_part", "all": "class_yes"}
    keys |= {"residues": "residue_yes", "residues_part": "residue_part"}
    return {name: sum(x[key] for x in rows) for name, key in keys.items()}


def accounts(r: Results) -> Json:
    """Count for each modulus the runs in which the embedding sides with primes, and over all moduli
    those in which it sides with classes."""
    rows = r.accounts()
    moduli = sorted({x["n"] for x in rows}, reverse=True)
    sides = {n: [x["E"] for x in rows if x["n"] == n] for n in moduli}
    primes = [(n, side.count("primes"), len(side)) for n, side in sides.items()]
    return {"embedding": primes, "classes": sum(x["E"] == "strata" for x in rows)}


def statements(r: Results) -> list[Json]:
    """Return each statement on the mechanism, as the fresh runs decide it, and that on networks
    written by hand: its sentence and verdict, for how many networks it holds, the interval of that
    share, how many were needed, and each measure that it asks for, with its level."""
    rows = (x for kind in DECIDING for x in r.rows("mechanism-statements", kind=kind))
    measures = r.tables.get("mechanism-measures", ())
    statements = [x | {"needed": needed(x["generalising"])} for x in rows if x["generalising"]]
    for x in statements:
        x["just"] = x["holds"] == x["needed"]
        x["asks"] = [m for m in measures if m["statement"] == x["id"]]
    return statements


def needed(runs: int) -> int | None:
    """Return in how many of these runs a statement has to hold to be confirmed, None where all of
    them would be too few.

    >>> needed(28), needed(3)
    (20, None)
    """
    counts = range(runs + 1)
    return next((held for held in counts if over_runs(held, runs) == CONFIRMED), None)


def layers(r: Results) -> Json:
    """Return how many answers are right with a part of the network replaced by its best fit, in the
    median fresh network and the worst; and what is lost where attention is fixed."""
    rows = {x: r.rows("mechanism-measures", id=x)[0] for x in (*LAYERS, "code-count")}
    names = "fresh median", "fresh worst", "fresh runs"
    values = {id: [row[x] for x in names] for id, row in rows.items()}
    [fixed] = r.rows("routing-runs", n=r.n, id="all-heads")
    return values | {"fixed": [1 - fixed["lost_mean"], fixed["runs"]]}


def formulas(r: Results) -> Json:
    """Return how many answers are right with formulas in the place of what attention scores, of
    what neurons read, and of both and what they write: in the median network and the worst; and for
    how many networks each statement on these holds, with its verdict."""
    ids = "attention-right", "adding-right", "formulas-right"
    rows = {x: r.rows("adding-measures", id=x)[0] for x in ids}
    names = ("fresh and new median", "fresh and new worst", "fresh and new networks")
    if any(row[names[0]] is None for row in rows.values()):
        raise Missing("adding-measures: no network")
    statements = {x["id"]: x for x in r.rows("adding-said")}
    return {id: [row[x] for x in names] for id, row in rows.items()} | {"said": statements}


def heads(r: Results) -> Json:
    """Return how much of the skill that is lost where attention is fixed comes back, in the
    networks of the paper's modulus, if attention depends on classes, or on the residues modulo the
    prime for which that is most."""
    start, rows = "share-all-heads-", r.rows("published-heads", unit="share")
    mean = {x["id"].removeprefix(start): x["mean"] for x in rows if x["id"].startswith(start)}
    q = max(filter(str.isdigit, mean), key=mean.__getitem__)
    [shuffled] = [x["mean"] for x in rows if x["id"] == "shuffled-all-heads-classes"]
    shares = {"classes": mean["classes"], "shuffled": shuffled, "q": q, "residues": mean[q]}
    return shares | {"runs": rows[0]["runs"]}


def moduli(r: Results) -> list[Json]:
    """Return for each modulus and kind of network with several primes what votes explain, and how
    primes interact."""
    kinds = {x["group"]: x for x in r.rows("mechanism-kinds")}
    votes = r.rows("mechanism-votes")
    joined = [x | kinds[x["group"]] for x in votes if x["kind"] in {"fresh", "earlier", "MLP-only"}]
    return [x for x in joined if x["classes"] is not None]


def total(r: Results) -> Json:
    """Return the same numbers of all networks that decide; and what the rule says of two things
    that no statement asks: that primes are apart, and that every product of every left-out class is
    answered."""
    row = next((x for x in moduli(r) if x["kind"] == "fresh" and x["n"] is None), None)
    if row is None:
        raise Missing("mechanism-votes: all fresh runs")
    strict = {over_runs(int(row[x]), row["runs"]) for x in ("primes apart", "whole")}
    return row | {"strict": sorted(strict)}


def free(r: Results) -> Json:
    """Return what votes explain of a network that was never trained, and what classes that are as
    free as votes explain of those that decide."""
    [votes], [classes] = (r.rows("both-accounts", id=f"free-{x}") for x in ("votes", "classes"))
    return {"untrained": votes["untrained"], "classes": classes["fresh share"]}


def moved(r: Results) -> Json:
    """Return in how many networks the answer follows where one prime of the product is changed
    within its class, and how often it does in the written network that finds the class first."""
    [fresh], [planted] = (
        r.rows(x, id="code-within") for x in ("mechanism-measures", "planted-measures")
    )
    if not fresh["fresh runs"]:
        raise Missing("mechanism-measures: no network")
    numbers = {name: fresh[f"fresh {name}"] for name in ("holds", "runs")}
    return numbers | {"level": fresh["level"], "classes": planted["classes first"]}


def zeros(r: Results) -> Json:
    """Return the statements on zero divisors that have a verdict, and how much pairs of primes mix,
    by how many of the two primes have zeros."""
    statements = [x for x in r.rows("zeros-said") if x["verdict"] != UNTESTED]
    if not statements:
        raise Missing("zeros-said: no verdict")
    return {"said": statements, "mixing": [x for x in r.rows("zeros-pairs") if x["pairs"]]}


def networks(r: Results) -> Json:
    """Return all networks of several primes that generalise, by kind and modulus: how primes
    interact in each, and the verdict on its votes."""
    rows = r.rows("mechanism-runs")
    level = load("params.yaml").metrics.accuracy
    kinds: dict[str, dict[int, list[Json]]] = {"fresh": {}, "earlier": {}, "MLP-only": {}}
    for row in rows:
        n = Run.parse(row["run"]).n if row["kind"] in kinds else 0
        if row["accuracy"] >= level and n and composite(n):
            kinds[row["kind"]].setdefault(n, []).append(row)
    for by_modulus in kinds.values():
        for models in by_modulus.values():
            models.sort(key=lambda x: (INTERACT.index(x["interact"]), x["votes"] != HOLDS))
    return {"moduli": sorted({n for x in kinds.values() for n in x}), "kinds": kinds}


RULES = (components, embedding, spared, cut, attention, accounts)
RULES += (statements, layers, formulas, heads, moduli, total, free, moved, zeros, networks)


def screen_numbers(r: Results) -> Json:
    """Return the numbers of the screens by what they are about; None where one is not there."""
    return {rule.__name__: try_rule(rule, r) for rule in RULES}


def try_rule(rule: Callable[[Results], Any], r: Results) -> Any:
    """Return what a rule gives, or None where its table or row is missing."""
    try:
        return rule(r)
    except Missing:
        return None
