"""Decide each statement on MLP-only models beside transformers of the same seeds: criteria.md."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.stats import binomtest, fisher_exact

from strata.results import CONFIRMED, FAILS, HOLDS, REFUTED, UNDECIDED, UNTESTED, over_runs
from strata.statistics import holm, share_interval, t_interval
from strata.tables.format import signed
from strata.tables.statements import Statements
from strata.tables.table import DIFFERS, P_HOLM, Cells, Column, N, Record

KINDS = ("mlp", "transformer")
ORDER_WORDS = {FAILS: "the opposite", UNDECIDED: "not shown"}
DIFFERENCE_WORDS = {HOLDS: DIFFERS[True], UNDECIDED: DIFFERS[False]}
STATEMENTS = Statements(
    {
        "epoch": "generalise faster",
        "first": "generalise faster, by first epoch",
        "equal": "perform equally well",
        "mixes": "mix primes",
        "mixes-against": "mix primes, against transformers",
        "strata": "learn the same strata",
        "logits": "strata or primes, logits",
        "embedding": "strata or primes, embedding",
        "both": "strata or primes, both",
        "directions": "directions go with primes",
        "directions-against": "directions go with primes, against transformers",
    },
    {
        "": {UNDECIDED: "not decided", UNTESTED: "not called: too few seeds"},
        "epoch": ORDER_WORDS,
        "first": ORDER_WORDS,
        "mixes": {CONFIRMED: "mostly mix", REFUTED: "rarely", UNDECIDED: "in part"},
        "mixes-against": DIFFERENCE_WORDS,
        "directions-against": DIFFERENCE_WORDS,
    },
)


def statements(
    pairs: pd.DataFrame,
    gaps: pd.DataFrame,
    account_verdicts: pd.DataFrame | None,
    equal: float,
    confidence: float,
) -> pd.DataFrame:
    """Decide each statement for each modulus and over all, with counts and tests. The p-values of
    the study are corrected together, without the p-value of the first epoch, which was looked at
    later; those of single measures, ``gaps``, are corrected within their modulus. A statement whose
    numbers no study has measured is left out. ``account_verdicts`` has what MLP-only models of each
    modulus are called between strata and primes, if a study says so."""
    rows: list[Cells] = [
        *compare_epochs(pairs, "epoch"),
        *compare_epochs(pairs, "first"),
        *compare_accuracies(pairs, equal, confidence),
        *compare_counts(pairs, "mixes", confidence),
        *count_differences(pairs, gaps),
        *account_rows(pairs, account_verdicts),
        *compare_counts(pairs, "directions", confidence),
    ]
    if pairs.empty:
        rows = [{"id": id, "verdict": UNTESTED} for id in ("epoch", "first", "equal")]
    planned = [None if row["id"] == "first" else row.get("p_test") for row in rows]
    for row, corrected in zip(rows, holm(planned), strict=True):
        row["p_holm"] = corrected
        p = row.get("p_test") if corrected is None else corrected
        if p is not None and p >= 1 - confidence:
            row["verdict"] = UNDECIDED
    estimate = ["estimate_unit", "estimate", "estimate_low", "estimate_high"]
    counts = ["held", "cases", "later", "held_transformer", "cases_transformer"]
    names = ["id", "sentence", "n", "seeds", "moduli", *counts, *estimate]
    names += ["p_test", "p_holm", "verdict", "counts"]
    frame = STATEMENTS.frame(rows, names, ["n", "seeds", *counts])
    # An estimate of nothing that is counted is shown in the same place.
    frame["cases"] = frame["cases"].where(frame["id"] != "equal", frame["seeds"])
    return frame.astype(dict.fromkeys([*estimate[1:], "p_test", "p_holm"], float))


def by_modulus(pairs: pd.DataFrame, id: str) -> Iterator[tuple[Cells, pd.DataFrame]]:
    """Begin the row of each modulus, and give the pairs that the row is about."""
    for n, group in pairs.groupby("n", sort=False):
        yield {"id": id, "n": n, "seeds": len(group)}, group


def over_moduli(pairs: pd.DataFrame, id: str) -> Cells:
    """Begin the row over all of these moduli."""
    return {"id": id, "moduli": ", ".join(map(str, pairs["n"].unique()))}


def compare_epochs(pairs: pd.DataFrame, event: str) -> Iterator[Cells]:
    """Compare the epochs of validation accuracy, first or to stay, by the sign test. A run that
    never gets there is the later one, and two such runs are no pair. For each modulus there are the
    count and the median of the epoch of the MLP-only model over that of the transformer."""
    for row, group in by_modulus(pairs, event):
        mlp, transformer = epochs(group, event)
        ratio = float(np.median(mlp / transformer)) if len(mlp) else np.inf
        row |= {"held": int((mlp < transformer).sum()), "cases": len(mlp), "estimate_unit": "ratio"}
        yield row | {"estimate": None if ratio == np.inf else ratio}
    mlp, transformer = epochs(pairs, event)
    first, later = int((mlp < transformer).sum()), int((mlp > transformer).sum())
    row = over_moduli(pairs, event) | {"held": first, "cases": len(mlp), "later": later}
    p = float(binomtest(first, first + later).pvalue) if first + later else 1.0
    yield row | {"p_test": p, "verdict": HOLDS if first > later else FAILS}  # if it is shown


def epochs(pairs: pd.DataFrame, event: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the epochs of the MLP-only models and of the transformers, ∞ where a run never gets
    there, for the pairs in which one epoch is finite."""
    names = [f"{event}_{kind}" for kind in KINDS]
    values = pairs[names].astype(float).fillna(np.inf).to_numpy()
    mlp, transformer = values[np.isfinite(values).any(axis=1)].T
    return mlp, transformer


