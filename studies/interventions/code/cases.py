"""A test of criteria.md: its cases, and the criterion over them."""

from collections.abc import Iterable
from typing import NamedTuple


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
    def name(self) -> str:
        """Both in a line."""
        return f"{self.section}: {self.test}"

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
