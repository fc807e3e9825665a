"""MLP-only models beside the transformers of the same modulus and seed, which have the same split:
docs/studies.md, section 1."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import ttest_1samp

from strata.measure.metrics import Metrics
from strata.statistics import t_interval
from strata.tables.beside import holm, said
from strata.tables.measures import Value
from strata.tables.seeds import listed
from studies.interventions.code.criteria import specificity
from studies.interventions.code.levels import LEVELS
from studies.interventions.code.records import Interventions
from studies.mechanism.code.study import Case, Choice
from studies.seeds.code.beside_seeds import Studied

Row = dict[str, Any]
SEEDS = range(1, 6)  # of the study; with fewer of a modulus nothing is said of it


class Subject(NamedTuple):
    """A run with what is counted of it; what says something of two primes is None where n is a
    prime power."""

    case: Case
    generalises: bool
    mixes: bool | None
    directions: bool | None  # whether they go with primes

    @property
    def epoch(self) -> float:
        """From which validation accuracy stays at its level; ∞ where it never does."""
        found = self.case.metrics.epoch_099.validation
        return np.inf if found is None else float(found)


class Pair(NamedTuple):
    """Both kinds of model of one modulus and seed."""

    mlp: Subject
    transformer: Subject

    @property
    def epochs(self) -> tuple[float, float]:
        """Of both."""
        return self.mlp.epoch, self.transformer.epoch

    @property
    def accuracy(self) -> float:
        """Accuracy on all pairs at the end: that of the MLP-only model less the transformer's."""
        first, second = (x.case.metrics.accuracy.all for x in self)
        return first - second


Of = dict[int, list[Pair]]  # by modulus


def paired(runs: Sequence[Studied], moduli: Sequence[int], choice: Choice) -> Of:
    """The pairs of each of these moduli of which there is one, in the order of the moduli."""
    by = {(x.case.logits.n, x.case.metrics.seed, x.case.logits.architecture): x for x in runs}
    found: Of = {}
    for n in moduli:
        keys = [[(n, seed, kind) for kind in Pair._fields] for seed in SEEDS]
        both = [[subject(by[key], choice) for key in x] for x in keys if {*x} <= by.keys()]
        found |= {n: [Pair(*x) for x in both]} if both else {}
    return found


def subject(run: Studied, choice: Choice) -> Subject:
    """What is counted of a run."""
    case, generalises = run.case, run.case.generalised(choice.generalised)
    if not case.decides:
        return Subject(case, generalises, None, None)
    return Subject(case, generalises, choice.votes(case).mixing, along_primes(run.interventions))


def along_primes(run: Interventions) -> bool:
    """Whether directions go with primes: all criteria of *specificity, axis* are passed."""
    judged = [x for x in specificity(run, LEVELS) if x.section == "specificity, axis"]
    return bool(judged) and all(x.passed for x in judged)


def pairs(of: Of) -> pd.DataFrame:
    """A row for each pair: what the statements count, run by run."""
    rows = [_pair(pair) for own in of.values() for pair in own]
    names = [f"{x}_{kind}" for x in BOTH for kind in Pair._fields]
    names = ["n", "seed", *names[:4], "accuracy_gap", *names[4:]]
    return pd.DataFrame(rows, columns=names).astype({f"epoch_{x}": "Int64" for x in Pair._fields})


BOTH = ("epoch", "accuracy", "generalises", "mixes", "directions")


def _pair(pair: Pair) -> Row:
    metrics = pair.mlp.case.metrics
    row: Row = {"n": metrics.n, "seed": metrics.seed, "accuracy_gap": pair.accuracy}
    for kind, run in pair._asdict().items():
        metrics = run.case.metrics
        found = (metrics.epoch_099.validation, metrics.accuracy.all, *run[1:])
        row |= {f"{x}_{kind}": value for x, value in zip(BOTH, found, strict=True)}
    return row


def differences(of: Of, confidence: float) -> pd.DataFrame:
    """For each modulus and measure of the tables over seeds: the difference of a pair, MLP-only
    model less transformer, over the pairs of which both generalise; its mean, Student's interval
    and test, corrected within the modulus. With fewer seeds than the study has there is no test."""
    rows = [row for n, own in of.items() for row in _of_modulus(n, own, confidence)]
    names = ["n", "scope", "measure", "unit", "pairs", "mean", "low", "high", "p_t", "p_holm"]
    return pd.DataFrame(rows, columns=[*names, "differ", "values"])


def _of_modulus(n: int, own: Sequence[Pair], confidence: float) -> list[Row]:
    known: dict[tuple[str, str, str], list[float]] = {}
    for pair in (x for x in own if all(run.generalises for run in x)):
        first, second = ({x[:3]: x[3] for x in compared(run.case.metrics)} for run in pair)
        for key in first:
            both = [x for x in (first[key], second.get(key)) if x is not None]
            if len(both) == 2:
                known.setdefault(key, []).append(float(both[0]) - float(both[1]))
    rows = [_difference(n, key, values, confidence) for key, values in known.items()]
    tests = [row["p_t"] if len(own) == len(SEEDS) else None for row in rows]
    for row, p, corrected in zip(rows, tests, holm(tests), strict=True):
        row |= {"p_t": p, "p_holm": corrected, "differ": said(corrected, 1 - confidence)}
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
