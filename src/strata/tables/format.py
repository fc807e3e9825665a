"""A table as text: as it is in CSV, rounded for reading in Markdown, LaTeX (booktabs) and JSON.

`shown` rounds and gives every column its heading, in Unicode; LaTeX respells that.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from strata import store
from strata.tables.table import ID, Column, Record, Table

SUBSCRIPT = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
ONE_COLUMN = 60  # characters
DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789" * 2)


def share(fraction: float) -> str:
    """A percentage with one decimal that says 0 % and 100 % only of 0 and 1 themselves.

    >>> [share(x) for x in (0.9749, 0.99996, 1.0, 0.0001, 0.0, -0.0001, -0.012)]
    ['97.5 %', '> 99.9 %', '100.0 %', '< 0.1 %', '0.0 %', '> −0.1 %', '−1.2 %']
    """
    if 0 < fraction < 0.0005:
        return "< 0.1 %"
    if -0.0005 < fraction < 0:
        return "> −0.1 %"
    return "> 99.9 %" if 0.9995 <= fraction < 1 else f"{100 * fraction:.1f} %".replace("-", "−")


def percent(x: float) -> str:
    """A share as a percentage in its shortest form, without the sign.

    >>> percent(0.95), percent(0.975)
    ('95', '97.5')
    """
    return f"{100 * x:.6g}"


def count(x: float | int) -> str:
    """A whole number; a mean of small counts keeps one decimal.

    >>> [count(x) for x in (8, 8.0, 7.6, 99.96, 5278.4)]
    ['8', '8', '7.6', '100.0', '5,278']
    """
    return f"{x:,.0f}" if abs(x) >= 100 or x == round(x) else f"{x:.1f}"


def signed(x: float | int, digits: int = 1) -> str:
    """A difference; one that rounds to nothing has no sign.

    >>> signed(-0.25, 2), signed(3.14), signed(-0.04)
    ('−0.25', '+3.1', '0.0')
    """
    text = f"{x:+,.{digits}f}"
    return text.replace("-", "−") if text.strip("+-.0") else text[1:]


def symbols(text: str) -> str:
    """J and Z with their index, powers, and the product sign."""
    text = re.sub(
        r"\b([JZ])(\d+)", lambda m: m[1].replace("Z", "ℤ") + m[2].translate(SUBSCRIPT), text
    )
    text = re.sub(r"\^(\d+)", lambda m: m[1].translate(SUPERSCRIPT), text)
    return text.replace(" x ", " × ")


STYLES: dict[str, Callable[[Any], str]] = {
    "text": str,
    "symbols": symbols,
    "class": lambda d: symbols(f"J{d}"),
    "classes": lambda pair: symbols(re.sub(r"(\d+)", r"J\1", pair)),
    "truth": lambda x: "yes" if x else "no",
    "count": count,
    "count difference": lambda x: signed(x, 0),
    "share": share,
    "share difference": lambda x: signed(100 * x),
    "ratio": lambda x: f"{x:.1f}",
    "index": lambda x: f"{round(x, 2) + 0:.2f}".replace("-", "−"),
    "loss": lambda x: f"{x:.2g}",
    "p": lambda x: f"{x:.2g}",
}


def shown(table: Table) -> pd.DataFrame:
    """The frame as read: headings for names, rounded values, differences of shares in points."""
    rows = table.frame.to_dict("records")
    cells = {x.heading: [cell(row, name, x) for row in rows] for name, x in read(table).items()}
    found = pd.DataFrame(cells, dtype=str)
    if table.across is None or found.empty:
        return found
    heads, under = (table.columns[name].heading for name in table.across)
    rest = [name for name in found if name not in (heads, under)]
    wide = found.pivot_table(under, rest, heads, "first", fill_value="—", sort=False)
    return wide.reset_index().rename_axis(columns=None)


def read(table: Table) -> dict[str, Column]:
    """The columns that a reader sees, by name, in the order of the frame."""
    return {str(x): table.columns[str(x)] for x in table.frame if x in table.columns}


def cell(row: Record, name: str, column: Column) -> str:
    """One cell as read."""
    value = row[name]
    if pd.isna(value) or value == "":
        return "—" if column.impossible(row) else column.missing
    if callable(column.style):
        return column.style(row)
    return STYLES[column.style.replace("unit", row.get("unit", ""))](value)


def csv(table: Table) -> str:
    """The exact frame."""
    return table.frame.to_csv(index=False, lineterminator="\n")


def caption(table: Table) -> str:
    """The caption; where the table has no row, it says so."""
    return table.caption if len(table.frame) else f"{table.caption} Nothing of this kind here."


def alignment(table: Table) -> list[str]:
    """Of each column as it is shown."""
    known = {column.heading: column.align for column in read(table).values()}
    under = table.columns[table.across[1]].align if table.across else "r"
    return [known.get(heading, under) for heading in shown(table)]


def markdown(table: Table) -> str:
    """The rounded frame as a GitHub table under its caption, with ids, by which pages name rows."""
    table = replace(table, columns={**ID, **table.columns})
    sides = ["right" if a == "r" else "left" for a in alignment(table)]
    body = shown(table).to_markdown(index=False, colalign=sides, disable_numparse=True)
    return f"{caption(table)}\n\n{body}\n"


def latex(table: Table) -> str:
    """The rounded frame with booktabs rules; across both columns where wide. Its label has the run,
    so tables of two fit one document."""
    rows = _rows(table)
    width = sum(max(map(len, column)) for column in zip(*rows, strict=True))
    environment = "table*" if width > ONE_COLUMN else "table"
    label = f"{table.run}-{table.name}".removeprefix("-")
    return (
        rf"\begin{{{environment}}}[t]" + "\n"
        rf"\centering\small\caption{{{_tex(caption(table))}}}\label{{tab:{label}}}" + "\n"
        rf"{tabular(table)}\end{{{environment}}}" + "\n"
    )


def tabular(table: Table) -> str:
    """Its body alone, for an environment of one's own."""
    head, *body = (" & ".join(map(_tex, row)) + r" \\" for row in _rows(table))
    lines = [
        rf"\begin{{tabular}}{{{''.join(alignment(table))}}}",
        *(r"\toprule", head, r"\midrule", *body, r"\bottomrule"),
        *(r"\end{tabular}", ""),
    ]
    return "\n".join(lines)


