"""Strata or primes, as tables: criteria-primes.md says what each number means.

A run of a prime power, where both accounts are one, has rows and no verdict. Means are over the
runs that generalise.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, get_args

import numpy as np
import pandas as pd

from strata.results import Row, verdict
from strata.statistics import t_interval
from strata.tables.spread import listed
from strata.tables.table import (
    CLASS,
    GENERALISED,
    KIND,
    MEASURE,
    RUN,
    RUNS,
    Column,
    N,
    Record,
    Table,
)
from studies.mechanism.code import tables_embedding as embedding
from studies.mechanism.code.decision import Verdict, Votes, sides_differ, votes
from studies.mechanism.code.embedding import ACCOUNTS, Account
from studies.mechanism.code.records import Description, Logits
from studies.mechanism.code.study import Case, by_kind, conclusion, counted
from studies.params import LevelsParams

Json = dict[str, Any]
DESCRIPTIONS: tuple[Description, ...] = get_args(Description)
PRIMARY = {"gating", "delta", "crossing", "kept"}
MODULI = 3  # that decide: simultaneous intervals are over the primary measures of each of them


def tables(cases: Sequence[Case], levels: LevelsParams, confidence: float) -> tuple[Table, ...]:
    """The tables over all runs."""
    means = "Means over the runs of a modulus that generalise, with intervals."
    both = "Both descriptions of the logits, run by run."
    return (
        Table("accounts-runs", "Strata or primes, run by run.", runs(cases, levels), RUNS_COLUMNS),
        Table("accounts-fits", both, fits(cases), FITS),
        Table("accounts-classes", "Classes held out, and inside classes.", classes(cases), CLASSES),
        Table(
            "accounts-moduli", "Strata or primes, by modulus.", moduli(cases, levels), BY_MODULUS
        ),
        Table("accounts-intervals", means, intervals(cases, levels, confidence), INTERVALS),
    )


MEASURED = {
    "gating": Column("gating γ", "index"),
    "balanced": Column("balanced γ_b", "index"),
    "delta": Column("Δ, points", "share difference"),
    "tau": Column("τ", "index"),
    "cost": Column("cost of sharing", "share"),
    "described": Column("described by", align="l"),
    "speaks_against": Column("speaks against", align="l", missing=""),
    "ceiling": Column("ceiling", "share"),
    "r2_S": Column("R² of S", "share"),
    "r2_C": Column("R² of C", "share"),
}
RUNS_COLUMNS = RUN | KIND | N | GENERALISED | MEASURED | {
    "L": Column("logits", align="l"),
    "E": Column("embedding", align="l"),
    "gating_least": Column("γ, least character", "index"),
    "gating_least_share": Column("its share", "share"),
    "crossing": Column("crossing", "share"),
    "within": Column("within", "share"),
    "kept": Column("kept", "share"),
    "eta": Column("η", "index"),
    "key": Column("key", "count"),
    "mixed": Column("mixed key frequencies", "count"),
}  # fmt: skip


def runs(cases: Iterable[Case], levels: LevelsParams) -> pd.DataFrame:
    """The decision on every run, and all that decides it or stands beside it."""
    return pd.DataFrame([run(case, levels) for case in cases if case.logits.finite])


def run(case: Case, levels: LevelsParams) -> Json:
    """One row of ``runs``."""
    found, at, logits = votes(case.logits, levels), case.logits.found, case.logits
    row: Json = {"run": logits.run, "architecture": logits.architecture, "n": logits.n}
    row |= {"generalised": case.done, "L": found.L if case.decides else ""}
    E = ACCOUNTS[case.embedding.E] if case.embedding.E else Account("")
    row |= {"E": E.account, "coordinates": E.coordinates}
    row |= measures(found) | of_embedding(case)
    row |= {f"r2_{name}": at.fits[name].r2 for name in ("S", "C")} | {"differ": case.decides}
    row |= {"counted": found.gating.counted, "left_out": found.gating.left_out}
    row |= gated_most(case, levels.smallest)
    row |= {"gating_mixed": found.gating_mixed.median, "balanced_mixed": found.balanced_mixed}
    row |= {"pairs_counted": at.balance.counted, "pairs_left_out": at.balance.left_out}
    row |= {"key": at.key, "key_of": at.of, "mixed": at.mixed, "mixing": found.mixing}
    return row | {"sides_differ": sides_differ(found, levels), "ceiling": logits.ceiling}


def gated_most(case: Case, smallest: float) -> Json:
    """Of the characters that count in γ the one with least gating, and its share of what all
    explain by their parts of one class; exploratory."""
    single = [x for x in case.logits.found.characters if len(x.parts) == 1 and x.same]
    total = sum(x.explained for x in single)
    known = [x for x in single if x.explained >= smallest * total]
    x = min(known, key=lambda x: x.different / x.same, default=None)
    if x is None:
        return {"gating_least": None, "gating_least_share": None}
    return {"gating_least": x.different / x.same, "gating_least_share": x.explained / total}


def measures(found: Votes) -> Json:
    """What is measured of the logits, for any table."""
    return {
        "gating": found.gating.median,
        "balanced": found.balanced,
        "delta": found.delta,
        "delta_plus": found.delta_plus,
        "tau": found.tau,
        "cost": found.cost,
        "described": "; ".join(found.described),
        "speaks_against": "; ".join(found.against),
    }


def of_embedding(case: Case) -> Json:
    """What is measured of the embedding."""
    found = case.embedding
    effects = found.main_effects
    eta = [x for x in effects.eta.values() if x is not None] if effects else []
    return {
        "crossing": found.crossing.success if found.crossing else None,
        "within": found.within.success if found.within else None,
        "kept": effects.keep.kept if effects else None,
        "eta": float(np.mean(eta)) if eta else None,
    }


# What other studies read of a run: name and unit.
NAMES = {
    "r2_C": ("R² of C (primes)", "share"),
    "r2_S": ("R² of S (strata)", "share"),
    "ceiling": ("ceiling of R²", "share"),
    "gating": ("gating γ", "index"),
    "gating_least": ("γ of the least character", "index"),
    "balanced": ("balanced gating γ_b", "index"),
    "delta": ("Δ of held-out products", "index"),
    "tau": ("τ", "index"),
    "cost": ("cost of sharing", "index"),
    "crossing": ("crossing", "share"),
    "within": ("within", "share"),
    "kept": ("kept", "share"),
    "eta": ("η", "index"),
    "mixing": ("mixing", "truth"),
}


def results(name: str, case: Case, levels: LevelsParams) -> Iterator[Row]:
    """The numbers of a run, under a name: the verdicts, what decides them, what is measured of the
    embedding."""
    if not case.logits.finite:
        return
    row = run(case, levels)
    yield from verdict(name, "verdict on the logits", row["L"] or None, get_args(Verdict))
    yield from verdict(name, "verdict on the embedding", row["E"] or None, get_args(Verdict))
    named = {label: (row[key], unit) for key, (label, unit) in NAMES.items()}
    of_embedding = embedding.numbers(case.embedding)
    for key in embedding.READ:
        label, unit = embedding.NAMES[key]
        named[label] = of_embedding.get(key), unit
    if not case.decides:
        del named["mixing"], named["gating γ"]
    for label, (value, unit) in named.items():
        if value is not None:
            yield Row(name, "", label, unit, float(value))


FITS = RUN | {
    "ceiling": Column("ceiling", "share"),
    "accuracy_all": Column("accuracy, all pairs", "share"),
    "C unfitted": Column("C: accuracy, not fitted", "share"),
}  # fmt: skip
FITS |= {"ceiling held out": Column("ceiling: R² held out", "share")}
for name in DESCRIPTIONS:
    FITS |= {
        f"{name} rank": Column(f"{name}: rank", "count"),
        f"{name} r2": Column(f"{name}: R²", "share"),
        f"{name} accuracy": Column(f"{name}: accuracy", "share"),
        f"{name} held out": Column(f"{name}: R² held out", "share"),
    }


def fits(cases: Iterable[Case]) -> pd.DataFrame:
    """Rank, R² and accuracy of every description, and R² of held-out products."""
    rows = []
    for logits in (case.logits for case in cases if case.logits.finite):
        at = logits.found
        row: Json = {"run": logits.run, "ceiling": logits.ceiling}
        for bias, every in (("", at.fits), (" bias", at.fits_bias)):
            for name in DESCRIPTIONS:
                found = every[name].model_dump().items()
                row |= {f"{name}{bias} {key}": value for key, value in found}
        out = at.products
        row |= {"ceiling held out": out.ceiling}
        row |= {f"{name} held out": out.r2[name] for name in DESCRIPTIONS}
        row |= {f"{name} bias held out": out.r2_bias[name] for name in DESCRIPTIONS}
        rows.append(row | {"C unfitted": at.unfitted, "accuracy_all": logits.accuracy})
    return pd.DataFrame(rows)


CLASSES = RUN | CLASS | {
    "ceiling": Column("ceiling", "share"),
    "r2_out": Column("C from other classes", "share"),
    "tau_d": Column("of the ceiling", "index"),
    "accuracy_out": Column("accuracy, class held out", "share"),
    "r2_own": Column("own coefficients", "share"),
    "r2_shared": Column("shared coefficients", "share"),
    "cost": Column("cost of sharing", "share"),
    "accuracy_target": Column("accuracy", "share"),
}  # fmt: skip


def classes(cases: Iterable[Case]) -> pd.DataFrame:
    """For each class of two elements or more: its products predicted from all other classes, and
    its logits with coefficients of its own."""
    rows = []
    for logits in (case.logits for case in cases if case.logits.finite):
        at = logits.found
        for out, own in zip(at.held_out, at.inside, strict=True):
            row: Json = {"run": logits.run, "d": out.d, "ceiling": out.ceiling, "r2_out": out.r2}
            row |= {"tau_d": out.r2 / out.ceiling if out.ceiling > 0 else None}
            row |= {"accuracy_out": out.accuracy, "r2_own": own.own, "r2_shared": own.shared}
            row |= {"cost": own.cost, "r2_strata": own.strata}
            rows.append(row | {"accuracy_target": logits.accuracy_classes[out.d]})
    return pd.DataFrame(rows)


def kind(row: Record) -> str:
    """A kind of run in words.

    >>> kind({"architecture": "mlp", "n": 165})
    'n = 165, mlp'
    """
    return f"n = {row['n']}" + f", {row['architecture']}" * (row["architecture"] != "transformer")


def with_counts(name: str) -> Callable[[Record], str]:
    """What a modulus is called, and how many of its runs were given which verdict."""
    return lambda row: f"{row[name]} ({row[f'{name}_runs']})"


BY_KIND = {"n": Column("runs of", kind, "l")}
BY_MODULUS = BY_KIND | RUNS | {
    "generalising": Column("generalise", "count"),
    "L": Column("logits", with_counts("L"), "l"),
    "E": Column("embedding", with_counts("E"), "l"),
    "both": Column("both", with_counts("both"), "l"),
}  # fmt: skip


def moduli(cases: Sequence[Case], levels: LevelsParams) -> pd.DataFrame:
    """What each modulus is called, from its runs that generalise."""
    rows = []
    for (architecture, n), own in by_kind(cases).items():
        done = [case for case in own if case.done]
        L = [votes(case.logits, levels).L for case in done]
        both = [case.both(x) for case, x in zip(done, L, strict=True)]
        row: Json = {"architecture": architecture, "n": n, "runs": len(own)}
        row |= {"generalising": len(done)}
        for name, given in {"L": L, "E": [case.E for case in done], "both": both}.items():
            row[name] = conclusion(given, levels.fewest)
            row[f"{name}_runs"] = counted(given)
        rows.append(row)
    names = ["architecture", "n", "runs", "generalising"]
    names += [f"{x}{end}" for x in ("L", "E", "both") for end in ("", "_runs")]
    return pd.DataFrame(rows, columns=names)


WORDS = {name: label for name, (label, _) in NAMES.items()}
WORDS["delta"] = "Δ = R²(C) − R²(S), held-out products"
SPREAD = {
    "mean": Column("mean", "index"),
    "low": Column("95 % interval from", "index"),
    "high": Column("to", "index"),
    "low_all": Column("simultaneous from", "index"),
    "high_all": Column("to (simultaneous)", "index"),
    "median": Column("median", "index"),
    "min": Column("least", "index"),
    "max": Column("largest", "index"),
}
INTERVALS = BY_KIND | MEASURE | RUNS | SPREAD


def intervals(cases: Sequence[Case], levels: LevelsParams, confidence: float) -> pd.DataFrame:
    """Mean, Student's interval, for primary measures a simultaneous one, median, least, largest."""
    rows = []
    for (architecture, n), own in by_kind(cases).items():
        done = [run(case, levels) for case in own if case.done]
        for name in ("gating", "balanced", "delta", "crossing", "within", "kept", "tau", "eta",
                     "cost"):  # fmt: skip
            values = [x[name] for x in done if x[name] is not None]
            if len(values) > 1:
                row = {"architecture": architecture, "n": n, "measure": WORDS[name]}
                row |= {"runs": len(values)} | spread(values, name, confidence)
                rows.append(row | {"values": listed(values)})
    names = ["architecture", "n", "measure", "runs", *SPREAD, "values"]
    return pd.DataFrame(rows, columns=names)


