"""The embedding of all runs under the two accounts.

criteria-primes.md, section 2, defines them. What the decision rests on stands in the tables of
``tables_accounts``; here are its controls and what is beside it.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from strata.statistics import t_interval
from strata.tables.format import STYLES
from strata.tables.table import GENERALISED, MEASURE, RUN, Column, N, Record, Table
from studies.mechanism.code.records import Embedding
from studies.mechanism.code.study import Case

Numbers = dict[str, float | None]


def tables(
    cases: Sequence[Case],
    negative: Mapping[str, Embedding],
    confidence: float,
) -> tuple[Table, ...]:
    """All of them. ``negative``: the negative controls by name."""
    named = {x.embedding.run: x.embedding for x in cases} | dict(negative)
    composite = {name: x for name, x in named.items() if x.crossing}
    done = {x.embedding.run for x in cases if x.done}
    counted = [named[name] for name in done if named[name].architecture == "transformer"]
    over = over_runs(sorted(counted, key=lambda x: (-x.n, x.seed)), confidence)
    moved = "Transported changes of the embedding: share with the predicted answer."
    kept = "Main effects of the embedding kept and removed, with controls: skills."
    about = "The embedding over the transformers of a modulus that generalise: means, with "
    about += f"{100 * confidence:g} % intervals."
    return (
        Table("embedding-changes", moved, per_run(composite, changes, done), CHANGES),
        Table("embedding-keep", kept, per_run(composite, keep_remove, done), KEEP),
        Table("embedding-seeds", about, over, OVER_RUNS, ("n", "mean")),
    )  # fmt: skip


CHANGES = RUN | GENERALISED | {
    "within": Column("within", "share"),
    "within_least": Column("least kind", "share"),
    "within_control": Column("control", "share"),
    "within_exchanged": Column("exchange", "share"),
    "crossing": Column("crossing", "share"),
    "crossing_least": Column("crossing, least kind", "share"),
    "crossing_control": Column("crossing, control", "share"),
    "crossing_exchanged": Column("crossing, exchange", "share"),
}  # fmt: skip


def changes(run: Embedding) -> Numbers:
    """Transported changes and their controls, and the simple exchange."""
    found: Numbers = {}
    for name, change in (("within", run.within), ("crossing", run.crossing)):
        if change:
            found |= {
                name: change.success,
                f"{name}_least": change.least,
                f"{name}_control": max(change.chance, change.random),
                f"{name}_exchanged": change.exchanged,
            }
    return found


KEEP = RUN | GENERALISED | {
    "effects_share": Column("share of W_E", "share"),
    "kept": Column("kept", "share"),
    "keep_skill": Column("keep", "share"),
    "keep_permuted": Column("permuted, highest", "share"),
    "keep_components": Column("components", "share"),
    "overlap": Column("overlap", "share"),
    "remove_skill": Column("remove", "share"),
    "remove_shrunk": Column("shrunk", "share"),
    "remove_permuted": Column("permuted, least", "share"),
    "one_own": Column("one removed, modulo it", "share"),
    "one_others": Column("modulo others", "share"),
}  # fmt: skip


def keep_remove(run: Embedding) -> Numbers:
    """Keep and remove with every control, and one f_Q removed: the worst prime power on the worse
    of two scales."""
    effects = run.main_effects
    if effects is None:
        return {}
    left = [
        (q == Q, skill)
        for Q, one in effects.remove_one.items()
        for scale in (one.modulo, one.modulo_zero)
        for q, skill in scale.items()
        if skill is not None
    ]
    return {
        "effects_share": effects.share,
        "kept": effects.keep.kept,
        "keep_skill": effects.keep.skill,
        "keep_permuted": effects.keep_permuted.skill.high,
        "keep_components": effects.keep_components.skill,
        "overlap": effects.overlap,
        "remove_skill": effects.remove.skill,
        "remove_shrunk": effects.remove_shrunk.skill,
        "remove_permuted": effects.remove_permuted.skill.low,
        "one_own": max((x for own, x in left if own), default=None),
        "one_others": min((x for own, x in left if not own), default=None),
    }


def per_run(
    runs: Mapping[str, Embedding], numbers: Callable[[Embedding], Numbers], generalised: set[str]
) -> pd.DataFrame:
    """A row for each run, named by its key; a column is there if a run has the number."""
    rows = [
        {"run": name, "generalised": name in generalised} | numbers(run)
        for name, run in runs.items()
    ]
    return pd.DataFrame(rows)


# What is shown over the runs of a modulus: name and unit; and what of it other studies read.
NAMES = {
    "within": ("within", "share"),
    "within_exchanged": ("within, exchange", "share"),
    "crossing": ("crossing", "share"),
    "crossing_exchanged": ("crossing, exchange", "share"),
    "kept": ("kept", "share"),
    "effects_share": ("share of W_E in main effects", "share"),
    "keep_skill": ("skill with main effects alone", "share"),
    "keep_permuted": ("skill with those of permuted residues, highest", "share"),
    "keep_components": ("skill with as many principal components", "share"),
    "overlap": ("overlap of these with main effects", "share"),
    "remove_skill": ("skill without main effects", "share"),
    "remove_shrunk": ("skill with W_E shrunk to what that leaves", "share"),
    "remove_permuted": ("skill without those of permuted residues, least", "share"),
    "one_own": ("one removed, skill modulo it, most", "share"),
    "one_others": ("one removed, skill modulo others, least", "share"),
}


READ = ("effects_share", "keep_skill", "keep_components", "remove_skill", "remove_shrunk")


def mean(row: Record) -> str:
    """Mean and interval."""
    if row["unit"] == "count":
        return f"{row['mean']:.0f}"
    numbers = (row[x] for x in ("mean", "low", "high"))
    if row["unit"] == "index":
        return "{} ({} to {})".format(*map(STYLES["index"], numbers))
    return "{:.1f} % ({:.1f} to {:.1f})".format(*(100 * x for x in numbers)).replace("-", "−")


OVER_RUNS = MEASURE | N | {"mean": Column("mean", mean, missing="")}
OVER_RUNS |= {"n": Column("n", lambda row: f"n = {row['n']}")}


def over_runs(runs: Sequence[Embedding], confidence: float) -> pd.DataFrame:
    """For each modulus that has several runs the mean of each number and Student's interval."""
    every = [x.n for x in runs]
    moduli = [n for n in dict.fromkeys(every) if every.count(n) > 1]
    found = {n: [numbers(x) for x in runs if x.n == n] for n in moduli}
    rows = [{"measure": "runs", "unit": "count", "n": n, "mean": every.count(n)} for n in moduli]
    for name, (measure, unit) in NAMES.items():
        for n in moduli:
            values = [x for own in found[n] if (x := own.get(name)) is not None]
            row = {"measure": measure, "unit": unit, "n": n, "runs": len(values)}
            if interval := t_interval(values, confidence, share=True):
                row |= {"mean": float(np.mean(values)), "low": interval[0], "high": interval[1]}
            rows.append(row)
    names = ["measure", "unit", "n", "runs", "mean", "low", "high"]
    return pd.DataFrame(rows, columns=names).astype({"runs": "Int64"})


def numbers(run: Embedding) -> Numbers:
    """All that is shown of a run; where n is a prime power, nothing."""
    return changes(run) | keep_remove(run) if run.crossing else {}
