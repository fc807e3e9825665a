"""A table as text: with every digit in CSV, rounded for reading in Markdown and LaTeX (booktabs).

`shown` rounds and gives every column its heading, in Unicode; LaTeX respells that.
"""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import pandas as pd

from strata.tables import Table

SUBSCRIPT = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
ONE_COLUMN = 60  # characters
DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789" * 2)


class Column(NamedTuple):
    """How a column of a frame is shown."""

    heading: str
    style: str
    align: str = "r"
    missing: str = "—"


# Every column a reader sees. `unit` and `relation` of a claim say how its other cells are written.
COLUMNS = {
    "n": Column("n", "text"),
    "factors": Column("factorisation", "symbols", "l"),
    "omega": Column("ω(n)", "text"),
    "square_free": Column("square-free", "truth", "l"),
    "d": Column("class", "class", "l"),
    "size": Column("elements", "text"),
    "regular": Column("regular", "truth", "l"),
    "idempotent": Column("idempotent", "text", missing="none"),
    "m": Column("n/d", "text"),
    "group": Column("group", "symbols", "l"),
    "generators": Column("generators", "text", "l"),
    "key": Column("key", "count"),
    "total": Column("total", "count"),
    "fve": Column("FVE", "share"),
    "fve_uniform": Column("uniform", "share"),
    "enrichment": Column("enrichment", "ratio"),
    "atomic_share": Column("atomic", "share"),
    "atomic_uniform": Column("atomic, uniform", "share"),
    "paper_key": Column("paper’s key", "count"),
    "key_difference": Column("key − paper’s", "count difference"),
    "paper_fve": Column("paper’s FVE", "share"),
    "fve_difference": Column("FVE − paper’s", "share difference"),
    "pair": Column("operands", "classes", "l"),
    "prompts": Column("prompts", "count"),
    "r2": Column("R²", "share"),
    "paper_r2": Column("paper’s R²", "share"),
    "r2_difference": Column("R² − paper’s", "share difference"),
    "prompts_all": Column("all prompts", "count"),
    "r2_all": Column("R², all prompts", "share"),
    "claim": Column("claim", "symbols", r"p{0.5\linewidth}"),
    "where": Column("where", "text", "l"),
    "paper": Column("paper", "unit"),
    "published": Column("published weights", "unit"),
    "published_difference": Column("published − paper’s", "unit difference"),
    "ours": Column("ours", "unit"),
    "difference": Column("ours − paper’s", "unit difference"),
}


def _share(x: float) -> str:
    """A percentage with one decimal that says 0 % and 100 % only of 0 and 1 themselves."""
    if 0 < x < 0.0005:
        return "< 0.1 %"
    return "> 99.9 %" if 0.9995 <= x < 1 else f"{100 * x:.1f} %".replace("-", "−")


def _signed(text: str) -> str:
    zero = not text.strip("+-.0")
    return text[1:] if zero else text.replace("-", "−")


def _symbols(text: str) -> str:
    """J and Z with their index, powers, and the product sign."""
    text = re.sub(
        r"\b([JZ])(\d+)", lambda m: m[1].replace("Z", "ℤ") + m[2].translate(SUBSCRIPT), text
    )
    text = re.sub(r"\^(\d+)", lambda m: m[1].translate(SUPERSCRIPT), text)
    return text.replace(" x ", " × ")


STYLES: dict[str, Callable[[Any], str]] = {
    "text": str,
    "symbols": _symbols,
    "class": lambda d: _symbols(f"J{d}"),
    "classes": lambda pair: _symbols(re.sub(r"(\d+)", r"J\1", pair)),
    "truth": lambda x: "yes" if x else "no",
    "count": lambda x: f"{x:,.0f}",
    "count difference": lambda x: _signed(f"{x:+,.0f}"),
    "share": _share,
    "share difference": lambda x: _signed(f"{100 * x:+.1f}"),
    "ratio": lambda x: f"{x:.1f}",
}


def shown(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame as read: headings for names, rounded values, differences of shares in points."""
    records = frame.to_dict("records")
    names = [name for name in frame if name in COLUMNS]
    columns = {COLUMNS[name].heading: [_cell(r, name) for r in records] for name in names}
    return pd.DataFrame(columns, dtype=str)


def _cell(record: dict[Any, Any], name: str) -> str:
    value, column = record[name], COLUMNS[name]
    if pd.isna(value) or value == "":
        return column.missing
    text = STYLES[column.style.replace("unit", record.get("unit", ""))](value)
    bound = name == "paper" and record["relation"] in ("<", ">")
    return f"{record['relation']} {text}" if bound else text


def csv(table: Table) -> str:
    """The exact frame."""
    return table.frame.to_csv(index=False, lineterminator="\n")


def caption(table: Table) -> str:
    """The caption; where the table has no row, it says so."""
    return table.caption if len(table.frame) else f"{table.caption} Nothing of this kind here."


def markdown(table: Table) -> str:
    """The rounded frame as a GitHub table under its caption."""
    sides = ["right" if a == "r" else "left" for a in _alignment(table.frame)]
    body = shown(table.frame).to_markdown(index=False, colalign=sides, disable_numparse=True)
    return f"{caption(table)}\n\n{body}\n"


def latex(table: Table) -> str:
    """The rounded frame with booktabs rules, labelled tab:NAME; across both columns where wide."""
    frame = shown(table.frame)
    rows = [frame.columns.tolist(), *frame.to_numpy().tolist()]
    width = sum(max(map(len, column)) for column in zip(*rows, strict=True))
    environment = "table*" if width > ONE_COLUMN else "table"
    head, *body = (" & ".join(map(_tex, row)) + r" \\" for row in rows)
    lines = [
        rf"\begin{{{environment}}}[t]",
        rf"\centering\small\caption{{{_tex(caption(table))}}}\label{{tab:{table.name}}}",
        rf"\begin{{tabular}}{{{''.join(_alignment(table.frame))}}}",
        *(r"\toprule", head, r"\midrule", *body, r"\bottomrule"),
        *(r"\end{tabular}", rf"\end{{{environment}}}", ""),
    ]
    return "\n".join(lines)


def _alignment(frame: pd.DataFrame) -> list[str]:
    return [COLUMNS[name].align for name in frame if name in COLUMNS]


TEX = {
    "%": r"\%",
    "&": r"\&",
    "_": r"\_",
    "#": r"\#",
    "‘": "`",
    "’": "'",
    "—": "---",
    "…": r"\dots{}",
}
MATH = {"−": "-", "×": r"\times", "ω": r"\omega", "π": r"\pi", "≥": r"\geq", "<": "<", ">": ">"}


def _tex(text: str) -> str:
    """Unicode text respelt in LaTeX.

    >>> print(_tex("J₁₅ × ℤ₂: 6/π², 5 %"))
    $J_{15}$ $\\times$ $\\mathbb{Z}_{2}$: 6/$\\pi$$^{2}$, 5 \\%
    """
    text = "".join(TEX.get(c) or (f"${MATH[c]}$" if c in MATH else c) for c in text)
    text = re.sub("([Jℤ])([₀-₉]+)", lambda m: f"${m[1]}_{{{m[2].translate(DIGITS)}}}$", text)
    text = re.sub("[⁰¹²³⁴-⁹]+", lambda m: f"$^{{{m[0].translate(DIGITS)}}}$", text)
    return text.replace("ℤ", r"\mathbb{Z}")
