"""MLP-only models beside the transformers of the same modulus and seed, which have the same split:
criteria.md."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import ttest_1samp

from strata import results
from strata.measure.metrics import Metrics
from strata.statistics import holm, t_interval
from strata.tables.spread import Value, listed
from strata.tables.table import DIFFERS, MEASURE, P_HOLM, SEED, SPREAD, Column, N

Row = dict[str, Any]


class Subject(NamedTuple):
    """A run with what is counted of it; what says something of two primes is None where n is a
    prime power, and where no study has measured it."""

    metrics: Metrics
    generalises: bool
    mixes: bool | None
    directions: bool | None  # whether they go with primes

    @property
    def first(self) -> float:
        """Epoch at which validation accuracy first is at its level; ∞ where it never is."""
        return np.inf if (found := self.metrics.first_099.validation) is None else float(found)

    @property
    def stays(self) -> float:
        """Epoch from which it stays there; ∞ where it never does."""
        return np.inf if (found := self.metrics.epoch_099.validation) is None else float(found)


class Pair(NamedTuple):
    """Both kinds of model of one modulus and seed."""

    mlp: Subject
    transformer: Subject

    @property
    def accuracy(self) -> float:
        """Accuracy on all pairs at the end: that of the MLP-only model less the transformer's."""
        first, second = (x.metrics.accuracy.all for x in self)
        return first - second


class Paired(NamedTuple):
    """The pairs of each modulus that there are, and the seeds that the study plans of each; with
    fewer of a modulus nothing is said of it."""

    of: dict[int, list[Pair]]
    seeds: int

    def whole(self) -> "Paired":
        """The moduli with every seed of the study."""
        return self._replace(of={n: x for n, x in self.of.items() if len(x) == self.seeds})


def paired(
    runs: Sequence[Metrics], found: pd.DataFrame, moduli: Sequence[int], seeds: Sequence[int]
) -> Paired:
    """The pairs of each of these moduli of which there is one, in the order of the moduli."""
    mixes = results.truths(found, "mixing")
    directions = results.truths(found, "directions go with primes")

    def subject(run: Metrics) -> Subject:
        two = len(run.neurons.modulo) > 1 if run.neurons else False
        return Subject(
            run, bool(run.generalised), mixes.get(run.run), directions.get(run.run) if two else None
        )

    by = {(x.n, x.seed, x.architecture): x for x in runs}
    of: dict[int, list[Pair]] = {}
    for n in moduli:
        keys = [[(n, seed, kind) for kind in Pair._fields] for seed in seeds]
        both = [Pair(*(subject(by[key]) for key in x)) for x in keys if {*x} <= by.keys()]
        of |= {n: both} if both else {}
    return Paired(of, len(seeds))


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


def pairs(of: Paired) -> pd.DataFrame:
    """A row for each pair: what the statements count, run by run. What no study has measured is no
    column."""
    rows = [_pair(pair) for own in of.of.values() for pair in own]
    names = [f"{x}_{kind}" for x in BOTH for kind in Pair._fields]
    names = ["n", "seed", *names[:6], "accuracy_gap", *names[6:]]
    epochs = [f"{x}_{kind}" for x in ("first", "epoch") for kind in Pair._fields]
    frame = pd.DataFrame(rows, columns=names).astype(dict.fromkeys(epochs, "Int64"))
    unknown = [x for x in names[-4:] if not len(frame.dropna(subset=[x]))]
    return frame.drop(columns=unknown)


def _pair(pair: Pair) -> Row:
    metrics = pair.mlp.metrics
    row: Row = {"n": metrics.n, "seed": metrics.seed, "accuracy_gap": pair.accuracy}
    for kind, run in pair._asdict().items():
        of = run.metrics
        found = (of.first_099.validation, of.epoch_099.validation, of.accuracy.all, *run[1:])
        row |= {f"{x}_{kind}": value for x, value in zip(BOTH, found, strict=True)}
    return row


DIFFERENCES = N | MEASURE | SPREAD | P_HOLM | {
    "scope": Column("class", "symbols", "l"),
    "pairs": Column("pairs", "count"),
    "p_t": Column("p, t-test", "p"),
    "differs": Column("difference", lambda row: DIFFERS[bool(row["differs"])], "l"),
}  # fmt: skip


def differences(of: Paired, confidence: float) -> pd.DataFrame:
    """For each modulus and measure of the tables over seeds: the difference of a pair, MLP-only
    model less transformer, over the pairs of which both generalise; its mean, Student's interval
    and test, corrected within the modulus. With fewer seeds than the study has there is no test."""
    whole = of.whole().of
    rows = [x for n, own in of.of.items() for x in _of_modulus(n, own, n in whole, confidence)]
    names = ["n", "scope", "measure", "unit", "pairs", "mean", "low", "high", "p_t", "p_holm"]
    return pd.DataFrame(rows, columns=[*names, "differs", "values"])


def _of_modulus(n: int, own: Sequence[Pair], whole: bool, confidence: float) -> list[Row]:
    known: dict[tuple[str, str, str], list[float]] = {}
    for pair in (x for x in own if all(run.generalises for run in x)):
        first, second = ({x[:3]: x[3] for x in compared(run.metrics)} for run in pair)
        for key in first:
            both = [x for x in (first[key], second.get(key)) if x is not None]
            if len(both) == 2:
                known.setdefault(key, []).append(float(both[0]) - float(both[1]))
    rows = [_difference(n, key, values, confidence) for key, values in known.items()]
    tests = [row["p_t"] if whole else None for row in rows]
    for row, p, corrected in zip(rows, tests, holm(tests), strict=True):
        differs = None if corrected is None else corrected < 1 - confidence
        row |= {"p_t": p, "p_holm": corrected, "differs": differs}
    return rows


def compared(run: Metrics) -> Iterator[tuple[str, str, str, Value]]:
    """What is compared, of what, with its unit: R² of the character fit, FVE and key frequencies of
    each class of two elements or more, components of all residues."""
    for c in (c for c in run.classes if c.size > 1):
        yield f"J{c.d}", "R²", "share difference", c.character_fit.r2 if c.character_fit else None
        yield f"J{c.d}", "FVE", "share difference", c.fve
        yield f"J{c.d}", "key frequencies", "index", c.key
    yield "all residues", "components", "index", run.pca.components if run.pca else None


def _difference(
    n: int, key: tuple[str, str, str], values: Sequence[float], confidence: float
) -> Row:
    """The row of one measure. Differences that are all the same have no test."""
    low, high = t_interval(values, confidence) or (None, None)
    _, p = ttest_1samp(values, 0) if np.ptp(values) > 1e-9 else (None, None)
    row: Row = dict(zip(("scope", "measure", "unit"), key, strict=True))
    row |= {"n": n, "pairs": len(values), "mean": float(np.mean(values)), "low": low, "high": high}
    return row | {"p_t": p, "values": listed(values)}
