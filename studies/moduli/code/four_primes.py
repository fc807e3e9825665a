"""Whether the account by primes holds where n has four of them: criteria.md."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from scipy.stats import binom
from sympy.ntheory import primefactors

from strata import results
from strata.measure.metrics import Metrics
from strata.run import Run
from strata.tables.planned import PLANNED, planned
from strata.tables.table import RUNS, SAID, Column, Record, Table, of

Row = dict[str, Any]
SCALES = {"": "right class", "_zero": "always 0"}  # what skill 0 is
TESTS = {
    "alone": ("heads alone", "alone: each head for one prime"),
    "group": ("as a group", "as a group: the heads of each prime"),
}
HEADS: dict[str, Column] = {}
for suffix, zero in {"": "", "_zero": ", 0 = always 0"}.items():
    HEADS[f"put{suffix}"] = Column(f"with a margin{zero}", align="l")
    for name, (words, _) in TESTS.items():
        counts = of(f"{name}{suffix}", f"{name}_of{suffix}")
        HEADS[f"{name}{suffix}"] = Column(f"{words}{zero}", counts, "l")


def tables(
    asked: Sequence[Run], runs: Sequence[Metrics], found: pd.DataFrame
) -> tuple[Table, Table]:
    """The runs, and what is said of them."""
    [n] = {run.n for run in asked}
    about = f"Four primes, n = {n}"
    own = planned(asked, runs, found)
    if {f"put to, 0 = {x}" for x in SCALES.values()} & {*found["measure"]}:
        own = own.join(pd.DataFrame([heads(found, run) for run in own["run"]]))
    rows = statements(own, found)
    return (
        Table("four-primes", f"{about}: the runs.", own, PLANNED | HEADS),
        Table("four-primes-said", f"{about}: what is said.", rows, STATEMENTS),
    )


def heads(found: pd.DataFrame, run: str) -> Row:
    """What the heads of a run are put to, and how many of them, and of the primes, are specific."""
    mine = found.query("run == @run")
    row: Row = {}
    for suffix, scale in SCALES.items():
        put = mine.query(f"measure == 'put to, 0 = {scale}'")
        row[f"put{suffix}"] = (
            None if put.empty else in_words(dict(zip(put["of"], put["value"], strict=True)))
        )
        for name, (_, test) in TESTS.items():
            criterion = f"heads and primes, 0 = {scale}: {test}"
            for end, measure in (("", "held"), ("_of", "cases")):
                value = results.numbers(mine, measure, criterion).get(run)
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


ACCOUNT, PATTERN = "the account by primes", "heads put to primes"


def said(row: Record) -> str:
    """A verdict in words."""
    if row["verdict"] == "not called":
        return f"not called: {row['trained']} of {row['planned']} runs"
    if row["verdict"] == "none generalises":
        return "not called: no run generalises"
    known = {"holds": f"holds for {row['n']}", "fails": f"fails for {row['n']}"}
    return f"{known.get(row['verdict'], 'not in all')}; too few runs for the rule of a modulus"


def counted(row: Record) -> str:
    """How many runs something holds in."""
    text = f"{row['held']} of {row['runs']}"
    if row["about"] == ACCOUNT:
        return f"{text} primes in the logits and in the embedding"
    two = " and ".join(map(str, primefactors(row["n"])[-2:]))
    return f"{text} two and two at {two}, by chance {100 * row['chance']:.1f} % of runs"


STATEMENTS = {"about": Column("about", align="l")} | RUNS | {
    "held": Column("counted", counted, "l", missing=""),
    "p_test": Column("p", "p", missing=""),
    "verdict": SAID["said"]._replace(style=said),
}  # fmt: skip


def statements(own: pd.DataFrame, found: pd.DataFrame) -> pd.DataFrame:
    """Of the runs that generalise: in how many both verdicts are *primes*, and how many divide four
    heads two and two between the two largest primes, with a margin, as at other moduli, beside the
    chance of that. No row where no study has measured it; nothing is said while runs are missing.
    """
    done = own.query("generalises == True")
    rows: list[Row] = []
    if {"L", "E"} <= {*own}:
        held = len(done.query("L == E == 'primes'"))
        verdict = "fails" if not held else "holds" if held == len(done) else "listed"
        verdict = verdict if len(done) else "none generalises"
        rows.append({"about": ACCOUNT, "runs": len(done), "held": held, "verdict": verdict})
    divided = results.truths(found, "divided")
    known = [divided[run] for run in done["run"] if run in divided]
    if known:
        chance = results.numbers(found, "divided by chance")[done["run"].tolist()[0]]
        row: Row = {"about": PATTERN, "runs": len(known), "held": sum(known), "chance": chance}
        rows.append(row | {"p_test": float(binom.sf(sum(known) - 1, len(known), chance))})
    trained = len(own.dropna(subset=["generalises"]))
    names = ["about", "runs", "held", "chance", "p_test", "n", "trained", "planned", "verdict"]
    frame = pd.DataFrame(rows, columns=names).assign(trained=trained, planned=len(own))
    frame["n"] = Run.parse(own["run"].tolist()[0]).n
    if trained < len(own):
        frame = frame.assign(held=None, p_test=None, verdict="not called")
    return frame.astype({"held": "Int64"})
