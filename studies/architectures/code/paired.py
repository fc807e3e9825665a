"""MLP-only models beside the transformers of the same modulus and seed, which have the same split:
criteria.md."""

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
import pandas as pd
from scipy.stats import ttest_1samp

from strata import results
from strata.measure.metrics import Metrics
from strata.statistics import holm, t_interval
from strata.tables.spread import Value, listed
from strata.tables.table import DIFFERS, MEASURE, P_HOLM, SEED, SPREAD, Cells, Column, N

Key = tuple[str, str, str]  # of what, measure, unit
KINDS = ("mlp", "transformer")
BOTH = {
    "first": ("first epoch, {}", "count", "never"),
    "epoch": ("epoch to stay, {}", "count", "never"),
    "accuracy": ("accuracy, {}", "share", "—"),
    "generalises": ("{} generalises", "truth", "—"),
    "mixes": ("{} mixes", "truth", "—"),
    "directions": ("directions with primes, {}", "truth", "—"),
}
PAIRS = N | SEED | {"accuracy_gap": Column("difference, points", "share difference")}
for name, (words, style, missing) in BOTH.items():
    for kind, model in (("mlp", "MLP-only"), ("transformer", "transformer")):
        align = "l" if style == "truth" else "r"
        PAIRS |= {f"{name}_{kind}": Column(words.format(model), style, align, missing)}


def pairs(
    runs: Sequence[Metrics],
    accounts: pd.DataFrame,
    interventions: pd.DataFrame,
    moduli: Sequence[int],
    seeds: Sequence[int],
) -> pd.DataFrame:
    """A row for each of these moduli and seeds of which both kinds of model are there: the epochs
    at which validation accuracy first is at its level and from which it stays, the accuracy on all
    pairs at the end, MLP-only model less transformer; and what is counted of each model. What says
    something of two primes is missing where n is a prime power, and where no study has measured it.
    """
    by = {(x.n, x.seed, x.architecture): x for x in runs}
    mixes = results.truths(accounts, "mixing")
    directions = results.truths(interventions, "directions")
    rows = []
    for n, seed in product(moduli, seeds):
        if not all((n, seed, kind) in by for kind in KINDS):
            continue
        row: Cells = {"n": n, "seed": seed}
        for kind in KINDS:
            x = by[n, seed, kind]
            two = x.neurons and len(x.neurons.modulo) > 1
            row |= {f"first_{kind}": x.first_099.validation}
            row |= {f"epoch_{kind}": x.epoch_099.validation}
            row |= {f"accuracy_{kind}": x.accuracy.all, f"generalises_{kind}": x.generalised}
            row |= {f"mixes_{kind}": mixes.get(x.run)}
            row |= {f"directions_{kind}": directions.get(x.run) if two else None}
        row["accuracy_gap"] = row["accuracy_mlp"] - row["accuracy_transformer"]
        rows.append(row)
    names = [f"{x}_{kind}" for x in BOTH for kind in KINDS]
    frame = pd.DataFrame(rows, columns=["n", "seed", *names[:6], "accuracy_gap", *names[6:]])
    return frame.astype(dict.fromkeys(names[:4], "Int64") | dict.fromkeys(names[6:8], bool))


def of_moduli(own: pd.DataFrame) -> list[tuple[int, pd.DataFrame]]:
    """The pairs of each modulus."""
    return [(n, own.query("n == @n")) for n in dict.fromkeys(own["n"].tolist())]


DIFFERENCES = N | MEASURE | SPREAD | P_HOLM | {
    "scope": Column("class", "symbols", "l"),
    "pairs": Column("pairs", "count"),
    "p_t": Column("p, t-test", "p"),
    "differs": Column("difference", lambda row: DIFFERS[bool(row["differs"])], "l"),
}  # fmt: skip


def differences(
    pairs: pd.DataFrame, runs: Sequence[Metrics], seeds: int, confidence: float
) -> pd.DataFrame:
    """For each modulus and measure of the tables over seeds: the difference of a pair, MLP-only
    model less transformer, over the pairs of which both generalise; its mean, Student's interval
    and test, corrected within the modulus. With fewer seeds than the study has there is no test."""
    by = {(x.n, x.seed, x.architecture): x for x in runs}
    rows: list[Cells] = []
    for n, of in of_moduli(pairs):
        known: dict[Key, list[float]] = {}
        for seed in of.loc[of["generalises_mlp"] & of["generalises_transformer"], "seed"]:
            both = (compared(by[n, seed, kind]) for kind in KINDS)
            for (key, value), (_, other) in zip(*both, strict=True):
                if value is not None and other is not None:
                    known.setdefault(key, []).append(float(value) - float(other))
        made = [{"n": n} | _difference(key, values, confidence) for key, values in known.items()]
        tests = [row["p_t"] if len(of) == seeds else None for row in made]
        for row, p, corrected in zip(made, tests, holm(tests), strict=True):
            differs = None if corrected is None else corrected < 1 - confidence
            rows.append(row | {"p_t": p, "p_holm": corrected, "differs": differs})
    names = ["n", "scope", "measure", "unit", "pairs", "mean", "low", "high", "p_t", "p_holm"]
    return pd.DataFrame(rows, columns=[*names, "differs", "values"])


def compared(run: Metrics) -> Iterator[tuple[Key, Value]]:
    """What is compared: R² of the character fit, FVE and key frequencies of each class of two
    elements or more, components of all residues."""
    for c in (c for c in run.classes if c.size > 1):
        fit = c.character_fit
        yield (f"J{c.d}", "R²", "share difference"), fit.r2 if fit else None
        yield (f"J{c.d}", "FVE", "share difference"), c.fve
        yield (f"J{c.d}", "key frequencies", "index"), c.key
    yield ("all residues", "components", "index"), run.pca.components if run.pca else None


def _difference(key: Key, values: Sequence[float], confidence: float) -> Cells:
    """The row of one measure. Differences that are all the same have no test."""
    low, high = t_interval(values, confidence) or (None, None)
    _, p = ttest_1samp(values, 0) if np.ptp(values) > 1e-9 else (None, None)
    row: Cells = dict(zip(("scope", "measure", "unit"), key, strict=True))
    row |= {"pairs": len(values), "mean": float(np.mean(values)), "low": low, "high": high}
    return row | {"p_t": p, "values": listed(values)}
