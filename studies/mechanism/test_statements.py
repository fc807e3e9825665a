"""Votes, gates, moves, families of neurons, the least loss and the projected embedding."""

import numpy as np
import pytest
from scipy.special import logsumexp, softmax
from small import random_weights

from strata.api.by_hand import weights
from strata.monoid import classes
from strata.patch.patching import forward_pass
from studies.mechanism import planted
from studies.mechanism.code import decoding, families, gates, interaction, measures, moves, votes
from studies.mechanism.code import dictionary as functions
from studies.mechanism.code.characters import Characters, key_in_any_class, local_character
from studies.mechanism.code.descriptions import pair_counts
from studies.mechanism.code.dictionary import Gate
from studies.mechanism.code.gates import Code
from studies.mechanism.code.profile import profile
from studies.mechanism.code.records import Part
from studies.mechanism.planted import profile_of

N = 105
KEY = planted.shared(N, {3: [1], 5: [1], 7: [1, 2]})


def some_votes(n, seed=0):
    """Return y that is a sum of any functions of one remainder and of the candidate."""
    columns = votes.remainders(n)
    return columns @ np.random.default_rng(seed).normal(size=(columns.shape[1], n))


@pytest.mark.parametrize("n", [12, 105])
def test_votes_explain_sums_over_primes_and_nothing_else(n):
    exact, noise = some_votes(n), np.random.default_rng(1).normal(size=(n, n))
    assert votes.share(profile_of(exact)) == pytest.approx(1)
    columns = votes.remainders(n)
    root = np.sqrt(pair_counts(n))[:, None]
    centred = profile_of(noise)
    solution = np.linalg.lstsq(root * columns, root * centred.y, rcond=None)[0]
    expected = centred.share(columns @ solution)
    assert votes.share(centred) == pytest.approx(expected) and expected < 0.5


def test_votes_for_the_same_candidates_whatever_the_product_hold_of_nothing(settings):
    bias = np.random.default_rng(0).normal(size=N)
    values, _ = measures.measure_votes(profile_of(np.tile(bias, (N, 1))), settings)
    assert values["votes-share"] == pytest.approx(1)
    assert values["votes-right"] == pair_counts(N)[bias.argmax()] / N**2
    columns = votes.remainders(N)
    values, _ = measures.measure_votes(profile_of(columns @ columns.T), settings)
    assert values["votes-right"] == pytest.approx(1)


def test_a_prime_prefers_each_of_two_remainders_for_its_own_whatever_moves_between_primes():
    boards = {Q: np.eye(Q) for Q in (3, 5, 7)}
    boards[7] = boards[7][[0, 2, 1, 3, 4, 5, 6]]  # those that are 1 vote for 2, and these for 1
    q, bias = np.arange(N), np.random.default_rng(0).normal(size=N)
    boards = {Q: g[q % Q][:, q % Q] for Q, g in boards.items()}
    y = profile_of(bias + np.sum([*boards.values()], axis=0))
    preferences = votes.preferences(y)
    assert preferences == pytest.approx(
        [2.0] * (3 + 10) + [1, 1, *[2.0] * 4, -2, *[1.0] * 8, *[2.0] * 6]
    )


def test_what_is_sorted_by_class_first_is_explained_by_that_and_not_by_votes(settings):
    noise = profile_of(np.random.default_rng(0).normal(size=(N, N)))
    planted = votes.classes_first(noise)[1]
    for y, sorts in ((planted, True), (some_votes(N), False)):
        values, rows = measures.measure_votes(profile_of(y), settings)
        numbers = {row.measure: row.value for row in rows}
        assert (numbers["classes explain"] == pytest.approx(1)) == sorts
        assert (values["votes-share"] == pytest.approx(1)) != sorts


def test_classes_that_were_left_out_are_predicted_and_never_seen():
    y, columns = profile_of(some_votes(N)), votes.remainders(N)
    left_out = votes.predict_left_out(y, columns)
    assert left_out.determined == 1 and left_out.median == pytest.approx(1)
    group = functions.by_class(N)
    poisoned = profile_of(np.where((group == 0)[:, None], 100 * np.cos(np.arange(N)), y.y))
    of_poisoned = votes.predict_left_out(poisoned, columns)
    assert of_poisoned.shares[0] < 0.1 and not np.allclose(
        of_poisoned.shares[1:], left_out.shares[1:]
    )


def test_relabelled_residues_stay_in_their_class():
    order = votes.permute_within_classes(N, np.random.default_rng(0))
    assert (np.gcd(order, N) == np.gcd(np.arange(N), N)).all() and (order != np.arange(N)).any()


def gated(gate, size=0.5, seed=0):
    """Plant zeros and characters, one of which a gate makes smaller, with any function of c."""
    phi, rng = Code(N, key_in_any_class(N, KEY)), np.random.default_rng(seed)
    y = phi.plain @ rng.normal(size=(phi.plain.shape[1], N))
    columns = functions.gate_functions(N, [gate])
    return profile_of(y - size * columns @ rng.normal(size=(columns.shape[1], N)))


