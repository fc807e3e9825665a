"""A table as text: with every digit in CSV, rounded for reading in Markdown and LaTeX (booktabs).

`shown` rounds and gives every column its heading, in Unicode; LaTeX respells that.
"""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from strata import store
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
    "n": Column("n", "text", missing="all"),
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
    "r2_uniform": Column("R², as many at random", "share"),
    "r2_ceiling": Column("R², every frequency", "share"),
    "components": Column("components", "count"),
    "components_random": Column("of random residues", "ratio"),
    "pca_ratio": Column("components / random", "share"),
    "classes": Column("classes", "count"),
    "mean_size": Column("elements, mean", "ratio"),
    "accuracy_target": Column("accuracy", "share"),
    "block": Column("block score", "share"),
    "block_shuffled": Column("block score, shuffled", "share"),
    "run": Column("run", "text", "l"),
    "architecture": Column("model", "text", "l"),
    "seed": Column("seed", "text"),
    "head": Column("head", "text"),
    "measure": Column("measure", "text", "l"),
    "runs": Column("runs", "count"),
    "of": Column("of", "count"),
    "mean": Column("mean", "unit"),
    "std": Column("std", "unit"),
    "low": Column("interval from", "unit"),
    "high": Column("to", "unit"),
    "min": Column("least", "unit"),
    "max": Column("largest", "unit"),
    "paper_mean": Column("paper’s mean", "unit"),
    "paper_std": Column("paper’s std", "unit"),
    "paper_min": Column("paper’s least", "unit"),
    "paper_max": Column("paper’s largest", "unit"),
    "epoch_train": Column("epoch, train", "count", missing="never"),
    "epoch_validation": Column("epoch, validation", "count", missing="never"),
    "epoch_mirror_free": Column("epoch, mirror-free", "count", missing="never"),
    "accuracy_all": Column("accuracy, all pairs", "share"),
    "accuracy_validation": Column("accuracy, validation", "share"),
    "finite": Column("weights finite", "truth", "l"),
    "verdict": Column("paper’s number", "text", "l"),
    "claim": Column("claim", "symbols", r"p{0.5\linewidth}"),
    "where": Column("where", "text", "l"),
    "paper": Column("paper", "unit"),
    "published": Column("published weights", "unit"),
    "published_difference": Column("published − paper’s", "unit difference"),
    "ours": Column("ours", "unit"),
    "difference": Column("ours − paper’s", "unit difference"),
    "section": Column("intervention", "text", "l"),
    "test": Column("criterion", "symbols", "l"),
    "value": Column("worst case", "share"),
    "against": Column("against", "share"),
    "held": Column("cases", "text"),
    "passed": Column("passes", "truth", "l"),
    "value_trained": Column("trained", "share"),
    "passed_trained": Column("trained passes", "truth", "l"),
    "value_memorised": Column("memorised", "share"),
    "passed_memorised": Column("memorised passes", "truth", "l"),
    "value_untrained": Column("untrained", "share"),
    "passed_untrained": Column("untrained passes", "truth", "l"),
    "passes": Column("pass", "count"),
    "site": Column("site", "text", "l"),
    "scope": Column("class", "symbols", "l"),
    "action": Column("action", "text", "l"),
    "dimension": Column("dimension", "count"),
    "axis": Column("axis", "text"),
    "skill": Column("skill", "share"),
    "loss": Column("loss", "loss"),
    "other_dimension": Column("other’s dimension", "count"),
    "other": Column("other characters", "symbols"),
    "random": Column("random subspace", "symbols"),
    "additive": Column("additive modes", "symbols"),
    "skill_inside": Column("its pairs", "share"),
    "random_inside": Column("its pairs, random", "share"),
    "skill_outside": Column("other pairs", "share"),
    "random_outside": Column("other pairs, random", "share"),
    "skill_own": Column("axis, own", "share"),
    "random_own": Column("axis, own, random", "share"),
    "skill_shared": Column("axis, shared", "share"),
    "random_shared": Column("axis, shared, random", "share"),
    "skill_spared": Column("no axis", "share"),
    "random_spared": Column("no axis, random", "share"),
    "swap": Column("swap", "text", "l"),
    "trials": Column("trials", "count"),
    "success": Column("predicted answer", "share"),
    "chance": Column("chance", "share"),
    "random_success": Column("random swap", "share"),
    "unchanged": Column("ab", "share"),
    "in_class": Column("predicted class", "share"),
    "change": Column("change", "text", "l"),
    "heads": Column("heads", "text", "l"),
    "rank": Column("rank", "count"),
    "accuracy": Column("accuracy", "share"),
    "class_accuracy": Column("class right", "share"),
    "modulo": Column("right modulo", "text", "l"),
    "made_of": Column("made of", "symbols", "l"),
    "epoch_fve": Column("FVE", "count", missing="never"),
    "epoch_fve_above": Column("FVE above uniform", "count"),
    "epoch_r2": Column("R²", "count", missing="never"),
    "epoch_accuracy": Column("accuracy", "count", missing="never"),
    "epoch_skill": Column("accuracy above chance", "count", missing="never"),
    "pairs": Column("pairs", "count"),
    "agree": Column("agree", "count"),
    "disagree": Column("disagree", "count"),
    "tie": Column("tie", "count"),
    "p_sign": Column("p, signs", "p"),
    "p_shuffle": Column("p, shuffled", "p"),
    "composites": Column("composites", "count"),
    "after_last": Column("after the last factor", "count"),
    "control_pairs": Column("control pairs", "count"),
    "control_agree": Column("agree, control", "count"),
    "control_disagree": Column("disagree, control", "count"),
    "moments": Column("moments", "count"),
    "course_machine": Column("course trained on", "text", "l"),
    "train_machine": Column("run trained on", "text", "l"),
    "identical": Column("same weights", "truth", "l"),
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
    "loss": lambda x: f"{x:.2g}",
    "p": lambda x: f"{x:.2g}",
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


WRITERS = {"csv": csv, "tex": latex, "md": markdown}  # by the suffix of the file


def write(tables: Iterable[Table], folder: Path | str) -> None:
    """Each table as NAME.csv, NAME.tex and NAME.md in the folder."""
    for table in tables:
        for suffix, text in WRITERS.items():
            store.write_text(Path(folder) / f"{table.name}.{suffix}", text(table))