def spread(values: Sequence[float], name: str, confidence: float) -> Json:
    """The statistics of one row. Simultaneous (Bonferroni) intervals hold for all primary measures
    of all moduli that decide."""
    share = name in {"crossing", "within", "kept"}
    low, high = t_interval(values, confidence, share) or (None, None)
    every = 1 - (1 - confidence) / (len(PRIMARY) * MODULI)
    least, most = (t_interval(values, every, share) if name in PRIMARY else None) or (None, None)
    found = [float(np.mean(values)), low, high, least, most, float(np.median(values))]
    return dict(zip(SPREAD, [*found, min(values), max(values)], strict=True))


CONTROLS = MEASURED | {
    "model": Column("model", align="l"),
    "L": Column("logits", align="l"),
    "agrees": Column("agrees with an account", align="l", missing=""),
}  # fmt: skip


def beside_controls(models: Mapping[str, Logits], levels: LevelsParams) -> Table:
    """A run, its weights before it generalised and before it was trained: a measure by which one of
    the latter agrees with an account is named."""
    rows = []
    for name, logits in models.items():
        found, at = votes(logits, levels), logits.found
        row: Json = {"model": name, "L": found.L} | measures(found)
        row |= {"ceiling": logits.ceiling, "r2_S": at.fits["S"].r2, "r2_C": at.fits["C"].r2}
        agree = [WORDS[x] for x, vote in voting(found, levels).items() if vote]
        rows.append(row | {"agrees": "; ".join(agree)})
    about = "The two accounts on a run and on two models that should be described by neither."
    return Table("accounts-controls", about, pd.DataFrame(rows), CONTROLS)


def voting(found: Votes, levels: LevelsParams) -> dict[str, bool]:
    """The measures that agree with one of the accounts, whatever the others say."""

    def outside(x: float | None, low: float, high: float) -> bool:
        return x is not None and not low < x < high

    return {
        "gating": outside(found.gating.median, levels.strata, levels.primes),
        "balanced": outside(found.balanced, levels.strata, levels.primes),
        "delta": outside(found.delta, -levels.delta, levels.delta),
        "tau": found.tau is not None and found.tau >= levels.tau_primes,
    }
