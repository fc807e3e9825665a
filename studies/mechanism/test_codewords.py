"""The nearest code: the best Gram matrix is found, and known to be the best."""

import numpy as np
import pytest

from studies.mechanism import by_hand
from studies.mechanism.code import codewords, dictionary
from studies.mechanism.code.descriptions import weights_of
from studies.mechanism.code.pairs import Profile

KEY = {3: [1], 5: [1], 7: [1, 2]}


def functions(n=105):
    return dictionary.dictionary(n, by_hand.shared(n, KEY))


def of(y):
    y = y - y.mean(axis=1, keepdims=True)
    return Profile(y, float(weights_of(len(y)) @ (y**2).sum(axis=1)))


def test_predictions_are_distances():
    rng = np.random.default_rng(0)
    values, G = rng.normal(size=(6, 3)), rng.normal(size=(4, 3))
    w = values @ G.T
    y = -((w[:, None] - w) ** 2).sum(axis=2) / 2
    expected = y - y.mean(axis=1, keepdims=True)
    assert np.allclose(codewords.predicted(values, G.T @ G), expected)


def test_the_problem_is_the_squared_error():
    use, rng = functions(), np.random.default_rng(0)
    y, M = of(rng.normal(size=(105, 105))), by_hand.gram(use.count, rng)
    A, b = codewords.problem(use.values, y.y, y.N)
    m = codewords.packed(M)
    error = y.error(codewords.predicted(use.values, M))
    assert m @ A @ m - 2 * b @ m + y.energy(y.y) == pytest.approx(error)


def test_a_planted_gram_matrix_is_found():
    use = functions()
    M = by_hand.gram(use.count, np.random.default_rng(0))
    y = of(codewords.predicted(use.values, M))
    assert np.allclose(codewords.nearest(y, use.values), M, rtol=1e-4, atol=1e-3)
    fold = np.arange(105) % 5
    assert y.share(codewords.held_out(y, use.values, fold)) == pytest.approx(1)


@pytest.mark.parametrize("seed", range(3))
def test_nothing_positive_is_better(seed):
    """The conditions of Karush, Kuhn and Tucker: the slope is positive, and 0 along M."""
    use, rng = functions(), np.random.default_rng(seed)
    M = by_hand.gram(use.count, rng) - 20 * np.eye(use.count)  # indefinite
    y = of(codewords.predicted(use.values, M) + 3 * rng.normal(size=(105, 105)))
    A, b = codewords.problem(use.values, y.y, y.N)
    best = codewords.nearest(y, use.values)
    assert np.linalg.eigvalsh(best)[0] >= -1e-9
    slope = A @ codewords.packed(best) - b
    size = np.linalg.norm(b)
    assert np.linalg.eigvalsh(codewords.unpacked(slope, use.count))[0] >= -1e-6 * size
    assert abs(slope @ codewords.packed(best)) <= 1e-6 * size * np.linalg.norm(best)


def test_no_entries_between_primes_are_zero_and_explain_less():
    use = functions()
    y = of(codewords.predicted(use.values, by_hand.gram(use.count, np.random.default_rng(0))))
    free = codewords.one_prime(use)
    alone = codewords.nearest(y, use.values, free)
    assert (alone[~free] == 0).all()
    assert y.share(codewords.predicted(use.values, alone)) < 0.95


def test_the_codewords_of_other_candidates_explain_little():
    use, rng = functions(), np.random.default_rng(0)
    y = of(codewords.predicted(use.values, by_hand.gram(use.count, rng)))
    assert codewords.permuted(y, use.values, 3, rng) < 0.2


def test_few_numbers_are_never_better_than_the_best_of_their_rank():
    n = 105
    key = by_hand.shared(n, KEY)
    use, rng = dictionary.dictionary(n, key), np.random.default_rng(0)
    y = of(codewords.predicted(use.values, by_hand.gram(use.count, rng)) + rng.normal(size=(n, n)))
    M = codewords.nearest(y, use.values)
    found = codewords.few_numbers(y, key, use, M, 30, [1, use.count + 1])
    terms = [y.share(x) for name, _, x in found if name == "bias and terms"]
    assert len(terms) == 30 and (np.diff(terms) > 0).all()
    best = [y.share(x) for name, _, x in found if name == "best of its rank"]
    assert best[1] >= max(y.share(x) for _, _, x in found[:-2])


def test_greedy_terms_are_least_squares_fits():
    rng, n = np.random.default_rng(0), 12
    values, N = rng.normal(size=(n, 2)), weights_of(n)
    y = rng.normal(size=(n, n))
    y -= N @ y / N.sum()
    whole = codewords.greedy(y, N, values, 10)[-1]
    left, right = values - N @ values / N.sum(), values - values.mean(axis=0)
    columns = np.stack([np.outer(i, j).ravel() for i in left.T for j in right.T], axis=1)
    root = np.sqrt(np.repeat(N, n))
    fit = columns @ np.linalg.lstsq(columns * root[:, None], y.ravel() * root, rcond=None)[0]
    assert np.allclose(whole.ravel(), fit)
