"""Whether the account by primes holds where n has four of them: criteria.md."""

from collections.abc import Mapping, Sequence

import pandas as pd
from scipy.stats import binom
from sympy.ntheory import primefactors

from strata import results
from strata.measure.metrics import Metrics
from strata.results import FAILS, HOLDS, UNDECIDED, UNTESTED
from strata.run import Run
from strata.tables.planned import PLANNED, planned
from strata.tables.table import RUNS, SAID, Cells, Column, Record, Table, of

SCALES = {"": "class", "_zero": "zero"}  # what skill 0 is, by the end of columns' names
TESTS = {"alone": "heads alone", "group": "as a group"}
HEADS: dict[str, Column] = {}
for suffix, zero in {"": "", "_zero": ", 0 = always 0"}.items():
    HEADS[f"put{suffix}"] = Column(f"with a margin{zero}", align="l")
    for name, words in TESTS.items():
        counts = of(f"{name}{suffix}", f"{name}_of{suffix}")
        HEADS[f"{name}{suffix}"] = Column(f"{words}{zero}", counts, "l")


def tables(
    asked: Sequence[Run],
    runs: Sequence[Metrics],
    accounts: pd.DataFrame,
    interventions: pd.DataFrame,
) -> tuple[Table, Table]:
    """The runs, and what is said of them with what these studies found."""
    [n] = {run.n for run in asked}
    about = f"Four primes, n = {n}"
    own = planned(asked, runs, accounts)
    if len(interventions):
        own = own.join(pd.DataFrame([heads(interventions, run) for run in own["run"]]))
    rows = statements(own, interventions)
    return (
        Table("four-primes", f"{about}: the runs.", own, PLANNED | HEADS),
        Table("four-primes-said", f"{about}: what is said.", rows, STATEMENTS),
    )


def heads(interventions: pd.DataFrame, run: str) -> Cells:
    """What the heads of a run are put to, and how many of them, and of the primes, are specific."""
    row: Cells = {}
    for suffix, scale in SCALES.items():
        results.check(f"put-{scale}", {*interventions["id"]})
        put = interventions.query(f"run == @run and id == 'put-{scale}' and measure != ''")
        row[f"put{suffix}"] = (
            None if put.empty else in_words(dict(zip(put["measure"], put["value"], strict=True)))
        )
        for name in TESTS:
            for end, measure in (("", "held"), ("_of", "cases")):
                of_runs = results.numbers(interventions, f"heads-{name}-{scale}", measure)
                value = of_runs.get(run)
                row[f"{name}{end}{suffix}"] = None if value is None else int(value)
    return row


def in_words(put: Mapping[str, float | int]) -> str:
    """The heads of each prime power, from the prime power of each head, 0 for none.

    >>> in_words({"head 0": 5, "head 1": 3, "head 2": 5, "head 3": 0})
    '3: 1; 5: 0, 2'
    """
    powers = sorted({int(q) for q in put.values() if q})
    of_power = {q: [h.removeprefix("head ") for h in put if put[h] == q] for q in powers}
    return "; ".join(f"{q}: {', '.join(own)}" for q, own in of_power.items()) or "none"


SENTENCES = {"account": "the account by primes", "heads": "heads put to primes"}


def said(row: Record) -> str:
    """A verdict in words."""
    if row["verdict"] == UNTESTED and row["trained"] < row["planned"]:
        return f"not called: {row['trained']} of {row['planned']} runs"
    if row["verdict"] == UNTESTED:
        return "not called: no run generalises"
    known = {HOLDS: f"holds for {row['n']}", FAILS: f"fails for {row['n']}"}
    return f"{known.get(row['verdict'], 'not in all')}; too few runs for the rule of a modulus"


def counted(row: Record) -> str:
    """How many runs something holds in."""
    text = f"{row['held']} of {row['runs']}"
    if row["id"] == "account":
        return f"{text} primes in the logits and in the embedding"
    two = " and ".join(map(str, primefactors(row["n"])[-2:]))
    return f"{text} two and two at {two}, by chance {100 * row['chance']:.1f} % of runs"


STATEMENTS = {"sentence": Column("about", align="l")} | RUNS | {
    "held": Column("counted", counted, "l", missing=""),
    "p_test": Column("p", "p", missing=""),
    "verdict": SAID._replace(style=said),
}  # fmt: skip


def statements(listed: pd.DataFrame, interventions: pd.DataFrame) -> pd.DataFrame:
    """Of the runs that generalise: in how many both verdicts are *primes*, and how many divide four
    heads two and two between the two largest primes, with a margin, as at other moduli, beside the
    chance of that. No row where no study has measured it; nothing is said while runs are missing.
    """
    done = listed.query("generalises == True")
    rows: list[Cells] = []
    if {"L", "E"} <= {*listed}:
        held = len(done.query("L == E == 'primes'"))
        verdict = FAILS if not held else HOLDS if held == len(done) else UNDECIDED
        verdict = verdict if len(done) else UNTESTED
        rows.append({"id": "account", "runs": len(done), "held": held, "verdict": verdict})
    divided = results.truths(interventions, "divided")
    known = [divided[run] for run in done["run"] if run in divided]
    if known:
        chance = results.numbers(interventions, "divided")[done["run"].tolist()[0]]
        row: Cells = {"id": "heads", "runs": len(known), "held": sum(known), "chance": chance}
        rows.append(row | {"p_test": float(binom.sf(sum(known) - 1, len(known), chance))})
    trained = len(listed.dropna(subset=["generalises"]))
    names = ["id", "sentence", "runs", "held", "chance", "p_test", "n", "trained", "planned"]
    frame = pd.DataFrame(rows, columns=[*names, "verdict"])
    frame = frame.assign(trained=trained, planned=len(listed))
    frame["sentence"] = frame["id"].map(SENTENCES.__getitem__)
    frame["n"] = Run.parse(listed["run"].tolist()[0]).n
    if trained < len(listed):
        frame = frame.assign(held=None, p_test=None, verdict=UNTESTED)
    return frame.astype({"held": "Int64"})
