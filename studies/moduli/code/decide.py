"""Decide whether the account by primes holds where n has four of them: criteria.md."""

from collections.abc import Mapping, Sequence

import pandas as pd
from scipy.stats import binom

from strata import results
from strata.arithmetic import primefactors
from strata.measure.metrics import Metrics
from strata.results import FAILS, HOLDS, UNDECIDED, UNTESTED
from strata.run import Run
from strata.tables.planned import PLANNED, planned_runs
from strata.tables.statements import Statements
from strata.tables.table import RUNS, Cells, Column, Record, Table, count_of

FEW = "too few runs for the rule of a modulus"
STATEMENTS = Statements(
    {"account": "the account by primes", "heads": "heads put to primes"},
    {
        "account": {
            HOLDS: f"holds for {{n}}; {FEW}",
            FAILS: f"fails for {{n}}; {FEW}",
            UNDECIDED: f"not in all; {FEW}",
            UNTESTED: "not called: no run generalises",
        }
    },
)
SCALES = {"": "class", "_zero": "zero"}  # what skill 0 is, by the end of columns' names
TESTS = {"alone": "heads alone", "group": "as a group"}
HEADS: dict[str, Column] = {}
for suffix, zero in {"": "", "_zero": ", 0 = always 0"}.items():
    HEADS[f"put{suffix}"] = Column(f"with a margin{zero}", align="l")
    for name, words in TESTS.items():
        counts = count_of(f"{name}{suffix}", f"{name}_of{suffix}")
        HEADS[f"{name}{suffix}"] = Column(f"{words}{zero}", counts, "l")


def tables(
    runs: Sequence[Run],
    metrics: Sequence[Metrics],
    accounts: pd.DataFrame,
    interventions: pd.DataFrame,
) -> tuple[Table, Table]:
    """Return the tables of the planned runs and of what they decide with the results of two other
    studies."""
    [n] = {run.n for run in runs}
    about = f"Four primes, n = {n}"
    listed = planned_runs(runs, metrics, accounts)
    if len(interventions):
        listed = listed.join(pd.DataFrame([heads(interventions, run) for run in listed["run"]]))
    decided = statements(n, listed, interventions)
    return (
        Table("four-primes", f"{about}: the runs.", listed, PLANNED | HEADS),
        Table("four-primes-said", f"{about}: verdicts.", decided, DECIDED),
    )


def heads(interventions: pd.DataFrame, run: str) -> Cells:
    """List which prime powers the heads of a run are put to, and count the heads, and the primes,
    that are specific."""
    row: Cells = {}
    for suffix, scale in SCALES.items():
        results.check(f"put-{scale}", {*interventions["id"]})
        assigned = interventions.query(f"run == @run and id == 'put-{scale}' and measure != ''")
        powers = dict(zip(assigned["measure"], assigned["value"], strict=True))
        row[f"put{suffix}"] = in_words(powers) if powers else None
        for name in TESTS:
            for end, measure in (("", "held"), ("_of", "cases")):
                counts = results.numbers(interventions, f"heads-{name}-{scale}", measure)
                row[f"{name}{end}{suffix}"] = int(counts[run]) if run in counts else None
    return row


def in_words(assigned: Mapping[str, float | int]) -> str:
    """List the heads of each prime power, from the prime power of each head, 0 for none.

    >>> in_words({"head 0": 5, "head 1": 3, "head 2": 5, "head 3": 0})
    '3: 1; 5: 0, 2'
    """
    powers = sorted({int(q) for q in assigned.values() if q})
    heads = {q: [x.removeprefix("head ") for x in assigned if assigned[x] == q] for q in powers}
    return "; ".join(f"{q}: {', '.join(names)}" for q, names in heads.items()) or "none"


def count_in_words(row: Record) -> str:
    """Write in words in how many runs a statement holds."""
    text = f"{row['held']} of {row['runs']}"
    if row["id"] == "account":
        return f"{text} primes in the logits and in the embedding"
    two = " and ".join(map(str, primefactors(row["n"])[-2:]))
    return f"{text} two and two at {two}, by chance {100 * row['chance']:.1f} % of runs"


DECIDED = STATEMENTS.columns("about") | RUNS | {
    "held": Column("counted", count_in_words, "l", missing=""),
    "p_test": Column("p", "p", missing=""),
}  # fmt: skip


def statements(n: int, listed: pd.DataFrame, interventions: pd.DataFrame) -> pd.DataFrame:
    """Decide among the runs that generalise whether both verdicts are *primes*; and count those
    that divide four heads two and two between the two largest primes, with a margin, as at other
    moduli, beside the chance of that. There is no row of what no study has measured."""
    generalising = listed.query("generalises == True")
    rows: list[Cells] = []
    if {"L", "E"} <= {*listed}:
        held, runs = len(generalising.query("L == E == 'primes'")), len(generalising)
        verdict = FAILS if not held else HOLDS if held == runs else UNDECIDED
        row = {"id": "account", "runs": runs, "held": held}
        rows.append(row | {"verdict": verdict if runs else UNTESTED})
    divided = results.truths(interventions, "divided")
    verdicts = [divided[run] for run in generalising["run"] if run in divided]
    if verdicts:
        held, runs = sum(verdicts), len(verdicts)
        chance = results.numbers(interventions, "divided")[generalising["run"].iloc[0]]
        row = {"id": "heads", "runs": runs, "held": held, "chance": chance}
        rows.append(row | {"p_test": float(binom.sf(held - 1, runs, chance))})
    names = ["id", "sentence", "runs", "held", "chance", "p_test", "n"]
    names += ["trained", "planned", "verdict"]
    return STATEMENTS.planned_frame([{"n": n} | x for x in rows], listed, names, ["held"])
