"""Whether a run passes the tests of its attention heads: criteria.md, section 4."""

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from strata.patch.scores import always_zero, class_known
from strata.statistics import above_chance
from studies.interventions.code.cases import Case, Judged, judged
from studies.interventions.code.records import Draw, HeadChange, Interventions, Side
from studies.params import CriteriaLevels as Levels

SHARE = "share of lost skill"
Heads = tuple[int, ...]
Skills = dict[int, float]  # by the prime power of n
# What skill 0 modulo a prime power is: a random element of the right class, or always 0.
SCALES: dict[str, Callable[[int], float]] = {"right class": class_known, "always 0": always_zero}


def judge(run: Interventions, levels: Levels) -> Iterator[Judged]:
    """Every criterion on the heads of a run."""
    yield from _routing(run, levels)
    yield from _primes(run, levels)


def every_head(run: Interventions) -> Heads:
    """All heads of a model; none of one without."""
    return max((r.heads for r in run.routing), key=len, default=())


def _routing(run: Interventions, levels: Levels) -> Iterator[Judged]:
    """No case without heads; with one head there is no other to compare it with."""
    every, section = every_head(run), "routing"
    yield judged(section, "head 0 routes by class", _by_class(run, levels, (0,)))
    yield judged(section, "all heads route by class", _by_class(run, levels, every))
    for name, heads in (("head 0 routes", (0,)), ("all heads route", every)):
        of = [x for x in routes(run, heads, levels) if x.modulus is None]
        cases = (Case(x.answer == "yes", x.share, x.high) for x in of if x.used)
        yield judged(section, f"{name} by class, {SHARE}", cases)
    ranked = _skill(run.head_change("rank", (0,), rank=levels.rank))
    cases = [] if ranked is None else [Case(ranked >= levels.intact, ranked)]
    yield judged(section, f"{levels.rank} directions of head 0 are enough", cases)
    yield judged(section, "reads the classes", _subspace(run, levels, every, "read"))
    test = "reads the classes, not the embedding at large"
    yield judged(section, test, _not_at_large(run, levels, every))
    yield judged(section, "writes into the classes", _subspace(run, levels, every, "write"))
    yield judged(section, "head 0 carries the class", _carries(run, levels, every))


def _skill(record: HeadChange | None) -> float | None:
    return record.skill if record else None


def _by_class(run: Interventions, levels: Levels, heads: Heads) -> Iterator[Case]:
    block = _skill(run.head_change("pattern", heads, blocks="class"))
    mean = _skill(run.head_change("pattern", heads, blocks="mean"))
    if block is not None and mean is not None:
        yield Case(block >= levels.intact and mean <= levels.broken, block, mean)


def _subspace(run: Interventions, levels: Levels, every: Heads, side: Side) -> Iterator[Case]:
    for x in _beside(run, levels, every, side, "random"):
        yield Case(x.onto >= levels.intact and x.off <= levels.broken and x.apart, x.onto, x.off)


def _not_at_large(run: Interventions, levels: Levels, every: Heads) -> Iterator[Case]:
    for x in _beside(run, levels, every, "read", "spread"):
        yield Case(x.apart, x.onto, x.control)


class Beside(NamedTuple):
    """Skill onto S and off it, the highest of a control's draws onto, and whether both skills
    differ from every draw."""

    onto: float
    off: float
    control: float
    apart: bool


def _beside(
    run: Interventions, levels: Levels, every: Heads, side: Side, control: Draw
) -> Iterator[Beside]:
    """Nothing where there is no head or no skill."""
    onto, off = (_skill(run.head_change(x, every, side=side)) for x in ("onto", "off"))
    kept, left = (run.head_change(x, every, side=side, control=control) for x in ("onto", "off"))
    high = kept.draws.skill.high if kept and kept.draws else None
    low = left.draws.skill.low if left and left.draws else None
    if onto is not None and off is not None and high is not None and low is not None:
        yield Beside(onto, off, high, min(onto - high, low - off) >= levels.differ)


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
    mean, base = _skill(run.head_change("pattern", heads, blocks="mean")), run.base
    if mean is None or base is None or base.skill is None:
        return []
    found = []
    for modulus in (None, *sorted({r.modulus for r in run.routing if r.modulus})):
        names = ("residues", "residues shuffled") if modulus else ("class", "shuffled")
        own, drawn = (run.head_change("pattern", heads, blocks=x, modulus=modulus) for x in names)
        over = drawn.draws.skill if drawn and drawn.draws else None
        skill = _skill(own)
        if skill is None or not over or over.mean is None or over.high is None:
            continue
        lost = base.skill - mean
        share, shuffled, high = (
            (x - mean) / lost if lost > 0 else 0.0 for x in (skill, over.mean, over.high)
        )
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
        of, section = needed(run, scale, levels), f"heads and primes, 0 = {name}"
        alone, groups = [], []
        if of:
            alone = [_specific(x, of.put[h], True, levels) for h, x in of.left.items()]
            several = len(of.groups) > 1
            groups = [_specific(x, q, several, levels) for q, x in of.groups.items()]
            groups = groups or [_specific(x, None, False, levels) for x in of.left.values()][:1]
        yield judged(section, "alone: each head for one prime", alone, False)
        yield judged(section, "as a group: the heads of each prime", groups, False)


def _specific(skills: Skills, q: int | None, may: bool, levels: Levels) -> Case:
    """Whether only skill modulo q is lost, and all of it."""
    own = min(skills, key=lambda x: skills[x]) if q is None else q
    rest = min(x for other, x in skills.items() if other != own)
    holds = may and q is not None and skills[own] <= levels.broken and rest >= levels.intact
    return Case(holds, skills[own], rest)
