"""Runs in which the answer is planted: their metrics, and what the studies measured of them."""

from collections.abc import Sequence
from math import nan
from typing import NamedTuple

import pandas as pd
from handmade import changed, run_metrics

from strata.measure.metrics import Metrics
from strata.results import FAILS, HOLDS, Row
from strata.run import Run

Key = tuple[int, int, str]  # n, seed, kind


class Studied(NamedTuple):
    """One run."""

    metrics: Metrics
    rows: list[Row]


def found(runs: Sequence[Studied]) -> pd.DataFrame:
    """The long table of what studies measured."""
    return pd.DataFrame([row for run in runs for row in run.rows], columns=list(Row._fields))


def studied(
    key: Key, epoch: int | None = 1000, accuracy: float = 1.0, mixes: bool = False,
    along: bool = True, fve: float = 0.0, components: int = 9, validation: float = 1.0,
    weights_seed: int | None = None, variant: str = "", L: str = "primes", E: str = "primes",
    gating: float = 1.0, first: int | None = 500,
) -> Studied:  # fmt: skip
    """One run in which this is planted; ``fve`` is added to that of every class."""
    n, seed, kind = key
    name = str(Run(n, seed, "mlp" if kind == "mlp" else variant, weights_seed))
    made = run_metrics(n, seed)
    assert made.pca
    metrics = changed(
        made, run=name, n=n, seed=seed, architecture=kind,
        generalised=validation >= 0.99, pca=changed(made.pca, components=components),
        first_099=changed(made.first_099, validation=first),
        epoch_099=changed(made.epoch_099, validation=epoch),
        accuracy=changed(made.accuracy, all=accuracy, validation=validation),
        classes=tuple(changed(c, fve=c.fve + fve) if c.fve else c for c in made.classes),
    )  # fmt: skip
    two = made.neurons and len(made.neurons.modulo) > 1
    verdicts = {"mixing": HOLDS if mixes else FAILS, "logits": L, "embedding": E}
    rows = [Row(name, id, f"{id}: a sentence", verdict=x if two else "")
            for id, x in verdicts.items()]  # fmt: skip
    rows.append(Row(name, "gating", "gating γ", "", "index", gating if two else nan))
    rows.append(Row(name, "directions", "go with primes", verdict=HOLDS if along else FAILS))
    return Studied(metrics, rows)
