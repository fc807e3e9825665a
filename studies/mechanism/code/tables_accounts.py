"""Strata or primes, as tables: criteria-primes.md says what each number means.

A run of a prime power, where both accounts are one, has rows and no verdict. Means are over the
runs that generalise.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, get_args

import numpy as np
import pandas as pd

from strata.measure.metrics import Metrics
from strata.results import Row, verdict
from strata.statistics import t_interval
from strata.tables.spread import listed
from strata.tables.table import GENERALISED, KIND, MEASURE, RUN, RUNS, Column, N, Record, Table
from studies.mechanism.code import decision
from studies.mechanism.code.decision import Verdict, Votes, votes
from studies.mechanism.code.records import STRATA, Embedding, Logits
from studies.params import LevelsParams

Json = dict[str, Any]
PRIMARY = {"gating", "delta", "crossing", "kept"}
MODULI = 3  # that decide: simultaneous intervals are over the primary measures of each of them


class Case(NamedTuple):
    """All results of a run that the decision rests on."""

    logits: Logits
    embedding: Embedding
    metrics: Metrics

    @property
    def done(self) -> bool:
        """Whether the run generalises, and so counts in summaries."""
        return bool(self.metrics.generalised)

    @property
    def decides(self) -> bool:
        """Whether the two accounts differ for a run of this modulus."""
        return self.logits.finite and decision.decides(self.logits.n)


def account(found: Embedding) -> str | None:
    """The account that the embedding agrees with; strata whatever their coordinates."""
    return "strata" if found.E in STRATA else found.E


def tables(cases: Sequence[Case], levels: LevelsParams, confidence: float) -> tuple[Table, ...]:
    """The tables over all runs."""
    means = "Means over the runs of a modulus that generalise, with intervals."
    by_modulus = moduli(cases, levels)
    return (
        Table("accounts-runs", "Strata or primes, run by run.", runs(cases, levels), RUNS_COLUMNS),
        Table("accounts-moduli", "Strata or primes, by modulus.", by_modulus, BY_MODULUS),
        Table("accounts-intervals", means, intervals(cases, levels, confidence), INTERVALS),
    )


LOGITS = {
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
RUNS_COLUMNS = RUN | KIND | N | GENERALISED | LOGITS | {
    "L": Column("logits", align="l"),
    "E": Column("embedding", align="l"),
    "gating_least": Column("γ, least character", "index"),
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
    ratios = [x.gating for x in decision.counted(logits, levels.smallest)]
    row: Json = {"run": logits.run, "architecture": logits.architecture, "n": logits.n}
    row |= {"generalised": case.done, "L": found.L if case.decides else ""}
    row |= {"E": account(case.embedding) or ""}
    row |= of_logits(logits, found) | of_embedding(case.embedding)
    row |= {"differ": case.decides, "gating_least": min(ratios, default=None)}
    return row | {"key": at.key, "mixed": at.mixed, "mixing": found.mixing}


def of_logits(logits: Logits, found: Votes) -> Json:
    """What is measured of the logits, for any table."""
    return {
        "gating": found.gating,
        "balanced": found.balanced,
        "delta": found.delta,
        "tau": found.tau,
        "cost": found.cost,
        "described": "; ".join(found.described),
        "speaks_against": "; ".join(found.against),
        "ceiling": logits.ceiling,
        "r2_S": logits.found.r2["S"],
        "r2_C": logits.found.r2["C"],
    }


def of_embedding(found: Embedding) -> Json:
    """What is measured of the embedding; of a prime power, that has no other class, η and what is
    kept alone."""
    effects, within, crossing = found.main_effects, found.within, found.crossing
    row: Json = {
        "crossing": crossing and crossing.success,
        "within": within and within.success,
        "kept": effects and effects.kept,
        "eta": effects and effects.mean_eta,
    }
    if effects and crossing:
        row |= {"effects_share": effects.share, "keep_skill": effects.keep}
        row |= {"keep_components": effects.keep_components}
        row |= {"remove_skill": effects.remove, "remove_shrunk": effects.remove_shrunk}
    return row


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
    "effects_share": ("share of W_E in main effects", "share"),
    "keep_skill": ("skill with main effects alone", "share"),
    "keep_components": ("skill with as many principal components", "share"),
    "remove_skill": ("skill without main effects", "share"),
    "remove_shrunk": ("skill with W_E shrunk to what that leaves", "share"),
}


def results(name: str, case: Case, levels: LevelsParams) -> Iterator[Row]:
    """The numbers of a run, under a name: the verdicts, what decides them, what is measured of the
    embedding."""
    if not case.logits.finite:
        return
    row = run(case, levels)
    yield from verdict(name, "verdict on the logits", row["L"] or None, get_args(Verdict))
    yield from verdict(name, "verdict on the embedding", row["E"] or None, get_args(Verdict))
    for key, (label, unit) in NAMES.items():
        value = row.get(key)
        if value is not None and (case.decides or key not in {"mixing", "gating"}):
            yield Row(name, "", label, unit, float(value))


def kind(row: Record) -> str:
    """A kind of run in words.

    >>> kind({"architecture": "mlp", "n": 165})
    'n = 165, mlp'
    """
    return f"n = {row['n']}" + f", {row['architecture']}" * (row["architecture"] != "transformer")


def by_kind(cases: Sequence[Case]) -> dict[tuple[str, int], list[Case]]:
    """The runs for which the accounts differ, by architecture and modulus."""
    found: dict[tuple[str, int], list[Case]] = {}
    for case in (x for x in cases if x.decides):
        found.setdefault((case.logits.architecture, case.logits.n), []).append(case)
    return found


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
        E = [account(case.embedding) for case in done]
        row: Json = {"architecture": architecture, "n": n, "runs": len(own)}
        row |= {"generalising": len(done)}
        for name, given in {"L": L, "E": E, "both": [*map(both, L, E)]}.items():
            row[name] = conclusion(given, levels.fewest)
            row[f"{name}_runs"] = counted(given)
        rows.append(row)
    names = ["architecture", "n", "runs", "generalising"]
    names += [f"{x}{end}" for x in ("L", "E", "both") for end in ("", "_runs")]
    return pd.DataFrame(rows, columns=names)


def both(L: str, E: str | None) -> str:
    """The decision on a run: both verdicts where they differ; with the embedding's missing, that on
    the logits."""
    return L if E in (L, None) else f"{L} in the logits, {E} in the embedding"


def counted(names: Sequence[str | None]) -> str:
    """How often each verdict occurs, the commonest first.

    >>> counted(["between", "primes", "primes"])
    '2 primes, 1 between'
    """
    counts = Counter(map(str, names)).items()
    return ", ".join(f"{count} {x}" for x, count in sorted(counts, key=lambda x: (-x[1], x[0])))


def conclusion(names: Sequence[str | None], fewest: int) -> str:
    """What these verdicts amount to.

    >>> conclusion(["primes"] * 5, 5), conclusion(["primes"], 5)
    ('primes', 'too few runs')
    """
    none = "not decided" if len(names) >= fewest else "too few runs"
    return decision.called([*map(str, names)], fewest) or none


WORDS = {name: label for name, (label, _) in NAMES.items()}
WORDS["delta"] = "Δ = R²(C) − R²(S), held-out products"
SUMMARISED = (
    "gating", "balanced", "delta", "crossing", "within", "kept", "tau", "eta", "cost",
    "effects_share", "keep_skill", "keep_components", "remove_skill", "remove_shrunk",
)  # fmt: skip
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
        for name in SUMMARISED:
            values = [x[name] for x in done if x.get(name) is not None]
            if len(values) > 1:
                row = {"architecture": architecture, "n": n, "measure": WORDS[name]}
                row |= {"runs": len(values)} | spread(values, name, confidence)
                rows.append(row | {"values": listed(values)})
    names = ["architecture", "n", "measure", "runs", *SPREAD, "values"]
    return pd.DataFrame(rows, columns=names)


def spread(values: Sequence[float], name: str, confidence: float) -> Json:
    """The statistics of one row. Simultaneous (Bonferroni) intervals hold for all primary measures
    of all moduli that decide."""
    share = NAMES[name][1] == "share"
    low, high = t_interval(values, confidence, share) or (None, None)
    every = 1 - (1 - confidence) / (len(PRIMARY) * MODULI)
    least, most = (t_interval(values, every, share) if name in PRIMARY else None) or (None, None)
    found = [float(np.mean(values)), low, high, least, most, float(np.median(values))]
    return dict(zip(SPREAD, [*found, min(values), max(values)], strict=True))


CONTROLS = LOGITS | {
    "model": Column("model", align="l"),
    "L": Column("logits", align="l"),
    "E": Column("embedding", align="l"),
    "agrees": Column("agrees with an account", align="l", missing=""),
}  # fmt: skip


def beside_controls(models: Mapping[str, tuple[Logits, Embedding]], levels: LevelsParams) -> Table:
    """A run, its weights before it generalised and before it was trained: a measure by which one of
    the latter agrees with an account is named."""
    rows = []
    for name, (logits, embedding) in models.items():
        found = votes(logits, levels)
        row: Json = {"model": name, "L": found.L, "E": account(embedding) or ""}
        agree = [WORDS[x] for x, vote in voting(found, levels).items() if vote]
        rows.append(row | of_logits(logits, found) | {"agrees": "; ".join(agree)})
    about = "The two accounts on a run and on two models that should be described by neither."
    return Table("accounts-controls", about, pd.DataFrame(rows), CONTROLS)


def voting(found: Votes, levels: LevelsParams) -> dict[str, bool]:
    """The measures that agree with one of the accounts, whatever the others say."""

    def outside(x: float | None, low: float, high: float) -> bool:
        return x is not None and not low < x < high

    return {
        "gating": outside(found.gating, levels.strata, levels.primes),
        "balanced": outside(found.balanced, levels.strata, levels.primes),
        "delta": outside(found.delta, -levels.delta, levels.delta),
        "tau": found.tau is not None and found.tau >= levels.tau_primes,
    }