GATE = Gate(3, (Part(7, 0, (2,)),))


def test_a_planted_gate_is_the_one_that_is_found(settings):
    y = gated(GATE)
    phi = gates.code(y, KEY, settings)
    assert phi.gates == (GATE,)
    assert phi.explains(y, [GATE]) > 0.9
    assert phi.share_beyond_zeros(y) == pytest.approx(1)
    assert gates.code(gated(GATE, 0.0), KEY, settings).gates == ()
    others = [x for _ in range(20) for x in gates.random_gates(phi, np.random.default_rng(0))]
    assert {x.p for x in others} == {3} and {x.label for x in others} == {(Part(7, 0, (3,)),)}


def test_what_a_class_alone_asks_for_chooses_no_gate_that_predicts_it(settings):
    """Give one class all other gates, too, and larger ones."""
    y, in_class = gated(GATE), np.gcd(np.arange(N), N) == 5
    phi, rng = Code(N, key_in_any_class(N, KEY)), np.random.default_rng(1)
    columns = functions.gate_functions(N, [x for x in phi.possible_gates if x != GATE])
    loud = columns @ (100 * rng.normal(size=(columns.shape[1], N)))
    y = profile_of(y.y + np.where(in_class[:, None], loud, 0))
    chosen, one_gate = gates.code(y, KEY, settings), settings.model_copy(update={"gates": 1})
    assert gates.choose_gates(chosen, y, y.N, one_gate) != (GATE,)
    assert gates.choose_gates(chosen, y, np.where(in_class, 0, y.N), one_gate) == (GATE,)
    group, designs = in_class - 1, (Code(N, chosen.characters, (GATE,)).functions, phi.zeros)
    errors = [y.error(functions.predict_held_out(x, y, group)[0], in_class) for x in designs]
    assert gates.held_out_share(chosen, y, group, one_gate) == pytest.approx(
        1 - errors[0] / errors[1]
    )


@pytest.mark.parametrize("n", [12, 35])
def test_a_step_changes_one_prime_power(n):
    steps = {*moves.steps(n)}
    powers = [4, 3] if n == 12 else [5, 7]
    expected = {
        (q, x) for q in range(n) for x in range(n) if sum((q - x) % Q > 0 for Q in powers) == 1
    }
    assert steps == expected


def test_moves_are_those_of_a_fit_without_the_classes_of_both_products():
    w = weights(15)
    noise = np.random.default_rng(0).normal(size=w["W_E"].shape)
    network = forward_pass(w | {"W_E": (w["W_E"] + 0.3 * noise).astype(np.float32)}, 15)
    design = Code(15, key_in_any_class(15, planted.shared(15, {3: [1], 5: [1]}))).plain
    logits, gcd = network.logits(network.residual), np.gcd(np.arange(15), 15)
    means = network.by_product(network.residual) @ network.weights["W_U"]
    expected = {True: [0.0, 0.0, 0.0], False: [0.0, 0.0, 0.0]}
    for q, to in moves.steps(15):
        others = (gcd != gcd[q]) & (gcd != gcd[to])
        root = np.sqrt(pair_counts(15)[others])[:, None]
        mu = np.linalg.lstsq(design[others] * root, means[others] * root, rcond=1e-10)[0]
        step, counts = design[to] - design[q], expected[bool(gcd[q] == gcd[to])]
        near = np.linalg.lstsq(design[others].T, step, rcond=1e-10)[0]
        pairs = network.label == q
        if np.allclose(design[others].T @ near, step):
            right = (logits[pairs] + step @ mu).argmax(axis=1) == to
            counts[0] += network.count[pairs] @ right
            counts[1] += network.count[pairs].sum()
        else:
            counts[2] += network.count[pairs].sum()
    inside, across = moves.moves(network, design)
    assert [*inside] == expected[True] and [*across] == expected[False]
    assert 0 < inside.hits < inside.moved and across.hits > 0


def test_moves_of_which_most_were_left_out_have_no_share():
    assert moves.Moves(1, 2, 2).share == 0.5
    assert np.isnan(moves.Moves(1, 2, 3).share) and np.isnan(moves.Moves().share)


