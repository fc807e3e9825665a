"""What the measures of a run say of each statement, and what the runs say together: criteria.md."""

from collections.abc import Mapping, Sequence
from math import isnan, nan
from typing import NamedTuple

from strata.statistics import share_interval
from studies.params import MechanismLevels as Levels

HOLDS, FAILS, UNDECIDED = 1.0, 0.0, 0.5  # NaN: nothing was measured
Pair = Sequence[float]  # of two


class Row(NamedTuple):
    """A number of the long table."""

    of: str
    measure: str
    unit: str
    value: float


# What each statement rests on: the kind of level, and of, measure and unit of the number.
RULES: dict[str, tuple[tuple[str, str, str, str], ...]] = {
    "code": (
        ("share", "product side", "rest", "share"),
        ("share", "product side", "rest of held-out products", "share"),
        ("share", "product side", "rest of held-out classes", "share"),
        ("functions", "product side", "functions", "count"),
        ("spared", "product side", "right answers", "accuracy"),
        ("spared", "residual stream", "keep", "accuracy"),
        ("spared", "residual stream", "equal size elsewhere", "accuracy"),
        ("spared", "moves within", "hits", "accuracy"),
        ("spared", "moves across", "hits", "accuracy"),
        ("destroyed", "residual stream", "remove", "accuracy"),
        ("destroyed", "residual stream", "keep others", "accuracy"),
        ("destroyed", "product side", "rest of other characters", "share"),
        ("destroyed", "moves within", "random", "accuracy"),
        ("destroyed", "moves across", "random", "accuracy"),
    ),
    "neurons": (
        ("share", "neurons", "own prime power", "share"),
        ("share", "neurons", "sum", "share"),
        ("spared", "neurons", "replaced", "accuracy"),
        ("destroyed", "neurons", "next prime power", "accuracy"),
        ("destroyed", "neurons", "no interaction", "accuracy"),
        ("destroyed", "neurons", "relabelled", "share"),
    ),
    "decoding": (
        ("share", "nearest code", "all", "share"),
        ("share", "nearest code", "held-out products", "share"),
        ("share", "nearest code", "predicted bias", "share"),
        ("share", "nearest code", "predicted cross-talk", "share"),
        ("spared", "nearest code", "right answers", "accuracy"),
        ("spared", "unembedding", "both predicted", "accuracy"),
        ("destroyed", "nearest code", "permuted candidates", "share"),
    ),
}


def level(value: float, levels: Pair) -> float:
    """The verdict on one number by two levels; where the first is lower, the lower the better.

    >>> [level(x, (0.8, 0.5)) for x in (0.8, 0.6, 0.4)], level(0.1, (0.2, 0.5))
    ([1.0, 0.5, 0.0], 1.0)
    """
    if isnan(value):
        return nan
    holds, fails = levels
    if holds < fails:
        return HOLDS if value <= holds else FAILS if value >= fails else UNDECIDED
    return HOLDS if value >= holds else FAILS if value < fails else UNDECIDED


def verdicts(found: Sequence[Row], levels: Levels) -> list[Row]:
    """The verdict on each number that a statement rests on, and on each statement: it holds if all
    do, and does not if any does not. Numbers without a value are left out."""
    values = {row[:3]: row.value for row in found}
    rows = []
    for name, rules in RULES.items():
        own = []
        for kind, of, measure, unit in rules:
            verdict = level(values.get((of, measure, unit), nan), getattr(levels, kind))
            own.append(Row(of, measure, f"{unit} verdict", verdict))
        known = [row.value for row in own if not isnan(row.value)]
        rows += [*own, Row(name, "statement", "verdict", min(known, default=nan))]
    gates, rank = gating(values, levels), proof(values, levels)
    rows += [Row("gated characters", "statement", "verdict", gates)]
    return [*rows, Row("proof", "statement", "verdict", rank)]


def gating(values: Mapping[tuple[str, str, str], float], levels: Levels) -> float:
    """No interaction of primes at all, or one by few gates."""
    if values["parts", "many", "share"] <= levels.many:
        return HOLDS

    def of(measure: str, unit: str = "share") -> float:
        return values["gated characters", measure, unit]

    explained, right = of("explained"), of("right answers", "accuracy") >= levels.answers
    verdict = level(explained, levels.share)
    if of("of all characters") > levels.gated or of("by others") >= levels.others * explained:
        return FAILS
    return verdict if right else min(verdict, UNDECIDED)


def proof(values: Mapping[tuple[str, str, str], float], levels: Levels) -> float:
    """The rank of the proof is the number of zeros and characters; it is not where none proves."""
    rank, functions = values["proof", "rank", "count"], values["product side", "functions", "count"]
    if isnan(rank) or abs(rank - functions) > levels.rank:
        return FAILS
    return HOLDS if rank == functions else UNDECIDED


class Tally(NamedTuple):
    """How many runs a statement holds for, does not, and is undecided for; the 95 % interval of
    Clopper and Pearson of the share for which it holds, and of that for which it does not."""

    holds: int
    fails: int
    undecided: int
    interval: Pair
    interval_fails: Pair

    @property
    def verdict(self) -> float:
        """It holds (does not) where the interval of the runs that do (do not) is above one half."""
        if self.interval[0] > 0.5:
            return HOLDS
        return FAILS if self.interval_fails[0] > 0.5 else UNDECIDED


def tally(found: Sequence[float]) -> Tally:
    """The runs together; those without a verdict are left out.

    >>> tally([1.0] * 11 + [0.0, 0.5]).verdict, tally([1.0] * 10 + [0.0] * 3).verdict
    (1.0, 0.5)
    """
    known = [x for x in found if not isnan(x)]
    holds, fails = known.count(HOLDS), known.count(FAILS)
    intervals = (share_interval(count, len(known)) for count in (holds, fails))
    return Tally(holds, fails, len(known) - holds - fails, *intervals)
