"""What is said of MLP-only models over seeds, each sentence by its criterion: docs/studies.md,
section 1.

A modulus of which the study lacks a seed is shown with its count; it is in no sum over moduli, and
nothing is said of it.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest, fisher_exact

from strata.params import GridParams
from strata.statistics import t_interval
from strata.tables.beside import holm
from strata.tables.headline import Table
from studies.mechanism.code import tables_accounts as accounts
from studies.mechanism.code.decision import decides
from studies.mechanism.code.study import Choice
from studies.seeds.code import paired
from studies.seeds.code.beside_seeds import Studied
from studies.seeds.code.paired import SEEDS, Of, Pair, Subject

Row = dict[str, Any]
Counts = tuple[int, int]  # how many, of how many
Holds = Callable[[Subject], bool | None]
EQUAL = 0.01  # accuracies that differ by less count as equal
FASTER, EQUALLY = "generalise faster", "perform equally well"
MIX, STRATA, PRIMES = "mix primes", "learn the same strata", "directions go with primes"
NOT_CALLED = "not called: too few seeds"
DIFFERS = ("differs", "no difference was shown")  # where a test shows something, and where not


def tables(runs: Sequence[Studied], choice: Choice, grid: GridParams) -> tuple[Table, ...]:
    """The statements, the pairs they rest on, and the differences of every measure."""
    of = paired.paired(runs, grid.moduli, choice)
    gaps = paired.differences(of, grid.confidence)
    about = "MLP-only models and transformers of the same seeds"
    return (
        Table("mlp-seeds", f"{about}: what is said.", statements(of, gaps, choice, grid)),
        Table("mlp-seeds-pairs", f"{about}, pair by pair.", paired.pairs(of)),
        Table(
            "mlp-seeds-differences",
            f"{about}: differences of a pair, of R² and FVE in points.",
            gaps,
        ),
    )


def statements(of: Of, gaps: pd.DataFrame, choice: Choice, grid: GridParams) -> pd.DataFrame:
    """Each statement for each modulus and over all, with counts, test and what is said. p-values of
    the study are corrected together; those of single measures within their modulus.

    ``estimate``, its unit and its interval, columns of the CSV alone, are what ``counted`` says.
    """
    rows = [
        *faster(of),
        *(equally(n, own, grid.confidence) for n, own in of.items()),
        *mix(of, grid.confidence),
        *(strata(n, own, gaps) for n, own in of.items()),
        *accounts_of(of, choice),
        *counted(PRIMES, of, lambda run: run.directions),
    ]
    for row, p in zip(rows, holm([row.get("p_test") for row in rows]), strict=True):
        row["p_holm"] = p
        if p is not None:
            row["said"] = row["words"][p >= 1 - grid.confidence]
    estimate = ["estimate_unit", "estimate", "estimate_low", "estimate_high"]
    names = ["statement", "n", "seeds", "counted", *estimate, "p_test", "p_holm", "said"]
    frame = pd.DataFrame(rows, columns=names)
    numbers = dict.fromkeys([*estimate[1:], "p_test", "p_holm"], float)
    return frame.astype({"n": "Int64", "seeds": "Int64"} | numbers)


def whole(of: Of) -> Of:
    """The moduli with every seed of the study."""
    return {n: own for n, own in of.items() if len(own) == len(SEEDS)}


def over(moduli: Iterable[int]) -> str:
    """Of which moduli a sum is.

    >>> over([165, 154])
    'n = 165, 154: '
    """
    return f"n = {', '.join(map(str, moduli))}: "


def faster(of: Of) -> list[Row]:
    """Sign test over pairs of the epochs from which validation accuracy stays; a run that never
    gets there is the later one, and two of them are no pair."""
    rows = [epochs(n, own) for n, own in of.items()]
    row: Row = {"statement": FASTER, "said": NOT_CALLED}
    if called := whole(of):
        known = [x.epochs for own in called.values() for x in own if min(x.epochs) < np.inf]
        signs = [np.sign(mlp - transformer) for mlp, transformer in known]
        earlier, later = signs.count(-1), signs.count(1)
        tied = f", {signs.count(0)} at the same epoch" * (0 in signs)
        row["counted"] = f"{over(called)}{earlier} earlier, {later} later{tied}"
        row["p_test"] = float(binomtest(earlier, earlier + later).pvalue) if any(signs) else 1.0
        row["words"] = ("holds" if earlier > later else "the opposite", "not shown")
    return [*rows, row]


def epochs(n: int, own: Sequence[Pair]) -> Row:
    """How many are earlier, and the median of the epoch of the MLP-only model over that of the
    transformer."""
    known = [x.epochs for x in own if min(x.epochs) < np.inf]
    median = float(np.median([mlp / transformer for mlp, transformer in known] or [np.inf]))
    row: Row = {"statement": FASTER, "n": n, "seeds": len(own), "estimate_unit": "ratio"}
    row["counted"] = f"{sum(x < y for x, y in known)} of {len(known)} earlier"
    if median == np.inf:
        return row
    return row | {"counted": f"{row['counted']}, median ratio {median:.2f}", "estimate": median}


def equally(n: int, own: Sequence[Pair], confidence: float) -> Row:
    """Whether the interval of the mean difference of accuracies lies within the bounds."""
    gaps = [x.accuracy for x in own]
    row: Row = {"statement": EQUALLY, "n": n, "seeds": len(own), "estimate_unit": "share"}
    row |= {"estimate": float(np.mean(gaps)), "said": NOT_CALLED}
    row["counted"] = f"mean difference {points(row['estimate'])} points"
    if not (interval := t_interval(gaps, confidence)):
        return row
    low, high = interval
    row |= {"estimate_low": low, "estimate_high": high}
    row["counted"] += f" ({points(low)} to {points(high)})"
    return row | ({"said": gap(low, high)} if len(own) == len(SEEDS) else {})


def gap(low: float, high: float) -> str:
    """What an interval of a difference of accuracies says.

    >>> gap(-0.005, 0.01), gap(-0.03, -0.02), gap(0.02, 0.03), gap(-0.02, 0.0)
    ('holds', 'worse', 'better', 'not decided')
    """
    if high < -EQUAL or low > EQUAL:
        return "worse" if high < -EQUAL else "better"
    return "holds" if max(-low, high) <= EQUAL else "not decided"


def points(x: float) -> str:
    """A difference of shares in points, with two decimals.

    >>> points(-0.00125), points(0.0)
    ('−0.12', '0.00')
    """
    return f"{100 * x:+.2f}".replace("-", "−") if abs(x) >= 5e-5 else "0.00"


def mix(of: Of, confidence: float) -> list[Row]:
    """The share of MLP-only models that mix, and whether transformers differ."""
    *rows, last = counted(MIX, of, lambda run: run.mixes)
    own = counts(whole(of), lambda run: run.mixes)
    held, runs = total(own, "mlp")
    row: Row = {"statement": MIX, "said": NOT_CALLED}
    if runs:
        low, high = binomtest(held, runs).proportion_ci(confidence, method="exact")
        row |= {
            "estimate_unit": "share",
            "estimate": held / runs,
            "estimate_low": low,
            "estimate_high": high,
        }
        row["counted"] = f"{over(own)}{held} of {runs} ({100 * low:.1f} to {100 * high:.1f} %)"
        row["said"] = "mostly mix" if low > 1 / 2 else "rarely" if high < 1 / 2 else "in part"
    return [*rows, row, last]


def counted(statement: str, of: Of, holds: Holds) -> list[Row]:
    """How many of the generalising runs of each composite modulus something holds of, MLP-only
    models and transformers; last Fisher's exact test of both, over the moduli."""
    rows: list[Row] = []
    for n, (own, other) in counts(of, holds).items():
        row: Row = {"statement": statement, "n": n, "seeds": len(of[n])}
        rows.append(row | {"counted": beside(own, other)})
    called = counts(whole(of), holds)
    own, other = (total(called, kind) for kind in Pair._fields)
    last: Row = {"statement": f"{statement}, against transformers", "said": NOT_CALLED}
    if own[1] and other[1]:
        table = [[held, runs - held] for held, runs in (own, other)]
        last |= {"p_test": float(fisher_exact(table).pvalue), "words": DIFFERS}  # pyright: ignore
        last["counted"] = f"{over(called)}{beside(own, other)}"
    return [*rows, last]


