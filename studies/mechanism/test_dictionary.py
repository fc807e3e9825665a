"""The functions of the product: what they are, that fits never see what is held out, gates."""

import numpy as np
import pytest

from strata.statistics import folds
from studies.mechanism import by_hand
from studies.mechanism.code import codewords, decide, dictionary, gating
from studies.mechanism.code.descriptions import weights_of
from studies.mechanism.code.dictionary import Gate
from studies.mechanism.code.pairs import Profile
from studies.mechanism.code.records import Part

CHOSEN = {3: [1], 5: [1], 11: [2, 3]}


def a_profile(n, values, seed=0, noise=0.0):
    """y that is any function of the candidate times each function."""
    rng = np.random.default_rng(seed)
    y = values @ rng.normal(size=(values.shape[1], n)) + noise * rng.normal(size=(n, n))
    y -= y.mean(axis=1, keepdims=True)
    return Profile(y, float(weights_of(n) @ (y**2).sum(axis=1)))


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
    code = codewords.held_out(of, use.values, group)
    for i in (0, int(group.max())):
        here = group == i
        poisoned = of._replace(y=np.where(here[:, None], 1e3 * np.cos(np.arange(n)), of.y))
        after, _ = dictionary.held_out(use.design, poisoned, group)
        assert np.allclose(after[here], before[here])
        assert np.allclose(codewords.held_out(poisoned, use.values, group)[here], code[here])


def test_what_the_other_products_do_not_say_is_not_determined():
    n = 13  # 0 is the only other class
    use = dictionary.dictionary(n, by_hand.shared(n, {13: [1]}))
    _, known = dictionary.held_out(use.design, a_profile(n, use.design), dictionary.by_class(n))
    assert not known.any()
    assert np.isnan(dictionary.rest(a_profile(n, use.design), use, dictionary.by_class(n)))


def gated_profile(n, key, gates, seed=0):
    """A nearest code whose characters are switched off by these gates."""
    use, rng = dictionary.dictionary(n, key), np.random.default_rng(seed)
    values = use.values.copy()
    for gate in gates:
        mine = [i for i, x in enumerate(use.character) if x == gate[1]]
        values[np.ix_(np.arange(n) % gate[0] == 0, mine)] = 0
    y = codewords.predicted(values, by_hand.gram(use.count, rng))
    return Profile(y, float(weights_of(n) @ (y**2).sum(axis=1))), use


def test_a_switched_off_character_is_found_with_the_prime_that_does_it():
    n, key = 143, by_hand.shared(143, {11: [1, 4], 13: [3, 4]})
    of, use = gated_profile(n, key, [(11, 3)])
    chosen = dictionary.gates(of, key, 1.1, 1)
    assert chosen == [Gate(11, (Part(13, 0, (4,)),))]
    wider = use + dictionary.gated(n, chosen)
    assert dictionary.many_explained(of, wider) == pytest.approx(1)
    assert dictionary.many_explained(of, use) < 0.1
    shared = gating.shared(of.y, dictionary.of_key(n, key), of.squares)
    own = {x.parts[0].k: x.gating for x in gating.counted(shared, 0.01)}
    assert own[(4,)] < 0.7 and own[(3,)] == pytest.approx(1, abs=0.2)


def test_other_gates_are_of_characters_that_are_not_key():
    n, key = 143, by_hand.shared(143, {11: [1, 4], 13: [3, 4]})
    gate = Gate(11, (Part(13, 0, (4,)),))
    found = dictionary.other_gates(n, key, [gate] * 20, np.random.default_rng(0))
    assert {x.p for x in found} == {11} and {x.label[0].p for x in found} == {13}
    assert {x.label[0].k for x in found} == {(k,) for k in (1, 2, 5, 6)}


@pytest.mark.parametrize(
    ("many", "explained", "few", "others", "right", "verdict"),
    [
        (0.009, 0.0, 0.0, 0.0, 1.0, decide.HOLDS),
        (0.07, 0.9, 0.4, 0.1, 1.0, decide.HOLDS),
        (0.07, 0.9, 0.4, 0.1, 0.9, decide.UNDECIDED),
        (0.07, 0.7, 0.4, 0.1, 1.0, decide.UNDECIDED),
        (0.07, 0.4, 0.4, 0.1, 1.0, decide.FAILS),
        (0.07, 0.9, 0.6, 0.1, 1.0, decide.FAILS),
        (0.07, 0.9, 0.4, 0.5, 1.0, decide.FAILS),
    ],
)
def test_gates_hold_where_few_of_them_explain_the_interaction(
    many, explained, few, others, right, verdict, settings
):
    name = "gated characters"
    values = {
        ("parts", "many", "share"): many,
        (name, "explained", "share"): explained,
        (name, "of all characters", "share"): few,
        (name, "by others", "share"): others,
        (name, "right answers", "accuracy"): right,
    }
    assert decide.gating(values, settings.levels) == verdict
