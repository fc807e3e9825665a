"""The functions of the product: what they are, and that fits never see what is held out."""

import numpy as np
import pytest

from strata.statistics import folds
from studies.mechanism import by_hand
from studies.mechanism.code import dictionary, gates
from studies.mechanism.code.characters import key_in_any_class
from studies.mechanism.code.gates import Code
from studies.mechanism.planted_logits import profile_of

N = 165
USE = Code(N, key_in_any_class(N, by_hand.shared(N, {3: [1], 5: [1], 11: [2, 3]})))
GROUPS = folds(N, 0, 5), dictionary.by_class(N)


def a_profile(values, noise=0.0):
    """y that is any function of the candidate times each function."""
    rng, n = np.random.default_rng(0), len(values)
    y = values @ rng.normal(size=(values.shape[1], n)) + noise * rng.normal(size=(n, n))
    return profile_of(y)


def test_it_holds_a_zero_for_each_prime_and_waves_that_vanish_where_it_divides():
    divides = (np.arange(N)[:, None] % [3, 5, 11] == 0).T
    ones, *zeros = USE.zeros.T
    assert (ones == 1).all() and (zeros == divides).all()
    waves = USE.plain.T[4:]
    of = [0, 1, 1, *[2] * 4]  # the prime of each; of 3 there is a sign alone
    assert len(waves) == len(of) and not (waves * divides[of]).any()


def test_prime_powers_have_a_zero_for_each_valuation():
    assert dictionary.zeros(12).sum(axis=0).tolist() == [12, 3, 3, 4]


def test_the_rest_is_all_of_what_functions_span_and_little_of_noise(settings):
    exact, noise = a_profile(USE.plain), a_profile(USE.zeros, noise=1.0)
    assert USE.rest(exact) == pytest.approx(1) and USE.rest(noise) < 0.1
    for group in GROUPS:
        assert gates.held_out(USE, exact, group, settings) == pytest.approx(1)
        assert gates.held_out(USE, noise, group, settings) < 0.1


@pytest.mark.parametrize("group", GROUPS)
def test_fits_never_see_what_is_held_out(group):
    of = a_profile(USE.plain, noise=0.3)
    before, _ = dictionary.held_out(USE.plain, of, group)
    for i in (0, int(group.max())):
        here = group == i
        poisoned = of._replace(y=np.where(here[:, None], 1e3 * np.cos(np.arange(N)), of.y))
        after, _ = dictionary.held_out(USE.plain, poisoned, group)
        assert np.allclose(after[here], before[here])


def test_what_the_other_products_do_not_say_is_not_determined(settings):
    n = 13  # 0 is the only other class
    use = Code(n, key_in_any_class(n, by_hand.shared(n, {13: [1]})))
    y, group = a_profile(use.plain), dictionary.by_class(n)
    assert not dictionary.held_out(use.plain, y, group)[1].any()
    assert np.isnan(gates.held_out(use, y, group, settings))