def _rows(table: Table) -> list[list[str]]:
    frame = shown(table)
    return [frame.columns.tolist(), *frame.to_numpy().tolist()]


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
MATH = {
    "−": "-",
    "×": r"\times",
    "≥": r"\geq",
    "·": r"\cdot",
    "<": "<",
    ">": ">",
}


def _tex(text: str) -> str:
    """Unicode text respelt in LaTeX.

    >>> print(_tex("J₁₅ × ℤ₂: 6/π², 5 % of Δ"))
    $J_{15}$ $\\times$ $\\mathbb{Z}_{2}$: 6/$\\pi$$^{2}$, 5 \\% of $\\Delta$
    """
    text = "".join(TEX.get(c) or (f"${MATH[c]}$" if c in MATH else c) for c in text)
    text = re.sub("[Α-ω]", lambda m: f"${_greek(m[0])}$", text)
    text = re.sub("([Jℤ])([₀-₉]+)", lambda m: f"${m[1]}_{{{m[2].translate(DIGITS)}}}$", text)
    text = re.sub("[⁰¹²³⁴-⁹]+", lambda m: f"$^{{{m[0].translate(DIGITS)}}}$", text)
    return text.replace("ℤ", r"\mathbb{Z}")


def _greek(letter: str) -> str:
    _, kind, _, name = unicodedata.name(letter).split()
    return "\\" + (name.title() if kind == "CAPITAL" else name.lower())


def as_read(table: Table) -> dict[str, Any]:
    """What a page shows of a table: its caption, headings and alignment, the rounded cells row by
    row; and where each named column stands, by its name in the CSV file."""
    frame = shown(table)
    places = {column.heading: name for name, column in read(table).items()}
    return {
        "caption": caption(table),
        "headings": list(frame),
        "names": [places.get(heading) for heading in frame],
        "align": ["r" if x == "r" else "l" for x in alignment(table)],
        "rows": frame.to_numpy().tolist(),
    }


def write(tables: Iterable[Table], folder: Path | str) -> None:
    """Each table as NAME.csv, NAME.md, NAME.tex, NAME-body.tex, the tabular alone, and as a page
    shows it in NAME.json."""
    forms = {".csv": csv, ".md": markdown, ".tex": latex, "-body.tex": tabular}
    for table in tables:
        for suffix, text in forms.items():
            store.write_text(Path(folder, table.name + suffix), text(table))
        store.write_json(Path(folder, f"{table.name}.json"), as_read(table), indent=None)
