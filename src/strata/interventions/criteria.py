"""Whether a run passes each test of docs/interventions.md, from the numbers of its interventions.

The levels were fixed, here and in the docs, before any of the tests was run on a trained model.
They are no parameters: a level that can be turned afterwards is none.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

Json = dict[str, Any]

INTACT = 0.95  # skill: at most a twentieth of what there is to lose is lost
BROKEN = 0.2  # skill: at least four fifths of it are lost
DIFFER = 0.5  # between two skills or shares: half of the scale
SWAPPED = 0.9  # share of interchanges with the predicted answer
CARRIES = 0.1  # class accuracy that head 0 costs more than any other head
RANK = 8  # singular directions of head 0 that the paper counts


# Whether it holds, its number, and the number that this is held against.
Case = tuple[bool, float, float | None]


class Verdict(NamedTuple):
    """A criterion over its cases: its number in the worst case, and what that is held against.

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


def judge(found: Json) -> list[Verdict]:
    """Every criterion on a run's interventions; a run that diverged passes none and has no case."""
    if not found["finite"]:
        return []
    return [*_keep_remove(found), *_specificity(found), *_interchange(found), *_routing(found)]


def _verdict(section: str, test: str, cases: Iterable[Case], high: bool = True) -> Verdict:
    """The verdict over some cases; ``high`` says whether they hold where the number is high."""

    def room(case: Case) -> tuple[bool, float]:
        holds, value, against = case
        return holds, (value - (against or 0)) * (1 if high else -1)

    known = sorted(cases, key=room)
    _, value, against = known[0] if known else (False, None, None)
    return Verdict(section, test, value, against, sum(case[0] for case in known), len(known))


def tested_alone(record: Json, key: list[Json]) -> bool:
    """Whether the class of a record has as many other characters as key ones, and some of these."""
    [of] = [k for k in key if k["class"] == record["class"]]
    return 0 < 2 * len(of["frequencies"]) <= of["of"]


def _keep_remove(found: Json) -> Iterator[Verdict]:
    records = found["keep_remove"]
    for site in dict.fromkeys(r["site"] for r in records):
        for action, case, high in (("keep", _kept, True), ("remove", _removed, False)):
            mine = [r for r in records if (r["site"], r["action"]) == (site, action)]
            whole = [r for r in mine if r["class"] is None and r["controls"]]
            alone = [r for r in mine if r["class"] and tested_alone(r, found["key"])]
            yield _verdict(f"{action}, {site}", "all classes at once", map(case, whole), high)
            yield _verdict(f"{action}, {site}", "each class", map(case, alone), high)


def _kept(record: Json) -> Case:
    skill = record["own"]["skill"]
    control = max(c["own"]["skill"]["high"] for c in record["controls"].values())
    return skill >= INTACT and skill - control >= DIFFER, skill, control


def _removed(record: Json) -> Case:
    skill, control = record["own"]["skill"], record["controls"]["other"]["own"]["skill"]["low"]
    whole = record["base"]["skill"] >= INTACT
    return whole and skill <= BROKEN and control - skill >= DIFFER, skill, control


def _specificity(found: Json) -> Iterator[Verdict]:
    by_class = [r["regions"] for r in found["specificity"] if r["axis"] is None]
    by_axis = [r["regions"] for r in found["specificity"] if r["axis"] is not None]

    def skills(regions: list[Json], name: str) -> list[float]:
        known = [r[name]["skill"] for r in regions if r[name]]
        return [skill for skill in known if skill is not None]

    def broken(regions: list[Json], name: str) -> list[Case]:
        whole = (found["base"]["skill"] or 0) >= INTACT
        return [(whole and x <= BROKEN, x, None) for x in skills(regions, name)]

    intact = [(x >= INTACT, x, None) for x in skills(by_class, "outside")]
    section = "specificity, class"
    yield _verdict(section, "own subspaces: the other pairs are intact", intact)
    yield _verdict(section, "own subspaces: its pairs break", broken(by_class, "inside"), False)
    section = "specificity, axis"
    intact = [(x >= INTACT, x, None) for x in skills(by_axis, "spared")]
    own, shared = broken(by_axis, "own"), broken(by_axis, "shared")
    yield _verdict(section, "spared: pairs without the axis are intact", intact)
    yield _verdict(section, "own: pairs with it, an operand in the class", own, False)
    yield _verdict(section, "shared: pairs with it, no operand in the class", shared, False)


