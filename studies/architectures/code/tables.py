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
from strata.tables.spread import Value, join_values
from strata.tables.table import DIFFERS, MEASURE, P_HOLM, SEED, SPREAD, Cells, Column, N, Table
from studies.architectures.code import decide
from studies.architectures.code.decide import KINDS

Key = tuple[str, str, str]  # of what, measure, unit
PAIR_COLUMNS = {
    "first": ("first epoch, {}", "count", "never"),
    "epoch": ("epoch to stay, {}", "count", "never"),
    "accuracy": ("accuracy, {}", "share", "—"),
    "generalises": ("{} generalises", "truth", "—"),
    "mixes": ("{} mixes", "truth", "—"),
    "directions": ("directions with primes, {}", "truth", "—"),
}
PAIRS = N | SEED | {"accuracy_gap": Column("difference, points", "share difference")}
for name, (words, style, missing) in PAIR_COLUMNS.items():
    for kind, model in (("mlp", "MLP-only"), ("transformer", "transformer")):
        align = "l" if style == "truth" else "r"
        PAIRS |= {f"{name}_{kind}": Column(words.format(model), style, align, missing)}


def tables(
    runs: Sequence[Metrics],
    accounts: pd.DataFrame,
    interventions: pd.DataFrame,
    account_verdicts: pd.DataFrame | None,
    planned: tuple[Sequence[int], Sequence[int]],
    equal: float,
    confidence: float,
) -> tuple[Table, ...]:
    """Return the statements, the pairs that they rest on, and the differences of every measure. A
    modulus that lacks a seed of the study is in the table of pairs alone. ``accounts`` and
    ``interventions`` have what these studies say of all runs, ``planned`` the moduli and the seeds.
    """
    listed = pairs(runs, accounts, interventions, *planned)
    complete = listed.loc[listed.groupby("n")["seed"].transform("size") == len(planned[1])]
    gaps = differences(complete, runs, confidence)
    about = "MLP-only models and transformers of the same seeds"
    decided = decide.statements(complete, gaps, account_verdicts, equal, confidence)
    caption = f"{about}: differences of a pair, of R² and FVE in points."
    columns = listed.dropna(axis=1, how="all")
    unmeasured = [x for x in listed if x.startswith(("mixes", "directions")) and x not in columns]
    return (
        Table("mlp-seeds", f"{about}: verdicts.", decided, decide.COLUMNS),
        Table("mlp-seeds-pairs", f"{about}, pair by pair.", listed.drop(columns=unmeasured), PAIRS),
        Table("mlp-seeds-differences", caption, gaps, DIFFERENCES),
    )


def pairs(
    runs: Sequence[Metrics],
    accounts: pd.DataFrame,
    interventions: pd.DataFrame,
    moduli: Sequence[int],
    seeds: Sequence[int],
) -> pd.DataFrame:
    """Return a row for each of these moduli and seeds for which there are both kinds of model: the
    epochs at which validation accuracy first is at its level and from which it stays, the accuracy
    on all pairs at the end, MLP-only model less transformer; and what is counted of each model.
    What says something of two primes is missing where n is a prime power, and where no study has
    measured it."""
    by_key = {(x.n, x.seed, x.architecture): x for x in runs}
    mixes = results.truths(accounts, "mixing")
    directions = results.truths(interventions, "directions")
    rows = []
    for n, seed in product(moduli, seeds):
        if not all((n, seed, kind) in by_key for kind in KINDS):
            continue
        row: Cells = {"n": n, "seed": seed}
        for kind in KINDS:
            x = by_key[n, seed, kind]
            has_two_primes = x.neurons and len(x.neurons.modulo) > 1
            row |= {f"first_{kind}": x.first_099.validation}
            row |= {f"epoch_{kind}": x.epoch_099.validation}
            row |= {f"accuracy_{kind}": x.accuracy.all, f"generalises_{kind}": x.generalised}
            row |= {f"mixes_{kind}": mixes.get(x.run)}
            row |= {f"directions_{kind}": directions.get(x.run) if has_two_primes else None}
        row["accuracy_gap"] = row["accuracy_mlp"] - row["accuracy_transformer"]
        rows.append(row)
    names = [f"{x}_{kind}" for x in PAIR_COLUMNS for kind in KINDS]
    frame = pd.DataFrame(rows, columns=["n", "seed", *names[:6], "accuracy_gap", *names[6:]])
    return frame.astype(dict.fromkeys(names[:4], "Int64") | dict.fromkeys(names[6:8], bool))


DIFFERENCES = N | MEASURE | SPREAD | P_HOLM | {
    "scope": Column("class", "symbols", "l"),
    "pairs": Column("pairs", "count"),
    "p_t": Column("p, t-test", "p"),
    "differs": Column("difference", lambda row: DIFFERS[bool(row["differs"])], "l"),
}  # fmt: skip


def differences(pairs: pd.DataFrame, runs: Sequence[Metrics], confidence: float) -> pd.DataFrame:
    """Compare each measure of the tables over seeds for each modulus. The row has the difference of
    a pair, MLP-only model less transformer, over the pairs of which both generalise: its mean,
    Student's interval and test, corrected within the modulus."""
    by_key = {(x.n, x.seed, x.architecture): x for x in runs}
    gaps: dict[int, dict[Key, list[float]]] = {}
    generalising = pairs.query("generalises_mlp and generalises_transformer")
    for n, seed in generalising[["n", "seed"]].to_numpy().tolist():
        measures_of_pair = (compared_measures(by_key[n, seed, kind]) for kind in KINDS)
        for (key, value), (_, of_transformer) in zip(*measures_of_pair, strict=True):
            if value is not None and of_transformer is not None:
                gaps.setdefault(n, {}).setdefault(key, []).append(
                    float(value) - float(of_transformer)
                )
    rows: list[Cells] = []
    for n, measures in gaps.items():
        of_modulus = [_difference_row(key, values, confidence) for key, values in measures.items()]
        for row, p in zip(of_modulus, holm([row["p_t"] for row in of_modulus]), strict=True):
            differs = None if p is None else p < 1 - confidence
            rows.append({"n": n} | row | {"p_holm": p, "differs": differs})
    names = ["n", "scope", "measure", "unit", "pairs", "mean", "low", "high", "p_t", "p_holm"]
    return pd.DataFrame(rows, columns=[*names, "differs", "values"])


def compared_measures(run: Metrics) -> Iterator[tuple[Key, Value]]:
    """Return the measures that are compared: R² of the character fit, FVE and key frequencies of
    each class of two elements or more, and the components of all residues."""
    for c in (c for c in run.classes if c.size > 1):
        fit = c.character_fit
        yield (f"J{c.d}", "R²", "share difference"), fit.r2 if fit else None
        yield (f"J{c.d}", "FVE", "share difference"), c.fve
        yield (f"J{c.d}", "key frequencies", "index"), c.key
    yield ("all residues", "components", "index"), run.pca.components if run.pca else None


def _difference_row(key: Key, values: Sequence[float], confidence: float) -> Cells:
    """Return the row of one measure. Differences that are all the same have no test."""
    low, high = t_interval(values, confidence) or (None, None)
    _, p = ttest_1samp(values, 0) if np.ptp(values) > 1e-9 else (None, None)
    row: Cells = dict(zip(("scope", "measure", "unit"), key, strict=True))
    row |= {"pairs": len(values), "mean": float(np.mean(values)), "low": low, "high": high}
    return row | {"p_t": p, "values": join_values(values)}
