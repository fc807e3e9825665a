"""What the tables beyond the paper come to, in a line each, for the top of the report."""

import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

import pandas as pd

from strata.tables.claims import percent
from strata.tables.format import STYLES
from studies.dynamics.code.order import LINE, MEASURES

Rows = Sequence[dict[Any, Any]]  # of a table; what is missing is None or NaN


def lines(names: Collection[str], table: Callable[[str], Rows]) -> list[tuple[str, str]]:
    """One line for each of these tables that has something to say, with its name."""
    summaries = {
        "evidence": criteria,
        "verdict": paper_among_seeds,
        "not-generalised": not_generalised,
        "dynamics-order": class_order,
        "extension": both_kinds,
    }
    told = [(name, summary(table(name))) for name, summary in summaries.items() if name in names]
    return [(name, text) for name, text in told if text]


def criteria(rows: Rows) -> str:
    """How many criteria are met, and which are not; nothing where none has a case."""
    tested = [row for row in rows if not pd.isna(row["passed"])]
    not_met = [f"{row['section']}: {row['test']}" for row in tested if not row["passed"]]
    if not tested:
        return ""
    met = f"{len(tested) - len(not_met)} of {len(tested)} criteria for a cause are met"
    return f"{met}. Not met: {'; '.join(not_met) or 'none'}."


def paper_among_seeds(rows: Rows) -> str:
    """How many of the paper's numbers lie within the seeds, and which do not."""
    known = [row for row in rows if not pd.isna(row["paper"]) and not pd.isna(row["verdict"])]
    outside = [x for x in known if not _within(x["verdict"])]
    named = [f"{STYLES['symbols'](x['claim'])} ({x['verdict']})" for x in outside]
    if not known:
        return ""
    about = f"{len(known) - len(outside)} of {len(known)} numbers of its text lie within our seeds."
    return f"{about} The others: {'; '.join(named)}." if named else about


def _within(text: str) -> bool:
    """Whether a verdict says that every seed agrees, or that the number is among them.

    >>> _within("within the seeds"), _within("holds in 9 of 10 seeds")
    (True, False)
    """
    return text.startswith("within") or bool(re.search(r"holds in (\d+) of \1 ", text))


def not_generalised(rows: Rows) -> str:
    """The runs of the grid that did not generalise."""
    names = ", ".join(row["run"] for row in rows)
    return f"Of the grid did not generalise: {names}." if rows else ""


def class_order(rows: Rows) -> str:
    """In how many pairs the composite class is the later one, over all moduli, by the measures that
    are not biased for it (`docs/dynamics.md`); beside the embedding's, what one rate gives."""
    total = [row for row in rows if pd.isna(row["n"])] or rows
    later = {x["measure"]: f"{x['agree']} of {x['pairs']}" for x in total if x["pairs"]}
    skill, r2, fve = (MEASURES[x] for x in ("epoch_skill", "epoch_r2", "epoch_fve_above"))
    pairs = [f"{later[x]} pairs by {x}" for x in (skill, r2, fve) if x in later]
    start = "A composite class comes after a class that it is said to be made of in"
    both = {fve, LINE} <= later.keys()
    end = f" ({later[LINE]} where all grows at one rate)" if both else ""
    return f"{start} {', '.join(pairs)}{end}." if pairs else ""


def both_kinds(rows: Rows) -> str:
    """What characters explain in both kinds of class, over the moduli that generalise."""
    above = {bool(row["regular"]): row["r2_above"] for row in rows if pd.isna(row["n"])}
    if len(above) < 2:
        return ""
    groups, others = (f"{percent(round(above[kind], 2))} %" for kind in (True, False))
    start = f"Above chance characters explain {groups} of the logits of classes that are groups"
    return f"{start}, {others} of those of others."
