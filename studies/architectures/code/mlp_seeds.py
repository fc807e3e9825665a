"""What is said of MLP-only models over seeds, each statement by its criterion:
criteria.md.

A modulus of which the study lacks a seed is shown with its count; it is in no sum over moduli, and
nothing is said of it.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest, fisher_exact

from strata.measure.metrics import Metrics
from strata.statistics import holm, t_interval
from strata.tables.format import signed
from strata.tables.table import P_HOLM, SAID, Column, N, Record, Table
from studies.architectures.code import paired
from studies.architectures.code.paired import of_moduli

Row = dict[str, Any]
FASTER, FIRST = "generalise faster", "generalise faster, by first epoch"
EQUALLY = "perform equally well"
MIX, STRATA, PRIMES = "mix primes", "learn the same strata", "directions go with primes"
NOT_CALLED = "not called"
EPOCHS = {FASTER: "epoch", FIRST: "first"}  # the column of the pairs, before the kind of model
DIFFERS = ("differs", "no difference was shown")  # where a test shows something, and where not


def tables(
    runs: Sequence[Metrics],
    found: pd.DataFrame,
    called: pd.DataFrame | None,
    asked: tuple[Sequence[int], Sequence[int]],
    equal: float,
    confidence: float,
) -> tuple[Table, ...]:
    """The statements, the pairs they rest on, and the differences of every measure. ``found``: what
    other studies measured of all runs. ``called``: what MLP-only models of each modulus are called
    between strata and primes, if a study says. ``asked``: the moduli and seeds of the study."""
    pairs = paired.pairs(runs, found, *asked)
    seeds = len(asked[1])
    gaps = paired.differences(pairs, runs, seeds, confidence)
    about = "MLP-only models and transformers of the same seeds"
    rows = statements(pairs, gaps, called, seeds, equal, confidence)
    of_pair = f"{about}: differences of a pair, of R² and FVE in points."
    known = pairs.dropna(axis=1, how="all")
    unknown = [x for x in pairs if x.startswith(("mixes", "directions")) and x not in known]
    return (
        Table("mlp-seeds", f"{about}: what is said.", rows, STATEMENTS),
        Table(
            "mlp-seeds-pairs", f"{about}, pair by pair.", pairs.drop(columns=unknown), paired.PAIRS
        ),
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
    pairs: pd.DataFrame,
    gaps: pd.DataFrame,
    called: pd.DataFrame | None,
    seeds: int,
    equal: float,
    confidence: float,
) -> pd.DataFrame:
    """Each statement for each modulus and over all, with counts, test and what is said. p-values of
    the study are corrected together, without that of the first epoch, which was looked at later;
    those of single measures within their modulus. A statement whose numbers no study has measured
    is left out."""
    rows: list[Row] = [
        *faster(pairs, seeds, FASTER),
        *faster(pairs, seeds, FIRST),
        *(equally(n, own, seeds, equal, confidence) for n, own in of_moduli(pairs)),
        *mix(pairs, seeds, confidence),
        *(strata(n, own, seeds, gaps) for n, own in of_moduli(pairs)),
        *accounts_of(pairs["n"].tolist(), called),
        *over_moduli(PRIMES, "directions", pairs, seeds),
    ]
    planned = [None if row["statement"] == FIRST else row.get("p_test") for row in rows]
    for row, p in zip(rows, holm(planned), strict=True):
        row["p_holm"] = p
        if (judged := row.get("p_test") if p is None else p) is not None:
            row["said"] = row["words"][int(judged >= 1 - confidence)]
    estimate = ["estimate_unit", "estimate", "estimate_low", "estimate_high"]
    counts = ["held", "cases", "later", "held_transformer", "cases_transformer"]
    names = ["statement", "n", "seeds", "moduli", *counts, *estimate, "p_test", "p_holm"]
    frame = pd.DataFrame(rows, columns=[*names, "said", "runs_said"])
    # An estimate of nothing that is counted is shown in the same place.
    frame["cases"] = frame["cases"].where(frame["statement"] != EQUALLY, frame["seeds"])
    numbers = dict.fromkeys([*estimate[1:], "p_test", "p_holm"], float)
    return frame.astype({"n": "Int64", "seeds": "Int64"} | dict.fromkeys(counts, "Int64") | numbers)


def of_whole(pairs: pd.DataFrame, seeds: int) -> tuple[pd.DataFrame, str]:
    """The pairs of the moduli with every seed of the study, and which moduli these are."""
    own = [n for n, of in of_moduli(pairs) if len(of) == seeds]
    return pairs.query("n in @own"), ", ".join(map(str, own))


def faster(pairs: pd.DataFrame, seeds: int, statement: str) -> Iterator[Row]:
    """Sign test over pairs of the epochs of validation accuracy that a statement takes; a run that
    never gets there is the later one, and two of them are no pair. For each modulus how many are
    earlier, and the median of the epoch of the MLP-only model over that of the transformer."""
    for n, own in of_moduli(pairs):
        mlp, transformer = epochs(own, statement)
        row: Row = {"statement": statement, "n": n, "seeds": len(own), "estimate_unit": "ratio"}
        row |= {"held": int((mlp < transformer).sum()), "cases": len(mlp)}
        median = float(np.median(mlp / transformer)) if len(mlp) else np.inf
        yield row if median == np.inf else row | {"estimate": median}
    row = {"statement": statement, "said": NOT_CALLED}
    whole, moduli = of_whole(pairs, seeds)
    if len(whole):
        mlp, transformer = epochs(whole, statement)
        earlier, later = int((mlp < transformer).sum()), int((mlp > transformer).sum())
        row |= {"moduli": moduli, "held": earlier, "cases": len(mlp), "later": later}
        row["p_test"] = binomtest(earlier, earlier + later).pvalue if earlier + later else 1.0
        row["words"] = ("holds" if earlier > later else "the opposite", "not shown")
    yield row


def epochs(pairs: pd.DataFrame, statement: str) -> tuple[np.ndarray, np.ndarray]:
    """Those of the MLP-only models and the transformers, ∞ where it never is, of the pairs in which
    one is finite."""
    names = [f"{EPOCHS[statement]}_{kind}" for kind in paired.KINDS]
    both = pairs[names].astype(float).fillna(np.inf).to_numpy()
    mlp, transformer = both[np.isfinite(both).any(axis=1)].T
    return mlp, transformer


def equally(n: int, own: pd.DataFrame, seeds: int, equal: float, confidence: float) -> Row:
    """Whether the interval of the mean difference of accuracies lies within the bounds."""
    gaps = own["accuracy_gap"].tolist()
    row: Row = {"statement": EQUALLY, "n": n, "seeds": len(own), "estimate_unit": "share"}
    row |= {"estimate": float(np.mean(gaps)), "said": NOT_CALLED}
    if not (interval := t_interval(gaps, confidence)):
        return row
    low, high = interval
    row |= {"estimate_low": low, "estimate_high": high}
    return row | ({"said": gap(low, high, equal)} if len(own) == seeds else {})


def gap(low: float, high: float, equal: float) -> str:
    """What an interval of a difference of accuracies says.

    >>> [gap(*x, 0.01) for x in ((-0.005, 0.01), (-0.03, -0.02), (0.02, 0.03), (-0.02, 0.0))]
    ['holds', 'worse', 'better', 'not decided']
    """
    if high < -equal or low > equal:
        return "worse" if high < -equal else "better"
    return "holds" if max(-low, high) <= equal else "not decided"


def mix(pairs: pd.DataFrame, seeds: int, confidence: float) -> list[Row]:
    """The share of MLP-only models that mix, and whether transformers differ."""
    rows = over_moduli(MIX, "mixes", pairs, seeds)
    row: Row = {"statement": MIX, "said": NOT_CALLED}
    whole, moduli = of_whole(composite(pairs, "mixes"), seeds)
    held, cases = holding(whole, "mixes", "mlp")
    if cases:
        found = binomtest(held, cases)
        low, high = found.proportion_ci(confidence, method="exact")
        row |= {"moduli": moduli, "held": held, "cases": cases, "estimate_unit": "share"}
        row |= {"estimate": found.statistic, "estimate_low": low, "estimate_high": high}
        row["said"] = "mostly mix" if low > 1 / 2 else "rarely" if high < 1 / 2 else "in part"
    return [*rows[:-1], row, rows[-1]] if rows else []


def over_moduli(statement: str, what: str, pairs: pd.DataFrame, seeds: int) -> list[Row]:
    """How many of the generalising runs of each composite modulus something holds of, MLP-only
    models and transformers; last Fisher's exact test of both, over the moduli."""
    known = composite(pairs, what)
    rows: list[Row] = [
        {"statement": statement, "n": n, "seeds": len(own)} | both(own, what)
        for n, own in of_moduli(known)
    ]
    last: Row = {"statement": f"{statement}, against transformers", "said": NOT_CALLED}
    whole, moduli = of_whole(known, seeds)
    table = [holding(whole, what, kind) for kind in paired.KINDS]
    if all(cases for _, cases in table):
        p = fisher_exact([[held, cases - held] for held, cases in table]).pvalue  # pyright: ignore
        last |= both(whole, what) | {"moduli": moduli, "p_test": float(p), "words": DIFFERS}
    return [*rows, last] if rows else []


