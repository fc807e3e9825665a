"""A table as text: as it is in CSV, rounded for reading in Markdown and LaTeX (booktabs).

`shown` rounds and gives every column its heading, in Unicode; LaTeX respells that.
"""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from strata import store
from strata.tables.claims import BOUNDS
from strata.tables.column import Column
from strata.tables.columns import column
from strata.tables.headline import Table

SUBSCRIPT = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
ONE_COLUMN = 60  # characters
DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789" * 2)


def _share(x: float) -> str:
    """A percentage with one decimal that says 0 % and 100 % only of 0 and 1 themselves."""
    if 0 < x < 0.0005:
        return "< 0.1 %"
    if -0.0005 < x < 0:
        return "> −0.1 %"
    return "> 99.9 %" if 0.9995 <= x < 1 else f"{100 * x:.1f} %".replace("-", "−")


def _count(x: float | int) -> str:
    """A whole number; a mean of small counts keeps one decimal."""
    return f"{x:,.0f}" if abs(x) >= 100 or x == round(x) else f"{x:.1f}"


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
    "count": _count,
    "count difference": lambda x: _signed(f"{x:+,.0f}"),
    "share": _share,
    "share difference": lambda x: _signed(f"{100 * x:+.1f}"),
    "ratio": lambda x: f"{x:.1f}",
    "index": lambda x: f"{round(x, 2) + 0:.2f}".replace("-", "−"),
    "loss": lambda x: f"{x:.2g}",
    "p": lambda x: f"{x:.2g}",
}
WORDS = {"text", "symbols", "class", "classes", "truth"}


def shown(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame as read: headings for names, rounded values, differences of shares in points."""
    records = frame.to_dict("records")
    cells = {x.heading: [_cell(r, name, x) for r in records] for name, x in read(frame).items()}
    return pd.DataFrame(cells, dtype=str)


def read(frame: pd.DataFrame) -> dict[str, Column]:
    """The columns of the frame that a reader sees, by name."""
    known = {str(name): column(str(name)) for name in frame}
    return {name: x for name, x in known.items() if x}


def _cell(record: dict[Any, Any], name: str, shape: Column) -> str:
    value = record[name]
    if pd.isna(value) or value == "":
        return "—" if shape.impossible(record) else shape.missing
    style = shape.style.replace("unit", record.get("unit", ""))
    # A column with words in some of its rows comes back from its CSV as text.
    text = STYLES[style](float(value) if isinstance(value, str) and style not in WORDS else value)
    bound = name == "paper" and record["relation"] in BOUNDS
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
    return [x.align for x in read(frame).values()]


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


WRITERS = {"csv": csv, "tex": latex, "md": markdown}  # by the suffix of the file


def write(tables: Iterable[Table], folder: Path | str) -> None:
    """Each table as NAME.csv, NAME.tex and NAME.md in the folder."""
    for table in tables:
        for suffix, text in WRITERS.items():
            store.write_text(Path(folder) / f"{table.name}.{suffix}", text(table))
