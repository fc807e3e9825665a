"""Strata or primes, as tables: docs/strata-or-primes.md says what each number means.

A run of a prime power, where both accounts are one, has rows and no verdict. Means are over the
runs that generalise.
"""

from collections.abc import Iterable, Sequence
from typing import Any, get_args

import numpy as np
import pandas as pd

from strata.statistics import t_interval
from strata.tables.headline import Table
from strata.tables.seeds import listed
from studies.mechanism.code.decision import Votes, sides_differ, votes
from studies.mechanism.code.records import Description, Logits
from studies.mechanism.code.study import Case, Choice, by_kind, conclusion, name_of, verdicts
from studies.params import LevelsParams

Json = dict[str, Any]
DESCRIPTIONS: tuple[Description, ...] = get_args(Description)
PRIMARY = {"gating", "delta", "crossing", "kept"}
MODULI = 3  # that decide: simultaneous intervals are over the primary measures of each of them


def tables(cases: Sequence[Case], choice: Choice, confidence: float) -> tuple[Table, ...]:
    """The tables over all runs."""
    return (
        Table("accounts-runs", "Strata or primes, run by run.", runs(cases, choice)),
        Table("accounts-fits", "Both descriptions of the logits, run by run.", fits(cases)),
        Table("accounts-classes", "Classes held out, and inside classes.", classes(cases)),
        Table("accounts-moduli", "Strata or primes, by modulus.", moduli(cases, choice)),
        Table(
            "accounts-intervals",
            "Means over the runs of a modulus that generalise, with intervals.",
            intervals(cases, choice, confidence),
        ),
    )


def runs(cases: Iterable[Case], choice: Choice) -> pd.DataFrame:
    """The decision on every run, and all that decides it or stands beside it."""
    return pd.DataFrame([run(case, choice) for case in cases if case.logits.finite])


def run(case: Case, choice: Choice) -> Json:
    """One row of ``runs``."""
    found, at, logits = choice.votes(case), case.logits.at[0], case.logits
    row: Json = {"run": logits.run, "architecture": logits.architecture, "n": logits.n}
    row |= {"generalised": case.generalised(choice.generalised)}
    E = (case.embedding.E or "").replace(",", ":")  # no commas: the figure reads this table
    row |= {"L": found.L if case.decides else "", "E": E}
    row |= measures(found) | of_embedding(case)
    row |= {f"r2_{name}": at.fits[name].r2 for name in ("S", "C")} | {"differ": case.decides}
    row |= {"counted": found.gating.counted, "left_out": found.gating.left_out}
    row |= gated_most(case, choice.levels.smallest)
    row |= {"gating_mixed": found.gating_mixed.median, "balanced_mixed": found.balanced_mixed}
    row |= {"pairs_counted": at.balance.counted, "pairs_left_out": at.balance.left_out}
    row |= {"key": at.key, "key_of": at.of, "mixed": at.mixed, "mixing": found.mixing}
    return row | {"sides_differ": sides_differ(found, choice.levels), "ceiling": logits.ceiling}


def gated_most(case: Case, smallest: float) -> Json:
    """Of the characters that count in γ the one with least gating, and its share of what all
    explain by their parts of one class; exploratory."""
    single = [x for x in case.logits.at[0].characters if len(x.parts) == 1 and x.same]
    total = sum(x.explained for x in single)
    counted = [x for x in single if x.explained >= smallest * total]
    x = min(counted, key=lambda x: x.different / x.same, default=None)
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


def fits(cases: Iterable[Case]) -> pd.DataFrame:
    """Rank, R² and accuracy of every description, and R² of held-out products."""
    rows = []
    for logits in (case.logits for case in cases if case.logits.finite):
        at = logits.at[0]
        row: Json = {"run": logits.run, "ceiling": logits.ceiling}
        for bias, every in (("", at.fits), (" bias", at.fits_bias)):
            for name in DESCRIPTIONS:
                found = every[name].model_dump().items()
                row |= {f"{name}{bias} {key}": value for key, value in found}
        out = at.products[0]
        row |= {"ceiling held out": out.ceiling}
        row |= {f"{name} held out": out.r2[name] for name in DESCRIPTIONS}
        row |= {f"{name} bias held out": out.r2_bias[name] for name in DESCRIPTIONS}
        rows.append(row | {"C unfitted": at.unfitted, "accuracy_all": logits.accuracy})
    return pd.DataFrame(rows)


