"""What the verdicts on the embedding become with other levels.

The ranges are those of docs/strata-or-primes.md, section 5.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from strata.measure.metrics import Metrics
from strata.patch.patching import TIES
from studies.mechanism.code.embedding import verdict
from studies.mechanism.code.records import Embedding
from studies.mechanism.code.study import name_of, usual
from studies.params import EmbeddingLevels

Change = Mapping[str, float]
# Values that stand in for each level, alone.
RANGES: dict[str, tuple[Change, ...]] = {
    "crossing, within": ({"succeeds": 0.8, "fails": 0.3}, {"succeeds": 0.95, "fails": 0.1}),
    "kept": ({"kept_least": 0.6, "kept_whole": 0.9}, {"kept_least": 0.4, "kept_whole": 0.99}),
    "intact": ({"intact": 0.9}, {"intact": 0.99}),
    "differ": ({"differ": 0.3}, {"differ": 0.7}),
    "generalises": ({"generalised": 0.95}, {"generalised": 0.999}),
    "tie": tuple({"tie": tie} for tie in TIES),
}
# All of them so that an account is given more easily, and less.
ENDS: dict[str, Change] = {
    "lenient": {
        "succeeds": 0.8, "fails": 0.3, "kept_least": 0.4, "kept_whole": 0.99, "intact": 0.9,
        "differ": 0.3, "generalised": 0.95, "tie": max(TIES),
    },
    "strict": {
        "succeeds": 0.95, "fails": 0.1, "kept_least": 0.6, "kept_whole": 0.9, "intact": 0.99,
        "differ": 0.7, "generalised": 0.999, "tie": min(TIES),
    },
}  # fmt: skip


class Choice(NamedTuple):
    """The levels that verdicts are made with. ``tie``: None for that of the results."""

    levels: EmbeddingLevels
    generalised: float
    tie: float | None = None

    def changed(self, change: Change) -> "Choice":
        """The choice with some levels changed."""
        levels = {name: x for name, x in change.items() if name in EmbeddingLevels.model_fields}
        rest = {name: x for name, x in change.items() if name not in levels}
        return self._replace(levels=self.levels.model_copy(update=levels), **rest)

    def verdict(self, run: Embedding) -> str | None:
        """E of a run, without what it says of coordinates."""
        at = run if self.tie is None else run.at_tie(self.tie)
        if at.main_effects is None or at.key_kept is None:
            return None
        found = verdict(self.levels, at.main_effects, at.key_kept, at.within, at.crossing)
        return found and found.split(",")[0]


class Measured(NamedTuple):
    """The embedding of a run, and whether it generalises."""

    embedding: Embedding
    metrics: Metrics


def verdicts(runs: Sequence[Measured], choice: Choice) -> list[str]:
    """E of the runs that generalise, of those that have one."""
    done = (
        choice.verdict(x.embedding)
        for x in runs
        if x.metrics.finite and x.metrics.accuracy.validation >= choice.generalised
    )
    return [x for x in done if x]


def by_kind(runs: Sequence[Measured]) -> dict[str, list[Measured]]:
    """The usual runs that have a verdict, by modulus and kind of model."""
    found: dict[str, list[Measured]] = {}
    for x in runs:
        if x.embedding.E and usual(x.embedding.run):
            kind = name_of((x.embedding.architecture, x.embedding.n))
            found.setdefault(kind, []).append(x)
    return found


def varied(choice: Choice) -> Iterator[tuple[str, Choice]]:
    """Every level with every value that takes its place, and the choice with it."""
    for level, changes in RANGES.items():
        for change in changes:
            yield f"{level} {', '.join(f'{x:g}' for x in change.values())}", choice.changed(change)
    for end, change in ENDS.items():
        yield f"all levels {end} end", choice.changed(change)
