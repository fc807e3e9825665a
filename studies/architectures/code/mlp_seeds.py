"""What is said of MLP-only models over seeds, each statement by its criterion:
criteria.md.

A modulus of which the study lacks a seed is shown with its count; it is in no sum over moduli, and
nothing is said of it.
"""

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest, fisher_exact

from strata.statistics import holm, t_interval
from strata.tables.format import signed
from strata.tables.table import P_HOLM, SAID, Column, N, Record, Table
from studies.architectures.code import paired
from studies.architectures.code.paired import Pair, Paired, Subject

Row = dict[str, Any]
Counts = tuple[int, int]  # how many, of how many
Holds = Callable[[Subject], bool | None]
FASTER, FIRST = "generalise faster", "generalise faster, by first epoch"
EQUALLY = "perform equally well"
MIX, STRATA, PRIMES = "mix primes", "learn the same strata", "directions go with primes"
NOT_CALLED = "not called"
EPOCHS = {FASTER: attrgetter("stays"), FIRST: attrgetter("first")}  # of a run
DIFFERS = ("differs", "no difference was shown")  # where a test shows something, and where not


def tables(
    of: Paired, called: pd.DataFrame | None, equal: float, confidence: float
) -> tuple[Table, ...]:
    """The statements, the pairs they rest on, and the differences of every measure. ``called``:
    what MLP-only models of each modulus are called between strata and primes, if a study says."""
    gaps = paired.differences(of, confidence)
    about = "MLP-only models and transformers of the same seeds"
    rows = statements(of, gaps, called, equal, confidence)
    of_pair = f"{about}: differences of a pair, of R² and FVE in points."
    return (
        Table("mlp-seeds", f"{about}: what is said.", rows, STATEMENTS),
        Table("mlp-seeds-pairs", f"{about}, pair by pair.", paired.pairs(of), paired.PAIRS),
        Table("mlp-seeds-differences", of_pair, gaps, paired.DIFFERENCES),
    )


def counted(row: Record) -> str:
    """The numbers of a row in words."""
    over = "" if pd.isna(row["moduli"]) else f"n = {row['moduli']}: "
    low, high, estimate = row["estimate_low"], row["estimate_high"], row["estimate"]
    held = "" if pd.isna(row["held"]) else f"{row['held']} of {row['cases']}"
    if pd.notna(row["held_transformer"]):
        held += f", transformers {row['held_transformer']} of {row['cases_transformer']}"
    if row["statement"] in EPOCHS:
        return over + _faster(row, held)
    if row["statement"] == EQUALLY:
        text = f"mean difference {signed(100 * estimate, 2)} points"
        interval = f" ({signed(100 * low, 2)} to {signed(100 * high, 2)})"
        return text + interval * pd.notna(low)
    if row["statement"] == STRATA:
        return f"{held} differ"
    return over + held + (f" ({100 * low:.1f} to {100 * high:.1f} %)" if pd.notna(low) else "")


def _faster(row: Record, held: str) -> str:
    if pd.isna(row["later"]):
        median = f", median ratio {row['estimate']:.2f}" * pd.notna(row["estimate"])
        return f"{held} earlier{median}"
    tied = row["cases"] - row["held"] - row["later"]
    return f"{row['held']} earlier, {row['later']} later" + f", {tied} at the same epoch" * (
        tied > 0
    )


def said(row: Record) -> str:
    """A verdict in words."""
    if row["said"] == NOT_CALLED:
        return "not called: too few seeds"
    return row["said"] if pd.isna(row["runs_said"]) else f"{row['said']} ({row['runs_said']})"


STATEMENTS = N | P_HOLM | {
    "statement": Column("MLP-only models …", align="l"),
    "seeds": Column("seeds", "count", missing=""),
    "cases": Column("counted", counted, "l", missing=""),
    "p_test": Column("p", "p", missing=""),
    "said": SAID["said"]._replace(style=said),
}  # fmt: skip


