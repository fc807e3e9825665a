"""Whether a run passes each test of criteria.md, from the numbers of its interventions."""

from collections.abc import Callable, Iterable, Iterator
from itertools import product
from math import isnan, nan
from typing import Literal, NamedTuple, get_args

import numpy as np

from strata.patch.ablations import ACTIONS, SITES
from strata.patch.scores import Range, ScoreRanges, Scores, always_zero, class_known
from strata.results import FAILS, HOLDS
from strata.statistics import above_chance
from studies.interventions.code.records import (
    Draw,
    EqualEnergy,
    HeadChange,
    Interventions,
    KeepRemove,
    KeyFrequencies,
    Kind,
    Region,
    Side,
)
from studies.params import CriteriaLevels as Levels

NO_DRAW = Range(mean=None, low=None, high=None)
Heads = tuple[int, ...]
Skills = dict[int, float]  # by the prime power of n
# What skill 0 modulo a prime power is: a random element of the right class, or always 0.
SCALES: dict[str, Callable[[int], float]] = {"class": class_known, "zero": always_zero}
ZERO = {"class": "right class", "zero": "always 0"}  # in words
SWAPS = {kind: f"swap-{kind.replace(',', '').replace(' ', '-')}" for kind in get_args(Kind)}
CASES = {
    "all": "all classes at once",
    "each": "each class",
    "all-equal": "all classes at once, equal energy",
    "each-equal": "each class, equal energy",
}
HEADS = {
    "alone": "alone: each head for one prime",
    "group": "as a group: the heads of each prime",
}
# By id the intervention, and what is asked of it.
SENTENCES = {
    **{
        f"{action}-{site}-{case}": (f"{action}, {site}", sentence)
        for site, action, (case, sentence) in product(SITES, ACTIONS, CASES.items())
    },
    "class-outside": ("specificity, class", "own subspaces: the other pairs are intact"),
    "class-inside": ("specificity, class", "own subspaces: its pairs break"),
    "axis-spared": ("specificity, axis", "spared: pairs without the axis are intact"),
    "axis-own": ("specificity, axis", "own: pairs with it, an operand in the class"),
    "axis-shared": ("specificity, axis", "shared: pairs with it, no operand in the class"),
    **{id: ("interchange", kind) for kind, id in SWAPS.items()},
    "head-0-blocks": ("routing", "head 0 routes by class"),
    "all-heads-blocks": ("routing", "all heads route by class"),
    "head-0-share": ("routing", "head 0 routes by class, share of lost skill"),
    "all-heads-share": ("routing", "all heads route by class, share of lost skill"),
    "rank": ("routing", "{levels.rank} directions of head 0 are enough"),
    "reads": ("routing", "reads the classes"),
    "reads-alone": ("routing", "reads the classes, not the embedding at large"),
    "writes": ("routing", "writes into the classes"),
    "carries": ("routing", "head 0 carries the class"),
    **{
        f"heads-{case}-{scale}": (f"heads and primes, 0 = {zero}", sentence)
        for (scale, zero), (case, sentence) in product(ZERO.items(), HEADS.items())
    },
}


class Case(NamedTuple):
    """Whether a criterion holds in one case, its number, and the number of its control. Where one
    of the numbers is NaN, the run has no such case."""

    holds: bool
    value: float
    against: float | None = None

    @property
    def known(self) -> bool:
        return not isnan(self.value) and not isnan(self.against or 0)


class Judged(NamedTuple):
    """A criterion over its cases: its number in the worst case, and that of the control.

    It holds where every case does; there is no verdict where the run has no case.
    """

    id: str
    value: float | None
    against: float | None
    held: int
    cases: int

    @property
    def verdict(self) -> str:
        return "" if not self.cases else HOLDS if self.held == self.cases else FAILS


def judged(id: str, cases: Iterable[Case], high: bool = True) -> Judged:
    """A criterion over some cases; ``high`` says whether they hold where the number is high."""

    def room(case: Case) -> tuple[bool, float]:
        return case.holds, (case.value - (case.against or 0)) * (1 if high else -1)

    known = sorted((x for x in cases if x.known), key=room)
    worst = known[0] if known else None
    value, against = (worst.value, worst.against) if worst else (None, None)
    return Judged(id, value, against, sum(x.holds for x in known), len(known))


