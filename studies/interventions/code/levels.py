"""What it takes to pass a test of docs/interventions.md: levels, cases, and criteria over cases."""

from collections.abc import Iterable
from typing import NamedTuple


class Levels(NamedTuple):
    """The levels of the criteria: fixed, here and in the docs, before the tests were run on a
    trained model. Other values only show which conclusions hang on them."""

    intact: float = 0.95  # skill: at most a twentieth of what there is to lose is lost
    broken: float = 0.2  # skill: at least four fifths of it are lost
    differ: float = 0.5  # between two skills or shares: half of the scale
    swapped: float = 0.9  # share of interchanges with the predicted answer
    carries: float = 0.1  # class accuracy that head 0 costs more than any other head
    routed: float = 0.8  # share of the lost skill that a pattern by blocks brings back
    lost: float = 0.1  # skill that a head's mean pattern must cost for the pattern to be used
    margin: float = 0.1  # skill between the prime power that a head is put to and the next


LEVELS = Levels()


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


def judged(section: str, test: str, cases: Iterable[Case], high: bool = True) -> Judged:
    """A criterion over some cases; ``high`` says whether they hold where the number is high."""

    def room(case: Case) -> tuple[bool, float]:
        return case.holds, (case.value - (case.against or 0)) * (1 if high else -1)

    known = sorted(cases, key=room)
    worst = known[0] if known else None
    value, against = (worst.value, worst.against) if worst else (None, None)
    return Judged(section, test, value, against, sum(x.holds for x in known), len(known))