def _interchange(found: Json) -> Iterator[Verdict]:
    records = {r["swap"]: r for r in found["interchange"]}
    for name in ("class", "class only", "element", "axis", "axis of another class"):
        cases = []
        if r := records.get(name):
            floor = max(r["chance"], r["random"])
            holds = r["success"] >= SWAPPED and r["success"] - floor >= DIFFER
            cases = [(holds, r["success"], floor)]
        yield _verdict("interchange", name, cases)


def _routing(found: Json) -> Iterator[Verdict]:
    """No case without heads; with one head there is no other to compare it with."""
    by = {(r["change"], tuple(r["heads"]), r.get("rank")): r for r in found["routing"]}
    every = max((heads for _, heads, _ in by), key=len, default=())

    def skill(change: str, heads: tuple[int, ...], rank: int | None = None) -> float | None:
        record = by.get((change, heads, rank))
        return record["all"]["skill"] if record else None

    for name, heads in (("head 0 routes by class", (0,)), ("all heads route by class", every)):
        block, mean = skill("pattern, class", heads), skill("pattern, mean", heads)
        cases: list[Case] = []
        if block is not None and mean is not None:
            cases = [(block >= INTACT and mean <= BROKEN, block, mean)]
        yield _verdict("routing", name, cases)
    ranked = skill("rank", (0,), RANK)
    cases = [(ranked >= INTACT, ranked, None)] if ranked is not None else []
    yield _verdict("routing", f"{RANK} directions of head 0 are enough", cases)
    for side, name in (("read", "reads the classes"), ("write", "writes into the classes")):
        yield _verdict("routing", name, _subspace(by, every, side))
        if side == "read":
            name = "reads the classes, not the embedding at large"
            yield _verdict("routing", name, _not_at_large(by, every))
    yield _verdict("routing", "head 0 carries the class", _carries(by, every))


def _subspace(by: dict[Any, Json], every: tuple[int, ...], side: str) -> Iterator[Case]:
    for onto, off, _, apart in _beside(by, every, side, "random"):
        yield onto >= INTACT and off <= BROKEN and apart, onto, off


def _not_at_large(by: dict[Any, Json], every: tuple[int, ...]) -> Iterator[Case]:
    for onto, _, control, apart in _beside(by, every, "read", "spread"):
        yield apart, onto, control


def _beside(
    by: dict[Any, Json], every: tuple[int, ...], side: str, control: str
) -> Iterator[tuple[float, float, float, bool]]:
    """Skill onto S and off it, the highest of a control's draws onto, and whether both differ from
    every draw; nothing where there is no head or no skill."""
    record = by.get((f"onto, {side}", every, None))
    if record and record["all"]["skill"] is not None:
        onto, off = record["all"]["skill"], by[(f"off, {side}", every, None)]["all"]["skill"]
        kept, left = (
            by[(f"{control} {x}, {side}", every, None)]["draws"]["skill"] for x in ("onto", "off")
        )
        apart = min(onto - kept["high"], left["low"] - off)
        yield onto, off, kept["high"], apart >= DIFFER


def _carries(by: dict[Any, Json], every: tuple[int, ...]) -> Iterator[Case]:
    left = {h: by[("ablate", (h,), None)]["all"]["class_accuracy"] for h in every}
    if len(left) > 1:
        others = min(x for h, x in left.items() if h)
        yield others - left[0] >= CARRIES, left[0], others