def statements(
    of: Paired, gaps: pd.DataFrame, called: pd.DataFrame | None, equal: float, confidence: float
) -> pd.DataFrame:
    """Each statement for each modulus and over all, with counts, test and what is said. p-values of
    the study are corrected together, without that of the first epoch, which was looked at later;
    those of single measures within their modulus. A statement whose numbers no study has measured
    is left out."""
    of_runs = {MIX: lambda run: run.mixes, PRIMES: lambda run: run.directions}
    known = {name: holds for name, holds in of_runs.items() if measured(of, holds)}
    whole = of.whole().of
    rows = [
        *faster(of, FASTER),
        *faster(of, FIRST),
        *(equally(n, own, n in whole, equal, confidence) for n, own in of.of.items()),
        *(mix(of, known[MIX], confidence) if MIX in known else ()),
        *(strata(n, len(own), n in whole, gaps) for n, own in of.of.items()),
        *accounts_of(of, called),
        *(over_moduli(PRIMES, of, known[PRIMES]) if PRIMES in known else ()),
    ]
    planned = [None if row["statement"] == FIRST else row.get("p_test") for row in rows]
    for row, p in zip(rows, holm(planned), strict=True):
        row["p_holm"] = p
        if (judged := row.get("p_test") if p is None else p) is not None:
            row["said"] = row["words"][judged >= 1 - confidence]
    estimate = ["estimate_unit", "estimate", "estimate_low", "estimate_high"]
    counts = ["held", "cases", "later", "held_transformer", "cases_transformer"]
    names = ["statement", "n", "seeds", "moduli", *counts, *estimate, "p_test", "p_holm"]
    frame = pd.DataFrame(rows, columns=[*names, "said", "runs_said"])
    # An estimate of nothing that is counted is shown in the same place.
    frame["cases"] = frame["cases"].where(frame["statement"] != EQUALLY, frame["seeds"])
    numbers = dict.fromkeys([*estimate[1:], "p_test", "p_holm"], float)
    return frame.astype({"n": "Int64", "seeds": "Int64"} | dict.fromkeys(counts, "Int64") | numbers)


def measured(of: Paired, holds: Holds) -> bool:
    """Whether a study has measured it."""
    return any(holds(run) is not None for own in of.of.values() for pair in own for run in pair)


def over(moduli: Iterable[int]) -> str:
    """Of which moduli a sum is."""
    return ", ".join(map(str, moduli))


def faster(of: Paired, statement: str) -> list[Row]:
    """Sign test over pairs of the epochs of validation accuracy that a statement takes; a run that
    never gets there is the later one, and two of them are no pair."""
    rows = [{"statement": statement, "n": n} | ratios(own, statement) for n, own in of.of.items()]
    row: Row = {"statement": statement, "said": NOT_CALLED}
    if called := of.whole().of:
        known = [x for own in called.values() for x in epochs(own, statement)]
        signs = [np.sign(mlp - transformer) for mlp, transformer in known]
        earlier, later = signs.count(-1), signs.count(1)
        row |= {"moduli": over(called), "held": earlier, "cases": len(signs), "later": later}
        row["p_test"] = float(binomtest(earlier, earlier + later).pvalue) if any(signs) else 1.0
        row["words"] = ("holds" if earlier > later else "the opposite", "not shown")
    return [*rows, row]


def epochs(own: Sequence[Pair], statement: str) -> list[tuple[float, float]]:
    """Those of the MLP-only model and the transformer, where one of them is finite."""
    both = [(EPOCHS[statement](pair.mlp), EPOCHS[statement](pair.transformer)) for pair in own]
    return [x for x in both if min(x) < np.inf]


def ratios(own: Sequence[Pair], statement: str) -> Row:
    """How many are earlier, and the median of the epoch of the MLP-only model over that of the
    transformer."""
    known = epochs(own, statement)
    median = float(np.median([mlp / transformer for mlp, transformer in known] or [np.inf]))
    row: Row = {"seeds": len(own), "estimate_unit": "ratio"}
    row |= {"held": sum(x < y for x, y in known), "cases": len(known)}
    return row if median == np.inf else row | {"estimate": median}


def equally(n: int, own: Sequence[Pair], whole: bool, equal: float, confidence: float) -> Row:
    """Whether the interval of the mean difference of accuracies lies within the bounds."""
    gaps = [x.accuracy for x in own]
    row: Row = {"statement": EQUALLY, "n": n, "seeds": len(own), "estimate_unit": "share"}
    row |= {"estimate": float(np.mean(gaps)), "said": NOT_CALLED}
    if not (interval := t_interval(gaps, confidence)):
        return row
    low, high = interval
    row |= {"estimate_low": low, "estimate_high": high}
    return row | ({"said": gap(low, high, equal)} if whole else {})