def classes(cases: Iterable[Case]) -> pd.DataFrame:
    """For each class of two elements or more: its products predicted from all other classes, and
    its logits with coefficients of its own."""
    rows = []
    for logits in (case.logits for case in cases if case.logits.finite):
        at = logits.at[0]
        for out, own in zip(at.held_out, at.inside, strict=True):
            row: Json = {"run": logits.run, "d": out.d, "ceiling": out.ceiling, "r2_out": out.r2}
            row |= {"tau_d": out.r2 / out.ceiling if out.ceiling > 0 else None}
            row |= {"accuracy_out": out.accuracy, "r2_own": own.own, "r2_shared": own.shared}
            row |= {"cost": own.cost, "r2_strata": own.strata}
            rows.append(row | {"accuracy_target": logits.accuracy_classes[out.d]})
    return pd.DataFrame(rows)


def moduli(cases: Sequence[Case], choice: Choice) -> pd.DataFrame:
    """What each modulus is called, from its runs that generalise."""
    rows = []
    for kind, own in by_kind(cases).items():
        done = [case for case in own if case.generalised(choice.generalised)]
        L = verdicts(own, choice)
        both = [case.both(x) for case, x in zip(done, L, strict=True)]
        row: Json = {"kind": name_of(kind), "runs": len(own), "generalising": len(done)}
        row |= {"L": conclusion(L), "E": conclusion([case.E for case in done])}
        rows.append(row | {"both": conclusion(both)})
    return pd.DataFrame(rows, columns=["kind", "runs", "generalising", "L", "E", "both"])


def intervals(cases: Sequence[Case], choice: Choice, confidence: float) -> pd.DataFrame:
    """Mean, Student's interval, for primary measures a simultaneous one, median, least, largest."""
    rows = []
    for kind, own in by_kind(cases).items():
        done = [run(case, choice) for case in own if case.generalised(choice.generalised)]
        for name in ("gating", "balanced", "delta", "crossing", "within", "kept", "tau", "eta",
                     "cost"):  # fmt: skip
            values = [x[name] for x in done if x[name] is not None]
            if len(values) > 1:
                row = {"kind": name_of(kind), "measure": NAMES[name], "runs": len(values)}
                row |= spread(values, name in PRIMARY, confidence)
                rows.append(row | {"values": listed(values)})
    return pd.DataFrame(rows, columns=["kind", "measure", "runs", *SPREAD, "values"])


NAMES = {
    "gating": "gating γ",
    "balanced": "balanced gating γ_b",
    "delta": "Δ = R²(C) − R²(S), held-out products",
    "crossing": "crossing",
    "within": "within",
    "kept": "kept",
    "tau": "τ",
    "eta": "η",
    "cost": "cost of sharing",
}
SPREAD = ["mean_index", "from", "to", "from_all", "to_all", "median", "least", "largest"]


def spread(values: Sequence[float], primary: bool, confidence: float) -> Json:
    """The statistics of one row. Simultaneous (Bonferroni) intervals hold for all primary measures
    of all moduli that decide."""
    low, high = t_interval(values, confidence) or (None, None)
    every = 1 - (1 - confidence) / (len(PRIMARY) * MODULI)
    least, most = (t_interval(values, every) if primary else None) or (None, None)
    found = [float(np.mean(values)), low, high, least, most, float(np.median(values))]
    return dict(zip(SPREAD, [*found, min(values), max(values)], strict=True))


def beside_controls(models: dict[str, Logits], levels: LevelsParams) -> tuple[Table, ...]:
    """A run, its weights before it generalised and before it was trained: a measure by which one of
    the latter agrees with an account is named."""
    rows = []
    for name, logits in models.items():
        found, at = votes(logits, levels), logits.at[0]
        row: Json = {"model": name, "L": found.L} | measures(found)
        row |= {"ceiling": logits.ceiling, "r2_S": at.fits["S"].r2, "r2_C": at.fits["C"].r2}
        agree = [NAMES[x] for x, vote in voting(found, levels).items() if vote]
        rows.append(row | {"agrees": "; ".join(agree)})
    about = "The two accounts on a run and on two models that should be described by neither."
    return (Table("accounts-controls", about, pd.DataFrame(rows)),)


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
