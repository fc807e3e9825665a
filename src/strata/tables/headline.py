"""Compute the tables of one run as data frames, with the paper's numbers beside ours.

Nothing is rounded here: shares are fractions, what the paper does not print is missing, a
difference is ours − paper. Module `format` makes the frames readable.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from strata import monoid
from strata.arithmetic import factorint
from strata.measure.metrics import SPECTRUM, Metrics
from strata.params import Params
from strata.run import Run
from strata.tables.claims import COLUMNS, fractions, printed_for, text_claims
from strata.tables.printed import Printed
from strata.tables.table import CLASS, Column, N, Table


def run_in_caption(run: str) -> str:
    """Return the end of the caption of each table about the run of this name.

    >>> run_in_caption("mlp-n12-s1")
    '(n = 12, seed 1, mlp)'
    """
    return f"({Run.parse(run).caption})"


def tables(metrics: Metrics, printed: Printed, params: Params) -> tuple[Table, ...]:
    """Return every table of one run, whose metrics were computed with these parameters."""
    n, run = metrics.n, run_in_caption(metrics.run)
    fve = f"Share of the Fourier energy of each class’s embedding at its key frequencies {run}."
    fit = f"Share of the centred logit variance that key-frequency characters explain {run}."
    classes = f"Classes of {metrics.task or f'the integers modulo {n} under multiplication'}."
    if not all(c.regular for c in metrics.classes):
        classes += " One without idempotent is a torsor of its group, with generators mod n/d."
    listed = (
        Table("moduli", "Moduli and their factorisation.", moduli(n, printed.table_moduli), MODULI),
        Table("key-freqs", fve, key_freqs(metrics, printed), KEY_FREQS),
        Table("character-fit", fit, character_fit(metrics, printed), CHARACTER_FIT),
        Table("jclasses", classes, task_classes(metrics), JCLASSES),
        Table(
            "claims", f"Numbers in the text {run}.", text_claims(metrics, printed, params), COLUMNS
        ),
    )
    return tuple(replace(table, run=metrics.run) for table in listed)


MODULI = N | {
    "factors": Column("factorisation", "symbols", "l"),
    "omega": Column("ω(n)"),
    "square_free": Column("square-free", "truth", "l"),
}


def moduli(n: int, printed: Iterable[int]) -> pd.DataFrame:
    """Factorise n and the paper's moduli, and say which of them are square-free (Table 1).

    >>> moduli(12, [143]).to_numpy().tolist()
    [[12, '2^2 x 3', 2, False], [143, '11 x 13', 2, True]]
    """
    rows = []
    for modulus in sorted({n, *printed}):
        powers = factorint(modulus)
        factors = " x ".join(f"{p}^{k}" if k > 1 else str(p) for p, k in powers.items())
        rows.append((modulus, factors, len(powers), max(powers.values()) == 1))
    return pd.DataFrame(rows, columns=["n", "factors", "omega", "square_free"])


REGULAR = {"regular": Column("regular", "truth", "l")}
FVE = {name: Column(shown.heading, shown.unit) for name, shown in SPECTRUM.items()}
KEY_FREQS = CLASS | REGULAR | FVE | {
    "key": Column("key", "count"),
    "total": Column("total", "count"),
    "paper_key": Column("paper’s key", "count"),
    "key_difference": Column("key − paper’s", "count difference"),
    "paper_fve": Column("paper’s FVE", "share"),
    "fve_difference": Column("FVE − paper’s", "share difference"),
}  # fmt: skip


def key_freqs(metrics: Metrics, printed: Printed) -> pd.DataFrame:
    """Return key frequencies and their share of the energy, by class of more than one element
    (Table 2)."""
    names = ["d", "regular", "key", "total", *FVE]
    rows = [[getattr(c, x) for x in names] for c in metrics.classes if c.fve is not None]
    frame = _drop_if_all_regular(pd.DataFrame(rows, columns=names).astype({"enrichment": float}))
    if paper := printed_for(printed, metrics):
        theirs = [paper.table_key_frequencies.get(d) for d in frame["d"]]
        frame["paper_key"] = pd.array([p and p.key for p in theirs], dtype="Int64")
        frame["key_difference"] = frame["key"] - frame["paper_key"]
        frame["paper_fve"] = fractions(p and p.fve_percent for p in theirs)
        frame["fve_difference"] = frame["fve"] - frame["paper_fve"]
    return frame


R2 = {
    "r2": Column("R²", "share"),
    "r2_ceiling": Column("R², every frequency", "share"),
    "r2_all": Column("R², all prompts", "share"),
}
CHARACTER_FIT = CLASS | REGULAR | R2 | {
    "pair": Column("operands", "classes", "l"),
    "prompts": Column("prompts", "count"),
    "paper_r2": Column("paper’s R²", "share"),
    "r2_difference": Column("R² − paper’s", "share difference"),
    "r2_product": Column("R², product and candidate", "share"),
    "prompts_all": Column("all prompts", "count"),
}  # fmt: skip


def character_fit(metrics: Metrics, printed: Printed) -> pd.DataFrame:
    """Return R² of the character fit for one pair of operand classes, and for all prompts
    (Table 3)."""
    names = ["d", "regular", "pair", "prompts", "r2", "r2_ceiling", "r2_product", "prompts_all"]
    fits = [(c, c.character_fit) for c in metrics.classes if c.character_fit]
    rows = [
        (c.d, c.regular, " x ".join(map(str, fit.pair)), fit.prompts, fit.r2, fit.r2_ceiling,
         fit.r2_product, fit.prompts_all, fit.r2_all)
        for c, fit in fits
    ]  # fmt: skip
    frame = _drop_if_all_regular(pd.DataFrame(rows, columns=[*names, "r2_all"]))
    if paper := printed_for(printed, metrics):
        theirs = [(paper.table_character_fit.get(c.d), fit.pair) for c, fit in fits]
        # The paper's value is comparable only where the operands are the same classes.
        percents = [p.r2_percent if p and p.pairs == pair else None for p, pair in theirs]
        frame.insert(4, "paper_r2", fractions(percents))
        frame.insert(5, "r2_difference", frame["r2"] - frame["paper_r2"])
    return frame


JCLASSES = CLASS | REGULAR | {
    "size": Column("elements"),
    "idempotent": Column("idempotent", missing="none"),
    "m": Column("n/d"),
    "group": Column("group", "symbols", "l"),
    "generators": Column("generators", align="l"),
}  # fmt: skip


def jclasses(n: int) -> pd.DataFrame:
    """Return size, idempotent, group and generators of each class; without an idempotent, the
    generators are those of the group that acts on the class.

    >>> jclasses(12)["group"].tolist()
    ['Z2 x Z2', 'Z2', 'Z2', 'Z2', 'trivial', 'trivial']
    """
    rows = []
    for J in monoid.classes(n):
        generators = ", ".join(map(str, J.generators))
        rows.append((J.d, len(J), J.regular, J.idempotent, J.m, group(J.orders), generators))
    names = ["d", "size", "regular", "idempotent", "m", "group", "generators"]
    return pd.DataFrame(rows, columns=names).astype({"idempotent": "Int64"})


def group(orders: Iterable[int]) -> str:
    """Return a product of cyclic groups in symbols, such as Z2 x Z10."""
    return " x ".join(f"Z{q}" for q in orders if q > 1) or "trivial"


def task_classes(metrics: Metrics) -> pd.DataFrame:
    """Return the classes of the task that a run learnt. Metrics name no elements, so tasks other
    than the residues have neither idempotents nor generators."""
    if metrics.task is None:
        return jclasses(metrics.n)
    rows = [(c.d, c.size, c.regular, c.m, group(c.orders)) for c in metrics.classes]
    return pd.DataFrame(rows, columns=["d", "size", "regular", "m", "group"])


def class_claims(metrics: Metrics, printed: Printed) -> pd.DataFrame:
    """Return the numbers of Tables 2 and 3 with a row for each number of a class, in the form that
    `claims` has for those of the text."""
    spectra, fits = key_freqs(metrics, printed), character_fit(metrics, printed)
    measures = (
        (spectra, "key", "Table 2", "count", "key frequencies"),
        (spectra, "fve", "Table 2", "share", "energy at key frequencies"),
        (fits, "r2", "Table 3", "share", "R² of the character fit"),
    )
    frames = []
    for frame, name, where, unit, measure in measures:
        ids = {"id": [f"J{d}-{name}" for d in frame["d"]], "d": frame["d"], "measure": measure}
        claim = {"claim": [f"J{d}: {measure}" for d in frame["d"]], "where": where, "unit": unit}
        values = {"paper": frame.get(f"paper_{name}", np.nan), "ours": frame[name]}
        claims = pd.DataFrame({**ids, **claim, "relation": "=", **values})
        frames.append(claims.astype({"paper": float, "ours": float}))
    return pd.concat(frames, ignore_index=True)


def summary(metrics: Metrics) -> dict[str, Any]:
    """Return the few numbers that tell runs apart, without those that a run lacks."""
    accuracy, named = metrics.accuracy, {f"J{c.d}": c for c in metrics.classes}
    groups: dict[str, dict[str, float | None]] = {
        "accuracy": {
            "all": accuracy.all,
            "validation": accuracy.validation,
            "mirror_free": accuracy.mirror_free,
        },
        "first_099": metrics.first_099.model_dump(),
        "epoch_099": metrics.epoch_099.model_dump(),
        "fve": {name: c.fve for name, c in named.items()},
        "r2": {name: c.character_fit.r2 for name, c in named.items() if c.character_fit},
    }  # fmt: skip
    numbers: dict[str, Any] = {
        name: {k: x for k, x in group.items() if x is not None} for name, group in groups.items()
    }
    if metrics.pca:
        numbers["pca_components"] = metrics.pca.components
    if metrics.heads:
        numbers["ov_head0_components"] = metrics.heads[0].ov.components
    return numbers


def memorised_message(metrics: Metrics) -> str:
    """Return a line that says that a run has not generalised."""
    validation, free = metrics.accuracy.validation, metrics.accuracy.mirror_free
    text = f"{metrics.run} has not generalised: {validation:.2f} of the validation pairs"
    if free is None:
        return text
    return f"{text}, {free:.2f} of those without their mirror in training"


def _drop_if_all_regular(frame: pd.DataFrame) -> pd.DataFrame:
    """Remove the column that marks regular classes where all of them are regular."""
    return frame.drop(columns="regular") if np.all(frame["regular"]) else frame