def test_neurons_of_one_prime_and_all_zeros_are_replaced_by_themselves():
    pairs, rng = forward_pass(random_weights(30, "mlp"), 30), np.random.default_rng(0)
    tables = rng.normal(size=(2, 5, 2, 2, 12))  # of a, b: modulo 5, whether 2 and 3 divide
    label = [
        (x % 5, (x % 2 == 0).astype(int), (x % 3 == 0).astype(int)) for x in (pairs.a, pairs.b)
    ]
    before = tables[0][label[0]] * tables[1][label[1]]
    before[:, 0] = -1  # never on
    none = Characters((), np.zeros((30, 0), dtype=np.complex128))
    family_labels = families.families(30, none)
    object.__setattr__(pairs, "preactivations", before)
    replaced = families.replace_neurons(pairs, family_labels)
    np.testing.assert_allclose(replaced.hidden, np.maximum(before, 0), atol=1e-12)
    assert replaced.variance == pytest.approx(1)
    assert replaced.family[0] == -1 and set(replaced.family[1:]) == {2}
    permuted = families.replace_neurons(pairs, [x[rng.permutation(30)] for x in family_labels])
    assert permuted.variance < 0.8


def test_a_family_of_a_mixed_character_has_a_cell_for_each_value_and_zeros():
    label = (Part(5, 0, (1,)), Part(7, 0, (2,)))
    f = local_character(35, label[0]) * local_character(35, label[1])
    *_, cells = families.families(35, Characters((label,), f[:, None]))
    same_cell = np.isclose(f[:, None], f) & np.equal.outer(
        np.gcd(np.arange(35), 35), np.gcd(np.arange(35), 35)
    )
    assert (np.equal.outer(cells, cells) == same_cell).all()


def last(n=15, seed=3):
    pairs = forward_pass(random_weights(n, "transformer", seed), n)
    return decoding.LastLayer(pairs, profile(pairs))


def test_the_slope_of_the_logarithm_of_the_loss_is_its_slope():
    rng, weight = np.random.default_rng(0), np.full(6, 1 / 6)
    logits, step = rng.normal(size=(6, 6)), rng.normal(size=(6, 6))
    value, slope = decoding.log_loss(logits, weight, np.arange(6))
    losses = logsumexp(logits, axis=1) - np.diag(logits)
    assert value == pytest.approx(np.log(weight @ losses))
    ends = [decoding.log_loss(logits + s * step, weight, np.arange(6))[0] for s in (1e-6, -1e-6)]
    assert (slope * step).sum() == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6)
    far = decoding.log_loss(100 * np.eye(6), weight, np.arange(6))[0]
    assert far == pytest.approx(np.log(5) - 100)


def test_columns_of_the_least_loss_have_their_lengths_and_no_turn_makes_it_less():
    of_last, rng = last(), np.random.default_rng(0)
    rho = of_last.lengths
    best = decoding.least_loss(of_last, rho)
    np.testing.assert_allclose(np.linalg.norm(best, axis=0), rho)

    def loss(columns):
        return decoding.log_loss(of_last.x @ columns, of_last.weight, np.arange(15))[0]

    least = loss(best)
    for size in (1e-3, 1e-1, 1):
        turned = best + size * rng.normal(size=best.shape)
        assert loss(rho * turned / np.linalg.norm(turned, axis=0)) > least
    box = decoding.least_loss_in_box(of_last)
    assert np.abs(box).max() <= np.abs(of_last.pairs.weights["W_U"]).max()


def test_a_bias_is_read_as_pairs_have_their_products():
    of_last, zero = last(), np.arange(15) == 0
    varies = zero - of_last.weight @ zero  # 0 in the mean over pairs, not over products
    varies = np.outer(varies, np.random.default_rng(0).normal(size=15))
    assert of_last.readout(of_last.y.y + varies).bias == pytest.approx(1)


def test_the_best_bias_is_that_with_which_each_answer_is_as_likely_as_its_products():
    of_last, rng, best = last(), np.random.default_rng(0), np.zeros(15)
    logits, w = rng.normal(size=(15, 15)), of_last.weight
    logits -= w @ logits
    for _ in range(100):
        best += np.log(w / (w @ softmax(logits + best, axis=1)))
    best -= best.mean()
    permuted = rng.permutation(best)
    for bias, share in (
        (best, 1),
        (permuted, 1 - ((best - permuted) ** 2).sum() / (permuted**2).sum()),
    ):
        y = profile_of(logits + bias)
        explained = decoding.bias_of_least_loss(decoding.LastLayer(of_last.pairs, y))
        assert explained == pytest.approx(share, abs=1e-6)


def test_an_embedding_of_the_code_is_left_as_it_is_and_of_other_functions_is_not():
    w = weights(N)
    span = interaction.span(N, KEY, gates=True)
    np.testing.assert_allclose(span.T @ span, np.eye(span.shape[1]), atol=1e-9)
    key = {J.d: np.ones(len(J), dtype=bool) for J in classes(N) if len(J) > 1}
    for mask in key.values():
        mask[0] = False
    projected = interaction.project_embedding(w, N, interaction.span(N, key, gates=False))
    assert projected.accuracy == 1 and 1 - votes.share(profile(projected)) < 1e-9
    permuted = span[np.random.default_rng(0).permutation(N)]
    assert interaction.project_embedding(w, N, permuted).accuracy < 0.2
