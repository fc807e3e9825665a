"""The tables of one run as data frames, ours beside the paper's.

Nothing is rounded here: shares are fractions, what the paper does not print is missing, a
difference is ours − paper. Module `format` makes the frames readable.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from sympy import factorint

from strata import monoid
from strata.measure.metrics import SPECTRUM, Metrics
from strata.params import Params
from strata.run import Run
from strata.tables.claims import COLUMNS, fractions, of_run, of_text
from strata.tables.printed import Printed
from strata.tables.table import CLASS, Column, N, Table


def about(run: str) -> str:
    """How the caption of a table ends that is about the run of this name.

    >>> about("mlp-n12-s1")
    '(n = 12, seed 1, mlp)'
    """
    return f"({Run.parse(run).caption})"


def tables(metrics: Metrics, printed: Printed, params: Params) -> tuple[Table, ...]:
    """Every table of one run, its metrics made with these parameters."""
    n, run = metrics.n, about(metrics.run)
    fve = f"Share of the Fourier energy of each class’s embedding at its key frequencies {run}."
    fit = f"Share of the centred logit variance that key-frequency characters explain {run}."
    classes = f"Classes of {metrics.task or f'the integers modulo {n} under multiplication'}."
    if not all(c.regular for c in metrics.classes):
        classes += " One without idempotent is a torsor of its group, with generators mod n/d."
    found = (
        Table("moduli", "Moduli and their factorisation.", moduli(n, printed.table_moduli), MODULI),
        Table("key-freqs", fve, key_freqs(metrics, printed), KEY_FREQS),
        Table("character-fit", fit, character_fit(metrics, printed), CHARACTER_FIT),
        Table("jclasses", classes, classes_of(metrics), JCLASSES),
        Table("claims", f"Numbers in the text {run}.", of_text(metrics, printed, params), COLUMNS),
    )
    return tuple(replace(table, run=metrics.run) for table in found)


MODULI = N | {
    "factors": Column("factorisation", "symbols", "l"),
    "omega": Column("ω(n)"),
    "square_free": Column("square-free", "truth", "l"),
}


def moduli(n: int, theirs: Iterable[int]) -> pd.DataFrame:
    """Factorisation, number of primes, square-freeness of n and of the paper's moduli (Table 1).

    >>> moduli(12, [143]).to_numpy().tolist()
    [[12, '2^2 x 3', 2, False], [143, '11 x 13', 2, True]]
    """
    rows = []
    for modulus in sorted({n, *theirs}):
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
    """Key frequencies and their share of the energy, classes of one element left out (Table 2)."""
    names = ["d", "regular", "key", "total", *FVE]
    rows = [[getattr(c, x) for x in names] for c in metrics.classes if c.fve is not None]
    frame = _marked(pd.DataFrame(rows, columns=names).astype({"enrichment": float}))
    if paper := of_run(printed, metrics):
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
    """R² of the character fit for one pair of operand classes, and for all prompts (Table 3)."""
    names = ["d", "regular", "pair", "prompts", "r2", "r2_ceiling", "r2_product", "prompts_all"]
    fits = [(c, c.character_fit) for c in metrics.classes if c.character_fit]
    rows = [
        (c.d, c.regular, " x ".join(map(str, fit.pair)), fit.prompts, fit.r2, fit.r2_ceiling,
         fit.r2_product, fit.prompts_all, fit.r2_all)
        for c, fit in fits
    ]  # fmt: skip
    frame = _marked(pd.DataFrame(rows, columns=[*names, "r2_all"]))
    if paper := of_run(printed, metrics):
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
    """Size, idempotent, group and generators of each class; without idempotent, those acting on it.

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
    """A product of cyclic groups in symbols."""
    return " x ".join(f"Z{q}" for q in orders if q > 1) or "trivial"


def classes_of(metrics: Metrics) -> pd.DataFrame:
    """The classes of what a run learnt; of another task than all residues without idempotents and
    generators, as metrics name no elements."""
    if metrics.task is None:
        return jclasses(metrics.n)
    rows = [(c.d, c.size, c.regular, c.m, group(c.orders)) for c in metrics.classes]
    return pd.DataFrame(rows, columns=["d", "size", "regular", "m", "group"])


def class_claims(metrics: Metrics, printed: Printed) -> pd.DataFrame:
    """The numbers of Tables 2 and 3, one row for each class, as `claims` has those of the text."""
    spectra, fits = key_freqs(metrics, printed), character_fit(metrics, printed)
    shown = (
        (spectra, "key", "Table 2", "count", "key frequencies"),
        (spectra, "fve", "Table 2", "share", "energy at key frequencies"),
        (fits, "r2", "Table 3", "share", "R² of the character fit"),
    )
    found = []
    for frame, name, where, unit, what in shown:
        ids = {"id": [f"J{d}-{name}" for d in frame["d"]], "d": frame["d"], "measure": what}
        about = {"claim": [f"J{d}: {what}" for d in frame["d"]], "where": where, "unit": unit}
        values = {"paper": frame.get(f"paper_{name}", np.nan), "ours": frame[name]}
        own = pd.DataFrame({**ids, **about, "relation": "=", **values})
        found.append(own.astype({"paper": float, "ours": float}))
    return pd.concat(found, ignore_index=True)


def summary(metrics: Metrics) -> dict[str, Any]:
    """The few numbers that tell runs apart; what a run lacks is left out."""
    shown, named = metrics.accuracy, {f"J{c.d}": c for c in metrics.classes}
    groups: dict[str, dict[str, float | None]] = {
        "accuracy": {
            "all": shown.all, "validation": shown.validation, "mirror_free": shown.mirror_free
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


def memorised(metrics: Metrics) -> str:
    """That a run has not generalised, in a line."""
    validation, free = metrics.accuracy.validation, metrics.accuracy.mirror_free
    alone = "" if free is None else f", {free:.2f} of those without their mirror in training"
    return f"{metrics.run} has not generalised: {validation:.2f} of the validation pairs{alone}"


def _marked(frame: pd.DataFrame) -> pd.DataFrame:
    """Regular classes are marked where not all of them are."""
    return frame.drop(columns="regular") if np.all(frame["regular"]) else frame
