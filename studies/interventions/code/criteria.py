"""Whether a run passes each test of criteria.md, from the numbers of its interventions.

The tests of attention heads are in ``head_criteria``.
"""

from collections.abc import Iterable, Iterator
from typing import get_args

from strata.patch.scores import Scores
from studies.interventions.code import head_criteria
from studies.interventions.code.cases import Case, Judged, judged
from studies.interventions.code.records import (
    EqualEnergy,
    Interventions,
    KeepRemove,
    KeyFrequencies,
    Kind,
    Region,
)
from studies.params import CriteriaLevels as Levels


def judge(run: Interventions, levels: Levels) -> list[Judged]:
    """Every criterion on a run's interventions; a run that diverged passes none and has no case."""
    if not run.finite:
        return []
    parts = (_keep_remove, specificity, _interchange, head_criteria.judge)
    return [x for part in parts for x in part(run, levels)]


EQUAL = "equal energy"


def tested_alone(record: KeepRemove, key: Iterable[KeyFrequencies]) -> bool:
    """Whether the class of a record has as many other characters as key ones, and some of these."""
    [own] = [x for x in key if x.d == record.d]
    return 0 < 2 * len(own.frequencies) <= own.of


def _keep_remove(run: Interventions, levels: Levels) -> Iterator[Judged]:
    for site in dict.fromkeys(r.site for r in run.keep_remove):
        equal = [r for r in run.equal_energy if r.site == site]
        for action, case, content, high in (
            ("keep", _kept, _keep_content, True), ("remove", _removed, _remove_content, False),
        ):  # fmt: skip
            records = [r for r in run.keep_remove if (r.site, r.action) == (site, action)]
            whole = [r for r in records if r.d is None and r.controls]
            alone = [r for r in records if r.d and tested_alone(r, run.key)]
            section = f"{action}, {site}"

            tests = {
                "all classes at once": (case, whole),
                "each class": (case, alone),
                f"all classes at once, {EQUAL}": (content, [r for r in equal if not r.d]),
                f"each class, {EQUAL}": (content, [r for r in equal if r.d]),
            }
            for test, (of, some) in tests.items():
                cases = (of(r, levels) for r in some)
                yield judged(section, test, filter(None, cases), high)


def _kept(record: KeepRemove, levels: Levels) -> Case | None:
    """None where chance is always right, and there is no skill."""
    skill = record.own.skill
    highest = [x.own.skill.high for x in record.controls.values()]
    known = [x for x in highest if x is not None]
    if skill is None or not known:
        return None
    holds = skill >= levels.intact and skill - max(known) >= levels.differ
    return Case(holds, skill, max(known))


def _removed(record: KeepRemove, levels: Levels) -> Case | None:
    skill, base, control = (
        record.own.skill, record.base.skill, record.controls["other"].own.skill.low,
    )  # fmt: skip
    if skill is None or base is None or control is None:
        return None
    broken = base >= levels.intact and skill <= levels.broken
    return Case(broken and control - skill >= levels.differ, skill, control)


def _keep_content(x: EqualEnergy, levels: Levels) -> Case | None:
    """Weak key characters against other ones, and key characters against strong other ones: the
    comparison that differs less."""
    pairs = (
        (x.keep_key_weak.skill.low, x.keep_other.skill.high),
        (x.keep_key.skill, x.keep_other_strong.skill.high),
    )
    known = [(own, other) for own, other in pairs if own is not None and other is not None]
    if len(known) < len(pairs):
        return None
    own, other = min(known, key=lambda pair: pair[0] - pair[1])
    return Case(own - other >= levels.differ, own, other)


def _remove_content(x: EqualEnergy, levels: Levels) -> Case | None:
    """Key characters removed against a disturbance of their energy by other ones."""
    skill, base, other = x.remove_key.skill, x.base.skill, x.add_other_strong.skill.low
    if skill is None or base is None or other is None:
        return None
    broken = base >= levels.intact and skill <= levels.broken
    return Case(broken and other - skill >= levels.differ, skill, other)


def specificity(run: Interventions, levels: Levels) -> Iterator[Judged]:
    """The criteria on directions of classes and of axes that are removed."""
    by_class = [r.regions for r in run.specificity if r.axis is None]
    by_axis = [r.regions for r in run.specificity if r.axis is not None]
    base = run.base.skill if run.base else None
    whole = (base or 0) >= levels.intact

    def intact(regions: list[dict[Region, Scores | None]], name: Region) -> list[Case]:
        return [Case(x >= levels.intact, x) for x in _skills(regions, name)]

    def broken(regions: list[dict[Region, Scores | None]], name: Region) -> list[Case]:
        return [Case(whole and x <= levels.broken, x) for x in _skills(regions, name)]

    section = "specificity, class"
    outside, inside = intact(by_class, "outside"), broken(by_class, "inside")
    yield judged(section, "own subspaces: the other pairs are intact", outside)
    yield judged(section, "own subspaces: its pairs break", inside, False)
    section = "specificity, axis"
    own, shared = broken(by_axis, "own"), broken(by_axis, "shared")
    spared = intact(by_axis, "spared")
    yield judged(section, "spared: pairs without the axis are intact", spared)
    yield judged(section, "own: pairs with it, an operand in the class", own, False)
    yield judged(section, "shared: pairs with it, no operand in the class", shared, False)


def _skills(records: list[dict[Region, Scores | None]], name: Region) -> Iterator[float]:
    """The skill in a region, of the records that have pairs and a skill there."""
    for regions in records:
        scores = regions[name]
        if scores is not None and scores.skill is not None:
            yield scores.skill


def _interchange(run: Interventions, levels: Levels) -> Iterator[Judged]:
    for kind in get_args(Kind):
        cases = []
        for r in (r for r in run.interchange if r.kind == kind):
            floor = max(r.chance, r.random)
            holds = r.success >= levels.swapped and r.success - floor >= levels.differ
            cases.append(Case(holds, r.success, floor))
        yield judged("interchange", kind, cases)
