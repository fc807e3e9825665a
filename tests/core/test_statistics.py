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
