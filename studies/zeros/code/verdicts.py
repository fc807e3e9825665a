"""What the runs say of zero divisors, by one rule: criteria.md."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from strata import results
from strata.results import CONFIRMED, FAILS, HOLDS, UNDECIDED, UNTESTED
from strata.run import Run
from strata.statistics import share_interval
from strata.tables.table import RUN, Cells, Column, Record, Table, of
from studies.params import ZerosParams
from studies.zeros.code.measures import GROUPS, TWO, Measured

SENTENCES = {
    "apart": "zero divisors keep primes apart",
    "own": "the prime without zeros gets characters of its own",
}


def tables(
    asked: Sequence[Run], measured: Mapping[Run, Measured], params: ZerosParams
) -> tuple[Table, ...]:
    """The verdicts, beside them each modulus, pairs of primes, the null, and the runs."""
    own = runs(asked, measured, params)
    chance = null(measured)
    return (
        Table("zeros-said", "Zero divisors: what is said.", said(own, chance, params), SAID),
        Table("zeros-moduli", "Zero divisors: each modulus.", moduli(own), MODULI),
        Table("zeros-pairs", "How much pairs of primes mix.", pairs(measured, params), PAIRS),
        Table("zeros-null", "F of two primes at most at its level, by chance.", chance, NULL),
        Table("zeros-runs", "Zero divisors: the runs.", own, RUNS),
    )


MEASURES = {
    "F": Column("F", "index"),
    "pure": Column("pure keys", "count"),
    "keys": Column("keys", "count"),
    "votes": Column("votes inside classes", "share"),
    "factors": Column("both factors", "index"),
}
VERDICTS = {"apart": Column("apart", align="l"), "own": Column("own keys", align="l")}
RUNS = RUN | {
    "group": Column("zeros", align="l"),
    "zeros": Column("of", align="l"),
    "accuracy": Column("right", "share", missing="not trained"),
} | MEASURES | VERDICTS  # fmt: skip


def generalises(run: Measured, params: ZerosParams) -> bool:
    """By all pairs, when training ends."""
    return run.accuracy >= params.answers


def runs(
    asked: Sequence[Run], measured: Mapping[Run, Measured], params: ZerosParams
) -> pd.DataFrame:
    """A row for each run, group by group; of one that is not trained without numbers."""
    rows = []
    for run in asked:
        row: Cells = {"run": str(run), "n": run.n}
        if x := measured.get(run):
            row |= {"group": x.group, "zeros": ", ".join(map(str, x.zeros))}
            row |= {"accuracy": x.accuracy, "generalises": generalises(x, params)}
            row |= {"F": x.F, "pure": x.pure, "keys": len(x.keys) if x.pairs else None}
            row |= {"votes": x.votes, "factors": x.factors and x.factors.over_even}
            if x.F is not None and x.pure is not None:
                row["apart"] = results.by_levels(x.F, params.holds, params.fails)
                row["own"] = HOLDS if x.pure else FAILS
        rows.append(row)
    names = ["run", "n", "group", "zeros", "accuracy", "generalises", *MEASURES, *SENTENCES]
    frame = pd.DataFrame(rows, columns=names)
    place = [[*GROUPS, None].index(x if isinstance(x, str) else None) for x in frame["group"]]
    frame = frame.iloc[np.argsort(place, kind="stable")].reset_index(drop=True)
    return frame.astype({"pure": "Int64", "keys": "Int64", "generalises": "boolean"})


def deciding(own: pd.DataFrame) -> pd.DataFrame:
    """The runs that count."""
    return own.query(f"group == '{TWO}' and generalises == True")


def in_words(row: Record) -> str:
    """A verdict; where there is none, why."""
    if row["verdict"] != UNTESTED:
        return str(row["verdict"])
    if row["trained"] < row["planned"]:
        return f"no verdict: {row['trained']} of {row['planned']} runs are trained"
    return f"no verdict: {row['runs']} of {row['fewest']} runs that generalise"


SAID = {
    "sentence": Column("statement", align="l"),
    "held": Column("holds for", of("held", "runs"), "l"),
    "low": Column("interval from", "share"),
    "high": Column("to", "share"),
    "null": Column("by chance", "share", missing=""),
    "verdict": Column("what is said", in_words, "l"),
}


def said(listed: pd.DataFrame, chance: pd.DataFrame, params: ZerosParams) -> pd.DataFrame:
    """The verdict on each statement; that on F has to be above chance, too. None while a run is not
    trained."""
    done, trained = deciding(listed), len(listed.dropna(subset=["accuracy"]))
    few = len(done) < params.fewest or trained < len(listed)
    above = {"apart": max(chance["share"].tolist(), default=1.0)}
    counts = {
        "runs": len(done),
        "fewest": params.fewest,
        "trained": trained,
        "planned": len(listed),
    }
    rows = []
    for id, sentence in SENTENCES.items():
        held = done[id].tolist().count(HOLDS)
        low, high = share_interval(held, len(done), params.confidence)
        verdict = results.over_runs(held, len(done), params.confidence)
        if verdict == CONFIRMED and low <= above.get(id, 0):
            verdict = UNDECIDED
        numbers = {"held": held, "low": low, "high": high, "null": above.get(id)}
        row = {"id": id, "sentence": sentence} | counts | numbers
        rows.append(row | {"verdict": UNTESTED if few else verdict})
    return pd.DataFrame(rows)


MODULI = {
    "n": Column("n"),
    "trained": Column("runs", "count"),
    "runs": Column("generalise", "count"),
} | {id: Column(SENTENCES[id], of(id, "runs"), "l") for id in SENTENCES}  # fmt: skip


def moduli(rows_of_runs: pd.DataFrame) -> pd.DataFrame:
    """For how many of the deciding runs of each modulus each statement holds."""
    rows = []
    for n in dict.fromkeys(rows_of_runs.query(f"group == '{TWO}'")["n"].tolist()):
        of_n = rows_of_runs.query(f"group == '{TWO}' and n == {n}")
        done = deciding(of_n)
        held = {id: done[id].tolist().count(HOLDS) for id in SENTENCES}
        rows.append({"id": f"n = {n}", "n": n, "trained": len(of_n), "runs": len(done)} | held)
    return pd.DataFrame(rows, columns=["id", *MODULI])


PAIRS = {
    "words": Column("of the two primes", align="l"),
    "pairs": Column("pairs", "count"),
    "low": Column("least", "index"),
    "median": Column("median", "index"),
    "high": Column("largest", "index"),
    "apart": Column("at most half", of("apart", "pairs"), "l"),
}


def pairs(measured: Mapping[Run, Measured], params: ZerosParams) -> pd.DataFrame:
    """By how many of two primes have zeros: the energy of characters that feel both, in even
    shares, over the pairs of all runs of parts of Z_n that generalise."""
    points = mixing(measured, params)
    points = points[points["generalises"].astype(bool)]
    rows = []
    of_two = {"neither": "neither has zeros", "one": "one has zeros", "both": "both have zeros"}
    for zeros, (id, words) in enumerate(of_two.items()):
        x = points.loc[points["zeros"] == zeros, "over_even"]
        row = {"id": id, "words": words, "pairs": len(x), "low": x.min()}
        row |= {"median": x.median(), "high": x.max(), "apart": int((x <= params.holds).sum())}
        rows.append(row)
    return pd.DataFrame(rows)


def mixing(measured: Mapping[Run, Measured], params: ZerosParams) -> pd.DataFrame:
    """A row for each run of a part of Z_n and each two primes."""
    rows = [
        (str(run), *pair.primes, pair.zeros, pair.over_even, generalises(x, params))
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
    """For each two primes of each modulus, how often F of them would hold in the networks that
    learn units alone or with an absorbing element: mean over runs and over the images of the usual
    decomposition, that each of these runs has as many of as any other of its modulus."""
    rows = [
        (x.modulus, primes, share)
        for x in measured.values()
        for primes, share in (x.images or {}).items()
    ]
    frame = pd.DataFrame(rows, columns=["units", "primes", "share"])
    by = frame.groupby(["units", "primes"], sort=False)["share"].agg(["count", "mean"])
    return by.reset_index().rename(columns={"count": "runs", "mean": "share"})
