"""The paper's own weights beside our runs of the same modulus, by the criteria and levels of those:
strata or primes, attention, criteria of the interventions, every number that the paper prints.

A row has the number of the published weights, the spread of it over the transformers of that
modulus that generalise, and where it lies among them. What no study has measured is no row.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from strata import results
from strata.measure.metrics import Metrics
from strata.params import GridParams, Params
from strata.results import Row
from strata.tables import claims, headline
from strata.tables.format import STYLES
from strata.tables.printed import Printed
from strata.tables.spread import PLACES, place, spread
from strata.tables.table import MEASURE, RUNS, SENTENCE, SPREAD, Column, Record, Table, holds

PUBLISHED = "published"  # the name of the weights in the results of studies
ATTENTION = ("lost-", "routes-", "share-", "shuffled-")  # how ids begin


def tables(
    theirs: Metrics,
    ours: Sequence[Metrics],
    accounts: pd.DataFrame,
    changed: pd.DataFrame,
    grid: GridParams,
) -> tuple[Table, ...]:
    """The tables that need nothing but results: ``accounts`` and ``changed`` are those of strata or
    primes and of the interventions, ``ours`` the runs that stand beside."""
    about = f"The paper’s own weights beside {len(ours)} runs of ours (n = {theirs.n})"
    names = [PUBLISHED, *(x.run for x in ours)]
    heads = [*blocks(PUBLISHED, theirs), *(x for run in ours for x in blocks(run.run, run))]
    of_heads = changed.query("id.str.startswith(@ATTENTION)")
    attention = pd.concat([pd.DataFrame(heads, columns=Row._fields), of_heads])
    return (
        Table("published-accounts", f"{about}: strata or primes.",
              beside(accounts.query("id != 'mixing'"), names, grid), BESIDE),
        Table("published-heads", f"{about}: attention.", beside(attention, names, grid), BESIDE),
        Table("published-criteria", f"{about}: interventions.", criteria(changed, names), CRITERIA),
    )  # fmt: skip


def seeds(theirs: Metrics, runs: Sequence[Metrics]) -> list[Metrics]:
    """The runs that stand beside: of another modulus, of another kind, and those that do not
    generalise are left out."""
    kind = (theirs.architecture, theirs.n)
    same = (x for x in runs if (x.architecture, x.n) == kind)
    return [x for x in same if x.generalised]


def blocks(name: str, metrics: Metrics) -> Iterator[Row]:
    """The block score of each head."""
    for head in metrics.heads:
        id, of = f"head-{head.head}-blocks", f"head {head.head}: class blocks"
        yield Row(name, id, of, "", "share", head.block_score)
        shuffled = head.block_score_shuffled.mean
        yield Row(name, f"{id}-shuffled", f"{of} of shuffled classes", "", "share", shuffled)


def published(row: Record) -> str:
    """The number of the published weights, or the word that they are given."""
    return row["word"] or STYLES[row["unit"]](row["published"])


def among(row: Record) -> str:
    """Where a number lies among those of the runs, or how many are given which word."""
    return row["words"] or PLACES[row["place"]]


BESIDE = MEASURE | RUNS | SPREAD | {
    "given": Column("published weights", published),
    "among": Column("among our runs", among, "l", missing=""),
}  # fmt: skip


def beside(rows_of_runs: pd.DataFrame, names: Sequence[str], grid: GridParams) -> pd.DataFrame:
    """A row for each measure of the first of some runs, with that of all others."""
    of_runs, rows = rows_of_runs.query("run in @names and measure == ''"), []
    theirs = of_runs.query("run == @names[0] and (verdict != '' or value == value)")
    for mine in theirs.to_dict("records"):
        id, unit = mine["id"], mine["unit"]
        row = {"id": id, "measure": mine["sentence"], "unit": unit, "given": True}
        if mine["verdict"]:
            words = results.verdicts(of_runs, id)
            others = [words[x] for x in names[1:] if x in words]
            said = sorted(Counter(others).items(), key=lambda x: (-x[1], x[0]))
            row |= {"word": mine["verdict"], "runs": len(others)}
            row |= {"words": "; ".join(f"{count} {word}" for word, count in said)}
            row |= {"among": bool(said) or None}
        else:
            values = results.numbers(of_runs, id)
            others = [values[x] for x in names[1:] if x in values]
            where = place("=", mine["value"], np.array(others), unit)["verdict"]
            row |= {"word": "", "words": "", "published": mine["value"], "place": where}
            row |= spread(others, grid, unit)
            row |= {"among": where and True, "values": " ".join(map(str, others))}
        rows.append(row)
    columns = ["id", "measure", "unit", "given", "published", "word", "runs", "mean", "low", "high"]
    columns += ["min", "max", "among", "place", "words", "values"]
    return pd.DataFrame(rows, columns=columns)


CRITERIA = RUNS | SENTENCE | {
    "value": Column("worst case", "share"),
    "against": Column("against", "share"),
    "held": Column("cases", lambda row: f"{row['held']:.0f} of {row['cases']:.0f}"),
    "verdict": Column("passes", holds("verdict"), "l"),
    "passes": Column("pass", "count"),
    "mean": Column("mean", "share"),
    "min": Column("least", "share"),
    "max": Column("largest", "share"),
}  # fmt: skip


def criteria(changed: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Every criterion of the interventions, and in how many of the runs it is passed."""
    rows = []
    for mine in changed.query("run == @names[0] and measure == 'cases'").to_dict("records"):
        id, passed = mine["id"], results.truths(changed, mine["id"])
        value, *of = (results.numbers(changed, id, x) for x in ("", "against", "held", "cases"))
        others = [x for x in names[1:] if x in passed]
        values = pd.Series([value[x] for x in others], dtype=float)
        row = (id, mine["sentence"], *(x.get(names[0]) for x in (value, *of)))
        row += (results.verdicts(changed, id).get(names[0]),)
        row += (len(others), sum(passed[x] for x in others))
        rows.append((*row, values.mean(), values.min(), values.max()))
    columns = ["id", "sentence", "value", "against", "held", "cases", "verdict", "runs", "passes"]
    frame = pd.DataFrame(rows, columns=[*columns, "mean", "min", "max"])
    frame["held"] = frame["held"].where(frame["cases"] > 0)
    return frame


NUMBERS = claims.COLUMNS | RUNS | SPREAD | {
    "published": Column("published weights", "unit"),
    "published_difference": Column("published − paper’s", "unit difference"),
}  # fmt: skip


def numbers(
    theirs: Metrics, over: tuple[pd.DataFrame, pd.DataFrame], printed: Printed, params: Params
) -> tuple[Table, Table]:
    """Every number that the paper prints: the paper's, that of its weights, ours and our seeds.
    `over` has the tables of claims over seeds, of the text and of Tables 2 and 3."""
    about = "the paper, its own weights, our seeds"
    both = claims.of_text(theirs, printed, params), headline.class_claims(theirs, printed)
    made = [_joined(*pair) for pair in zip(both, over, strict=True)]
    return (
        Table("published-text", f"Numbers in the text: {about}.", made[0], NUMBERS),
        Table("published-classes", f"Tables 2 and 3: {about}.", made[1], NUMBERS),
    )


def _joined(frame: pd.DataFrame, over: pd.DataFrame) -> pd.DataFrame:
    theirs = frame.rename(columns={"ours": "published"})
    theirs["published_difference"] = theirs["published"] - theirs["paper"]
    names = ["id", "ours", "runs", "mean", "low", "high", "min", "max"]
    theirs = theirs[[x for x in theirs if x != "difference"]]
    return theirs.merge(over[names], on="id", how="left", validate="one_to_one")
