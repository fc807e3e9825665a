"""The paper's own weights beside our runs of the same modulus, with the criteria and levels of
those: strata or primes, attention, criteria of the interventions, every number that the paper
prints.

A row has the number of the published weights, the spread of it over the transformers of that
modulus that generalise, and where it lies among them. The values of the single runs are columns of
the CSV alone.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from strata import store
from strata.collected import read_collected
from strata.measure.metrics import Metrics
from strata.params import GridParams, Params
from strata.tables import claims, headline
from strata.tables.headline import Table
from strata.tables.printed import Printed
from strata.tables.seeds import spread, verdict
from studies.interventions.code import evidence, head_criteria
from studies.interventions.code.levels import LEVELS
from studies.interventions.code.records import Interventions
from studies.mechanism.code import tables_accounts as accounts
from studies.mechanism.code import tables_embedding as embedding
from studies.mechanism.code.records import Embedding, Logits
from studies.mechanism.code.study import Case, Choice, counted

Measure = tuple[str, str, float | str | None]  # name, unit, value
# Of accounts.run and of embedding: name and unit. No commas: the figure reads these tables.
ACCOUNTS = {
    "L": ("verdict on the logits", "text"),
    "E": ("verdict on the embedding", "text"),
    "r2_C": ("R² of C (primes)", "share"),
    "r2_S": ("R² of S (strata)", "share"),
    "ceiling": ("ceiling of R²", "share"),
    "gating": ("gating γ", "index"),
    "gating_least": ("γ of the least character", "index"),
    "balanced": ("balanced gating γ_b", "index"),
    "delta": ("Δ of held-out products", "index"),
    "tau": ("τ", "index"),
    "cost": ("cost of sharing", "index"),
    "crossing": ("crossing", "share"),
    "within": ("within", "share"),
    "kept": ("kept", "share"),
    "eta": ("η", "index"),
}
EMBEDDING = {
    "effects_share": ("share of W_E in main effects", "share"),
    "keep_skill": ("skill with main effects alone", "share"),
    "keep_components": ("skill with as many principal components", "share"),
    "remove_skill": ("skill without main effects", "share"),
    "remove_shrunk": ("skill with W_E shrunk to what that leaves", "share"),
    "symmetricity": ("gradient symmetricity", "index"),
    "irrelevance": ("distance irrelevance", "index"),
    "simple_share": ("simple neurons: share of variance", "share"),
    "simple_skill": ("skill with simple neurons", "share"),
    "cosets": ("approximate cosets", "share"),
    "gini": ("Gini of spectra", "index"),
}


CASE = {"logits": Logits, "embedding": Embedding, "metrics": Metrics}


class Studied(NamedTuple):
    """All results of one run."""

    case: Case
    interventions: Interventions

    @classmethod
    def read(cls, folder: Path) -> "Studied":
        """Those of the run whose results are the files of a folder."""
        case = Case(*(store.read_model(folder / f"{name}.json", x) for name, x in CASE.items()))
        return cls(case, store.read_model(folder / "interventions.json", Interventions))

    @classmethod
    def collected(cls, metrics: str, logits: str, embedding: str, changed: str) -> list["Studied"]:
        """Those of every listed run, from the files in which they are collected."""
        paths = {"logits": logits, "embedding": embedding, "metrics": metrics}
        cases = (read_collected(paths[name], x) for name, x in CASE.items())
        interventions = read_collected(changed, Interventions)
        return [cls(Case(*case), x) for *case, x in zip(*cases, interventions, strict=True)]


def tables(
    theirs: Studied, runs: Sequence[Studied], choice: Choice, params: Params
) -> tuple[Table, ...]:
    """The tables that need nothing but results; the runs of another modulus, of another kind, and
    those that do not generalise are left out."""
    own = seeds(theirs, runs, choice)
    grid = params.grid
    about = f"The paper’s own weights beside {len(own)} runs of ours (n = {theirs.case.logits.n})"
    both = [[*of_accounts(x.case, choice)] for x in (theirs, *own)]
    heads = [[*of_heads(x)] for x in (theirs, *own)]
    names = [x.case.logits.run for x in own]
    return (
        Table("published-accounts", f"{about}: strata or primes.", beside(both, names, grid)),
        Table("published-heads", f"{about}: attention.", beside(heads, names, grid)),
        Table("published-criteria", f"{about}: interventions.", criteria(theirs, own)),
    )


def seeds(theirs: Studied, runs: Sequence[Studied], choice: Choice) -> list[Studied]:
    """The runs that stand beside."""
    kind = theirs.case.kind
    return [x for x in runs if x.case.kind == kind and x.case.generalised(choice.generalised)]


def of_accounts(case: Case, choice: Choice) -> Iterator[Measure]:
    """What decides between strata and primes, and the literature's measures."""
    row = accounts.run(case, choice)
    for name, (label, unit) in ACCOUNTS.items():
        yield label, unit, row[name]
    found = embedding.keep_remove(case.embedding) | embedding.literature(case.embedding)
    for name, (label, unit) in EMBEDDING.items():
        yield label, unit, found.get(name)


