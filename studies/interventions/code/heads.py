"""What attention heads are needed for, as tables over runs: criteria.md, section 4."""

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd
from scipy.stats import binom

from strata.results import FAILS, HOLDS, Row
from strata.statistics import t_interval
from strata.tables.table import RUNS, Column, N, Table
from studies.interventions.code import criteria
from studies.interventions.code.criteria import SCALES, ZERO, Route
from studies.interventions.code.records import Interventions
from studies.params import CriteriaLevels


def tables(
    runs: Sequence[Interventions], levels: CriteriaLevels, confidence: float
) -> tuple[Table, Table]:
    """What patterns bring back, and how likely it is that heads divide as they do."""
    brought = "Skill that a mean pattern loses and patterns by blocks bring back, over runs."
    divided = "Heads that are divided two and two between the two largest prime powers of n."
    return (
        Table("routing-runs", brought, routes(runs, levels, confidence), ROUTES),
        Table("heads-chance", divided, chance(runs, levels), CHANCE),
    )


CHANCE = N | RUNS | {
    "powers": Column("prime powers", align="l"),
    "rule": Column("rule", align="l"),
    "divided": Column("divided 2 and 2", "count"),
    "split_chance": Column("chance", "share"),
    "p_binomial": Column("p", "p"),
}  # fmt: skip


def chance(runs: Sequence[Interventions], levels: CriteriaLevels) -> pd.DataFrame:
    """In how many runs of a modulus four heads are divided two and two between its two largest
    prime powers, how likely that is for heads put to prime powers at random, and the binomial
    probability of so many runs or more; for the least skill, and with a margin.

    >>> float(split_chance(2)), round(float(split_chance(3)), 3)
    (0.375, 0.074)
    """
    rows = []
    for n in sorted({run.n for run in runs}, reverse=True):
        needed = [criteria.needed(x, SCALES["class"], levels) for x in runs if x.n == n]
        known = [x for x in needed if x and len(x.left) == 4]
        if not known:
            continue
        powers = sorted(next(iter(known[0].left.values())))
        share = split_chance(len(powers))
        for rule, margin in (("least skill", 0.0), ("with a margin", levels.margin)):
            put = [criteria.put(x.left, margin) for x in known]
            count = sum(_two_two(x, powers[-2:]) for x in put)
            p = float(binom.sf(count - 1, len(known), share))
            rows.append((n, ", ".join(map(str, powers)), rule, len(known), count, share, p))
    names = ["n", "powers", "rule", "runs", "divided", "split_chance", "p_binomial"]
    return pd.DataFrame(rows, columns=names)


def split_chance(powers: int) -> float:
    """How often four heads put to prime powers at random are two and two of the last two."""
    return 6 / powers**4


def _two_two(put: dict[int, int | None], two: Sequence[int]) -> bool:
    return sorted(map(str, put.values())) == sorted(str(q) for q in [*two, *two])


def results(name: str, run: Interventions, levels: CriteriaLevels) -> Iterator[Row]:
    """What other studies read: the prime power that each head is put to with a margin, 0 for none,
    by what skill 0 is; and, of four heads, whether they are divided two and two, and how likely
    that is."""
    for scale, of_scale in SCALES.items():
        found = criteria.needed(run, of_scale, levels)
        about = name, f"put-{scale}", f"put to, 0 = {ZERO[scale]}"
        yield Row(*about)
        for head, q in found.put.items() if found else ():
            yield Row(*about, f"head {head}", "count", q or 0)
    found, verdict, share = criteria.needed(run, SCALES["class"], levels), "", None
    if found and len(found.left) == 4:
        powers = sorted(next(iter(found.left.values())))
        verdict = HOLDS if _two_two(found.put, powers[-2:]) else FAILS
        share = split_chance(len(powers))
    yield Row(name, "divided", "divided", "", "share", share, verdict)  # beside its chance


GAINS = {
    "over_shuffled_mean": Column("classes − shuffled", "share"),
    "over_shuffled_low": Column("from", "share"),
    "over_shuffled_high": Column("to", "share"),
    "over_residues_mean": Column("classes − residues", "share"),
    "over_residues_low": Column("residues, from", "share"),
    "over_residues_high": Column("residues, to", "share"),
}
ROUTES = N | RUNS | {
    "heads": Column("heads", align="l"),
    "used": Column("pattern used", "count"),
    "lost_mean": Column("skill lost, mean", "share"),
    "class_yes": Column("by class", "count"),
    "class_part": Column("by class, in part", "count"),
    "residue_yes": Column("by residues", "count"),
    "residue_part": Column("by residues, in part", "count"),
    **GAINS,
}  # fmt: skip


def routes(
    runs: Sequence[Interventions], levels: CriteriaLevels, confidence: float
) -> pd.DataFrame:
    """For each modulus, head 0 and all heads: in how many runs the pattern is used, how many route
    by class and by residues, and the intervals of what classes bring back more than shuffled ones,
    and than the residues modulo the best prime power; paired, over the runs that use it."""
    rows = []
    for n in dict.fromkeys(run.n for run in runs):
        own = [run for run in runs if run.n == n]
        for id in criteria.asked_of(own[0]):
            every = [
                (run.run, *route)
                for run in own
                for route in criteria.routes(run, criteria.asked_of(run)[id], levels)
            ]
            frame = pd.DataFrame(every, columns=["run", *Route._fields])
            row = {"n": n, "id": id, "heads": id.replace("-", " "), "runs": len(own)}
            rows.append(row | _over(frame, confidence))
    names = ["n", "id", "heads", "runs", "used", "lost_mean", "class_yes", "class_part"]
    return pd.DataFrame(rows, columns=[*names, "residue_yes", "residue_part", *GAINS])


def _over(every: pd.DataFrame, confidence: float) -> dict[str, Any]:
    """The numbers of some heads, from all of their routes in the runs."""
    by_class = every.query("modulus.isna()").set_index("run")
    residues = every.query("modulus.notna()")
    used = by_class.query("answer != 'not used'")
    found = {"used": len(used), "lost_mean": by_class["lost"].mean()}
    for answer, name in (("yes", "yes"), ("in part", "part")):
        found[f"class_{name}"] = (used["answer"] == answer).sum()
        found[f"residue_{name}"] = residues.query("answer == @answer")["run"].nunique()
    best = pd.Series(residues.groupby("run")["share"].max(), used.index)
    gains = {
        "over_shuffled": used["share"] - used["shuffled"],
        "over_residues": (used["share"] - best).dropna(),
    }
    for name, x in gains.items():
        low, high = t_interval(x.tolist(), confidence) or (None, None)
        found |= {f"{name}_mean": x.mean(), f"{name}_low": low, f"{name}_high": high}
    return found
