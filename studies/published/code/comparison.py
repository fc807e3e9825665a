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
    interventions: pd.DataFrame,
    grid: GridParams,
) -> tuple[Table, ...]:
    """Return the tables that need nothing but results: ``accounts`` and ``changed`` are those of
    strata or primes and of the interventions, ``ours`` the runs to compare with."""
    about = f"The paper’s own weights beside {len(ours)} runs of ours (n = {theirs.n})"
    models = {PUBLISHED: theirs} | {x.run: x for x in ours}
    names = [*models]
    heads = [x for name, metrics in models.items() for x in block_scores(name, metrics)]
    of_heads = interventions.query("id.str.startswith(@ATTENTION)")
    attention = pd.concat([pd.DataFrame(heads, columns=Row._fields), of_heads])
    return (
        Table("published-accounts", f"{about}: strata or primes.",
              compare(accounts.query("id != 'mixing'"), names, grid), COMPARISON),
        Table("published-heads", f"{about}: attention.",
              compare(attention, names, grid), COMPARISON),
        Table("published-criteria", f"{about}: interventions.",
              criteria(interventions, names), CRITERIA),
    )  # fmt: skip


def comparable_runs(theirs: Metrics, runs: Sequence[Metrics]) -> list[Metrics]:
    """Return the runs of the same modulus and the same kind of model that generalise."""
    kind = (theirs.architecture, theirs.n)
    same = (x for x in runs if (x.architecture, x.n) == kind)
    return [x for x in same if x.generalised]


def block_scores(name: str, metrics: Metrics) -> Iterator[Row]:
    """Return the block score of each head, and that of shuffled classes."""
    for head in metrics.heads:
        id, sentence = f"head-{head.head}-blocks", f"head {head.head}: class blocks"
        yield Row(name, id, sentence, "", "share", head.block_score)
        shuffled = head.block_score_shuffled.mean
        yield Row(name, f"{id}-shuffled", f"{sentence} of shuffled classes", "", "share", shuffled)


def published_in_words(row: Record) -> str:
    """Write the number of the published weights, or the word that they are given."""
    return row["word"] or STYLES[row["unit"]](row["published"])


def place_in_words(row: Record) -> str:
    """Write where a number lies among those of the runs, or how many runs are given which word."""
    return row["words"] or PLACES[row["place"]]


COMPARISON = MEASURE | RUNS | SPREAD | {
    "given": Column("published weights", published_in_words),
    "among": Column("among our runs", place_in_words, "l", missing=""),
}  # fmt: skip


def compare(rows_of_runs: pd.DataFrame, names: Sequence[str], grid: GridParams) -> pd.DataFrame:
    """Return a row for each measure of the first name, with the spread over all other names."""
    of_runs, rows = rows_of_runs.query("run in @names and measure == ''"), []
    published_rows = of_runs.query("run == @names[0] and (verdict != '' or value == value)")
    for published in published_rows.to_dict("records"):
        id, unit = published["id"], published["unit"]
        row = {"id": id, "measure": published["sentence"], "unit": unit, "given": True}
        if published["verdict"]:
            words = results.verdicts(of_runs, id)
            ours = [words[x] for x in names[1:] if x in words]
            counts = sorted(Counter(ours).items(), key=lambda x: (-x[1], x[0]))
            row |= {"word": published["verdict"], "runs": len(ours)}
            row |= {"words": "; ".join(f"{count} {word}" for word, count in counts)}
            row |= {"among": bool(counts) or None}
        else:
            values = results.numbers(of_runs, id)
            ours = [values[x] for x in names[1:] if x in values]
            relation = place("=", published["value"], np.array(ours), unit)["verdict"]
            row |= {"word": "", "words": "", "published": published["value"], "place": relation}
            row |= spread(ours, grid, unit)
            row |= {"among": relation and True, "values": " ".join(map(str, ours))}
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


def criteria(interventions: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """List every criterion of the interventions, and in how many of the runs it is passed."""
    rows = []
    for theirs in interventions.query("run == @names[0] and measure == 'cases'").to_dict("records"):
        id, passes = theirs["id"], results.truths(interventions, theirs["id"])
        value, *counts = (
            results.numbers(interventions, id, x) for x in ("", "against", "held", "cases")
        )
        ours = [x for x in names[1:] if x in passes]
        values = pd.Series([value[x] for x in ours], dtype=float)
        row = (id, theirs["sentence"], *(x.get(names[0]) for x in (value, *counts)))
        row += (results.verdicts(interventions, id).get(names[0]),)
        row += (len(ours), sum(passes[x] for x in ours))
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
    theirs: Metrics, over_seeds: tuple[pd.DataFrame, pd.DataFrame], printed: Printed, params: Params
) -> tuple[Table, Table]:
    """List every number that the paper prints: the paper's, that of its weights, ours and our
    seeds. ``over_seeds`` has the tables of claims over seeds, of the text and of Tables 2 and 3."""
    about = "the paper, its own weights, our seeds"
    frames = claims.text_claims(theirs, printed, params), headline.class_claims(theirs, printed)
    joined = [_join(*pair) for pair in zip(frames, over_seeds, strict=True)]
    return (
        Table("published-text", f"Numbers in the text: {about}.", joined[0], NUMBERS),
        Table("published-classes", f"Tables 2 and 3: {about}.", joined[1], NUMBERS),
    )


def _join(frame: pd.DataFrame, over_seeds: pd.DataFrame) -> pd.DataFrame:
    compared = frame.rename(columns={"ours": "published"})
    compared["published_difference"] = compared["published"] - compared["paper"]
    names = ["id", "ours", "runs", "mean", "low", "high", "min", "max"]
    compared = compared[[x for x in compared if x != "difference"]]
    return compared.merge(over_seeds[names], on="id", how="left", validate="one_to_one")