def composite(pairs: pd.DataFrame, what: str) -> pd.DataFrame:
    """The pairs of the moduli of which a study says something of two primes."""
    known = pairs[[f"{what}_{kind}" for kind in paired.KINDS]].notna().any(axis=1)
    return pairs.loc[pairs["n"].isin(pairs.loc[known, "n"].tolist())]


def holding(pairs: pd.DataFrame, what: str, kind: str) -> tuple[int, int]:
    """Of how many models of a kind that generalise something holds, of how many."""
    known = pairs.loc[pairs[f"generalises_{kind}"], f"{what}_{kind}"].tolist()
    return known.count(True), len(known)


def both(pairs: pd.DataFrame, what: str) -> Row:
    """These counts of both kinds of model."""
    (held, cases), (other, of_other) = (holding(pairs, what, kind) for kind in paired.KINDS)
    row = {"held": held, "cases": cases}
    return row | {"held_transformer": other, "cases_transformer": of_other}


def strata(n: int, own: pd.DataFrame, seeds: int, gaps: pd.DataFrame) -> Row:
    """How many differences of a modulus are shown. It is no statement that the others are none."""
    row: Row = {"statement": STRATA, "n": n, "seeds": len(own)}
    if len(own) < seeds:
        return row | {"said": NOT_CALLED}
    differ = gaps.loc[gaps["n"] == n, "differs"].tolist()
    return row | {"held": differ.count(True), "cases": len(differ)}


def accounts_of(moduli: Sequence[int], called: pd.DataFrame | None) -> list[Row]:
    """What the mechanism is called, in the logits, in the embedding and in both."""
    if called is None:
        return []
    rows = called.query("architecture == 'mlp' and n in @moduli").to_dict("records")
    return [
        {"statement": f"strata or primes, {about}", "n": row["n"], "seeds": row["runs"],
         "said": row[name], "runs_said": row[f"{name}_runs"]}
        for row in rows
        for name, about in (("L", "logits"), ("E", "embedding"), ("both", "both"))
    ]  # fmt: skip
