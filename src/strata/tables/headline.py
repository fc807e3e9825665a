"""The tables of one run as data frames, ours beside the paper's.

`metrics` is the metrics file of a run, `printed` paper/printed_values.json. Nothing is rounded
here: shares are fractions, what the paper does not print is missing, a difference is ours − paper.
Module `typeset` makes the frames readable.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sympy import factorint

from strata import monoid
from strata.params import Params
from strata.tables.claims import fractions, of_run, of_text

Json = dict[str, Any]


@dataclass(frozen=True)
class Table:
    """A frame with the name of its file and its caption."""

    name: str
    caption: str
    frame: pd.DataFrame


def tables(metrics: Json, printed: Json, params: Params) -> tuple[Table, ...]:
    """Every table of one run, its metrics made with these parameters."""
    n, run = metrics["n"], f"(n = {metrics['n']}, seed {metrics['seed']})"
    fve = f"Share of the Fourier energy of each class’s embedding at its key frequencies {run}."
    fit = f"Share of the centred logit variance that key-frequency characters explain {run}."
    classes = f"Classes of the integers modulo {n} under multiplication."
    if not all(J.regular for J in monoid.classes(n)):
        classes += " One without idempotent is a torsor of its group, with generators mod n/d."
    return (
        Table("moduli", "Moduli and their factorisation.", moduli(n, printed)),
        Table("key-freqs", fve, key_freqs(metrics, printed)),
        Table("character-fit", fit, character_fit(metrics, printed)),
        Table("jclasses", classes, jclasses(n)),
        Table("claims", f"Numbers in the text {run}.", of_text(metrics, printed, params)),
    )


def moduli(n: int, printed: Json) -> pd.DataFrame:
    """Factorisation, number of primes, square-freeness of n and of the paper's moduli (Table 1).

    >>> moduli(12, {"table_moduli": {"143": {}}}).to_numpy().tolist()
    [[12, '2^2 x 3', 2, False], [143, '11 x 13', 2, True]]
    """
    rows = []
    for modulus in sorted({n, *map(int, printed["table_moduli"])}):
        powers = factorint(modulus)
        factors = " x ".join(f"{p}^{k}" if k > 1 else str(p) for p, k in powers.items())
        rows.append((modulus, factors, len(powers), max(powers.values()) == 1))
    return pd.DataFrame(rows, columns=["n", "factors", "omega", "square_free"])


def key_freqs(metrics: Json, printed: Json) -> pd.DataFrame:
    """Key frequencies and their share of the energy, classes of one element left out (Table 2)."""
    names = ["d", "regular", "key", "total", "fve", "fve_uniform", "enrichment"]
    names += ["atomic_share", "atomic_uniform"]
    rows = [[c[name] for name in names] for c in metrics["classes"] if c["fve"] is not None]
    frame = _marked(pd.DataFrame(rows, columns=names).astype({"enrichment": float}))
    if paper := of_run(printed, "table_key_frequencies", metrics):
        theirs = [paper.get(str(d), {}) for d in frame["d"]]
        frame["paper_key"] = pd.array([p.get("key") for p in theirs], dtype="Int64")
        frame["key_difference"] = frame["key"] - frame["paper_key"]
        frame["paper_fve"] = fractions(p.get("fve_percent") for p in theirs)
        frame["fve_difference"] = frame["fve"] - frame["paper_fve"]
    return frame


def character_fit(metrics: Json, printed: Json) -> pd.DataFrame:
    """R² of the character fit for one pair of operand classes, and for all prompts (Table 3)."""
    names = ["prompts", "r2", "r2_ceiling", "r2_product", "prompts_all", "r2_all"]
    fits = [((c["d"], c["regular"]), c["readout"]) for c in metrics["classes"] if c["readout"]]
    rows = [(*c, " x ".join(map(str, fit["pair"])), *(fit[k] for k in names)) for c, fit in fits]
    frame = _marked(pd.DataFrame(rows, columns=["d", "regular", "pair", *names]))
    if paper := of_run(printed, "table_character_fit", metrics):
        theirs = [paper.get(str(d), {}) for (d, _), _ in fits]
        # The paper's value is comparable only where the operands are the same classes.
        percent = [
            p.get("r2_percent") if p.get("pairs") == list(fit["pair"]) else None
            for p, (_, fit) in zip(theirs, fits, strict=True)
        ]
        frame.insert(4, "paper_r2", fractions(percent))
        frame.insert(5, "r2_difference", frame["r2"] - frame["paper_r2"])
    return frame


def jclasses(n: int) -> pd.DataFrame:
    """Size, idempotent, group and generators of each class; without idempotent, those acting on it.

    >>> jclasses(12)["group"].tolist()
    ['Z2 x Z2', 'Z2', 'Z2', 'Z2', 'trivial', 'trivial']
    """
    rows = []
    for J in monoid.classes(n):
        group = " x ".join(f"Z{q}" for q in J.orders if q > 1) or "trivial"
        generators = ", ".join(map(str, J.generators))
        rows.append((J.d, len(J), J.regular, J.idempotent, J.m, group, generators))
    names = ["d", "size", "regular", "idempotent", "m", "group", "generators"]
    return pd.DataFrame(rows, columns=names).astype({"idempotent": "Int64"})


def class_claims(metrics: Json, printed: Json) -> pd.DataFrame:
    """The numbers of Tables 2 and 3, one row for each class, as `claims` has those of the text."""
    spectra, fits = key_freqs(metrics, printed), character_fit(metrics, printed)
    shown = (
        (spectra, "key", "Table 2", "count", "key frequencies"),
        (spectra, "fve", "Table 2", "share", "energy at key frequencies"),
        (fits, "r2", "Table 3", "share", "R² of the character fit"),
    )
    found = []
    for frame, name, where, unit, what in shown:
        about = {"where": where, "unit": unit, "relation": "="}
        values = {"paper": frame.get(f"paper_{name}", np.nan), "ours": frame[name]}
        own = pd.DataFrame({"claim": [f"J{d}: {what}" for d in frame["d"]], **about, **values})
        found.append(own.astype({"paper": float, "ours": float}))
    return pd.concat(found, ignore_index=True)


def summary(metrics: Json) -> Json:
    """The few numbers that tell runs apart; what a run lacks is left out."""
    named = {f"J{c['d']}": c for c in metrics["classes"]}
    groups = {
        "accuracy": {k: metrics["accuracy"][k] for k in ("all", "validation", "mirror_free")},
        "first_099": metrics["first_099"],
        "epoch_099": metrics["epoch_099"],
        "fve": {name: c["fve"] for name, c in named.items()},
        "r2": {name: c["readout"]["r2"] for name, c in named.items() if c["readout"]},
    }
    numbers: Json = {k: {i: x for i, x in v.items() if x is not None} for k, v in groups.items()}
    if metrics["pca"]:
        numbers["pca_components"] = metrics["pca"]["components"]
    if metrics["heads"]:
        numbers["ov_head0_components"] = metrics["heads"][0]["ov"]["components"]
    return numbers


def _marked(frame: pd.DataFrame) -> pd.DataFrame:
    """Regular classes are marked where not all of them are."""
    return frame.drop(columns="regular") if np.all(frame["regular"]) else frame
