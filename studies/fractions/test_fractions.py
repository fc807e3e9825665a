"""What is said of the fraction of pairs trained on, from runs in which it is planted."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from planted_runs import Studied, found, studied

from strata.results import FAILS, HOLDS, UNTESTED
from strata.run import Run
from strata.tables import format
from strata.tables.table import Table
from studies.fractions.code import fractions

VARIANTS = {0.2: "fifth", 0.3: "", 0.4: "twofifths", 0.5: "half"}
ASKED = {Run(143, s, v): x for x, v in VARIANTS.items() for s in (1, 2)}
EPOCHS = {0.2: 9000, 0.3: 7000, 0.4: 5000, 0.5: 4000}
FAILED = {"epoch": None, "first": None, "validation": 0.5}
Planted = Callable[[float, int], dict[str, Any]]


def runs(planted: Planted) -> list[Studied]:
    """The eight runs; a later epoch for the smaller fraction, unless that is planted."""

    def usual(x: float, s: int) -> dict[str, Any]:
        return {"epoch": EPOCHS[x] + s, "first": EPOCHS[x] // 2}

    return [
        studied((143, s, "transformer"), variant=v, **usual(x, s) | planted(x, s))
        for x, v in VARIANTS.items()
        for s in (1, 2)
    ]


def tables(own: Sequence[Studied]) -> tuple[Table, Table]:
    return fractions.tables(ASKED, [x.metrics for x in own], found(own))


def said(own: Sequence[Studied]) -> list[tuple[int, int, int, str]]:
    """Of both epochs and of mixing: over how many runs, how many of how many, the verdict."""
    rows = tables(own)[1].frame.to_dict("records")
    return [(x["runs"], x["held"], x["of_all"], x["verdict"]) for x in rows]


def test_a_step_up_in_one_seed_or_none_is_no_way_down():
    assert said(runs(lambda x, s: {}))[0] == (8, 6, 6, HOLDS)
    for epoch in (5002, 6000):  # that of the step before, or a later one
        up = said(runs(lambda x, s, at=epoch: {"epoch": at} if (x, s) == (0.5, 2) else {}))
        assert up[:2] == [(8, 5, 6, FAILS), (8, 6, 6, HOLDS)]
    first = said(runs(lambda x, s: {"first": 9000} if (x, s) == (0.5, 2) else {}))
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
    *_, row = said(runs(lambda x, s: {"mixes": (x, s) in mixing}))
    assert row == (8, len(mixing), 8, depends)


def test_a_run_that_does_not_generalise_is_later_and_in_no_count_of_mixing():
    own = runs(lambda x, s: FAILED if (x, s) == (0.2, 1) else {"mixes": x == 0.2})
    assert said(own) == [(8, 6, 6, HOLDS), (8, 6, 6, HOLDS), (7, 1, 7, FAILS)]
    none = said(runs(lambda x, s: FAILED if s == 1 and x < 0.4 else {}))
    assert none[0] == (8, 5, 6, FAILS)


def test_while_a_run_is_missing_nothing_is_said_and_its_row_says_so(tmp_path):
    own = runs(lambda x, s: FAILED if (x, s) == (0.2, 1) else {})[:-1]
    others = studied((143, 3, "transformer"), variant="half"), studied((143, 2, "mlp"))
    assert {x[-1] for x in said([*own, *others])} == {UNTESTED}
    format.write([*tables(own), tables([])[1]], tmp_path)
    lines = (tmp_path / "fractions.md").read_text().splitlines()
    assert "never" in lines[4] and "not trained" not in lines[4]
    assert "not trained" in lines[-1] and "never" not in lines[-1]
    assert not any("nan" in x.read_text().lower() for x in tmp_path.glob("*.md"))
    assert "not called: 0 of 8 runs" in (tmp_path / "fractions-said.md").read_text()


def test_without_the_study_of_the_mechanism_there_is_no_mixing():
    own = runs(lambda x, s: {})
    made = fractions.tables(ASKED, [x.metrics for x in own], found([]))
    assert made[1].frame["id"].tolist() == ["epoch", "first"]
    assert not {"mixes", "L", "E"} & {*made[0].frame}
