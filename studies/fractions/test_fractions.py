"""What is said of the fraction of pairs trained on, from runs in which it is planted."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from handmade import Studied, long_table, studied

from strata.results import FAILS, HOLDS
from strata.run import Run
from strata.tables import format
from strata.tables.table import Table
from studies.fractions.code import decide

VARIANTS = {0.2: "fifth", 0.3: "", 0.4: "twofifths", 0.5: "half"}
FRACTIONS = {Run(143, s, v): x for x, v in VARIANTS.items() for s in (1, 2)}
EPOCHS = {0.2: 9000, 0.3: 7000, 0.4: 5000, 0.5: 4000}
FAILED = {"epoch": None, "first": None, "validation": 0.5}
Planted = Callable[[float, int], dict[str, Any]]


def runs(planted: Planted) -> list[Studied]:
    """Return the eight runs, with a later epoch for the smaller fraction unless an epoch is
    planted."""

    def usual(x: float, s: int) -> dict[str, Any]:
        return {"epoch": EPOCHS[x] + s, "first": EPOCHS[x] // 2}

    return [
        studied((143, s, "transformer"), variant=v, **usual(x, s) | planted(x, s))
        for x, v in VARIANTS.items()
        for s in (1, 2)
    ]


def tables(models: Sequence[Studied]) -> tuple[Table, Table]:
    return decide.tables(FRACTIONS, [x.metrics for x in models], long_table(models))


def verdicts(models: Sequence[Studied]) -> list[tuple[int, int, int, str]]:
    """Return for both epochs and for mixing the number of runs, how many hold of how many, the
    verdict."""
    rows = tables(models)[1].frame.to_dict("records")
    return [(x["runs"], x["held"], x["of_all"], x["verdict"]) for x in rows]


def test_a_step_up_in_one_seed_or_none_is_no_way_down():
    assert verdicts(runs(lambda x, s: {}))[0] == (8, 6, 6, HOLDS)
    for epoch in (5002, 6000):  # that of the step before, or a later one
        up = verdicts(runs(lambda x, s, at=epoch: {"epoch": at} if (x, s) == (0.5, 2) else {}))
        assert up[:2] == [(8, 5, 6, FAILS), (8, 6, 6, HOLDS)]
    first = verdicts(runs(lambda x, s: {"first": 9000} if (x, s) == (0.5, 2) else {}))
    assert first[:2] == [(8, 6, 6, HOLDS), (8, 5, 6, FAILS)]


@pytest.mark.parametrize(
    ("mixing", "depends"),
    [({(0.2, 1), (0.2, 2), (0.3, 1)}, HOLDS),
     ({(0.5, 1), (0.5, 2), (0.4, 1), (0.3, 2), (0.2, 2)}, FAILS),
     ({(0.2, 1), (0.3, 2)}, FAILS), (set(), FAILS)],
)  # fmt: skip
def test_mixing_depends_on_data_if_both_seeds_mix_at_one_fraction_and_neither_at_another(
    mixing, depends
):
    *_, row = verdicts(runs(lambda x, s: {"mixes": (x, s) in mixing}))
    assert row == (8, len(mixing), 8, depends)


def test_a_run_that_does_not_generalise_is_later_and_in_no_count_of_mixing():
    models = runs(lambda x, s: FAILED if (x, s) == (0.2, 1) else {"mixes": x == 0.2})
    assert verdicts(models) == [(8, 6, 6, HOLDS), (8, 6, 6, HOLDS), (7, 1, 7, FAILS)]
    none = verdicts(runs(lambda x, s: FAILED if s == 1 and x < 0.4 else {}))
    assert none[0] == (8, 5, 6, FAILS)


def test_a_run_that_never_gets_there_and_one_that_is_missing_are_shown_as_such(tmp_path):
    listed, _ = tables(runs(lambda x, s: FAILED if (x, s) == (0.2, 1) else {})[:-1])
    format.write([listed], tmp_path)
    lines = (tmp_path / "fractions.md").read_text().splitlines()
    assert "never" in lines[4] and "not trained" not in lines[4]
    assert "not trained" in lines[-1] and "never" not in lines[-1]


def test_without_the_study_of_the_mechanism_there_is_no_mixing():
    models = runs(lambda x, s: {})
    built = decide.tables(FRACTIONS, [x.metrics for x in models], long_table([]))
    assert built[1].frame["id"].tolist() == ["epoch", "first"]
    assert not {"mixes", "L", "E"} & {*built[0].frame}
