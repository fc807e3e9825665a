"""Intervals against SciPy's."""

import numpy as np
import pytest
from scipy import stats

from strata.statistics import t_interval


@pytest.mark.parametrize("confidence", [0.95, 1 - 0.05 / 12])
def test_the_interval_of_a_mean_is_students(confidence):
    x = np.random.default_rng(0).normal(size=10)
    theirs = stats.ttest_1samp(x, 0).confidence_interval(confidence)
    ours = t_interval(x.tolist(), confidence)
    assert ours and np.allclose(ours, theirs)
    assert t_interval([1.0], confidence) is None


def test_the_interval_of_shares_alone_ends_at_0_and_1():
    for values, inside in (([0.9, 1.0], True), ([0.0, 0.1], True), ([0.9, 1.3], False)):
        low, high = t_interval(values, 0.95, share=True) or (0, 0)
        assert (0 <= low < high <= 1) is inside
        assert inside or (low, high) == t_interval(values, 0.95)