def of_heads(run: Studied) -> Iterator[Measure]:
    """The block score of each head; the skill that a mean pattern loses, and the share of it that
    patterns by class or by residues bring back, shuffled labels beside."""
    for head in run.case.metrics.heads:
        yield f"head {head.head}: class blocks", "share", head.block_score
        shuffled = head.block_score_shuffled.mean
        yield f"head {head.head}: class blocks of shuffled classes", "share", shuffled
    heads = {"head 0": (0,), "all heads": head_criteria.every_head(run.interventions)}
    for name, which in heads.items():
        for route in head_criteria.routes(run.interventions, which, LEVELS):
            blocks = f"residues modulo {route.modulus}" if route.modulus else "classes"
            if not route.modulus:
                yield f"{name}: skill lost with the mean pattern", "share", route.lost
            answer = route.answer
            yield f"{name}: routes by {blocks}", "text", answer
            known = route if route.used else None
            yield f"{name}: share brought back by {blocks}", "share", known and known.share
            yield f"{name}: highest of shuffled {blocks}", "share", known and known.high


def beside(
    found: Sequence[Sequence[Measure]], runs: Sequence[str], grid: GridParams
) -> pd.DataFrame:
    """A row for each measure of the first, with that of all others."""
    others = [{name: value for name, _, value in each} for each in found[1:]]
    rows = []
    for name, unit, value in found[0]:
        single = [each.get(name) for each in others]
        row: dict[str, Any] = {"measure": name, "unit": unit, "published": value}
        if unit == "text":
            among = counted([str(x) for x in single if x]) if single else ""
            row |= {"runs": len(single), "among": among.replace(",", ";")}
        else:
            row |= {k: x for k, x in spread(_numbers(single), grid).items() if k != "std"}
            row["among"] = _place(value, single, unit)
        rows.append(row | dict(zip(runs, single, strict=True)))
    names = ["measure", "unit", "published", "runs", "mean", "low", "high", "min", "max", "among"]
    return pd.DataFrame(rows, columns=[*names, *runs])


def _numbers(values: Sequence[float | str | None]) -> list[float]:
    return [float(x) for x in values if x is not None]


def _place(value: float | str | None, values: Sequence[float | str | None], unit: str) -> str:
    """Where a number lies among those of the runs."""
    if value is None:
        return ""
    return verdict("=", float(value), np.array(_numbers(values)), unit)


def criteria(theirs: Studied, runs: Sequence[Studied]) -> pd.DataFrame:
    """Every criterion of the interventions, and in how many of the runs it is passed."""
    frame = evidence.evidence(theirs.interventions)
    over = evidence.spread([x.interventions for x in runs])
    if over.empty:
        over = pd.DataFrame(columns=["section", "test", "runs", "passes", "mean", "min", "max"])
    names = ["section", "test", "runs", "passes", "mean", "min", "max"]
    return frame.merge(over[names], on=["section", "test"], how="left").assign(unit="share")


def numbers(
    theirs: Studied, over: tuple[pd.DataFrame, pd.DataFrame], printed: Printed, params: Params
) -> tuple[Table, Table]:
    """Every number that the paper prints: the paper's, that of its weights, ours and our seeds.
    `over` has the tables of claims over seeds, of the text and of Tables 2 and 3."""
    metrics = theirs.case.metrics
    about = "the paper, its own weights, our seeds"
    both = claims.of_text(metrics, printed, params), headline.class_claims(metrics, printed)
    made = [_joined(*pair) for pair in zip(both, over, strict=True)]
    return (
        Table("published-text", f"Numbers in the text: {about}.", made[0]),
        Table("published-classes", f"Tables 2 and 3: {about}.", made[1]),
    )


def _joined(frame: pd.DataFrame, over: pd.DataFrame) -> pd.DataFrame:
    theirs = frame.rename(columns={"ours": "published"})
    theirs["published_difference"] = theirs["published"] - theirs["paper"]
    names = ["claim", "ours", "runs", "mean", "low", "high", "min", "max"]
    theirs = theirs[[x for x in theirs if x != "difference"]]
    return theirs.merge(over[names], on="claim", how="left", validate="one_to_one")