def compare_accuracies(pairs: pd.DataFrame, equal: float, confidence: float) -> Iterator[Cells]:
    """Decide whether the interval of the mean difference of accuracies lies within the bounds."""
    for row, group in by_modulus(pairs, "equal"):
        gaps = group["accuracy_gap"].tolist()
        row |= {"estimate_unit": "share", "estimate": float(np.mean(gaps))}
        low, high = t_interval(gaps, confidence) or (-np.inf, np.inf)
        row |= {"estimate_low": low, "estimate_high": high}
        yield row | {"verdict": by_interval(low, high, equal)}


def by_interval(low: float, high: float, equal: float) -> str:
    """Decide by an interval of a difference of accuracies.

    >>> [by_interval(*x, 0.01) for x in ((-0.005, 0.01), (-0.03, -0.012), (-0.02, 0.0))]
    ['holds', 'does not hold', 'undecided']
    """
    if high < -equal or low > equal:
        return FAILS
    return HOLDS if max(-low, high) <= equal else UNDECIDED


def compare_counts(pairs: pd.DataFrame, trait: str, confidence: float) -> Iterator[Cells]:
    """Count in how many generalising runs of each composite modulus a property holds, among
    MLP-only models and among transformers; decide whether most MLP-only models mix; and test by
    Fisher's exact test, over the moduli, whether transformers differ."""
    measured = pairs[[f"{trait}_{kind}" for kind in KINDS]].notna().any(axis=1)
    composite = pairs.loc[pairs["n"].isin(pairs.loc[measured, "n"].tolist())]
    if composite.empty:
        return
    for row, group in by_modulus(composite, trait):
        yield row | counts(group, trait)
    totals = counts(composite, trait)
    held, cases, other_held, other_cases = totals.values()
    if trait == "mixes":
        row = over_moduli(composite, trait) | {"held": held, "cases": cases}
        low, high = share_interval(held, cases, confidence)
        row |= {"estimate_low": low, "estimate_high": high, "estimate_unit": "share"}
        row |= {"estimate": held / cases if cases else None}
        yield row | {"verdict": over_runs(held, cases, confidence) if cases else UNTESTED}
    contingency = [[held, cases - held], [other_held, other_cases - other_held]]
    p = fisher_exact(contingency).pvalue  # pyright: ignore
    row = over_moduli(composite, f"{trait}-against") | totals
    yield row | {"p_test": float(p), "verdict": HOLDS}


def counts(pairs: pd.DataFrame, trait: str) -> Cells:
    """Count in how many generalising models of each kind a property holds, and of how many."""
    row: Cells = {}
    for kind, end in zip(KINDS, ("", "_transformer"), strict=True):
        values = pairs.loc[pairs[f"generalises_{kind}"], f"{trait}_{kind}"].tolist()
        row |= {f"held{end}": values.count(True), f"cases{end}": len(values)}
    return row


def count_differences(pairs: pd.DataFrame, gaps: pd.DataFrame) -> Iterator[Cells]:
    """Count the differences of each modulus that are shown. The count does not say that the others
    are zero."""
    for row, _ in by_modulus(pairs, "strata"):
        differ = gaps.loc[gaps["n"] == row["n"], "differs"].tolist()
        yield row | {"held": differ.count(True), "cases": len(differ)}


def account_rows(pairs: pd.DataFrame, verdicts: pd.DataFrame | None) -> list[Cells]:
    """Return what the mechanism of the MLP-only models is called, in the logits, in the embedding
    and in both."""
    if verdicts is None:
        return []
    rows = verdicts.loc[
        verdicts["architecture"].eq("mlp") & verdicts["n"].isin(pairs["n"].tolist())
    ]
    return rows.rename(columns={"runs": "seeds"}).to_dict("records")


def numbers_in_words(row: Record) -> str:
    """Write the numbers of a row in words."""
    over = "" if pd.isna(row["moduli"]) else f"n = {row['moduli']}: "
    low, high, estimate = row["estimate_low"], row["estimate_high"], row["estimate"]
    held = "" if pd.isna(row["held"]) else f"{row['held']} of {row['cases']}"
    if pd.notna(row["held_transformer"]):
        held += f", transformers {row['held_transformer']} of {row['cases_transformer']}"
    if row["id"] == "equal":
        interval = f"{signed(100 * low, 2)} to {signed(100 * high, 2)}"
        return f"mean difference {signed(100 * estimate, 2)} points ({interval})"
    if row["id"] == "strata":
        return f"{held} differ"
    if pd.notna(row["later"]):
        ties = row["cases"] - row["held"] - row["later"]
        tie_note = f", {ties} at the same epoch" * (ties > 0)
        return f"{over}{row['held']} earlier, {row['later']} later{tie_note}"
    if row["id"] in ("epoch", "first"):
        return f"{held} earlier" + f", median ratio {estimate:.2f}" * pd.notna(estimate)
    return over + held + (f" ({100 * low:.1f} to {100 * high:.1f} %)" if pd.notna(low) else "")


def verdict_in_words(row: Record) -> str:
    """Write the verdict of a row in words."""
    if row["id"] == "equal" and row["verdict"] == FAILS:
        return "worse" if row["estimate"] < 0 else "better"
    word = STATEMENTS.in_words(row)
    return word if pd.isna(row["counts"]) else f"{word} ({row['counts']})"


COLUMNS = N | P_HOLM | STATEMENTS.columns("MLP-only models …")
COLUMNS |= {
    "seeds": Column("seeds", "count", missing=""),
    "cases": Column("counted", numbers_in_words, "l", missing=""),
    "p_test": Column("p", "p", missing=""),
    "verdict": COLUMNS["verdict"]._replace(style=verdict_in_words),
}
