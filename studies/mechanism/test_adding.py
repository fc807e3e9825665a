"""Attention and adding: brute force on small networks, and networks whose mechanism is known."""

import numpy as np
import pytest
from sympy.ntheory import primefactors

from strata.api import second_adder
from strata.inputs import InputError
from strata.measure.activations import attention, attention_scores, forward
from strata.patch.patching import forward_pass
from studies.mechanism.code import adding, adding_measures, hole, outputs, residues, scores
from studies.mechanism.code.records import Part
from studies.mechanism.code.votes import permute_within_classes
from studies.params import load
from tests.small import ROOT, random_weights

SECOND = 77  # 7 · 11: two characters that a pair of heads serves, and two of odd order


@pytest.fixture(scope="module")
def second():
    """Run the network with a second adder over all pairs."""
    return forward_pass(second_adder.weights(SECOND), SECOND)


@pytest.fixture(scope="module")
def fit(second):
    """Fit the scores of its heads by formula."""
    return scores.fit_pass(second, 2)


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


def test_all_characters_with_an_angle_vote():
    pairs = forward_pass(random_weights(35), 35)
    assert [(x.p, x.k) for x in hole.all_votes(pairs, pairs)] == [(5, 1), (7, 1), (7, 2)]
    pairs = forward_pass(random_weights(18), 18)
    assert hole.all_votes(pairs, pairs) == []


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_the_law_of_the_hole_is_the_length_of_the_sum_of_two_waves(k):
    turned = np.exp(2j * np.pi * k * np.arange(6) / 10)
    votes = hole.Votes(11, k, np.ones(6), np.ones(6), np.ones(6))
    np.testing.assert_allclose(votes.law, np.abs(1 + turned) / 2, atol=1e-12)


def test_means_of_votes_are_over_pairs_and_those_of_characters_by_amplitude():
    pairs = np.array([1.0, 2, 3, 2])
    votes = [
        hole.Votes(7, k, np.array(at_mean), np.array(unchanged), pairs)
        for k, at_mean, unchanged in (
            (1, [4.0, 2, 1, 1], [2.0, 1, 1, 3]),
            (2, [1.0, 2, 0, 3], [1.0, 0, 1, 1]),
        )
    ]
    of_pairs = [np.repeat(x.unchanged, pairs.astype(int)) for x in votes]
    amplitudes = [x.mean() for x in of_pairs]
    assert [x.amplitude for x in votes] == pytest.approx(amplitudes)
    means = hole.hole(votes)
    variations = [x.std() / x.mean() for x in of_pairs]
    assert means.variation == pytest.approx(np.average(variations, weights=amplitudes))
    correlations = [np.corrcoef(x.at_mean, x.law)[0, 1] for x in votes]
    assert means.correlation == pytest.approx(np.average(correlations, weights=amplitudes))


