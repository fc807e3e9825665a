"""Decide what zero divisors do, by one rule: criteria.md."""

import pandas as pd

from strata.results import CONFIRMED, FAILS, HOLDS, UNDECIDED, UNTESTED, by_levels
from strata.tables.statements import Statements, tally
from studies.params import ZerosParams
from studies.zeros.code.measures import TWO, Measured

STATEMENTS = Statements(
    {
        "apart": "zero divisors keep primes apart",
        "own": "the prime without zeros gets characters of its own",
    },
    {"": {UNTESTED: "no verdict: {runs} of {fewest} runs that generalise"}},
)


def generalises(run: Measured, params: ZerosParams) -> bool:
    """Return whether enough of all pairs are right when training ends."""
    return run.accuracy >= params.answers


def of_run(run: Measured, params: ZerosParams) -> dict[str, str]:
    """Decide each statement in a run of two primes with zeros; nothing is decided in another."""
    if run.F is None or run.pure is None:
        return {}
    keys = HOLDS if run.pure else FAILS
    return {"apart": by_levels(run.F, params.holds, params.fails), "own": keys}


def deciding(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs that count for a verdict."""
    return runs.query(f"group == '{TWO}' and generalises == True")


def statements(runs: pd.DataFrame, null: pd.DataFrame, params: ZerosParams) -> pd.DataFrame:
    """Decide each statement over the runs; the interval of the first has to lie above chance, too.
    Nothing is decided by fewer runs than there must be, or while one is not trained."""
    by_chance = {"apart": max(null["share"], default=1.0)}
    rows, counting = [], deciding(runs)
    for id in STATEMENTS.sentences:
        count = tally(counting[id], params.confidence)
        verdict = count.verdict
        if len(counting) < params.fewest:
            verdict = UNTESTED
        elif verdict == CONFIRMED and count.low <= by_chance.get(id, 0):
            verdict = UNDECIDED
        row = {"id": id, "runs": len(counting), "fewest": params.fewest, "held": count.holds}
        row |= {"low": count.low, "high": count.high, "null": by_chance.get(id)}
        rows.append(row | {"verdict": verdict})
    names = ["id", "sentence", "runs", "fewest", "trained", "planned"]
    names += ["held", "low", "high", "null", "verdict"]
    return STATEMENTS.planned_frame(rows, runs, names, ["fewest", "held"])
