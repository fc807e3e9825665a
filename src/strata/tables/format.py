"""Write a table as text: exact in CSV, rounded for reading in Markdown, LaTeX (booktabs) and JSON.

`shown` rounds the values and gives every column its heading, in Unicode; LaTeX respells both.
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
    """Return a percentage with one decimal; only 0 and 1 themselves become 0 % and 100 %.

    >>> [share(x) for x in (0.9749, 0.99996, 1.0, 0.0001, 0.0, -0.0001, -0.012)]
    ['97.5 %', '> 99.9 %', '100.0 %', '< 0.1 %', '0.0 %', '> −0.1 %', '−1.2 %']
    """
    if 0 < fraction < 0.0005:
        return "< 0.1 %"
    if -0.0005 < fraction < 0:
        return "> −0.1 %"
    return "> 99.9 %" if 0.9995 <= fraction < 1 else f"{100 * fraction:.1f} %".replace("-", "−")


def percent(x: float) -> str:
    """Return a share as a percentage in its shortest form, without the sign.

    >>> percent(0.95), percent(0.975)
    ('95', '97.5')
    """
    return f"{100 * x:.6g}"


def count(x: float | int) -> str:
    """Return a whole number as text; a mean of small counts keeps one decimal.

    >>> [count(x) for x in (8, 8.0, 7.6, 99.96, 5278.4)]
    ['8', '8', '7.6', '100.0', '5,278']
    """
    return f"{x:,.0f}" if abs(x) >= 100 or x == round(x) else f"{x:.1f}"


def signed(x: float | int, digits: int = 1) -> str:
    """Return a difference with its sign; one that rounds to nothing has none.

    >>> signed(-0.25, 2), signed(3.14), signed(-0.04)
    ('−0.25', '+3.1', '0.0')
    """
    text = f"{x:+,.{digits}f}"
    return text.replace("-", "−") if text.strip("+-.0") else text[1:]


def symbols(text: str) -> str:
    """Replace J and Z with an index, powers, and the product sign by their symbols in Unicode."""
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


def rounded(table: Table) -> pd.DataFrame:
    """Return the frame for a reader: headings for names, values rounded, and differences of shares
    in percentage points."""
    rows = table.frame.to_dict("records")
    cells = {
        x.heading: [cell(row, name, x) for row in rows]
        for name, x in visible_columns(table).items()
    }
    readable = pd.DataFrame(cells, dtype=str)
    if table.across is None or readable.empty:
        return readable
    headings, body = (table.columns[name].heading for name in table.across)
    index_columns = [name for name in readable if name not in (headings, body)]
    wide = readable.pivot_table(body, index_columns, headings, "first", fill_value="—", sort=False)
    return wide.reset_index().rename_axis(columns=None)


def visible_columns(table: Table) -> dict[str, Column]:
    """Return the columns that a reader sees, by name, in the order of the frame."""
    return {str(x): table.columns[str(x)] for x in table.frame if x in table.columns}


def cell(row: Record, name: str, column: Column) -> str:
    """Return one cell for a reader, in the style of its column."""
    value = row[name]
    if pd.isna(value) or value == "":
        return "—" if column.impossible(row) else column.missing
    if callable(column.style):
        return column.style(row)
    return STYLES[column.style.replace("unit", row.get("unit", ""))](value)


def csv(table: Table) -> str:
    """Return the exact frame as CSV."""
    return table.frame.to_csv(index=False, lineterminator="\n")


def caption(table: Table) -> str:
    """Return the caption, which says so where the table has no row."""
    return table.caption if len(table.frame) else f"{table.caption} Nothing of this kind here."


def alignment(table: Table) -> list[str]:
    """Return the alignment of each column that a reader sees, ``l``, ``r`` or one of LaTeX."""
    sides = {column.heading: column.align for column in visible_columns(table).values()}
    spread = table.columns[table.across[1]].align if table.across else "r"
    return [sides.get(heading, spread) for heading in rounded(table)]


def markdown(table: Table) -> str:
    """Return the rounded frame as a GitHub table under its caption. It has the column of ids, by
    which pages name rows."""
    table = replace(table, columns={**ID, **table.columns})
    sides = ["right" if a == "r" else "left" for a in alignment(table)]
    cells = rounded(table).map(lambda x: x.replace("|", "∣"))  # a bar would end the cell
    body = cells.to_markdown(index=False, colalign=sides, disable_numparse=True)
    return f"{caption(table)}\n\n{body}\n"


def latex(table: Table) -> str:
    """Return the rounded frame as a LaTeX table with booktabs rules, which is as wide as the page
    where it needs that. Its label names the run, so tables of two runs fit one document."""
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
    """Return the LaTeX tabular alone, for an environment that the reader writes."""
    head, *body = (" & ".join(map(_tex, row)) + r" \\" for row in _rows(table))
    lines = [
        rf"\begin{{tabular}}{{{''.join(alignment(table))}}}",
        *(r"\toprule", head, r"\midrule", *body, r"\bottomrule"),
        *(r"\end{tabular}", ""),
    ]
    return "\n".join(lines)


def _rows(table: Table) -> list[list[str]]:
    frame = rounded(table)
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
    """Translate Unicode text into LaTeX.

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


def for_page(table: Table) -> dict[str, Any]:
    """Return what a page shows of a table: its caption, headings and alignment, and the rounded
    cells row by row. ``names`` has the name of each column in the CSV file."""
    frame = rounded(table)
    names = {column.heading: name for name, column in visible_columns(table).items()}
    return {
        "caption": caption(table),
        "headings": list(frame),
        "names": [names.get(heading) for heading in frame],
        "align": ["r" if x == "r" else "l" for x in alignment(table)],
        "rows": frame.to_numpy().tolist(),
    }


def write(tables: Iterable[Table], folder: Path | str) -> None:
    """Write each table as NAME.csv, NAME.md and NAME.tex, its tabular alone as NAME-body.tex, and
    what a page shows of it as NAME.json."""
    forms = {".csv": csv, ".md": markdown, ".tex": latex, "-body.tex": tabular}
    for table in tables:
        for suffix, text in forms.items():
            store.write_text(Path(folder, table.name + suffix), text(table))
        store.write_json(Path(folder, f"{table.name}.json"), for_page(table), indent=None)