def judge(run: Interventions, levels: Levels) -> list[Judged]:
    """Every criterion on a run's interventions; a run that diverged passes none and has no case."""
    if not run.finite:
        return []
    parts = (_keep_remove, _specificity, _interchange, _routing, _primes)
    return [x for part in parts for x in part(run, levels)]


def number(x: float | None) -> float:
    """NaN where there is none: no skill, where chance is always right."""
    return nan if x is None else x


def tested_alone(record: KeepRemove, key: Iterable[KeyFrequencies]) -> bool:
    """Whether the class of a record has as many other characters as key ones, and some of these."""
    [own] = [x for x in key if x.d == record.d]
    return 0 < 2 * len(own.frequencies) <= own.of


def _keep_remove(run: Interventions, levels: Levels) -> Iterator[Judged]:
    for site in SITES:
        equal = [r for r in run.equal_energy if r.site == site]
        for action, case, content, high in (
            ("keep", _kept, _keep_content, True), ("remove", _removed, _remove_content, False),
        ):  # fmt: skip
            records = [r for r in run.keep_remove if (r.site, r.action) == (site, action)]
            whole = [r for r in records if r.d is None and r.controls]
            alone = [r for r in records if r.d and tested_alone(r, run.key)]
            tests = {
                "all": (case, whole),
                "each": (case, alone),
                "all-equal": (content, [r for r in equal if not r.d]),
                "each-equal": (content, [r for r in equal if r.d]),
            }
            for test, (of, some) in tests.items():
                yield judged(f"{action}-{site}-{test}", (of(r, levels) for r in some), high)


def _kept(record: KeepRemove, levels: Levels) -> Case:
    skill = number(record.own.skill)
    highest = [x.own.skill.high for x in record.controls.values()]
    control = max((x for x in highest if x is not None), default=nan)
    return Case(skill >= levels.intact and skill - control >= levels.differ, skill, control)


def _removed(record: KeepRemove, levels: Levels) -> Case:
    return _broken(record.own, record.base, record.controls["other"].own, levels)


def _keep_content(energy: EqualEnergy, levels: Levels) -> Case:
    """Weak key characters against other ones, and key characters against strong other ones: the
    comparison that differs less, or that lacks a number."""
    pairs = [
        (number(energy.keep_key_weak.skill.low), number(energy.keep_other.skill.high)),
        (number(energy.keep_key.skill), number(energy.keep_other_strong.skill.high)),
    ]
    own, other = pairs[int(np.argmin([own - other for own, other in pairs]))]
    return Case(own - other >= levels.differ, own, other)


def _remove_content(x: EqualEnergy, levels: Levels) -> Case:
    """Key characters removed against a disturbance of their energy by other ones."""
    return _broken(x.remove_key, x.base, x.add_other_strong, levels)


def _broken(after: Scores, before: Scores, control: ScoreRanges, levels: Levels) -> Case:
    """Whether an intact model is broken, and less so by every draw of a control."""
    skill, least = number(after.skill), number(control.skill.low)
    broken = number(before.skill) >= levels.intact and skill <= levels.broken
    return Case(broken and least - skill >= levels.differ, skill, least)


# Criterion, region of pairs, and whether these should be intact, or broken
SPECIFICITY: tuple[tuple[str, Region, bool], ...] = (
    ("class-outside", "outside", True),
    ("class-inside", "inside", False),
    ("axis-spared", "spared", True),
    ("axis-own", "own", False),
    ("axis-shared", "shared", False),
)


def _specificity(run: Interventions, levels: Levels) -> Iterator[Judged]:
    """A model that is not intact cannot be broken. Regions without pairs are no case."""
    base = number(run.base.skill if run.base else None)
    for id, region, intact in SPECIFICITY:
        scores = [x for r in run.specificity if (x := r.regions.get(region))]
        skills = [number(x.skill) for x in scores]
        if intact:
            cases = [Case(x >= levels.intact, x) for x in skills]
        else:
            cases = [Case(base >= levels.intact and x <= levels.broken, x) for x in skills]
        yield judged(id, cases, intact)


