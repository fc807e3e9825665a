"""Which conclusions of the interventions hang on a level: docs/strata-or-primes.md, section 5."""

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from strata.measure.metrics import Metrics
from strata.params import Params
from strata.patch.patching import TIES
from studies.interventions.code import criteria
from studies.interventions.code.levels import LEVELS, Levels
from studies.interventions.code.records import Interventions

Test = tuple[str, str]
Passed = dict[Test, bool | None]
VARIED: dict[str, tuple[float, ...]] = {
    "intact": (0.9, 0.99), "broken": (0.1, 0.3), "differ": (0.3, 0.7), "swapped": (0.8, 0.95),
    "routed": (0.6, 0.9), "lost": (0.05, 0.2), "margin": (0.0, 0.2),
}  # fmt: skip
LENIENT = Levels(0.9, 0.3, 0.3, 0.8, LEVELS.carries, 0.6, 0.05, 0.0)
STRICT = Levels(0.99, 0.1, 0.7, 0.95, LEVELS.carries, 0.9, 0.2, 0.2)
GENERALISES = (0.95, 0.999)
# Frequencies of another threshold are tried for all classes at once alone.
OTHER_KEYS = ("all classes at once", f"all classes at once, {criteria.EQUAL}")


def hangs(
    runs: Sequence[Interventions], metrics: Sequence[Metrics], params: Params
) -> pd.DataFrame:
    """For each criterion: in how many generalising runs of the moduli that decide it is passed, of
    those that have a case; the least and the most at other levels; and where it first changes
    whether most of the runs pass."""
    accuracy = {x.run: x.accuracy.validation for x in metrics}
    deciding = [run for run in runs if run.n in params.grid.moduli and _composite(run)]

    def above(level: float) -> list[Interventions]:
        return [run for run in deciding if accuracy.get(run.run, 0) >= level]

    chosen = above(params.metrics.accuracy)
    default = _counts([_passed(run, LEVELS) for run in chosen])
    other = {name: _counts(passed) for name, passed in _tried(chosen)}
    for level in GENERALISES:
        passed = [_passed(run, LEVELS) for run in above(level)]
        other[f"generalises at {level:g}"] = _counts(passed)
    rows = [_row(test, counts, other) for test, counts in default.items()]
    names = ["section", "test", "passes", "runs", "fewest", "fewest_of", "most", "most_of"]
    return pd.DataFrame(rows, columns=[*names, "changes"])


def _composite(run: Interventions) -> bool:
    """Whether n has more than one prime power: classes of one prime power decide nothing."""
    return run.base is not None and len(run.base.modulo) > 1


def _tried(runs: Sequence[Interventions]) -> Iterator[tuple[str, list[Passed]]]:
    """What each run passes at each level alone, at all lenient and all strict ones, at other levels
    of ties, and with other key frequencies."""
    for name, values in VARIED.items():
        for x in values:
            levels = LEVELS._replace(**{name: x})
            yield f"{name} {x:g}", [_passed(run, levels) for run in runs]
    for name, levels in {"all lenient": LENIENT, "all strict": STRICT}.items():
        yield name, [_passed(run, levels) for run in runs]
    for tie in TIES:
        yield f"ties {tie:g}", [_passed(run.at_tie(tie), LEVELS) for run in runs]
    for i, threshold in enumerate(x.threshold for x in (runs[0].other_keys if runs else ())):
        yield f"key {threshold:g}", [_with_keys(run, i) for run in runs]


def _with_keys(run: Interventions, i: int) -> Passed:
    other = run.other_keys[i]
    update = {"key": other.key, "keep_remove": other.keep_remove, "specificity": ()}
    made = run.model_copy(update={**update, "equal_energy": other.equal_energy, "interchange": ()})
    tests = _passed(made, LEVELS).items()
    return {test: passed for test, passed in tests if test[1] in OTHER_KEYS}


def _passed(run: Interventions, levels: Levels) -> Passed:
    return {(x.section, x.test): x.passed for x in criteria.judge(run, levels)}


def _counts(runs: Sequence[Passed]) -> dict[Test, tuple[int, int]]:
    """How many runs pass each criterion, and how many have a case of it."""
    found: dict[Test, tuple[int, int]] = {}
    for test in dict.fromkeys(test for run in runs for test in run):
        known = [run[test] for run in runs if run.get(test) is not None]
        found[test] = (sum(map(bool, known)), len(known))
    return found


def _row(
    test: Test, counts: tuple[int, int], other: dict[str, dict[Test, tuple[int, int]]]
) -> dict[str, Any]:
    known = {name: found[test] for name, found in other.items() if test in found}
    share = {name: held / of for name, (held, of) in known.items() if of}
    fewest, most = (pick(share, key=lambda x: share[x], default=None) for pick in (min, max))
    row: dict[str, Any] = {"section": test[0], "test": test[1]}
    row |= {"passes": counts[0], "runs": counts[1]}
    for name, at in (("fewest", fewest), ("most", most)):
        moved = at is not None and known[at] != counts
        row[name] = "{} of {}".format(*(known[at] if at is not None and moved else counts))
        row[f"{name}_of"] = at if moved else ""
    changes = [name for name in known if mostly(*known[name]) != mostly(*counts)]
    return row | {"changes": ", ".join(changes) or "no"}


def mostly(held: int, of: int) -> bool | None:
    """Whether most of the runs pass; None of no run.

    >>> mostly(6, 10), mostly(5, 10), mostly(0, 0)
    (True, False, None)
    """
    return held > of / 2 if of else None
