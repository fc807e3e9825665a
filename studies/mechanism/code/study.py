"""The runs of the study together: what decides, what a modulus is called, and what a level does."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from strata.measure.metrics import Metrics
from strata.run import Run
from studies.mechanism.code import decision
from studies.mechanism.code.decision import FEWEST, Votes, called, votes
from studies.mechanism.code.records import Embedding, Logits
from studies.params import LevelsParams


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
    def decides(self) -> bool:
        """Whether the two accounts differ for a run of this modulus."""
        return self.logits.finite and decision.decides(self.logits.n)

    @property
    def E(self) -> str | None:
        """The verdict on the embedding, without what it says of coordinates."""
        return self.embedding.E and self.embedding.E.split(",")[0]

    def generalised(self, level: float) -> bool:
        """Whether the run counts in summaries."""
        return self.metrics.finite and self.metrics.accuracy.validation >= level

    def both(self, L: str) -> str:
        """The decision on a run: both verdicts where they differ.

        With the embedding's verdict missing, that on the logits.
        """
        return L if self.E in (L, None) else f"{L} in the logits, {self.E} in the embedding"


class Choice(NamedTuple):
    """Levels, key threshold and seed of the folds that verdicts are made with; None for the first
    of those that were measured."""

    levels: LevelsParams
    generalised: float
    key_threshold: float | None = None
    seed: int | None = None

    def votes(self, case: Case) -> Votes:
        """All of a run with this choice."""
        thresholds = (x for x in case.logits.at if self.key_threshold in (None, x.key_threshold))
        return votes(case.logits, self.levels, next(thresholds), self.seed)

    def changed(self, change: Mapping[str, float]) -> "Choice":
        """The choice with some levels changed."""
        levels = {name: x for name, x in change.items() if name != "generalised"}
        level = change.get("generalised", self.generalised)
        return self._replace(levels=self.levels.model_copy(update=levels), generalised=level)


def by_kind(cases: Sequence[Case]) -> dict[tuple[str, int], list[Case]]:
    """The runs for which the accounts differ, by architecture and modulus."""
    found: dict[tuple[str, int], list[Case]] = {}
    for case in (x for x in cases if x.decides):
        found.setdefault(case.kind, []).append(case)
    return found


def verdicts(cases: Sequence[Case], choice: Choice) -> list[str]:
    """L of the runs that generalise."""
    done = (case for case in cases if case.generalised(choice.generalised))
    return [choice.votes(case).L for case in done]


def counted(names: Sequence[str | None]) -> str:
    """How often each verdict occurs, the commonest first.

    >>> counted(["between", "primes", "primes"])
    '2 primes, 1 between'
    """
    distinct = sorted({str(x) for x in names}, key=lambda x: (-[*map(str, names)].count(x), x))
    return ", ".join(f"{[*map(str, names)].count(x)} {x}" for x in distinct)


def conclusion(names: Sequence[str | None]) -> str:
    """What these verdicts amount to, with their counts.

    >>> conclusion(["primes"] * 5), conclusion(["primes"])
    ('primes (5 primes)', 'too few runs (1 primes)')
    """
    none = "not decided" if len(names) >= FEWEST else "too few runs"
    return f"{called([*map(str, names)]) or none} ({counted(names)})"


Change = Mapping[str, float]
# Values that stand in for each level, alone: docs/strata-or-primes.md, section 5.
RANGES: dict[str, tuple[Change, ...]] = {
    "gating": ({"strata": 0.3, "primes": 0.7}, {"strata": 0.1, "primes": 0.9}),
    "smallest character": ({"smallest": 0.0}, {"smallest": 0.001}, {"smallest": 0.05}),
    "Δ": ({"delta": 0.02}, {"delta": 0.1}),
    "describes: share of the ceiling": ({"described": 0.3}, {"described": 0.7}),
    "describes: key frequencies": ({"key_share": 0.4}, {"key_share": 0.75}),
    "τ": ({"tau_strata": 0.3, "tau_primes": 0.7}, {"tau_strata": 0.1, "tau_primes": 0.9}),
    "cost": (
        {"cost_primes": 0.02, "cost_strata": 0.1},
        {"cost_primes": 0.1, "cost_strata": 0.3},
    ),
    "generalises": ({"generalised": 0.95}, {"generalised": 0.999}),
}
# All of them so that an account is given more easily, and less. A difference of R² is a veto: a
# larger one is lenient.
ENDS: dict[str, Change] = {
    "lenient": {
        "strata": 0.3, "primes": 0.7, "smallest": 0.05, "delta": 0.1, "described": 0.3,
        "key_share": 0.75, "tau_strata": 0.3, "tau_primes": 0.7, "cost_strata": 0.3,
        "generalised": 0.95,
    },
    "strict": {
        "strata": 0.1, "primes": 0.9, "smallest": 0.0, "delta": 0.02, "described": 0.7,
        "key_share": 0.4, "tau_strata": 0.1, "tau_primes": 0.9, "cost_strata": 0.1,
        "generalised": 0.999,
    },
}  # fmt: skip


def varied(choice: Choice, case: Case) -> Iterator[tuple[str, str, Choice]]:
    """Every level with every value that takes its place, and the choice with it. The key thresholds
    and seeds are those that this run was measured with."""
    for level, changes in RANGES.items():
        for change in changes:
            yield level, ", ".join(f"{x:g}" for x in change.values()), choice.changed(change)
    for at in case.logits.at[1:]:
        yield "key", f"{at.key_threshold:g}", choice._replace(key_threshold=at.key_threshold)
    for folds in case.logits.at[0].products[1:]:
        yield "folds", f"seed {folds.seed}", choice._replace(seed=folds.seed)
    for end, change in ENDS.items():
        yield "all levels", f"{end} end", choice.changed(change)


def name_of(kind: tuple[str, int]) -> str:
    """A kind of run in words.

    >>> name_of(("mlp", 165))
    'n = 165, mlp'
    """
    return f"n = {kind[1]}" + f", {kind[0]}" * (kind[0] != "transformer")


def usual(run: str) -> bool:
    """Whether a run is of one of the two kinds of model as these are by default."""
    found = Run.parse(run)
    return found.variant in {"", "mlp"} and found.weights_seed == found.seed
