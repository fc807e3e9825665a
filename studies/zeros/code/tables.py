"""The tables of zero divisors: what is decided, moduli, pairs of primes, the null, runs."""

from collections.abc import Mapping, Sequence

import pandas as pd

from strata.results import HOLDS
from strata.run import Run
from strata.tables.table import RUN, Cells, Column, Table, count_of
from studies.params import ZerosParams
from studies.zeros.code import decide
from studies.zeros.code.decide import STATEMENTS
from studies.zeros.code.measures import GROUPS, TWO, Measured


def tables(
    planned: Sequence[Run], measured: Mapping[Run, Measured], params: ZerosParams
) -> tuple[Table, ...]:
    """Return all tables of the planned runs, from the measures of those that are trained."""
    listed, chance = runs(planned, measured, params), null(measured)
    decided = decide.statements(listed, chance, params)
    return (
        Table("zeros-said", "Zero divisors: verdicts.", decided, DECIDED),
        Table("zeros-moduli", "Zero divisors: each modulus.", moduli(listed), MODULI),
        Table("zeros-pairs", "How much pairs of primes mix.", pairs(measured, params), PAIRS),
        Table("zeros-null", "F of two primes at most at its level, by chance.", chance, NULL),
        Table("zeros-runs", "Zero divisors: the runs.", listed, RUNS),
    )


DECIDED = STATEMENTS.columns("statement") | {
    "held": Column("holds for", count_of("held", "runs"), "l"),
    "low": Column("interval from", "share"),
    "high": Column("to", "share"),
    "null": Column("by chance", "share", missing=""),
}
MEASURES = {
    "F": Column("F", "index"),
    "pure": Column("pure keys", "count"),
    "keys": Column("keys", "count"),
    "votes": Column("votes inside classes", "share"),
    "factors": Column("both factors", "index"),
}
RUNS = RUN | {
    "group": Column("zeros", align="l"),
    "zeros": Column("of", align="l"),
    "accuracy": Column("right", "share", missing="not trained"),
    **MEASURES,
    "apart": Column("apart", align="l"),
    "own": Column("own keys", align="l"),
}


def runs(
    planned: Sequence[Run], measured: Mapping[Run, Measured], params: ZerosParams
) -> pd.DataFrame:
    """Return a row for each run, group by group; of one that is not trained without numbers."""
    rows = []
    for run in planned:
        row: Cells = {"run": str(run), "n": run.n}
        if x := measured.get(run):
            row |= {"group": x.group, "zeros": ", ".join(map(str, x.zeros))}
            row |= {"accuracy": x.accuracy, "generalises": decide.generalises(x, params)}
            row |= {"F": x.F, "pure": x.pure, "keys": len(x.keys) if x.pairs else None}
            row |= {"votes": x.votes, "factors": x.factors and x.factors.over_even}
            row |= decide.of_run(x, params)
        rows.append(row)
    names = ["run", "n", "group", "zeros", "accuracy", "generalises", *MEASURES, "apart", "own"]
    frame = pd.DataFrame(rows, columns=names)
    frame["group"] = pd.Categorical(frame["group"], GROUPS)
    frame = frame.sort_values("group", kind="stable", ignore_index=True)
    return frame.astype({"pure": "Int64", "keys": "Int64", "generalises": "boolean"})


MODULI = {
    "n": Column("n"),
    "trained": Column("runs", "count"),
    "runs": Column("generalise", "count"),
    **{id: Column(x, count_of(id, "runs"), "l") for id, x in STATEMENTS.sentences.items()},
}


def moduli(listed: pd.DataFrame) -> pd.DataFrame:
    """Count for how many of the deciding runs of each modulus each statement holds."""
    rows = []
    for n, of_modulus in listed.query(f"group == '{TWO}'").groupby("n", sort=False):
        deciding = decide.deciding(of_modulus)
        row = {"id": f"n = {n}", "n": n, "trained": len(of_modulus), "runs": len(deciding)}
        rows.append(row | {id: (deciding[id] == HOLDS).sum() for id in STATEMENTS.sentences})
    return pd.DataFrame(rows, columns=["id", *MODULI])


PAIRS = {
    "words": Column("of the two primes", align="l"),
    "pairs": Column("pairs", "count"),
    "low": Column("least", "index"),
    "median": Column("median", "index"),
    "high": Column("largest", "index"),
    "apart": Column("at most half", count_of("apart", "pairs"), "l"),
}


def pairs(measured: Mapping[Run, Measured], params: ZerosParams) -> pd.DataFrame:
    """Return, by how many of two primes have zeros, the energy of characters that feel both, in
    even shares, over the pairs of all runs of parts of Z_n that generalise."""
    points = mixing(measured, params)
    points = points[points["generalises"].astype(bool)]
    rows = []
    kinds = {"neither": "neither has zeros", "one": "one has zeros", "both": "both have zeros"}
    for zeros, (id, words) in enumerate(kinds.items()):
        ratios = points.loc[points["zeros"] == zeros, "over_even"]
        row = {"id": id, "words": words, "pairs": len(ratios), "low": ratios.min()}
        row |= {"median": ratios.median(), "high": ratios.max()}
        rows.append(row | {"apart": int((ratios <= params.holds).sum())})
    return pd.DataFrame(rows)


def mixing(measured: Mapping[Run, Measured], params: ZerosParams) -> pd.DataFrame:
    """Return a row for each run of a part of Z_n and each two primes."""
    rows = [
        (str(run), *pair.primes, pair.zeros, pair.over_even, decide.generalises(x, params))
        for run, x in measured.items()
        for pair in (x.pairs if x.votes is not None else ())
    ]
    return pd.DataFrame(rows, columns=["run", "p", "q", "zeros", "over_even", "generalises"])


NULL = {
    "units": Column("units of"),
    "primes": Column("primes", align="l"),
    "runs": Column("runs", "count"),
    "share": Column("by chance", "share"),
}


def null(measured: Mapping[Run, Measured]) -> pd.DataFrame:
    """Return for each two primes of each modulus how often F of them would hold in the networks
    that learn units alone or with an absorbing element. The share is the mean over runs and over
    the images of the usual decomposition; all runs of a modulus have the same number of images."""
    rows = [
        (x.modulus, primes, share)
        for x in measured.values()
        for primes, share in (x.images or {}).items()
    ]
    frame = pd.DataFrame(rows, columns=["units", "primes", "share"])
    grouped = frame.groupby(["units", "primes"], sort=False)["share"].agg(["count", "mean"])
    return grouped.reset_index().rename(columns={"count": "runs", "mean": "share"})
