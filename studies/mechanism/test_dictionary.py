"""The functions of the product: what they are, and that fits never see what is held out."""

import numpy as np
import pytest

from strata.monoid import classes, unit
from strata.statistics import folds
from studies.mechanism import planted
from studies.mechanism.code import dictionary, gates
from studies.mechanism.code.characters import key_in_any_class, local_character
from studies.mechanism.code.gates import Code
from studies.mechanism.code.records import Part
from studies.mechanism.planted import profile_of

N = 165
USE = Code(N, key_in_any_class(N, planted.shared(N, {3: [1], 5: [1], 11: [2, 3]})))
GROUPS = folds(N, 0, 5), dictionary.by_class(N)


def a_profile(values, noise=0.0):
    """Return y that is any function of the candidate times each function."""
    rng, n = np.random.default_rng(0), len(values)
    y = values @ rng.normal(size=(values.shape[1], n)) + noise * rng.normal(size=(n, n))
    return profile_of(y)


def test_it_holds_a_zero_for_each_prime_and_waves_that_vanish_where_it_divides():
    divides = (np.arange(N)[:, None] % [3, 5, 11] == 0).T
    ones, *zeros = USE.zeros.T
    assert (ones == 1).all() and (zeros == divides).all()
    waves = USE.plain.T[4:]
    prime_of_wave = [0, 1, 1, *[2] * 4]  # the prime of each; of 3 there is a sign alone
    assert len(waves) == len(prime_of_wave) and not (waves * divides[prime_of_wave]).any()


def test_a_character_of_one_prime_depends_on_remainders_and_not_on_the_unit_coordinate():
    n, units = 12, {1: 1, 2: -1}  # 1 in J_1 and 2 in J_2 are apart modulo 3, and u(1) = u(2)
    f = local_character(n, Part(3, 0, (1,)))
    by_remainder = [units.get(x % 3, 0) for x in range(n)]
    by_unit = [units.get(unit(x, n) % 3, 0) if x % 3 else 0 for x in range(n)]
    assert np.allclose(f, by_remainder) and not np.allclose(by_remainder, by_unit)
    for J in classes(n):  # inside a class their quotients agree
        r, u = np.array(by_remainder)[J.elements], np.array(by_unit)[J.elements]
        assert (np.outer(r, r) == np.outer(u, u)).all()


def test_folds_are_dealt_in_turn_over_classes():
    fold = folds(N, 0, 5)
    for J in classes(N):
        counts = np.bincount(fold[J.elements], minlength=5) if len(J) > 1 else np.zeros(5)
        assert counts.max() - counts.min() <= 1 and (len(J) > 1 or fold[J.elements[0]] == -1)
    assert np.ptp(np.bincount(fold[fold >= 0])) <= 1
    assert (fold != folds(N, 1, 5)).any() and (fold == folds(N, 0, 5)).all()


def test_prime_powers_have_a_zero_for_each_valuation():
    assert dictionary.zeros(12).sum(axis=0).tolist() == [12, 3, 3, 4]


def test_the_rest_is_all_of_what_functions_span_and_little_of_noise(settings):
    exact, noise = a_profile(USE.plain), a_profile(USE.zeros, noise=1.0)
    assert USE.share_beyond_zeros(exact) == pytest.approx(1) and USE.share_beyond_zeros(noise) < 0.1
    for group in GROUPS:
        assert gates.held_out_share(USE, exact, group, settings) == pytest.approx(1)
        assert gates.held_out_share(USE, noise, group, settings) < 0.1


@pytest.mark.parametrize("group", GROUPS)
def test_fits_never_see_what_is_held_out(group):
    noisy = a_profile(USE.plain, noise=0.3)
    before, _ = dictionary.predict_held_out(USE.plain, noisy, group)
    for i in (0, int(group.max())):
        fold = group == i
        poisoned = noisy._replace(y=np.where(fold[:, None], 1e3 * np.cos(np.arange(N)), noisy.y))
        after, _ = dictionary.predict_held_out(USE.plain, poisoned, group)
        assert np.allclose(after[fold], before[fold])


def test_what_the_other_products_do_not_say_is_not_determined(settings):
    n = 13  # 0 is the only other class
    use = Code(n, key_in_any_class(n, planted.shared(n, {13: [1]})))
    y, group = a_profile(use.plain), dictionary.by_class(n)
    assert not dictionary.predict_held_out(use.plain, y, group)[1].any()
    assert np.isnan(gates.held_out_share(use, y, group, settings))
