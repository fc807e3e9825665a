"""What hangs on a level, on interventions made by hand."""

from pathlib import Path

from handmade import changed, run_metrics

from strata import params
from strata.patch.scores import Measures, OperandScores
from studies.interventions.code import criteria
from studies.interventions.code import tables_levels as levels
from studies.interventions.code.levels import LEVELS
from studies.interventions.code.records import Interchange, Interventions

PARAMS = params.load(Path(__file__).parents[2] / "params.yaml")
KIND = "element"


def made(
    seed: int, success: float, ties: dict[float, dict[str, float]] | None = None
) -> Interventions:
    """A run of 165 with one interchange of that success."""
    base = Measures(
        loss=0.0, accuracy=1.0, margin=1.0, skill=1.0, class_accuracy=1.0,
        modulo={3: 1.0, 5: 1.0, 11: 1.0}, by_target={},
        by_operands=OperandScores(loss=(), accuracy=()),
    )  # fmt: skip
    trial = Interchange(
        kind=KIND, trials=9, success=success, unchanged=0.0, in_class=1.0, chance=0.1, random=0.1,
        by_class=(), ties=ties or {},
    )  # fmt: skip
    return Interventions(
        run=f"n165-s{seed}", n=165, seed=seed, architecture="transformer", classes=(), draws=1,
        finite=True, base=base, interchange=(trial,),
    )  # fmt: skip


def row(*runs: Interventions) -> dict[str, object]:
    right = run_metrics(165, 1).accuracy
    metrics = [
        changed(run_metrics(165, x.seed), accuracy=changed(right, validation=1.0)) for x in runs
    ]
    found = levels.hangs(runs, metrics, PARAMS).set_index("test")
    return found.loc[KIND].to_dict()


def test_a_success_just_below_the_level_changes_the_conclusion_at_a_lower_one_alone():
    found = row(made(1, 0.85), made(2, 0.87))
    assert (found["passes"], found["runs"]) == (0, 2)
    assert (found["most"], found["most_of"]) == ("2 of 2", "swapped 0.8")
    assert found["changes"] == "swapped 0.8, all lenient"


def test_what_is_far_from_every_level_hangs_on_none():
    found = row(made(1, 1.0), made(2, 1.0))
    assert (found["fewest"], found["fewest_of"], found["changes"]) == ("2 of 2", "", "no")


def test_a_verdict_that_rests_on_ties_is_named():
    found = row(made(1, 0.95, ties={1e-6: {"success": 0.5}}))
    assert found["passes"] == 1 and found["changes"] == "ties 1e-06"


def test_a_run_that_does_not_generalise_is_in_no_count():
    run = made(1, 1.0)
    measured = run_metrics(165, 1)
    low = changed(measured, accuracy=changed(measured.accuracy, validation=0.97))
    assert levels.hangs([run], [low], PARAMS).empty


def test_the_lenient_end_is_no_stricter_and_the_strict_end_no_more_lenient():
    for lenient, default, strict in zip(levels.LENIENT, LEVELS, levels.STRICT, strict=True):
        assert min(lenient, strict) <= default <= max(lenient, strict)
    for success in (0.5, 0.75, 0.82, 0.92, 0.97, 1.0):
        held = [
            next(x.passed for x in criteria.judge(made(1, success), y) if x.test == KIND)
            for y in (levels.STRICT, LEVELS, levels.LENIENT)
        ]
        assert held == sorted(held, key=bool) and None not in held
