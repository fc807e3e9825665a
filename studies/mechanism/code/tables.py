"""The tables of the mechanism: what criteria.md asks of each run, and of all together."""

from collections.abc import Callable
from math import nan
from typing import Any

import pandas as pd
from sympy import factorint

from strata.results import WORDS
from strata.tables.format import STYLES
from strata.tables.table import Column, Record, Table
from studies.mechanism.code import anova, decide
from studies.mechanism.code.decide import HOLDS
from studies.mechanism.code.models import BESIDE, FRESH, GROUPS, STATEMENTS, Models, curves, models
from studies.params import MechanismLevels, MechanismParams

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
MEASURED: list[tuple[str, str, tuple[str, str, str]]] = [
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
    done = every.where(every.accuracy >= levels.answers)
    compared = done.where(done.kind.isin(GROUPS))
    holds = "Runs for which each statement holds and does not, with 95 % intervals."
    compares = "Right answers or a share: median (least of changes, largest of controls)."
    asks = "Each number that a statement rests on, and those beside."
    few = "Numbers of a description and share of the logits: medians; * not all answers right."
    gated = "Characters that a zero switches off."
    of_n = "n", "numbers"
    return (
        Table("mechanism-moduli", holds, moduli(every, levels), MODULI, ("id", "holds")),
        Table("mechanism-tests", compares, tests(compared), TEST),
        Table("mechanism-measures", asks, measures(compared, levels), MEASURES),
        Table("mechanism-parts", "Parts of the logits: medians.", parts(done), PARTS),
        Table("mechanism-numbers", few, numbers(found, compared, levels), NUMBERS, of_n),
        Table("mechanism-proof", "Proofs of accuracy.", proofs(done), PROOF),
        Table("mechanism-gates", gated, gates(found, done), GATES),
        Table("mechanism-runs", "The verdicts, run by run.", runs(every), RUNS),
    )


def runs(every: Models) -> pd.DataFrame:
    """Accuracy, functions, verdicts in words; and all numbers that these rest on."""
    shown = {"kind": every.kind, "accuracy": every.accuracy}
    shown |= {"functions": every.of("product side", "functions", "count")}
    shown |= {"rank": every.of("proof", "rank", "count")}
    shown |= {"rank_all": every.of("proof", "rank for all", "count")}
    shown |= {name: every.verdict(name).map(WORDS) for name in STATEMENTS}
    shown |= {": ".join(key[:2]): every.of(*key) for _, _, key in MEASURED}
    return pd.DataFrame(shown).reset_index()


def moduli(every: Models, levels: MechanismLevels) -> pd.DataFrame:
    """How many runs of each group hold, and the interval of their share; all fresh ones first. Last
    those in which primes interact apart from the others, which is no group of the criteria."""
    kind, group = every.kind, every.group
    right = every.accuracy >= levels.answers
    apart = every.of("parts", "many", "share") <= levels.many
    groups = {"all fresh runs": kind == FRESH}
    groups |= {name: group == name for name in dict.fromkeys(group[(kind != BESIDE) | right])}
    for of in GROUPS:
        groups[f"primes apart ({of})"] = (kind == of) & apart
        groups[f"primes interact ({of})"] = (kind == of) & ~apart
    deciding = {"all fresh runs", *group[kind == FRESH]}
    kinds = {"all fresh runs": "fresh", f"primes apart ({FRESH})": "apart"}
    kinds |= dict.fromkeys(group[kind == GROUPS[1]], "earlier")
    rows = []
    for name, own in groups.items():
        done = own & right
        # Of three or four runs not even all can decide: there it stays at how many hold.
        able = name in deciding and decide.tally([HOLDS] * done.sum()).verdict == HOLDS
        for statement in STATEMENTS:
            tally = decide.tally(every.verdict(statement)[done].tolist())
            row = {"kind": kinds.get(name), "group": name, "runs": own.sum()}
            row |= {"generalising": done.sum(), "id": statement, "sentence": statement}
            row |= dict(zip(("holds", "fails", "undecided"), tally[:3], strict=True))
            row |= dict(zip(("low", "high"), tally.interval, strict=True))
            verdict = WORDS[tally.verdict] if able else ""
            if name == "all fresh runs" and (own & ~right).sum() > FAILING:
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


def measures(every: Models, levels: MechanismLevels) -> pd.DataFrame:
    """Every number with a level, and those that stand beside: over fresh runs and earlier ones."""
    rows = []
    for statement, kind, key in sorted(MEASURED, key=lambda x: STATEMENTS.index(x[0])):
        of, measure, unit = key
        row: dict[str, Any] = {"statement": statement, "measure": f"{of}: {measure}"}
        row |= {"unit": "count" if kind == "functions" else "share"}
        row |= {"level": getattr(levels, kind)[0] if kind else nan}
        row |= {"most": kind in {"functions", "destroyed"}}
        for group in GROUPS:
            own = every.where(every.kind == group)
            row |= spread(own.of(*key), group)
            holds = own.of(of, measure, f"{unit} verdict") == HOLDS
            row[f"{group} holds"] = holds.sum() if kind else nan
        rows.append(row)
    return pd.DataFrame(rows)


def tests(every: Models) -> pd.DataFrame:
    """Each change and its control, over fresh runs and over earlier ones."""
    rows = []
    for statement, change, control, of, unit, *both in TESTS:
        row = {"statement": statement, "change": change, "control": control}
        for group in GROUPS:
            own = every.where(every.kind == group)
            if statement == "gated characters":
                own = own.where(own.of("gated characters", "added", "count") > 0)
            for name, measure in zip(("change", "control"), both, strict=True):
                row |= spread(own.of(of, measure, unit), f"{group} {name}")
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


def spread(values: pd.Series, group: str) -> dict[str, Any]:
    """Count, median, least and largest of the numbers that are there."""
    found = {"runs": values.count(), "median": values.median()}
    found |= {"least": values.min(), "largest": values.max()}
    return {f"{group} {name}": x for name, x in found.items()}


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


def parts(every: Models) -> pd.DataFrame:
    """The functional analysis of variance, and what the nearest code says of its parts."""
    shares = pd.DataFrame({name: every.of(*key, "share") for name, (_, *key) in SHARES.items()})
    groups = shares.groupby(every.group, sort=False)
    return pd.DataFrame({"runs": groups.size()}).join(groups.median()).reset_index()


def numbers(found: pd.DataFrame, every: Models, levels: MechanismLevels) -> pd.DataFrame:
    """Medians over the runs of a modulus; of a curve the first step at which the median of the
    right answers is high enough, else the last."""
    rows, runs = [], every.n.value_counts()
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


def proofs(every: Models) -> pd.DataFrame:
    """Whether the least rank is the number of zeros and characters, what it proves, its cost. Of
    residues modulo its only prime power nothing is said: they are all there is to know."""
    functions = every.of("product side", "functions", "count")
    rank = every.of("proof", "rank", "count")
    proven = [every.of(f"proof of rank {r:.0f}", "proven", "accuracy")[x] for x, r in rank.items()]
    one = every.n.map(lambda n: n > 0 and len(factorint(n)) == 1)
    logits = every.of("proof", "multiply-adds of all logits", "count")
    apart = (rank - functions).abs()
    found = pd.DataFrame({
        "functions": functions,
        "rank": rank,
        "proven": proven,
        "from_residues": every.of("proof from residues", "proven", "accuracy").mask(one),
        "of_logits": every.of("proof", "multiply-adds", "count") / logits,
    })  # fmt: skip
    near = (apart > 0) & (apart <= 2)
    counts = pd.DataFrame({"runs": 1, "equal": apart == 0, "near": near, "far": ~(apart <= 2)})
    numbers = pd.DataFrame(counts.groupby(every.group, sort=False).sum())
    return numbers.join(found.groupby(every.group, sort=False).median()).reset_index()


def gates(found: pd.DataFrame, every: Models) -> pd.DataFrame:
    """The characters that a zero switches off: those whose gates were added, or whose coefficient
    between classes is less than half of that within."""
    rows = []
    found = found.loc[found["of"].str.startswith("χ")]
    for run, kind in every.kind.items():
        for name, own in found.loc[found["run"] == run].groupby("of", sort=False, observed=True):
            numbers = dict(zip(own["measure"], own["value"], strict=True))
            by = [f"{p:.0f}" for p in own.loc[own["measure"] == "gated by", "value"]]
            ratio = numbers.get("own gating", nan)
            if by or ratio < 0.5:
                row = {"run": run, "kind": kind, "character": name, "by": ", ".join(by)}
                rows.append(row | {"own": ratio, "explained": numbers.get("explained", nan)})
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
    "id": Column("statement", align="l"),
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
