"""What is said of MLP-only models over seeds, each statement by its criterion:
criteria.md.

A modulus of which the study lacks a seed is shown with its count; it is in no sum over moduli, and
nothing is said of it.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from scipy.stats import binomtest, fisher_exact

from strata.measure.metrics import Metrics
from strata.results import CONFIRMED, FAILS, HOLDS, REFUTED, UNDECIDED, UNTESTED, over_runs
from strata.statistics import holm, share_interval, t_interval
from strata.tables.format import signed
from strata.tables.table import DIFFERS, P_HOLM, SAID, Cells, Column, N, Record, Table
from studies.architectures.code import paired
from studies.architectures.code.paired import of_moduli

SENTENCES = {
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
}
# How tables word a verdict.
SIGN = {FAILS: "the opposite", UNDECIDED: "not shown"}
APART = {HOLDS: DIFFERS[True], UNDECIDED: DIFFERS[False]}
WORDS = {
    "epoch": SIGN,
    "first": SIGN,
    "mixes": {CONFIRMED: "mostly mix", REFUTED: "rarely", UNDECIDED: "in part"},
    "mixes-against": APART,
    "directions-against": APART,
}


def tables(
    runs: Sequence[Metrics],
    accounts: pd.DataFrame,
    interventions: pd.DataFrame,
    called: pd.DataFrame | None,
    asked: tuple[Sequence[int], Sequence[int]],
    equal: float,
    confidence: float,
) -> tuple[Table, ...]:
    """The statements, the pairs they rest on, and the differences of every measure. ``accounts``,
    ``interventions``: what these studies found of all runs. ``called``: what MLP-only models of
    each modulus are called between strata and primes, if a study says. ``asked``: the moduli and
    seeds of the study."""
    pairs = paired.pairs(runs, accounts, interventions, *asked)
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
    if row["id"] in ("epoch", "first"):
        return over + _faster(row, held)
    if row["id"] == "equal":
        text = f"mean difference {signed(100 * estimate, 2)} points"
        interval = f" ({signed(100 * low, 2)} to {signed(100 * high, 2)})"
        return text + interval * pd.notna(low)
    if row["id"] == "strata":
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
    words = {UNDECIDED: "not decided", UNTESTED: "not called: too few seeds"}
    if row["id"] == "equal":
        words[FAILS] = "worse" if row["estimate"] < 0 else "better"
    verdict: str = row["verdict"]
    word = (words | WORDS.get(row["id"], {})).get(verdict, verdict)
    return word if pd.isna(row["counts"]) else f"{word} ({row['counts']})"


STATEMENTS = N | P_HOLM | {
    "sentence": Column("MLP-only models …", align="l"),
    "seeds": Column("seeds", "count", missing=""),
    "cases": Column("counted", counted, "l", missing=""),
    "p_test": Column("p", "p", missing=""),
    "verdict": SAID._replace(style=said),
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
    rows: list[Cells] = [
        *faster(pairs, seeds, "epoch"),
        *faster(pairs, seeds, "first"),
        *(equally(n, own, seeds, equal, confidence) for n, own in of_moduli(pairs)),
        *mix(pairs, seeds, confidence),
        *(strata(n, own, seeds, gaps) for n, own in of_moduli(pairs)),
        *accounts_of(pairs["n"].tolist(), called),
        *over_moduli("directions", pairs, seeds),
    ]
    planned = [None if row["id"] == "first" else row.get("p_test") for row in rows]
    for row, p in zip(rows, holm(planned), strict=True):
        row["p_holm"] = p
        judged = row.get("p_test") if p is None else p
        if judged is not None and judged >= 1 - confidence:
            row["verdict"] = UNDECIDED
    estimate = ["estimate_unit", "estimate", "estimate_low", "estimate_high"]
    counts = ["held", "cases", "later", "held_transformer", "cases_transformer"]
    if not len(pairs):
        rows.append({"id": "equal", "verdict": UNTESTED})
    names = ["id", "sentence", "n", "seeds", "moduli", *counts, *estimate, "p_test", "p_holm"]
    frame = pd.DataFrame(rows, columns=[*names, "verdict", "counts"])
    frame["sentence"] = frame["id"].map(SENTENCES.__getitem__)
    # An estimate of nothing that is counted is shown in the same place.
    frame["cases"] = frame["cases"].where(frame["id"] != "equal", frame["seeds"])
    numbers = dict.fromkeys([*estimate[1:], "p_test", "p_holm"], float)
    return frame.astype({"n": "Int64", "seeds": "Int64"} | dict.fromkeys(counts, "Int64") | numbers)


def of_whole(pairs: pd.DataFrame, seeds: int) -> tuple[pd.DataFrame, str]:
    """The pairs of the moduli with every seed of the study, and which moduli these are."""
    own = [n for n, of in of_moduli(pairs) if len(of) == seeds]
    return pairs.query("n in @own"), ", ".join(map(str, own))


def faster(pairs: pd.DataFrame, seeds: int, which: str) -> Iterator[Cells]:
    """Sign test over pairs of the epochs of validation accuracy, first or to stay; a run that
    never gets there is the later one, and two of them are no pair. For each modulus how many are
    earlier, and the median of the epoch of the MLP-only model over that of the transformer."""
    for n, own in of_moduli(pairs):
        mlp, transformer = epochs(own, which)
        row: Cells = {"id": which, "n": n, "seeds": len(own), "estimate_unit": "ratio"}
        row |= {"held": int((mlp < transformer).sum()), "cases": len(mlp)}
        median = float(np.median(mlp / transformer)) if len(mlp) else np.inf
        yield row if median == np.inf else row | {"estimate": median}
    row = {"id": which, "verdict": UNTESTED}
    whole, moduli = of_whole(pairs, seeds)
    if len(whole):
        mlp, transformer = epochs(whole, which)
        earlier, later = int((mlp < transformer).sum()), int((mlp > transformer).sum())
        row |= {"moduli": moduli, "held": earlier, "cases": len(mlp), "later": later}
        row["p_test"] = binomtest(earlier, earlier + later).pvalue if earlier + later else 1.0
        row["verdict"] = HOLDS if earlier > later else FAILS  # if it is shown
    yield row


def epochs(pairs: pd.DataFrame, which: str) -> tuple[np.ndarray, np.ndarray]:
    """Those of the MLP-only models and the transformers, ∞ where it never is, of the pairs in which
    one is finite."""
    names = [f"{which}_{kind}" for kind in paired.KINDS]
    both = pairs[names].astype(float).fillna(np.inf).to_numpy()
    mlp, transformer = both[np.isfinite(both).any(axis=1)].T
    return mlp, transformer


def equally(n: int, pairs: pd.DataFrame, seeds: int, equal: float, confidence: float) -> Cells:
    """Whether the interval of the mean difference of accuracies lies within the bounds."""
    gaps = pairs["accuracy_gap"].tolist()
    row: Cells = {"id": "equal", "n": n, "seeds": len(pairs), "estimate_unit": "share"}
    row |= {"estimate": float(np.mean(gaps)), "verdict": UNTESTED}
    if not (interval := t_interval(gaps, confidence)):
        return row
    low, high = interval
    row |= {"estimate_low": low, "estimate_high": high}
    return row | ({"verdict": gap(low, high, equal)} if len(pairs) == seeds else {})


def gap(low: float, high: float, equal: float) -> str:
    """What an interval of a difference of accuracies says.

    >>> [gap(*x, 0.01) for x in ((-0.005, 0.01), (-0.03, -0.012), (0.012, 0.03), (-0.02, 0.0))]
    ['holds', 'does not hold', 'does not hold', 'undecided']
    """
    if high < -equal or low > equal:
        return FAILS
    return HOLDS if max(-low, high) <= equal else UNDECIDED


def mix(pairs: pd.DataFrame, seeds: int, confidence: float) -> list[Cells]:
    """The share of MLP-only models that mix, and whether transformers differ."""
    rows = over_moduli("mixes", pairs, seeds)
    row: Cells = {"id": "mixes", "verdict": UNTESTED}
    whole, moduli = of_whole(composite(pairs, "mixes"), seeds)
    held, cases = holding(whole, "mixes", "mlp")
    if cases:
        low, high = share_interval(held, cases, confidence)
        row |= {"moduli": moduli, "held": held, "cases": cases, "estimate_unit": "share"}
        row |= {"estimate": held / cases, "estimate_low": low, "estimate_high": high}
        row["verdict"] = over_runs(held, cases, confidence)
    return [*rows[:-1], row, rows[-1]] if rows else []


def over_moduli(what: str, pairs: pd.DataFrame, seeds: int) -> list[Cells]:
    """How many of the generalising runs of each composite modulus something holds of, MLP-only
    models and transformers; last Fisher's exact test of both, over the moduli."""
    known = composite(pairs, what)
    rows: list[Cells] = [
        {"id": what, "n": n, "seeds": len(own)} | both(own, what) for n, own in of_moduli(known)
    ]
    last: Cells = {"id": f"{what}-against", "verdict": UNTESTED}
    whole, moduli = of_whole(known, seeds)
    table = [holding(whole, what, kind) for kind in paired.KINDS]
    if all(cases for _, cases in table):
        p = fisher_exact([[held, cases - held] for held, cases in table]).pvalue  # pyright: ignore
        last |= both(whole, what) | {"moduli": moduli, "p_test": float(p), "verdict": HOLDS}
    return [*rows, last] if rows else []


