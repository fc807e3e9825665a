"""Whether a run passes each test of docs/interventions.md, from the numbers of its interventions.

The levels were fixed, here and in the docs, before any of the tests was run on a trained model.
They are no parameters: a level that can be turned afterwards is none.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple, get_args

from strata.schema import HeadChange, Interventions, KeepRemove, KeyFrequencies, Scores
from strata.schema.interventions import Draw, Kind, Region, Side

INTACT = 0.95  # skill: at most a twentieth of what there is to lose is lost
BROKEN = 0.2  # skill: at least four fifths of it are lost
DIFFER = 0.5  # between two skills or shares: half of the scale
SWAPPED = 0.9  # share of interchanges with the predicted answer
CARRIES = 0.1  # class accuracy that head 0 costs more than any other head
RANK = 8  # singular directions of head 0 that the paper counts


class Case(NamedTuple):
    """Whether a criterion holds in one case, its number, and the number of its control."""

    holds: bool
    value: float
    against: float | None = None


class Judged(NamedTuple):
    """A criterion over its cases: its number in the worst case, and that of the control.

    It passes where every case holds, and is None where the run has no case.
    """

    section: str
    test: str
    value: float | None
    against: float | None
    held: int
    cases: int

    @property
    def passed(self) -> bool | None:
        return self.held == self.cases if self.cases else None


def judge(run: Interventions) -> list[Judged]:
    """Every criterion on a run's interventions; a run that diverged passes none and has no case."""
    if not run.finite:
        return []
    return [*_keep_remove(run), *_specificity(run), *_interchange(run), *_routing(run)]


def _judged(section: str, test: str, cases: Iterable[Case], high: bool = True) -> Judged:
    """A criterion over some cases; ``high`` says whether they hold where the number is high."""

    def room(case: Case) -> tuple[bool, float]:
        return case.holds, (case.value - (case.against or 0)) * (1 if high else -1)

    known = sorted(cases, key=room)
    worst = known[0] if known else None
    value, against = (worst.value, worst.against) if worst else (None, None)
    return Judged(section, test, value, against, sum(x.holds for x in known), len(known))


def tested_alone(record: KeepRemove, key: Iterable[KeyFrequencies]) -> bool:
    """Whether the class of a record has as many other characters as key ones, and some of these."""
    [own] = [x for x in key if x.d == record.d]
    return 0 < 2 * len(own.frequencies) <= own.of


def _keep_remove(run: Interventions) -> Iterator[Judged]:
    for site in dict.fromkeys(r.site for r in run.keep_remove):
        for action, case, high in (("keep", _kept, True), ("remove", _removed, False)):
            records = [r for r in run.keep_remove if (r.site, r.action) == (site, action)]
            whole = [r for r in records if r.d is None and r.controls]
            alone = [r for r in records if r.d and tested_alone(r, run.key)]
            section = f"{action}, {site}"
            yield _judged(section, "all classes at once", _known(map(case, whole)), high)
            yield _judged(section, "each class", _known(map(case, alone)), high)


def _known(cases: Iterable[Case | None]) -> Iterator[Case]:
    return (case for case in cases if case)


def _kept(record: KeepRemove) -> Case | None:
    """None where chance is always right, and there is no skill."""
    skill = record.own.skill
    highest = [x.own.skill.high for x in record.controls.values()]
    known = [x for x in highest if x is not None]
    if skill is None or not known:
        return None
    return Case(skill >= INTACT and skill - max(known) >= DIFFER, skill, max(known))


def _removed(record: KeepRemove) -> Case | None:
    skill, base, control = (
        record.own.skill, record.base.skill, record.controls["other"].own.skill.low,
    )  # fmt: skip
    if skill is None or base is None or control is None:
        return None
    holds = base >= INTACT and skill <= BROKEN and control - skill >= DIFFER
    return Case(holds, skill, control)


