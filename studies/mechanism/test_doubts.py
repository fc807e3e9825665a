"""How firm a verdict is: against cases whose answer is known."""

import numpy as np
import pandas as pd
import pytest

from strata.statistics import share_interval
from studies.mechanism.code.doubts import (
    bootstrap_low,
    effective_low,
    intraclass_correlation,
    undoing_correlation,
)

MODULI = pd.Series([6] * 3 + [10] * 3 + [15] * 2 + [30] * 2)


def truths(*values: int) -> pd.Series:
    return pd.Series(values, dtype=bool)


def test_runs_of_one_modulus_that_all_agree_are_worth_one_run_each():
    agree = truths(1, 1, 1, 0, 0, 0, 1, 1, 0, 0)
    assert intraclass_correlation(agree, MODULI) == pytest.approx(1)
    equal = pd.Series(np.repeat([6, 10, 15, 30, 42], 2))
    one_each = share_interval(4, 5)[0]
    assert effective_low(truths(*[1] * 8, 0, 0), equal, 1.0) == pytest.approx(one_each)


def test_without_correlation_the_interval_is_that_of_independent_runs():
    independent = truths(1, 1, 0, 1, 1, 0, 1, 1, 1, 1)
    assert effective_low(independent, MODULI, 0.0) == pytest.approx(share_interval(8, 10)[0])
    assert intraclass_correlation(truths(*[1] * 10), MODULI) != intraclass_correlation(
        independent, MODULI
    )


def test_the_correlation_that_undoes_a_verdict_puts_the_interval_at_one_half():
    true = truths(*[1] * 9, 0)
    undone = undoing_correlation(true, MODULI)
    assert 0 < undone < 1 and effective_low(true, MODULI, undone) == pytest.approx(0.5)
    assert np.isnan(undoing_correlation(truths(1, 0, 1, 0, 1, 0, 1, 0, 1, 0), MODULI))


def test_the_bootstrap_draws_whole_moduli():
    assert bootstrap_low(truths(*[1] * 10), MODULI) == 1
    assert bootstrap_low(truths(*[0] * 3, *[1] * 7), MODULI) < share_interval(7, 10)[1]