def gap(low: float, high: float, equal: float) -> str:
    """What an interval of a difference of accuracies says.

    >>> [gap(*x, 0.01) for x in ((-0.005, 0.01), (-0.03, -0.02), (0.02, 0.03), (-0.02, 0.0))]
    ['holds', 'worse', 'better', 'not decided']
    """
    if high < -equal or low > equal:
        return "worse" if high < -equal else "better"
    return "holds" if max(-low, high) <= equal else "not decided"


def mix(of: Paired, holds: Holds, confidence: float) -> list[Row]:
    """The share of MLP-only models that mix, and whether transformers differ."""
    *rows, last = over_moduli(MIX, of, holds)
    own = counts(of.whole(), holds)
    held, runs = total(own, "mlp")
    row: Row = {"statement": MIX, "said": NOT_CALLED}
    if runs:
        low, high = binomtest(held, runs).proportion_ci(confidence, method="exact")
        row |= {"estimate_unit": "share", "estimate": held / runs}
        row |= {"estimate_low": low, "estimate_high": high}
        row |= {"moduli": over(own), "held": held, "cases": runs}
        row["said"] = "mostly mix" if low > 1 / 2 else "rarely" if high < 1 / 2 else "in part"
    return [*rows, row, last]


def over_moduli(statement: str, of: Paired, holds: Holds) -> list[Row]:
    """How many of the generalising runs of each composite modulus something holds of, MLP-only
    models and transformers; last Fisher's exact test of both, over the moduli."""
    rows: list[Row] = []
    for n, (own, other) in counts(of, holds).items():
        rows.append({"statement": statement, "n": n, "seeds": len(of.of[n])} | both(own, other))
    called = counts(of.whole(), holds)
    own, other = (total(called, kind) for kind in Pair._fields)
    last: Row = {"statement": f"{statement}, against transformers", "said": NOT_CALLED}
    if own[1] and other[1]:
        table = [[held, runs - held] for held, runs in (own, other)]
        last |= {"p_test": float(fisher_exact(table).pvalue), "words": DIFFERS}  # pyright: ignore
        last |= {"moduli": over(called)} | both(own, other)
    return [*rows, last]


def both(own: Counts, other: Counts) -> Row:
    """The counts of both kinds of model."""
    row = {"held": own[0], "cases": own[1]}
    return row | {"held_transformer": other[0], "cases_transformer": other[1]}


def counts(of: Paired, holds: Holds) -> dict[int, tuple[Counts, Counts]]:
    """Of the MLP-only models and of the transformers of each modulus where it can hold."""

    def one(runs: Iterable[Subject]) -> Counts:
        own = [bool(holds(x)) for x in runs if x.generalises]
        return sum(own), len(own)

    return {
        n: (one(x.mlp for x in own), one(x.transformer for x in own))
        for n, own in of.of.items()
        if any(holds(run) is not None for pair in own for run in pair)
    }


def total(counts: dict[int, tuple[Counts, Counts]], kind: str) -> Counts:
    """The counts of one kind of model over the moduli."""
    own = [x[Pair._fields.index(kind)] for x in counts.values()]
    return sum(held for held, _ in own), sum(runs for _, runs in own)


def strata(n: int, seeds: int, whole: bool, gaps: pd.DataFrame) -> Row:
    """How many differences of a modulus are shown. It is no statement that the others are none."""
    row: Row = {"statement": STRATA, "n": n, "seeds": seeds}
    if not whole:
        return row | {"said": NOT_CALLED}
    differ = gaps.loc[gaps["n"] == n, "differs"].tolist()
    return row | {"held": differ.count(True), "cases": len(differ)}


def accounts_of(of: Paired, called: pd.DataFrame | None) -> list[Row]:
    """What the mechanism is called, in the logits, in the embedding and in both."""
    rows: list[Row] = []
    for record in () if called is None else called.to_dict("records"):
        if record["architecture"] == "mlp" and record["n"] in of.of:
            for name, about in (("L", "logits"), ("E", "embedding"), ("both", "both")):
                row: Row = {"statement": f"strata or primes, {about}", "n": record["n"]}
                row |= {"seeds": record["runs"], "said": record[name]}
                rows.append(row | {"runs_said": record[f"{name}_runs"]})
    return rows
