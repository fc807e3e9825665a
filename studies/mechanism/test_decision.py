"""Verdicts from measures: every rule of the decision has a case on either side."""

import pytest

from strata.results import UNDECIDED
from studies.mechanism.code import decision
from studies.mechanism.code.decision import Votes
from studies.params import load

LEVELS = load().accounts.levels


def votes(gamma, balanced, delta, described=("S", "C", "C+"), **more):
    """Measures of a run, and L as it follows from them."""
    found = Votes(
        gating=gamma, balanced=balanced, delta=delta, delta_plus=delta, described=tuple(described),
        tau=0.9, cost=0.0, mixing=False,
    )._replace(**more)  # fmt: skip
    return decision.judged(found, LEVELS)


@pytest.mark.parametrize(
    ("made", "L"),
    [
        (votes(0.8, 0.8, 0.3), "primes"),
        (votes(0.8, 0.8, 0.3, ["C+"]), "primes"),
        (votes(0.8, 0.8, -0.04), "primes"),
        (votes(0.8, 0.8, -0.05), "disagree"),
        (votes(0.8, 0.79, 0.3), "between"),
        (votes(0.79, 0.8, 0.3), "between"),
        (votes(0.8, 0.8, 0.3, ["S"]), "between"),
        (votes(0.2, 0.2, -0.3), "strata"),
        (votes(0.2, 0.2, 0.04), "strata"),
        (votes(0.2, 0.2, 0.05), "disagree"),
        (votes(0.2, 0.2, -0.3, ["C"]), "between"),
        (votes(0.2, 0.21, -0.3), "between"),
        (votes(None, None, 0.3), "between"),
        (votes(1.0, 1.0, 0.3, []), "neither"),
    ],
)
def test_the_verdict_on_the_logits(made, L):
    assert made.L == L


def test_what_speaks_against_a_verdict_stands_beside_it():
    assert votes(1.0, 1.0, 0.3).against == ()
    assert votes(1.0, 1.0, 0.3, tau=0.2, cost=0.2, delta_plus=-0.1).against == ("τ", "cost", "C+")
    assert votes(0.0, 0.0, -0.3, tau=0.8, cost=0.2).against == ("τ",)
    assert votes(0.5, 0.5, 0.0, tau=0.1).against == ()


@pytest.mark.parametrize(("held", "runs"), [(9, 10), (8, 9), (7, 8), (7, 7), (6, 6), (5, 5)])
def test_a_modulus_is_called_from_so_many_runs(held, runs):
    mostly = ["strata"] * held + ["between"] * (runs - held)
    assert decision.called(mostly, 5) == "strata"
    assert decision.called(["between", *mostly[1:]], 5) == UNDECIDED
    assert decision.called(["primes", *mostly[1:]], 5) == UNDECIDED
