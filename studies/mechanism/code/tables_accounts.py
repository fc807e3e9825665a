"""Strata or primes, as tables: criteria-primes.md says what each number means.

A run of a prime power, where both accounts are one, has rows and no verdict. Means are over the
runs that generalise.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf, nan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from strata.results import FAILS, HOLDS, UNDECIDED, UNTESTED, Row
from strata.statistics import t_interval
from strata.tables.spread import listed
from strata.tables.table import GENERALISED, KIND, MEASURE, RUN, RUNS, Column, N, Record, Table
from studies.mechanism.code import decision
from studies.mechanism.code.decision import votes
from studies.mechanism.code.records import STRATA, Embedding, Logits
from studies.params import LevelsParams

Json = dict[str, Any]
PRIMARY = {"gating", "delta", "crossing", "kept"}
MODULI = 3  # that decide: simultaneous intervals are over the primary measures of each of them


class Case(NamedTuple):
    """What is measured of a model, and whether it generalises, and so counts in summaries."""

    logits: Logits
    embedding: Embedding
    generalised: bool


def tables(runs: pd.DataFrame, levels: LevelsParams, confidence: float) -> tuple[Table, ...]:
    """The tables over all runs, of which `runs` has the measures."""
    means = "Means over the runs of a modulus that generalise, with intervals."
    by_modulus = moduli(runs, levels.fewest)
    return (
        Table("accounts-runs", "Strata or primes, run by run.", runs, RUNS_COLUMNS),
        Table("accounts-moduli", "Strata or primes, by modulus.", by_modulus, BY_MODULUS, ACROSS),
        Table("accounts-intervals", means, intervals(runs, confidence), INTERVALS),
    )


def measures(cases: Mapping[str, Case], levels: LevelsParams) -> pd.DataFrame:
    """The decision on every model that is finite, and all that decides it or stands beside it."""
    finite = {name: case for name, case in cases.items() if case.logits.finite}
    return pd.DataFrame([of_model(name, case, levels) for name, case in finite.items()])


def of_model(name: str, case: Case, levels: LevelsParams) -> Json:
    """One row of ``measures``. Of a prime power, that has no other class, nothing is said of η and
    of what is kept alone."""
    logits, embedding = case.logits, case.embedding
    found, differ = votes(logits, levels), decision.decides(logits.n)
    ratios = [x.gating for x in decision.counted(logits, levels.smallest)]
    effects, within, crossing = embedding.main_effects, embedding.within, embedding.crossing
    causal = effects if crossing else None
    return {
        "run": name,
        "architecture": logits.architecture,
        "n": logits.n,
        "generalised": case.generalised,
        "L": found.L if differ else "",
        # Strata whatever their coordinates.
        "E": "strata" if embedding.E in STRATA else embedding.E or "",
        "gating": found.gating,
        "balanced": found.balanced,
        "delta": found.delta,
        "tau": found.tau,
        "cost": found.cost,
        "described": "; ".join(found.described),
        "described_S": "S" in found.described,
        "speaks_against": "; ".join(found.against),
        "ceiling": logits.ceiling,
        "r2_S": logits.found.r2["S"],
        "r2_C": logits.found.r2["C"],
        "crossing": crossing and crossing.success,
        "within": within and within.success,
        "kept": effects and effects.kept,
        "eta": effects and effects.mean_eta,
        "effects_share": causal and causal.share,
        "keep_skill": causal and causal.keep,
        "keep_components": causal and causal.keep_components,
        "remove_skill": causal and causal.remove,
        "remove_shrunk": causal and causal.remove_shrunk,
        "differ": differ,
        "gating_least": min(ratios, default=None),
        "key": logits.found.key,
        "mixed": logits.found.mixed,
        "mixing": found.mixing,
    }


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
VERDICTS = {"L": Column("logits", align="l"), "E": Column("embedding", align="l")}
RUNS_COLUMNS = RUN | KIND | N | GENERALISED | LOGITS | VERDICTS | {
    "gating_least": Column("γ, least character", "index"),
    "crossing": Column("crossing", "share"),
    "within": Column("within", "share"),
    "kept": Column("kept", "share"),
    "eta": Column("η", "index"),
    "key": Column("key", "count"),
    "mixed": Column("mixed key frequencies", "count"),
}  # fmt: skip

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
    "effects_share": ("share of W_E in main effects", "share"),
    "keep_skill": ("skill with main effects alone", "share"),
    "keep_components": ("skill with as many principal components", "share"),
    "remove_skill": ("skill without main effects", "share"),
    "remove_shrunk": ("skill with W_E shrunk to what that leaves", "share"),
}


def results(runs: pd.DataFrame) -> Iterator[Row]:
    """The numbers of each run: the verdicts, what decides them, what is measured of the
    embedding."""
    for row in runs.to_dict("records"):
        run, differ = row["run"], row["differ"]
        yield Row(run, "logits", "verdict on the logits", verdict=row["L"])
        yield Row(run, "embedding", "verdict on the embedding", verdict=row["E"])
        mixing = HOLDS if row["mixing"] else FAILS
        yield Row(run, "mixing", "mixing", verdict=mixing if differ else "")
        for id, (sentence, unit) in NAMES.items():
            known = differ or id != "gating"
            yield Row(run, id, sentence, "", unit, row[id] if known else nan)


def by_kind(runs: pd.DataFrame) -> Iterable[tuple[Json, pd.DataFrame]]:
    """The runs for which the accounts differ, by architecture and modulus."""
    names = ["architecture", "n"]
    for key, own in runs.loc[runs["differ"]].groupby(names, sort=False):
        yield dict(zip(names, key, strict=True)), own


def kind(row: Record) -> str:
    """A kind of run in words.

    >>> kind({"architecture": "mlp", "n": 165})
    'n = 165, mlp'
    """
    return f"n = {row['n']}" + f", {row['architecture']}" * (row["architecture"] != "transformer")


def with_counts(row: Record) -> str:
    """What a modulus is called, and how many of its runs were given which verdict."""
    called = {UNDECIDED: "not decided", UNTESTED: "too few runs"}
    return f"{called.get(row['verdict'], row['verdict'])} ({row['counts']})"


BY_KIND = {"n": Column("runs of", kind, "l")}
BY_MODULUS = BY_KIND | RUNS | {
    "generalising": Column("generalise", "count"),
    "id": Column("id", align="l"),
    "verdict": Column("verdict", with_counts, "l"),
}  # fmt: skip
ACROSS = ("id", "verdict")
ASKED = ("logits", "embedding", "both")


def moduli(runs: pd.DataFrame, fewest: int) -> pd.DataFrame:
    """What each modulus is called in its logits, its embedding and both, from its runs that
    generalise."""
    rows = []
    for of, own in by_kind(runs):
        done = own.loc[own["generalised"]]
        of |= {"runs": len(own), "generalising": len(done)}
        L, E = done["L"].tolist(), done["E"].tolist()
        for id, given in zip(ASKED, (L, E, [*map(both, L, E)]), strict=True):
            row = {"id": id, "sentence": f"strata or primes, {id}"}
            row |= {"verdict": decision.called(given, fewest), "counts": counted(given)}
            rows.append(of | row)
    names = ["architecture", "n", "runs", "generalising", "id", "sentence", "verdict", "counts"]
    return pd.DataFrame(rows, columns=names)


def both(L: str, E: str) -> str:
    """The decision on a run: both verdicts where they differ; with the embedding's missing, that on
    the logits."""
    return L if E in (L, "") else f"{L} in the logits, {E} in the embedding"


def counted(names: Sequence[str]) -> str:
    """How often each verdict occurs, the commonest first.

    >>> counted(["between", "primes", "primes"])
    '2 primes, 1 between'
    """
    counts = Counter(names).items()
    return ", ".join(f"{count} {x}" for x, count in sorted(counts, key=lambda x: (-x[1], x[0])))


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


def intervals(runs: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Mean, Student's interval, for primary measures a simultaneous one, median, least, largest."""
    rows = []
    for of, own in by_kind(runs):
        for name in SUMMARISED:
            values = own.loc[own["generalised"], name].dropna().tolist()
            if len(values) > 1:
                row = of | {"id": name, "measure": WORDS[name], "runs": len(values)}
                rows.append(row | spread(values, name, confidence) | {"values": listed(values)})
    names = ["architecture", "n", "id", "measure", "runs", *SPREAD, "values"]
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


CONTROLS = LOGITS | VERDICTS | {
    "model": Column("model", align="l"),
    "agrees": Column("agrees with an account", align="l", missing=""),
}  # fmt: skip


def beside_controls(models: pd.DataFrame, levels: LevelsParams) -> Table:
    """A run, its weights before it generalised and before it was trained: a measure by which one of
    the latter agrees with an account, whatever the others say, is named."""
    between = {
        "gating": (levels.strata, levels.primes),
        "balanced": (levels.strata, levels.primes),
        "delta": (-levels.delta, levels.delta),
        "tau": (-inf, levels.tau_primes),
    }
    names = ["model", *VERDICTS, *LOGITS]
    frame = models.rename(columns={"run": "model"}).reindex(columns=names)
    frame["agrees"] = [
        "; ".join(WORDS[x] for x, (low, high) in between.items() if row[x] <= low or row[x] >= high)
        for row in frame.to_dict("records")
    ]
    about = "The two accounts on a run and on two models that should be described by neither."
    return Table("accounts-controls", about, frame, CONTROLS)
