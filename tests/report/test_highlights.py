"""The lines at the top of the report say what the tables say, and nothing where these are empty."""

from math import nan

from report.code import highlights
from report.code.highlights import Rows


def rows(*values: tuple, names: str) -> Rows:
    return [dict(zip(names.split(), row, strict=True)) for row in values]


def test_criteria_that_are_not_met_are_named_and_those_without_a_case_do_not_count():
    found = rows(("a", "x", True), ("a", "y", False), ("b", "z", nan), names="section test passed")
    assert highlights.criteria(found) == "1 of 2 criteria for a cause are met. Not met: a: y."
    assert highlights.criteria(found[:1]).endswith("Not met: none.")
    assert highlights.criteria(found[2:]) == ""


def test_numbers_outside_the_seeds_are_named():
    values = ("u", 1.0, "within the seeds"), ("J11: v", 2.0, "above every seed")
    values += ("w", 3.0, "holds in 9 of 10 seeds"), ("x", 4.0, "holds in 2 of 2 seeds")
    found = rows(*values, ("y", nan, nan), names="claim paper verdict")
    start, _, others = highlights.paper_among_seeds(found).partition(" The others: ")
    assert start == "2 of 4 numbers of its text lie within our seeds."
    assert others == "J₁₁: v (above every seed); w (holds in 9 of 10 seeds)."
    assert (
        highlights.paper_among_seeds(found[:1])
        == "1 of 1 numbers of its text lie within our seeds."
    )
    assert highlights.paper_among_seeds(found[4:]) == ""


def test_the_order_of_classes_is_that_over_all_moduli():
    values = (165, "R²", 9, 8), (nan, "R²", 15, 9), (nan, "FVE", 0, 0)
    found = rows(*values, names="n measure pairs agree")
    assert highlights.class_order(found).endswith(" in 9 of 15 pairs by R².")
    assert highlights.class_order(found[:1]).endswith(" in 8 of 9 pairs by R².")
    assert highlights.class_order(found[2:]) == ""


def test_the_order_of_classes_is_told_by_measures_that_are_not_biased_for_it():
    values = (nan, "FVE", 5, 5), (nan, "FVE above uniform", 3, 0), (nan, "accuracy", 5, 5)
    values += (nan, "FVE above uniform, one rate", 3, 1), (nan, "accuracy above chance", 5, 4)
    found = highlights.class_order(rows(*values, names="n measure pairs agree"))
    answers = " in 4 of 5 pairs by accuracy above chance"
    assert found.endswith(
        f"{answers}, 0 of 3 pairs by FVE above uniform (1 of 3 where all grows at one rate)."
    )


def test_both_kinds_of_class_are_compared_over_all_moduli():
    values = (12, True, 0.5), (nan, True, 0.704), (nan, False, 0.738)
    found = rows(*values, names="n regular r2_above")
    assert "explain 70 % of the logits of classes that are groups, 74 %" in highlights.both_kinds(
        found
    )
    assert highlights.both_kinds(found[:2]) == ""


def test_a_line_is_said_of_the_tables_that_are_there():
    tables = {"not-generalised": rows(("n6-s1",), names="run")}
    [line] = highlights.lines(tables, tables.__getitem__)
    assert line == ("not-generalised", "Of the grid did not generalise: n6-s1.")
    assert highlights.lines({"not-generalised"}, lambda _: []) == []
