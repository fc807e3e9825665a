"""The runs of the study together: what decides, and what a modulus is called."""

from collections.abc import Sequence
from typing import NamedTuple

from strata.measure.metrics import Metrics
from studies.mechanism.code import decision
from studies.mechanism.code.decision import called
from studies.mechanism.code.embedding import ACCOUNTS
from studies.mechanism.code.records import Embedding, Logits


class Case(NamedTuple):
    """All results of a run that the decision rests on."""

    logits: Logits
    embedding: Embedding
    metrics: Metrics

    @property
    def kind(self) -> tuple[str, int]:
        """Runs of one architecture and modulus are summarised together."""
        return self.logits.architecture, self.logits.n

    @property
    def done(self) -> bool:
        """Whether the run generalises, and so counts in summaries."""
        return bool(self.metrics.generalised)

    @property
    def decides(self) -> bool:
        """Whether the two accounts differ for a run of this modulus."""
        return self.logits.finite and decision.decides(self.logits.n)

    @property
    def E(self) -> str | None:
        """The account that the embedding agrees with."""
        return ACCOUNTS[self.embedding.E].account if self.embedding.E else None

    def both(self, L: str) -> str:
        """The decision on a run: both verdicts where they differ.

        With the embedding's verdict missing, that on the logits.
        """
        return L if self.E in (L, None) else f"{L} in the logits, {self.E} in the embedding"


def by_kind(cases: Sequence[Case]) -> dict[tuple[str, int], list[Case]]:
    """The runs for which the accounts differ, by architecture and modulus."""
    found: dict[tuple[str, int], list[Case]] = {}
    for case in (x for x in cases if x.decides):
        found.setdefault(case.kind, []).append(case)
    return found


def counted(names: Sequence[str | None]) -> str:
    """How often each verdict occurs, the commonest first.

    >>> counted(["between", "primes", "primes"])
    '2 primes, 1 between'
    """
    distinct = sorted({str(x) for x in names}, key=lambda x: (-[*map(str, names)].count(x), x))
    return ", ".join(f"{[*map(str, names)].count(x)} {x}" for x in distinct)


def conclusion(names: Sequence[str | None], fewest: int) -> str:
    """What these verdicts amount to.

    >>> conclusion(["primes"] * 5, 5), conclusion(["primes"], 5)
    ('primes', 'too few runs')
    """
    none = "not decided" if len(names) >= fewest else "too few runs"
    return called([*map(str, names)], fewest) or none
