"""The tables of the mechanism: what criteria.md asks of each run, and of all together."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import product
from math import isnan, nan
from typing import Any

import numpy as np
import pandas as pd
from sympy import factorint

from strata.tables.format import STYLES
from strata.tables.table import Column, Record, Table
from studies.mechanism.code import anova, decide
from studies.mechanism.code.decide import FAILS, HOLDS, UNDECIDED
from studies.mechanism.code.models import (
    BESIDE,
    FRESH,
    GROUPS,
    STATEMENTS,
    Key,
    Model,
    curves,
    grouped,
    models,
)  # fmt: skip
from studies.params import MechanismLevels, MechanismParams

WORDS = {HOLDS: "holds", FAILS: "does not hold", UNDECIDED: "undecided"}
FAILING = 4  # with more fresh runs that do not generalise there is no verdict
# What is measured beside the levels: the statement it is about; of, unit and the measures.
REPORTED: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("code", "logits", "share", ("ceiling",)),
    ("code", "product side", "share", ("all", "zeros")),
    ("code", "residual stream", "share", ("variance in the code", "principal components")),
    ("code", "residual stream", "accuracy", ("keep principal components",
                                             "remove principal components")),
    ("neurons", "neurons", "share", ("next prime power",)),
    ("neurons", "neurons", "accuracy", ("one frequency",)),
    ("decoding", "parts", "share", ("bias", "own", "cross-talk")),
    ("decoding", "nearest code", "share", ("no entries between primes",)),
    ("decoding", "unembedding", "accuracy", ("bias off", "cross-talk off", "bias predicted",
                                             "bias a line in the own excess")),
    ("decoding", "bias", "share", ("line in own excess",)),
    ("gated characters", "parts", "share", ("many",)),
    ("gated characters", "gated characters", "share", ("explained", "by others")),
    ("gated characters", "gated characters", "accuracy", ("right answers",)),
    ("proof", "proof from residues", "accuracy", ("proven",)),
)  # fmt: skip
# All of these with the kind of level, "" for none.
MEASURED: list[tuple[str, str, Key]] = [
    *(
        (statement, kind, (of, measure, unit))
        for statement, rules in decide.RULES.items()
        for kind, of, measure, unit in rules
    ),
    *((name, "", (of, x, unit)) for name, of, unit, measures in REPORTED for x in measures),
]

# A test of each statement: what is done and its control, and of, unit and measure of both.
TESTS = (
    ("code", "only the directions of the code kept", "as many others",
     "residual stream", "accuracy", "keep", "keep others"),
    ("code", "as much taken elsewhere", "the code removed",
     "residual stream", "accuracy", "equal size elsewhere", "remove"),
    ("code", "one prime moved within a class", "as far in a random direction",
     "moves within", "accuracy", "hits", "random"),
    ("code", "one prime moved across a zero", "as far in a random direction",
     "moves across", "accuracy", "hits", "random"),
    ("neurons", "every neuron a function modulo its prime", "modulo the next prime",
     "neurons", "accuracy", "replaced", "next prime power"),
    ("neurons", "every neuron a function modulo its prime", "without interaction of a and b",
     "neurons", "accuracy", "replaced", "no interaction"),
    ("decoding", "bias and cross-talk as the nearest code predicts them", "no cross-talk at all",
     "unembedding", "accuracy", "both predicted", "cross-talk off"),
    ("decoding", "the nearest code (share of the logits)", "with permuted candidates (share)",
     "nearest code", "share", "all", "permuted candidates"),
    ("gated characters", "gates (share of the interaction)", "of other characters (share)",
     "gated characters", "share", "explained", "by others"),
)  # fmt: skip


def tables(found: pd.DataFrame, params: MechanismParams) -> tuple[Table, ...]:
    """All tables."""
    every, levels = models(found, params.fresh), params.measures.levels
    done = [x for x in every if x.accuracy >= levels.answers]
    compared = [x for x in done if x.kind in GROUPS]
    holds = "Runs for which each statement holds and does not, with 95 % intervals."
    compares = "Right answers or a share: median (least of changes, largest of controls)."
    asks = "Each number that a statement rests on, and those beside."
    few = "Numbers of a description and share of the logits: medians; * not all answers right."
    gated = "Characters that a zero switches off."
    of_n = "n", "numbers"
    return (
        Table("mechanism-moduli", holds, moduli(every, levels), MODULI, ("statement", "holds")),
        Table("mechanism-tests", compares, tests(compared), TEST),
        Table("mechanism-measures", asks, measures(compared, levels), MEASURES),
        Table("mechanism-parts", "Parts of the logits: medians.", parts(done), PARTS),
        Table("mechanism-numbers", few, numbers(found, compared, levels), NUMBERS, of_n),
        Table("mechanism-proof", "Proofs of accuracy.", proofs(done), PROOF),
        Table("mechanism-gates", gated, gates(done), GATES),
        Table("mechanism-runs", "The verdicts, run by run.", runs(every), RUNS),
    )


def word(verdict: float) -> str:
    """A verdict in words; empty for none."""
    return WORDS.get(verdict, "")


def runs(every: Sequence[Model]) -> pd.DataFrame:
    """Accuracy, functions, verdicts; and all numbers that these rest on."""
    keys = dict.fromkeys(key for _, _, key in MEASURED)
    rows = []
    for x in every:
        row = {"run": x.name, "kind": x.kind, "accuracy": x.accuracy}
        row |= {"functions": x.of("product side", "functions", "count")}
        row |= {"rank": x.of("proof", "rank", "count")}
        row |= {"rank_all": x.of("proof", "rank for all", "count")}
        row |= {name: word(x.verdict(name)) for name in STATEMENTS}
        rows.append(row | {": ".join(key[:2]): x.of(*key) for key in keys})
    return pd.DataFrame(rows)


def moduli(every: Sequence[Model], levels: MechanismLevels) -> pd.DataFrame:
    """How many runs of each group hold, and the interval of their share; all fresh ones first. Last
    those in which primes interact apart from the others, which is no group of the criteria."""
    fresh = [x for x in every if x.kind == FRESH]
    shown = [x for x in every if x.kind != BESIDE or x.accuracy >= levels.answers]
    groups = {"all fresh runs": fresh} | grouped(shown)
    deciding = {"all fresh runs", *grouped(fresh)}
    for kind, name in product(GROUPS, ("primes apart", "primes interact")):
        groups[f"{name} ({kind})"] = [
            x
            for x in every
            if x.kind == kind
            and (x.of("parts", "many", "share") <= levels.many) == (name == "primes apart")
        ]
    rows = []
    for name, own in groups.items():
        done = [x for x in own if x.accuracy >= levels.answers]
        for statement in STATEMENTS:
            tally = decide.tally([x.verdict(statement) for x in done])
            row = {"group": name, "runs": len(own), "generalising": len(done)}
            row |= {"statement": statement, "holds": tally.holds, "fails": tally.fails}
            row |= {"undecided": tally.undecided}
            row |= dict(zip(("low", "high"), tally.interval, strict=True))
            # Of three or four runs not even all can decide: there it stays at how many hold.
            able = decide.tally([HOLDS] * len(done)).verdict == HOLDS
            verdict = word(tally.verdict) if able and name in deciding else ""
            if own is fresh and len(own) - len(done) > FAILING:
                verdict = "too few generalise"
            rows.append(row | {"verdict": verdict})
    return pd.DataFrame(rows)


def counted(row: Record) -> str:
    """Runs for which a statement holds, how many it does not hold for, and the interval of the
    share for which it holds."""
    total = row["holds"] + row["fails"] + row["undecided"]
    if not total:
        return "—"
    ends = f"{100 * row['low']:.0f} to {100 * row['high']:.0f} %"
    fails = f", {row['fails']} not" * (row["fails"] > 0)
    verdict = f": {row['verdict']}" * bool(row["verdict"])
    return f"{row['holds']} of {total}{fails} ({ends}){verdict}"


def measures(every: Sequence[Model], levels: MechanismLevels) -> pd.DataFrame:
    """Every number with a level, and those that stand beside: over fresh runs and earlier ones."""
    rows = []
    for statement, kind, key in sorted(MEASURED, key=lambda x: STATEMENTS.index(x[0])):
        of, measure, unit = key
        row: dict[str, Any] = {"statement": statement, "measure": f"{of}: {measure}"}
        row |= {"unit": "count" if kind == "functions" else "share"}
        row |= {"level": getattr(levels, kind)[0] if kind else nan}
        row |= {"most": kind in {"functions", "destroyed"}}
        for group in GROUPS:
            own = [x for x in every if x.kind == group]
            row |= spread([x.of(*key) for x in own], group)
            known = [x.of(of, measure, f"{unit} verdict") for x in own]
            row[f"{group} holds"] = known.count(HOLDS) if kind else nan
        rows.append(row)
    return pd.DataFrame(rows)


def tests(every: Sequence[Model]) -> pd.DataFrame:
    """Each change and its control, over fresh runs and over earlier ones."""
    rows = []
    for statement, change, control, of, unit, *both in TESTS:
        row = {"statement": statement, "change": change, "control": control}
        for group in GROUPS:
            own = [x for x in every if x.kind == group]
            if statement == "gated characters":
                own = [x for x in own if x.of("gated characters", "added", "count")]
            for name, measure in zip(("change", "control"), both, strict=True):
                row |= spread([x.of(of, measure, unit) for x in own], f"{group} {name}")
        rows.append(row)
    return pd.DataFrame(rows)


def median_and(worst: str, group: str) -> Callable[[Record], str]:
    """A median, and the worst of all runs."""

    def cell(row: Record) -> str:
        if not row[f"{group} runs"]:
            return "—"
        shown = STYLES["share"]
        return f"{shown(row[f'{group} median'])} ({shown(row[f'{group} {worst}'])})"

    return cell


def spread(values: Sequence[float], group: str) -> dict[str, Any]:
    """Count, median, least and largest of the numbers that are there."""
    known = [x for x in values if not isnan(x)]
    found = {"runs": len(known), "median": median(known)}
    found |= {"least": min(known, default=nan), "largest": max(known, default=nan)}
    return {f"{group} {name}": x for name, x in found.items()}


def median(values: Sequence[float]) -> float:
    """The median of the numbers that are there; NaN of none."""
    known = [x for x in values if not isnan(x)]
    return float(np.median(known)) if known else nan


def asked(row: Record) -> str:
    """A level."""
    sign = "at most" if row["most"] else "at least"
    number = f"{row['level']:.0f}" if row["unit"] == "count" else f"{100 * row['level']:.0f} %"
    return f"{sign} {number}"


# Parts of the logits, and what the nearest code says of them: heading, of, measure.
SHARES = {
    "ceiling": ("ceiling", "logits", "ceiling"),
    **{name: (name, "parts", name) for name in (*anova.KINDS, *anova.ORDERS)},
    "code all": ("nearest code", "nearest code", "all"),
    "code predicted bias": ("its bias", "nearest code", "predicted bias"),
    "code predicted own": ("its own", "nearest code", "predicted own"),
    "code predicted cross-talk": ("its cross-talk", "nearest code", "predicted cross-talk"),
}


def parts(every: Sequence[Model]) -> pd.DataFrame:
    """The functional analysis of variance, and what the nearest code says of its parts."""
    rows = []
    for group, own in grouped(every).items():
        row = {"group": group, "runs": len(own)}
        for name, (_, *key) in SHARES.items():
            row[name] = median([x.of(*key) for x in own])
        rows.append(row)
    return pd.DataFrame(rows, columns=["group", "runs", *SHARES])


def numbers(found: pd.DataFrame, every: Sequence[Model], levels: MechanismLevels) -> pd.DataFrame:
    """Medians over the runs of a modulus; of a curve the first step at which the median of the
    right answers is high enough, else the last."""
    rows, runs = [], Counter(x.n for x in every)
    for (name, n), by_step in curves(found, every).items():
        steps = by_step.to_dict("records")
        enough = [x for x in steps if x["right"] >= levels.answers]
        row = {"description": name, "n": n, "runs": runs[n]}
        rows.append(row | [*enough, *steps[-1:]][0] | {"enough": bool(enough)})
    names = ["description", "n", "runs", "numbers", "share", "right", "enough"]
    return pd.DataFrame(rows, columns=names)


def few(row: Record) -> str:
    """How many numbers, and the share of the logits that they explain."""
    return f"{row['numbers']:,.0f}: {100 * row['share']:.0f} %" + "*" * (not row["enough"])


def proofs(every: Sequence[Model]) -> pd.DataFrame:
    """Whether the least rank is the number of zeros and characters, what it proves, its cost."""
    rows = []
    for group, own in grouped(every).items():
        found = [proof(x) for x in own]
        apart = [abs(x["rank"] - x["functions"]) for x in found]
        row = {"group": group, "runs": len(own), "equal": apart.count(0)}
        row |= {"near": sum(0 < x <= 2 for x in apart), "far": sum(not x <= 2 for x in apart)}
        rows.append(row | {name: median([x[name] for x in found]) for name in found[0]})
    return pd.DataFrame(rows)


def proof(x: Model) -> dict[str, float]:
    """The proof of one model. Residues modulo its only prime power are all there is to know."""
    rank, cost = x.of("proof", "rank", "count"), x.of("proof", "multiply-adds", "count")
    one = x.n and len(factorint(x.n)) == 1
    return {
        "functions": x.of("product side", "functions", "count"),
        "rank": rank,
        "proven": x.of(f"proof of rank {rank:.0f}", "proven", "accuracy"),
        "from_residues": nan if one else x.of("proof from residues", "proven", "accuracy"),
        "of_logits": cost / x.of("proof", "multiply-adds of all logits", "count"),
    }


def gates(every: Sequence[Model]) -> pd.DataFrame:
    """The characters that a zero switches off: those whose gates were added, or whose coefficient
    between classes is less than half of that within."""
    rows = []
    for x in every:
        own = x.rows.loc[x.rows["of"].str.startswith("χ")]
        for name in dict.fromkeys(own["of"]):
            gated = (own["of"] == name) & (own["measure"] == "gated by")
            by = [f"{p:.0f}" for p in own.loc[gated, "value"]]
            ratio = x.of(name, "own gating", "ratio")
            if len(by) or ratio < 0.5:
                row = {"run": x.name, "kind": x.kind, "character": name, "by": ", ".join(by)}
                rows.append(row | {"own": ratio, "explained": x.of(name, "explained")})
    return pd.DataFrame(rows, columns=[*GATES])


RUN = {"run": Column("run", align="l"), "kind": Column("kind", align="l")}
GROUP = {"group": Column("models", align="l"), "runs": Column("runs", "count")}
RUNS = {
    **RUN,
    "accuracy": Column("right answers", "share"),
    "functions": Column("functions", "count"),
    "rank": Column("least rank of a proof", "count", missing="none"),
    **{name: Column(name, align="l") for name in STATEMENTS},
}
MODULI = {
    **GROUP,
    "generalising": Column("generalise", "count"),
    "statement": Column("statement", align="l"),
    "holds": Column("holds for", counted, "l"),
}
TEST = {
    "statement": Column("statement", align="l"),
    "change": Column("change", align="l"),
    "control": Column("control", align="l"),
    **{
        f"{group} {name} median": Column(f"{name}, {group}", median_and(worst, f"{group} {name}"))
        for group in GROUPS
        for name, worst in (("change", "least"), ("control", "largest"))
    },
}
MEASURES = {
    "statement": Column("statement", align="l"),
    "measure": Column("measure", align="l"),
    "level": Column("holds", asked, "l"),
    **{
        f"{group} {name}": Column(f"{group}: {name}", style)
        for group in GROUPS
        for style, names in (("unit", ("median", "least", "largest")), ("count", ("holds", "runs")))
        for name in names
    },
}
PARTS = GROUP | {name: Column(heading, "share") for name, (heading, _, _) in SHARES.items()}
NUMBERS = {
    "description": Column("description", align="l"),
    "n": Column("n", lambda row: f"n = {row['n']}"),
    "numbers": Column("numbers: share", few),
}
PROOF = {
    **GROUP,
    "functions": Column("zeros and characters", "count"),
    "rank": Column("least rank", "count", missing="none"),
    "equal": Column("equal", "count"),
    "near": Column("at most 2 apart", "count"),
    "far": Column("further", "count"),
    "proven": Column("proven", "share"),
    "of_logits": Column("cost, of all logits", "share"),
    "from_residues": Column("proven from residues", "share"),
}
GATES = {
    **RUN,
    "character": Column("character", align="l"),
    "by": Column("gated by", align="l"),
    "own": Column("between classes / within", "index"),
    "explained": Column("explains", "share"),
}
