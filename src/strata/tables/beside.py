"""Tests of our numbers against a mean and a deviation that the paper prints."""

from collections.abc import Sequence

import numpy as np
from scipy.stats import ttest_ind_from_stats


def welch(values: Sequence[float | int], mean: float, std: float, seeds: int = 10) -> float | None:
    """p of Welch's test of some values against a mean and a deviation over seeds that are printed:
    the larger of those with n and with n − 1 as the divisor of the deviation, for the paper does
    not say which. None of fewer than two values, or where neither side varies."""
    if len(values) < 2 or not (std or np.ptp(values)):
        return None
    own = (np.mean(values), np.std(values, ddof=1), len(values))
    theirs = (std, std * (seeds / (seeds - 1)) ** 0.5)
    tests = (ttest_ind_from_stats(*own, mean, x, seeds, equal_var=False) for x in theirs)
    return max(float(test.pvalue) for test in tests)


def holm(p: Sequence[float | None]) -> list[float | None]:
    """p-values corrected for their number. Holm, A Simple Sequentially Rejective Multiple Test
    Procedure, 1979.

    >>> holm([0.5, 0.25, None]), holm([0.125, 0.25])
    ([0.5, 0.5, None], [0.25, 0.25])
    """
    known = sorted((x, i) for i, x in enumerate(p) if x is not None)
    found: list[float | None] = [None] * len(p)
    least = 0.0
    for rank, (x, i) in enumerate(known):
        least = max(least, min(1.0, (len(known) - rank) * x))
        found[i] = least
    return found


def said(p: float | None, level: float) -> str:
    """What a corrected p allows to be said; a large one never says that two are the same."""
    if p is None:
        return ""
    return "differs" if p < level else "no difference was shown"