def composite(pairs: pd.DataFrame, what: str) -> pd.DataFrame:
    """The pairs of the moduli of which a study says something of two primes."""
    known = pairs[[f"{what}_{kind}" for kind in paired.KINDS]].notna().any(axis=1)
    return pairs.loc[pairs["n"].isin(pairs.loc[known, "n"].tolist())]


def holding(pairs: pd.DataFrame, what: str, kind: str) -> tuple[int, int]:
    """Of how many models of a kind that generalise something holds, of how many."""
    known = pairs.loc[pairs[f"generalises_{kind}"], f"{what}_{kind}"].tolist()
    return known.count(True), len(known)


def both(pairs: pd.DataFrame, what: str) -> Cells:
    """These counts of both kinds of model."""
    (held, cases), (other, of_other) = (holding(pairs, what, kind) for kind in paired.KINDS)
    row = {"held": held, "cases": cases}
    return row | {"held_transformer": other, "cases_transformer": of_other}


def strata(n: int, pairs: pd.DataFrame, seeds: int, gaps: pd.DataFrame) -> Cells:
    """How many differences of a modulus are shown. It is no statement that the others are none."""
    row: Cells = {"id": "strata", "n": n, "seeds": len(pairs)}
    if len(pairs) < seeds:
        return row | {"verdict": UNTESTED}
    differ = gaps.loc[gaps["n"] == n, "differs"].tolist()
    return row | {"held": differ.count(True), "cases": len(differ)}


def accounts_of(moduli: Sequence[int], called: pd.DataFrame | None) -> list[Cells]:
    """What the mechanism is called, in the logits, in the embedding and in both."""
    if called is None:
        return []
    own = called.query("architecture == 'mlp' and n in @moduli")
    return own.rename(columns={"runs": "seeds"}).to_dict("records")
