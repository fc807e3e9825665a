"""The functions of the product: what they are, and that fits never see what is held out."""

import numpy as np
import pytest

from strata.statistics import folds
from studies.mechanism import by_hand
from studies.mechanism.code import dictionary
from studies.mechanism.planted_logits import profile_of

CHOSEN = {3: [1], 5: [1], 11: [2, 3]}


def a_profile(n, values, seed=0, noise=0.0):
    """y that is any function of the candidate times each function."""
    rng = np.random.default_rng(seed)
    y = values @ rng.normal(size=(values.shape[1], n)) + noise * rng.normal(size=(n, n))
    return profile_of(y)


def test_it_holds_a_zero_for_each_prime_and_waves_that_vanish_where_it_divides():
    use = dictionary.dictionary(165, by_hand.shared(165, CHOSEN))
    assert use.count == 3 + 1 + 2 + 4 and use.characters == 4
    q = np.arange(165)
    for column, primes, i in zip(use.values.T, use.primes, use.character, strict=True):
        divides = q % primes[0] == 0
        assert (column == divides).all() if i < 0 else (column[divides] == 0).all()


def test_prime_powers_have_a_zero_for_each_valuation():
    use = dictionary.dictionary(12, {})
    assert use.primes == ((2,), (2,), (3,))
    assert (use.values.sum(axis=0) == [3, 3, 4]).all()


def test_the_rest_is_all_of_what_functions_span_and_little_of_noise():
    n, key = 165, by_hand.shared(165, CHOSEN)
    use = dictionary.dictionary(n, key)
    fold, kind = folds(n, 0, 5), dictionary.by_class(n)
    exact, noise = a_profile(n, use.design), a_profile(n, use.zeros, noise=1.0)
    for group in (None, fold, kind):
        assert dictionary.rest(exact, use, group) == pytest.approx(1)
        assert dictionary.rest(noise, use, group) < 0.1


@pytest.mark.parametrize("group", [folds(165, 0, 5), dictionary.by_class(165)])
def test_fits_never_see_what_is_held_out(group):
    n = 165
    use = dictionary.dictionary(n, by_hand.shared(n, CHOSEN))
    of = a_profile(n, use.design, noise=0.3)
    before, _ = dictionary.held_out(use.design, of, group)
    for i in (0, int(group.max())):
        here = group == i
        poisoned = of._replace(y=np.where(here[:, None], 1e3 * np.cos(np.arange(n)), of.y))
        after, _ = dictionary.held_out(use.design, poisoned, group)
        assert np.allclose(after[here], before[here])


def test_what_the_other_products_do_not_say_is_not_determined():
    n = 13  # 0 is the only other class
    use = dictionary.dictionary(n, by_hand.shared(n, {13: [1]}))
    _, known = dictionary.held_out(use.design, a_profile(n, use.design), dictionary.by_class(n))
    assert not known.any()
    assert np.isnan(dictionary.rest(a_profile(n, use.design), use, dictionary.by_class(n)))
