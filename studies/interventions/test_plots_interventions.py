"""Panels of interventions show what they are given."""

from math import gcd

import numpy as np
import pytest

from strata import monoid
from studies.interventions.code import plots


@pytest.mark.parametrize("n", [2, 12, 30, 49, 180])
@pytest.mark.parametrize("axis", [None, 2, 3, 7])
def test_room_above_chance_is_counted_on_the_products_themselves(n, axis):
    d = [J.d for J in monoid.classes(n)]
    found = plots.room_above_chance(n, d, axis)
    for i, j in np.ndindex(found.shape):
        J = monoid.JClass(n, gcd(d[i] * d[j], n))
        quotients = {a // J.d for a in J.elements.tolist()}
        power = max(p for p in (axis**k for k in range(9)) if J.m % p == 0) if axis else J.m
        chance = 1 / len({u % power for u in quotients})
        assert found[i, j] == pytest.approx(1 - chance if chance < 1 else 1)