def beside(own: Counts, other: Counts) -> str:
    """Both counts in words."""
    return f"{own[0]} of {own[1]}, transformers {other[0]} of {other[1]}"


def counts(of: Of, holds: Holds) -> dict[int, tuple[Counts, Counts]]:
    """Of the MLP-only models and of the transformers of each composite modulus."""

    def one(runs: Iterable[Subject]) -> Counts:
        own = [bool(holds(x)) for x in runs if x.generalises]
        return sum(own), len(own)

    return {
        n: (one(x.mlp for x in own), one(x.transformer for x in own))
        for n, own in of.items()
        if decides(n)
    }


def total(counts: dict[int, tuple[Counts, Counts]], kind: str) -> Counts:
    """The counts of one kind of model over the moduli."""
    own = [x[Pair._fields.index(kind)] for x in counts.values()]
    return sum(held for held, _ in own), sum(runs for _, runs in own)


def strata(n: int, own: Sequence[Pair], gaps: pd.DataFrame) -> Row:
    """How many differences of a modulus are shown. It is no statement that the others are none."""
    row: Row = {"statement": STRATA, "n": n, "seeds": len(own), "said": NOT_CALLED}
    if len(own) < len(SEEDS):
        return row
    differ = gaps[gaps["n"] == n]["differ"].tolist()
    return row | {"counted": f"{differ.count(DIFFERS[0])} of {len(differ)} differ", "said": ""}


def accounts_of(of: Of, choice: Choice) -> list[Row]:
    """L, E and both, by the rule of a modulus."""
    rows: list[Row] = []
    for n, own in of.items():
        for found in accounts.moduli([x.mlp.case for x in own], choice).to_dict("records"):
            for name, about in (("L", "logits"), ("E", "embedding"), ("both", "both")):
                row: Row = {"statement": f"strata or primes, {about}", "n": n, "seeds": len(own)}
                rows.append(row | {"said": found[name]})
    return rows
