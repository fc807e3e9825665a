"""Attention and adding: brute force on small networks, and networks whose mechanism is known."""

import numpy as np
import pytest
from sympy.ntheory import primefactors

from strata.api import by_hand, second_adder
from strata.inputs import InputError
from strata.measure.activations import forward
from strata.patch.patching import forward_pass
from studies.mechanism.code import adding, hole, outputs, residues, scores
from studies.mechanism.code.records import Part
from studies.mechanism.code.votes import permute_within_classes
from tests.small import random_weights

SECOND = 77  # 7 · 11: two characters that a pair of heads serves, and two of odd order


@pytest.fixture(scope="module")
def second():
    """Run the network with a second adder over all pairs."""
    return forward_pass(second_adder.weights(SECOND), SECOND)


@pytest.fixture(scope="module")
def at_mean(second):
    return scores.with_pattern(second, scores.mean_pattern(second))


@pytest.fixture(scope="module")
def fit(second):
    """Fit the scores of its heads by formula."""
    return scores.fit_pass(second, 2)


@pytest.fixture(scope="module")
def neurons(second, fit):
    return adding.neurons(second, fit)


def test_votes_by_difference_of_angles_by_brute_force():
    n, p, k, w = 35, 7, 2, random_weights(35)
    pairs = forward_pass(w, n)
    t = {pow(3, i, 7): i for i in range(6)}
    total, count = np.zeros(4), np.zeros(4)
    logits = forward(
        {x: y.astype(np.float64) for x, y in w.items()}, *np.divmod(np.arange(n * n), n)
    )
    chi = np.array([np.exp(2j * np.pi * k * t[c % 7] / 6) if c % 7 else 0 for c in range(n)])
    for pair, row in enumerate(logits.logits):
        a, b = divmod(pair, n)
        if a % 7 and b % 7:
            delta = abs(t[a % 7] - t[b % 7])
            delta = min(delta, 6 - delta)
            total[delta] += np.real(chi[a * b % n] * (row * chi.conj()).sum()) / n
            count[delta] += 1
    votes = hole.votes_of(n, p, k, pairs, pairs)
    assert np.allclose(votes.unchanged, total / count) and np.allclose(votes.pairs, count)


def test_the_mean_pattern_is_the_mean_over_all_ordered_pairs():
    n, w = 12, random_weights(12)
    patterns = forward(w, *np.divmod(np.arange(n * n), n)).attention.mean(axis=0)
    pairs = forward_pass(w, n)
    assert np.allclose(scores.mean_pattern(pairs)[5], patterns, atol=1e-6)
    unchanged = scores.with_pattern(pairs, scores.pattern_of(pairs, scores.scores_of(pairs)))
    assert np.allclose(unchanged.preactivations, pairs.preactivations)


def test_scores_that_are_zeros_and_two_characters_are_found_and_others_are_not():
    n, rng = 35, np.random.default_rng(0)
    one, two = (Part(5, 0, (1,)),), (Part(5, 0, (1,)), Part(7, 0, (2,)))
    columns = np.concatenate([residues.waves(n, one), 0.4 * residues.waves(n, two)], axis=1)
    planted = columns @ rng.normal(size=columns.shape[1]) + residues.divides(n, 7) * 0.7 - 1
    noise = rng.normal(size=n)
    fit = scores.fit_scores(
        np.stack([planted, noise, np.ones(n)], axis=1), residues.all_labels(n), 2
    )
    assert {*fit.labels[0]} == {one, two} and np.allclose(fit.scores[:, 0], planted)
    assert fit.share[1] < 0.7 and fit.labels[2] == () and np.isnan(fit.share[2])
    assert np.allclose(fit.scores[:, 2], 1)


@pytest.mark.parametrize("n", [143, 154, 165, 77, 30, 6])
def test_the_second_adder_answers_every_pair(n):
    assert forward_pass(second_adder.weights(n), n).accuracy == 1


@pytest.mark.parametrize("n", [17, 5 * 7 * 11])
def test_the_second_adder_refuses_what_its_heads_cannot_serve(n):
    with pytest.raises(InputError, match=f"n = {n}: "):
        second_adder.weights(n)


def test_a_second_adder_fills_the_hole_that_the_sum_leaves(second, at_mean, fit):
    one = scores.fit_pass(second, 1)
    votes = hole.all_votes(second, at_mean)
    counting = hole.votes_that_count(votes, one.labels)
    assert [(x.p, x.k) for x in counting] == [(7, 1), (11, 1)]
    assert all(x.at_mean[-1] < 0.01 * x.at_mean[0] for x in counting)
    means = hole.hole(counting)
    assert means.correlation > 0.99 and means.variation < 0.25 * means.variation_at_mean
    assert np.allclose(scores.partner_phases(SECOND, one), -1)


def test_everything_of_the_second_adder_can_be_replaced_by_its_formula(
    second, at_mean, fit, neurons
):
    by_formula = scores.with_pattern(second, scores.pattern_of(second, fit.scores)).accuracy
    assert by_formula == 1 and at_mean.accuracy < 0.95
    assert scores.skill_back(by_formula, at_mean.accuracy, 1.0) == 1
    before = neurons.form("B4")
    hidden = np.maximum(before, 0)
    W_out = outputs.written(neurons, hidden).W_out
    assert adding.right(second, before) == 1
    assert second.right(adding.logits(second, hidden, W_out)) > 0.99
    shuffled = outputs.exchanged(neurons, W_out, np.random.default_rng(0))
    assert second.right(adding.logits(second, hidden, shuffled)) < 0.3
    assert outputs.doubling(neurons) > 0.95


def test_formulas_of_permuted_residues_answer_few(second, fit, neurons):
    from dataclasses import replace

    order = permute_within_classes(SECOND, np.random.default_rng(0))
    permuted = replace(neurons, use=adding.ResidueFunctions(SECOND, order))
    assert adding.right(second, permuted.form("B4")) < 0.3


def test_additive_neurons_are_the_least_squares_fit_over_all_ordered_pairs():
    n = 10
    pairs = forward_pass(random_weights(n), n)
    square = pairs.preactivations[pairs.row]
    design = np.concatenate([np.repeat(np.eye(n), n, axis=0), np.tile(np.eye(n), (n, 1))], axis=1)
    y = square.reshape(n * n, -1)
    exact = design @ np.linalg.lstsq(design, y, rcond=None)[0]
    assert np.allclose(adding.additive(pairs)[pairs.row].reshape(n * n, -1), exact)


def test_networks_whose_attention_is_constant_add_by_formula():
    n = 105
    pairs = forward_pass(by_hand.weights(n), n)
    fit = scores.fit_pass(pairs, 2)
    assert fit.labels == ((),) * 4
    assert adding.right(pairs, adding.neurons(pairs, fit).form("B4")) == 1
    assert np.isnan(scores.skill_back(1.0, 1.0, 1.0))


def test_squares_of_characters_have_the_values_of_the_squares():
    n = 105
    for label in residues.all_labels(n):
        square, values = residues.square_of(n, label), residues.values(n, label)
        if square is None:
            on = np.all([~residues.divides(n, p) for p in residues.primes_of(label)], axis=0)
            assert np.allclose(values**2, on)
        elif residues.primes_of(square) == residues.primes_of(label):
            square_values = residues.values(n, square)
            assert np.allclose(values**2, square_values) or np.allclose(
                values**2, square_values.conj()
            )
    assert primefactors(n) == [3, 5, 7]