def test_votes_count_from_a_fifth_of_the_largest_amplitude_on_where_a_head_scores_by_them():
    votes = [
        hole.Votes(p, k, np.ones(p // 2 + 1), np.full(p // 2 + 1, x), np.ones(p // 2 + 1))
        for p, k, x in ((7, 1, 1.0), (7, 2, 0.2), (11, 1, 0.19), (11, 3, 0.5))
    ]
    heads = tuple(((Part(p, 0, (k,)),),) for p, k in ((7, 1), (7, 2), (11, 1)))
    assert hole.votes_that_count(votes, heads) == votes[:2]


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
        np.stack([planted, noise, np.ones(n), residues.divides(n, 7) * 0.7 - 1], axis=1),
        residues.all_labels(n), 2,
    )  # fmt: skip
    assert {*fit.labels[0]} == {one, two} and np.allclose(fit.scores[:, 0], planted)
    assert fit.share[1] < 0.7 and fit.labels[2] == () and np.isnan(fit.share[2])
    assert np.allclose(fit.scores[:, 2], 1)
    assert fit.labels[3] == () and fit.share[3] == pytest.approx(1)


def test_one_character_is_of_one_prime_and_two_may_be_of_two():
    n, w, mixed = 35, random_weights(35), (Part(5, 0, (1,)), Part(7, 0, (2,)))
    w["W_E"][:n, 0], w["W_K"] = residues.waves(n, mixed)[:, 0], np.zeros_like(w["W_K"])
    w["W_K"][:, 0, 0] = 1
    pairs = forward_pass(w, n)
    assert scores.fit_pass(pairs, 1).labels == ((), ())
    two = scores.fit_pass(pairs, 2)
    assert all(labels == (mixed,) for labels in two.labels) and np.allclose(two.share, 1)


def test_attention_carries_skill_from_five_points_on():
    assert scores.skill_back(0.05, 0.0, 0.05) == 1 and np.isnan(scores.skill_back(0.04, 0.0, 0.04))
    pairs = forward_pass(random_weights(5), 5)
    carries = [adding_measures.Attending(pairs, pairs, x, 0.0).carries for x in (0.05, 0.04)]
    assert carries == [True, False]


@pytest.mark.parametrize("n", [143, 154, 165, 77, 30, 6])
def test_the_second_adder_answers_every_pair(n):
    assert forward_pass(second_adder.weights(n), n).accuracy == 1


@pytest.mark.parametrize("n", [17, 5 * 7 * 11])
def test_the_second_adder_refuses_what_its_heads_cannot_serve(n):
    with pytest.raises(InputError, match=f"n = {n}: "):
        second_adder.weights(n)


def test_a_second_adder_fills_the_hole_that_the_sum_leaves(second, fit):
    one = scores.fit_pass(second, 1)
    at_mean = scores.with_pattern(second, scores.mean_pattern(second))
    votes = hole.all_votes(second, at_mean)
    counting = hole.votes_that_count(votes, one.labels)
    assert [(x.p, x.k) for x in counting] == [(7, 1), (11, 1)]
    assert all(x.at_mean[-1] < 0.01 * x.at_mean[0] for x in counting)
    means = hole.hole(counting)
    assert means.correlation > 0.99 and means.variation < 0.25 * means.variation_at_mean
    assert np.allclose(scores.partner_phases(SECOND, one), -1)


def test_what_neurons_write_is_exchanged_inside_families_and_they_double_angles(second, fit):
    neurons = adding.neurons(second, fit)
    hidden = np.maximum(neurons.form("B4"), 0)
    assert outputs.doubling(neurons) > 0.95 and outputs.doubling(neurons, hidden) > 0.95
    numbers = np.arange(hidden.shape[1])[:, None] * 1.0
    places = outputs.exchanged(neurons, numbers, np.random.default_rng(0))
    for members in neurons.by_family().values():
        assert sorted(places[members, 0]) == members


def ordered(w, n, scored):
    """Return all ordered pairs, and by how much more each head attends to a under these scores."""
    a, b = np.divmod(np.arange(n * n), n)
    pattern = attention(np.concatenate([scored, attention_scores(w).scores[-1:]]), a, b)
    return a, b, pattern[..., 0] - pattern[..., 1]


def form(name, n, label, key, head, a, b, T):
    """Return the columns of a form over pairs, as criteria-3.md defines it."""
    zero = {p: (np.arange(n) % p == 0)[:, None] * 1.0 for p in primefactors(n)}
    primes = residues.primes_of(label)
    labels = key if name == "B4" else [label]
    values = np.stack([residues.values(n, x) for x in labels], axis=1)
    C, squares = (np.concatenate([np.real(x), np.imag(x)], axis=1) for x in (values, values**2))
    gates = [zero[r] * C for r in zero if r not in primes]
    heads = {"B0": [], "B1": [head]}.get(name, range(T.shape[1]))
    sums = [*zero.values(), C, *([] if name in {"B0", "B1"} else [*gates, squares])]
    turned = [C, *(zero[p] for p in primes)]
    return np.concatenate(
        [np.ones((len(a), 1)), *(x[a] + x[b] for x in sums)]
        + [T[:, [h]] * (x[a] - x[b]) for h in heads for x in turned],
        axis=1,
    )


def errors(columns, y):
    """Return what least squares leave of y."""
    return y - columns @ np.linalg.lstsq(columns, y, rcond=1e-10)[0]


@pytest.mark.parametrize("name", ["B0", "B1", "B2", "B4"])
def test_forms_are_least_squares_over_all_ordered_pairs(name):
    n, w = 21, random_weights(21)
    pairs, kinds = forward_pass(w, n), [(Part(7, 0, (1,)),), (Part(3, 0, (1,)), Part(7, 0, (1,)))]
    key = (*kinds, (Part(7, 0, (2,)),), (Part(3, 0, (1,)),))
    scored = scores.scores_of(pairs)
    pattern, rows = scores.pattern_of(pairs, scored), np.arange(len(pairs.a))
    family, head = tuple(kinds[j % 2] for j in range(12)), np.arange(12) // 2 % 2
    neurons = adding.Neurons(
        pairs, adding.ResidueFunctions(n, np.arange(n)), pattern[..., 0] - pattern[..., 1], rows,
        family, head, np.full(12, 1 / 12), key,
    )  # fmt: skip
    fitted, before = (
        x[pairs.row].reshape(n * n, -1) for x in (neurons.form(name), pairs.preactivations)
    )
    a, b, T = ordered(pairs.weights, n, scored)
    for j, label in enumerate(family):
        same = [x for x in key if residues.primes_of(x) == residues.primes_of(label)]
        columns = form(name, n, label, same, head[j], a, b, T)
        np.testing.assert_allclose(
            fitted[:, j], before[:, j] - errors(columns, before[:, j]), atol=1e-9
        )


def test_the_importance_of_a_neuron_is_its_variance_over_ordered_pairs_times_what_it_writes():
    n, w = 12, {name: x.astype(np.float64) for name, x in random_weights(12).items()}
    hidden = forward(w, *np.divmod(np.arange(n * n), n)).mlp
    share = hidden.var(axis=0) * ((w["W_out"] @ w["W_U"]) ** 2).sum(axis=1)
    np.testing.assert_allclose(adding.importance(forward_pass(w, n)), share / share.sum())


@pytest.mark.parametrize("n", [15, 35])
def test_the_family_of_a_neuron_is_what_it_reads_most_and_errs_least_by(n):
    w = {name: x.astype(np.float64) for name, x in random_weights(n).items()}
    pairs = forward_pass(w, n)
    fit = scores.fit_pass(pairs, 2)
    neurons = adding.neurons(pairs, fit)
    to_operand = forward(w, *np.divmod(np.arange(n * n), n)).attention.mean(axis=0)[:, 0]
    values = [w["W_E"][:n] @ w["W_V"][h] + w["b_V"][h] for h in range(2)]
    reads = sum(to_operand[h] * values[h] @ w["W_O"][h] for h in range(2)) @ w["W_in"]
    labels = residues.all_labels(n)
    zeros = np.stack([np.ones(n), *(np.arange(n) % p == 0 for p in primefactors(n))], axis=1)
    left = {
        x: (errors(np.concatenate([zeros, residues.waves(n, x)], axis=1), reads) ** 2).sum(axis=0)
        for x in labels
    }
    a, b, T = ordered(w, n, fit.scores)
    before = pairs.preactivations[pairs.row].reshape(n * n, -1)
    for j in range(12):
        error = {
            (x, h): (errors(form("B1", n, x, [], h, a, b, T), before[:, j]) ** 2).sum()
            for x in sorted(labels, key=lambda x: left[x][j])[:2]
            for h in range(2)
        }
        assert (neurons.family[j], neurons.head[j]) == min(error, key=error.__getitem__)
    shares = {x: neurons.importance[[y == x for y in neurons.family]].sum() for x in labels}
    key = {x for x in labels if shares[x] >= 0.005}
    key |= {residues.square_of(n, x) for x in key} - {None}
    assert {*neurons.key} == key | {x for labels in fit.labels for x in labels}


def test_logits_of_neurons_stand_on_the_mean_stream_over_all_ordered_pairs():
    n, w = 12, random_weights(12)
    pairs = forward_pass(w, n)
    w, hidden = pairs.weights, np.maximum(pairs.preactivations, 0)
    mean = pairs.stream_before_mlp[pairs.row].mean(axis=(0, 1))
    expected = (mean + hidden @ w["W_out"] + w["b_out"]) @ w["W_U"] + w["b_U"]
    np.testing.assert_allclose(adding.logits(pairs, hidden, w["W_out"]), expected)


def test_free_numbers_are_those_of_scores_of_each_neuron_and_of_directions_that_all_share():
    n, w = 21, random_weights(21)
    pairs = forward_pass(w, n)
    two = scores.fit_pass(pairs, 2)
    neurons = adding.neurons(pairs, two)
    written = outputs.written(neurons, np.maximum(neurons.form("B4"), 0))
    a, b, T = ordered(pairs.weights, n, two.scores)
    count = sum(3 + sum(residues.waves(n, x).shape[1] for x in labels) for labels in two.labels)
    for label in neurons.family:
        same = [x for x in neurons.key if residues.primes_of(x) == residues.primes_of(label)]
        count += np.linalg.matrix_rank(form("B4", n, label, same, 0, a, b, T))
        count += len(same) + 2  # of what it writes along each direction
    directions = sum(residues.waves(n, x).shape[1] for x in neurons.key) + 2
    count += directions * 8 + len(w["b_out"])
    numbers = adding_measures.free_numbers(neurons, two, written)
    assert numbers["numbers"] == count
    assert numbers["weights"] == sum(x.size for x in w.values()) - w["W_U"].size - n


def test_a_control_is_the_best_of_its_draws(second, fit):
    settings, n = load(ROOT).adding.measures, 21
    pairs = forward_pass(random_weights(n), n)
    neurons = adding.neurons(pairs, scores.fit_pass(pairs, 2))
    before = neurons.form("B4")
    orders = [permute_within_classes(n, np.random.default_rng(seed)) for seed in (1, 2)]
    one, another, both = (
        adding_measures.of_adding(neurons, before, some, settings)[0]["adding-permuted"]
        for some in (orders[:1], orders[1:], orders)
    )
    assert one != another and both == max(one, another)
    # Where a draw leaves all residues in their places, all skill comes back.
    orders = [permute_within_classes(SECOND, np.random.default_rng(0)), np.arange(SECOND)]
    network = adding_measures.attending(second)
    values, _ = adding_measures.of_attention(network, scores.fit_pass(second, 1), fit, orders)
    assert values["attention-permuted"] == values["attention-back"] == 1


def test_additive_neurons_are_the_least_squares_fit_over_all_ordered_pairs():
    n = 10
    pairs = forward_pass(random_weights(n), n)
    square = pairs.preactivations[pairs.row]
    design = np.concatenate([np.repeat(np.eye(n), n, axis=0), np.tile(np.eye(n), (n, 1))], axis=1)
    y = square.reshape(n * n, -1)
    exact = design @ np.linalg.lstsq(design, y, rcond=None)[0]
    assert np.allclose(adding.additive(pairs)[pairs.row].reshape(n * n, -1), exact)


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