def _specificity(run: Interventions) -> Iterator[Judged]:
    by_class = [r.regions for r in run.specificity if r.axis is None]
    by_axis = [r.regions for r in run.specificity if r.axis is not None]
    base = run.base.skill if run.base else None
    whole = (base or 0) >= INTACT

    def intact(regions: list[dict[Region, Scores | None]], name: Region) -> list[Case]:
        return [Case(x >= INTACT, x) for x in _skills(regions, name)]

    def broken(regions: list[dict[Region, Scores | None]], name: Region) -> list[Case]:
        return [Case(whole and x <= BROKEN, x) for x in _skills(regions, name)]

    section = "specificity, class"
    outside, inside = intact(by_class, "outside"), broken(by_class, "inside")
    yield _judged(section, "own subspaces: the other pairs are intact", outside)
    yield _judged(section, "own subspaces: its pairs break", inside, False)
    section = "specificity, axis"
    own, shared = broken(by_axis, "own"), broken(by_axis, "shared")
    spared = intact(by_axis, "spared")
    yield _judged(section, "spared: pairs without the axis are intact", spared)
    yield _judged(section, "own: pairs with it, an operand in the class", own, False)
    yield _judged(section, "shared: pairs with it, no operand in the class", shared, False)


def _skills(records: list[dict[Region, Scores | None]], name: Region) -> Iterator[float]:
    """The skill in a region, of the records that have pairs and a skill there."""
    for regions in records:
        scores = regions[name]
        if scores is not None and scores.skill is not None:
            yield scores.skill


def _interchange(run: Interventions) -> Iterator[Judged]:
    for kind in get_args(Kind):
        cases = []
        for r in (r for r in run.interchange if r.kind == kind):
            floor = max(r.chance, r.random)
            holds = r.success >= SWAPPED and r.success - floor >= DIFFER
            cases.append(Case(holds, r.success, floor))
        yield _judged("interchange", kind, cases)


def _routing(run: Interventions) -> Iterator[Judged]:
    """No case without heads; with one head there is no other to compare it with."""
    every = max((r.heads for r in run.routing), key=len, default=())
    section = "routing"
    yield _judged(section, "head 0 routes by class", _by_class(run, (0,)))
    yield _judged(section, "all heads route by class", _by_class(run, every))
    ranked = _skill(run.head_change("rank", (0,), rank=RANK))
    cases = [] if ranked is None else [Case(ranked >= INTACT, ranked)]
    yield _judged(section, f"{RANK} directions of head 0 are enough", cases)
    yield _judged(section, "reads the classes", _subspace(run, every, "read"))
    test = "reads the classes, not the embedding at large"
    yield _judged(section, test, _not_at_large(run, every))
    yield _judged(section, "writes into the classes", _subspace(run, every, "write"))
    yield _judged(section, "head 0 carries the class", _carries(run, every))


def _skill(record: HeadChange | None) -> float | None:
    return record.skill if record else None


def _by_class(run: Interventions, heads: tuple[int, ...]) -> Iterator[Case]:
    block = _skill(run.head_change("pattern", heads, blocks="class"))
    mean = _skill(run.head_change("pattern", heads, blocks="mean"))
    if block is not None and mean is not None:
        yield Case(block >= INTACT and mean <= BROKEN, block, mean)


def _subspace(run: Interventions, every: tuple[int, ...], side: Side) -> Iterator[Case]:
    for x in _beside(run, every, side, "random"):
        yield Case(x.onto >= INTACT and x.off <= BROKEN and x.apart, x.onto, x.off)


def _not_at_large(run: Interventions, every: tuple[int, ...]) -> Iterator[Case]:
    for x in _beside(run, every, "read", "spread"):
        yield Case(x.apart, x.onto, x.control)


class Beside(NamedTuple):
    """Skill onto S and off it, the highest of a control's draws onto, and whether both skills
    differ from every draw."""

    onto: float
    off: float
    control: float
    apart: bool


def _beside(
    run: Interventions, every: tuple[int, ...], side: Side, control: Draw
) -> Iterator[Beside]:
    """Nothing where there is no head or no skill."""
    onto, off = (_skill(run.head_change(x, every, side=side)) for x in ("onto", "off"))
    kept, left = (run.head_change(x, every, side=side, control=control) for x in ("onto", "off"))
    high = kept.draws.skill.high if kept and kept.draws else None
    low = left.draws.skill.low if left and left.draws else None
    if onto is not None and off is not None and high is not None and low is not None:
        yield Beside(onto, off, high, min(onto - high, low - off) >= DIFFER)


def _carries(run: Interventions, every: tuple[int, ...]) -> Iterator[Case]:
    """Class accuracy that is left without each head."""
    records = {h: run.head_change("ablate", (h,)) for h in every}
    left = {h: r.all.class_accuracy for h, r in records.items() if r and r.all}
    if len(left) > 1:
        others = min(x for h, x in left.items() if h)
        yield Case(others - left[0] >= CARRIES, left[0], others)