def _interchange(run: Interventions, levels: Levels) -> Iterator[Judged]:
    for kind, id in SWAPS.items():
        cases = []
        for r in (r for r in run.interchange if r.kind == kind):
            floor = max(r.chance, r.random)
            holds = r.success >= levels.swapped and r.success - floor >= levels.differ
            cases.append(Case(holds, r.success, floor))
        yield judged(id, cases)


# ---- attention heads: section 4


# Criterion, what is projected, and onto which subspaces beside S
SUBSPACES: tuple[tuple[str, Side, Draw], ...] = (
    ("reads", "read", "random"),
    ("reads-alone", "read", "spread"),
    ("writes", "write", "random"),
)


def every_head(run: Interventions) -> Heads:
    """All heads of a model; none of one without."""
    return max((r.heads for r in run.routing), key=len, default=())


def asked_of(run: Interventions) -> dict[str, Heads]:
    """The heads whose patterns are asked about, by their id."""
    return {"head-0": (0,), "all-heads": every_head(run)}


def _routing(run: Interventions, levels: Levels) -> Iterator[Judged]:
    """No case without heads; with one head there is no other to compare it with."""
    every = every_head(run)
    for name, heads in asked_of(run).items():
        yield judged(f"{name}-blocks", [_by_class(run, levels, heads)])
    for name, heads in asked_of(run).items():
        of = [x for x in routes(run, heads, levels) if x.modulus is None]
        yield judged(
            f"{name}-share", (Case(x.answer == "yes", x.share, x.high) for x in of if x.used)
        )
    ranked = _skill(run.head_change("rank", (0,), rank=levels.rank))
    yield judged("rank", [Case(ranked >= levels.intact, ranked)])
    for id, side, control in SUBSPACES:
        yield judged(id, [_subspace(run, levels, every, side, control)])
    yield judged("carries", _carries(run, levels, every))


def _skill(record: HeadChange | None) -> float:
    return number(record.skill if record else None)


def _drawn(record: HeadChange | None) -> Range:
    return record.draws.skill if record and record.draws else NO_DRAW


def _by_class(run: Interventions, levels: Levels, heads: Heads) -> Case:
    block, mean = (_skill(run.head_change("pattern", heads, blocks=x)) for x in ("class", "mean"))
    return Case(block >= levels.intact and mean <= levels.broken, block, mean)


def _subspace(run: Interventions, levels: Levels, every: Heads, side: Side, control: Draw) -> Case:
    """Whether skill onto S and off it both differ from every draw of a control; and, where that is
    random, whether it is intact onto S and broken off it."""
    onto, off = (_skill(run.head_change(x, every, side=side)) for x in ("onto", "off"))
    kept, left = (
        _drawn(run.head_change(x, every, side=side, control=control)) for x in ("onto", "off")
    )
    high, low = number(kept.high), number(left.low)
    apart = min(onto - high, low - off) >= levels.differ
    if control == "spread":
        return Case(apart, onto, high)
    return Case(apart and onto >= levels.intact and off <= levels.broken, onto, off)


def _carries(run: Interventions, levels: Levels, every: Heads) -> Iterator[Case]:
    """Class accuracy that is left without each head."""
    records = {h: run.head_change("ablate", (h,)) for h in every}
    left = {h: r.all.class_accuracy for h, r in records.items() if r and r.all}
    if len(left) > 1:
        others = min(x for h, x in left.items() if h)
        yield Case(others - left[0] >= levels.carries, left[0], others)


class Route(NamedTuple):
    """How much of the skill that a mean pattern loses a pattern by blocks brings back; ``modulus``
    is None where the blocks are those of classes. Shares mean nothing where little is lost."""

    modulus: int | None
    lost: float
    share: float
    shuffled: float
    """With shuffled labels: the mean over draws."""
    high: float
    """The highest of them."""
    answer: Literal["not used", "yes", "in part", "no"]

    @property
    def used(self) -> bool:
        return self.answer != "not used"


def routes(run: Interventions, heads: Heads, levels: Levels) -> list[Route]:
    """By class and by residues modulo each prime power, for some heads; none of a model without."""
    mean = _skill(run.head_change("pattern", heads, blocks="mean"))
    lost, found = number(run.base.skill if run.base else None) - mean, []
    for modulus in (None, *sorted({r.modulus for r in run.routing if r.modulus})):
        names = ("residues", "residues shuffled") if modulus else ("class", "shuffled")
        own, drawn = (run.head_change("pattern", heads, blocks=x, modulus=modulus) for x in names)
        skills = _skill(own), number(_drawn(drawn).mean), number(_drawn(drawn).high)
        if isnan(lost) or any(map(isnan, skills)):
            continue
        share, shuffled, high = ((x - mean) / lost if lost > 0 else 0.0 for x in skills)
        answer = "no"
        if lost < levels.lost:
            answer = "not used"
        elif share >= levels.routed and share - high >= levels.differ:
            answer = "yes"
        elif share - high >= levels.partly:
            answer = "in part"
        found.append(Route(modulus, lost, share, shuffled, high, answer))
    return found


class Needed(NamedTuple):
    """What the heads of a run are needed for: skill modulo each prime power without each head, the
    prime power that each is put to, if any, and the skills without all that are put to one."""

    left: dict[int, Skills]
    put: dict[int, int | None]
    groups: dict[int, Skills]


def needed(run: Interventions, scale: Callable[[int], float], levels: Levels) -> Needed | None:
    """None where the model has no heads, or n one prime power alone."""
    left = {x: _modulo(run, (x,), scale) for x in every_head(run)}
    if not left or min(map(len, left.values())) < 2:
        return None
    heads = put(left, levels.margin)
    chosen = {q: tuple(h for h in heads if heads[h] == q) for q in heads.values() if q is not None}
    groups = {q: _modulo(run, of_q, scale) for q, of_q in sorted(chosen.items())}
    return Needed(left, heads, groups)


def put(left: dict[int, Skills], margin: float) -> dict[int, int | None]:
    """For each head the prime power modulo which least skill is left without it, if the next has
    more by a margin.

    >>> put({0: {3: 0.5, 5: 0.1}, 1: {3: 0.5, 5: 0.45}}, 0.1)
    {0: 5, 1: None}
    """
    found: dict[int, int | None] = {}
    for head, skills in left.items():
        first, second = sorted(skills, key=lambda q: skills[q])[:2]
        found[head] = first if skills[second] - skills[first] >= margin else None
    return found


def _modulo(run: Interventions, heads: Heads, scale: Callable[[int], float]) -> Skills:
    """Skill modulo each prime power without some heads; none modulo 2 where chance is all."""
    record = run.head_change("ablate", heads)
    right = record.all.modulo if record and record.all else {}
    above = {q: above_chance(x, scale(q)) for q, x in right.items()}
    return {q: x for q, x in above.items() if x is not None}


def _primes(run: Interventions, levels: Levels) -> Iterator[Judged]:
    """A head alone, and all heads of a prime power together: broken modulo it, intact modulo the
    others; two prime powers at least must have heads."""
    for name, scale in SCALES.items():
        of, alone, groups = needed(run, scale, levels), [], []
        if of:
            alone = [_specific(x, of.put[h], True, levels) for h, x in of.left.items()]
            several = len(of.groups) > 1
            groups = [_specific(x, q, several, levels) for q, x in of.groups.items()]
            groups = groups or [_specific(x, None, False, levels) for x in of.left.values()][:1]
        yield judged(f"heads-alone-{name}", alone, False)
        yield judged(f"heads-group-{name}", groups, False)


def _specific(skills: Skills, q: int | None, may: bool, levels: Levels) -> Case:
    """Whether only skill modulo q is lost, and all of it."""
    own = min(skills, key=lambda x: skills[x]) if q is None else q
    rest = min(x for other, x in skills.items() if other != own)
    holds = may and q is not None and skills[own] <= levels.broken and rest >= levels.intact
    return Case(holds, skills[own], rest)
