"""Votes, gates, moves, families of neurons, the least loss and the projected embedding."""

import numpy as np
import pytest
from scipy.special import logsumexp, softmax

from strata.api.by_hand import weights
from strata.measure.fourier import conjugate
from strata.monoid import classes
from strata.patch.patching import passed
from studies.mechanism import by_hand
from studies.mechanism.code import decoding, families, gates, interaction, measures, moves, votes
from studies.mechanism.code import dictionary as functions
from studies.mechanism.code.characters import Characters, key_in_any_class, local
from studies.mechanism.code.descriptions import weights_of
from studies.mechanism.code.dictionary import Gate
from studies.mechanism.code.gates import Code
from studies.mechanism.code.profile import profile
from studies.mechanism.code.records import Part
from studies.mechanism.planted_logits import profile_of

N = 105
KEY = by_hand.shared(N, {3: [1], 5: [1], 7: [1, 2]})


def some_votes(n, seed=0):
    """y that is a sum of any functions of one remainder and of the candidate."""
    columns = votes.remainders(n)
    return columns @ np.random.default_rng(seed).normal(size=(columns.shape[1], n))


@pytest.mark.parametrize("n", [12, 105])
def test_votes_explain_sums_over_primes_and_nothing_else(n):
    exact, noise = some_votes(n), np.random.default_rng(1).normal(size=(n, n))
    assert votes.share(profile_of(exact)) == pytest.approx(1)
    columns = votes.remainders(n)
    root = np.sqrt(weights_of(n))[:, None]
    centred = profile_of(noise)
    left = np.linalg.lstsq(root * columns, root * centred.y, rcond=None)[0]
    expected = centred.share(columns @ left)
    assert votes.share(centred) == pytest.approx(expected) and expected < 0.5


def test_votes_for_the_same_candidates_whatever_the_product_hold_of_nothing(settings):
    bias = np.random.default_rng(0).normal(size=N)
    values, _ = measures.of_votes(profile_of(np.tile(bias, (N, 1))), settings)
    assert values["votes-share"] == pytest.approx(1)
    assert values["votes-right"] == weights_of(N)[bias.argmax()] / N**2
    columns = votes.remainders(N)
    values, _ = measures.of_votes(profile_of(columns @ columns.T), settings)
    assert values["votes-right"] == pytest.approx(1)


def test_remainders_that_favour_others_are_counted(settings):
    given = {Q: np.eye(Q) for Q in (3, 5, 7)}
    given[7] = given[7][[0, 2, 1, 3, 4, 5, 6]]  # those that are 1 vote for 2, and these for 1
    q, bias = np.arange(N), np.random.default_rng(0).normal(size=N)
    y = profile_of(bias + np.sum([g[q % Q][:, q % Q] for Q, g in given.items()], axis=0))
    rows = measures.of_votes(y, settings)[1]
    assert {row.measure: row.value for row in rows}["favoured"] == pytest.approx(13 / 15)


def test_what_is_sorted_by_class_first_is_explained_by_that_and_not_by_votes(settings):
    noise = profile_of(np.random.default_rng(0).normal(size=(N, N)))
    planted = votes.sorted_first(noise)[1]
    for y, sorts in ((planted, True), (some_votes(N), False)):
        values, rows = measures.of_votes(profile_of(y), settings)
        found = {row.measure: row.value for row in rows}
        assert (found["classes explain"] == pytest.approx(1)) == sorts
        assert (values["votes-share"] == pytest.approx(1)) != sorts


def test_classes_that_were_left_out_are_predicted_and_never_seen():
    y, columns = profile_of(some_votes(N)), votes.remainders(N)
    found = votes.left_out(y, columns)
    assert found.determined == 1 and found.median == pytest.approx(1)
    group = functions.by_class(N)
    poisoned = profile_of(np.where((group == 0)[:, None], 100 * np.cos(np.arange(N)), y.y))
    other = votes.left_out(poisoned, columns)
    assert other.shares[0] < 0.1 and not np.allclose(other.shares[1:], found.shares[1:])


def test_relabelled_residues_stay_in_their_class():
    order = votes.relabelled(N, np.random.default_rng(0))
    assert (np.gcd(order, N) == np.gcd(np.arange(N), N)).all() and (order != np.arange(N)).any()


def gated(gate, size=0.5, seed=0):
    """Zeros and characters, one of which a gate makes smaller, with any function of c."""
    use, rng = Code(N, key_in_any_class(N, KEY)), np.random.default_rng(seed)
    y = use.plain @ rng.normal(size=(use.plain.shape[1], N))
    columns = functions.gated(N, [gate])
    return profile_of(y - size * columns @ rng.normal(size=(columns.shape[1], N)))


GATE = Gate(3, (Part(7, 0, (2,)),))


def test_a_planted_gate_is_the_one_that_is_found(settings):
    y = gated(GATE)
    found = gates.code(y, KEY, settings)
    assert found.gates == (GATE,)
    assert found.explains(y, [GATE]) > 0.9
    assert found.rest(y) == pytest.approx(1)
    assert gates.code(gated(GATE, 0.0), KEY, settings).gates == ()
    others = [x for _ in range(20) for x in gates.others(found, np.random.default_rng(0))]
    assert {x.p for x in others} == {3} and {x.label for x in others} == {(Part(7, 0, (3,)),)}


def test_gates_of_what_is_predicted_come_from_the_other_products(settings):
    y, group = gated(GATE), functions.by_class(N)
    found = gates.code(y, KEY, settings)
    shared = gates.held_out(found, y, group, settings)
    # A gate that one class alone shows cannot be known from the others.
    classes_of = [J.d for J in classes(N) if len(J) > 1]
    where = classes_of.index(3)
    only = profile_of(np.where((group == where)[:, None], y.y, gated(GATE, 0.0).y))
    assert gates.held_out(gates.code(only, KEY, settings), only, group, settings) < 0.95 < shared


def test_what_a_class_alone_asks_for_chooses_no_gate_that_predicts_it(settings):
    """One class has all other gates, too, and larger ones."""
    y, here = gated(GATE), np.gcd(np.arange(N), N) == 5
    use, rng = Code(N, key_in_any_class(N, KEY)), np.random.default_rng(1)
    columns = functions.gated(N, [x for x in use.possible if x != GATE])
    loud = columns @ (100 * rng.normal(size=(columns.shape[1], N)))
    y = profile_of(y.y + np.where(here[:, None], loud, 0))
    found, one = gates.code(y, KEY, settings), settings.model_copy(update={"gates": 1})
    assert gates.gates(found, y, y.N, one) != (GATE,)
    assert gates.gates(found, y, np.where(here, 0, y.N), one) == (GATE,)
    group, designs = here - 1, (Code(N, found.characters, (GATE,)).functions, use.zeros)
    errors = [y.error(functions.held_out(x, y, group)[0], here) for x in designs]
    assert gates.held_out(found, y, group, one) == pytest.approx(1 - errors[0] / errors[1])


@pytest.mark.parametrize("n", [12, 35])
def test_a_step_changes_one_prime_power(n):
    found = {*moves.steps(n)}
    powers = [4, 3] if n == 12 else [5, 7]
    expected = {
        (q, x) for q in range(n) for x in range(n) if sum((q - x) % Q > 0 for Q in powers) == 1
    }
    assert found == expected


def test_moves_are_those_of_a_fit_without_the_classes_of_both_products():
    w = weights(15)
    noise = np.random.default_rng(0).normal(size=w["W_E"].shape)
    of = passed(w | {"W_E": (w["W_E"] + 0.3 * noise).astype(np.float32)}, 15)
    design = Code(15, key_in_any_class(15, by_hand.shared(15, {3: [1], 5: [1]}))).plain
    logits, gcd = of.logits(of.residual), np.gcd(np.arange(15), 15)
    means = of.by_product(of.residual) @ of.weights["W_U"]
    expected = {True: [0.0, 0.0, 0.0], False: [0.0, 0.0, 0.0]}
    for q, to in moves.steps(15):
        rest = (gcd != gcd[q]) & (gcd != gcd[to])
        root = np.sqrt(weights_of(15)[rest])[:, None]
        mu = np.linalg.lstsq(design[rest] * root, means[rest] * root, rcond=1e-10)[0]
        step, counted = design[to] - design[q], expected[bool(gcd[q] == gcd[to])]
        near = np.linalg.lstsq(design[rest].T, step, rcond=1e-10)[0]
        pairs = of.label == q
        if np.allclose(design[rest].T @ near, step):
            right = (logits[pairs] + step @ mu).argmax(axis=1) == to
            counted[0] += of.count[pairs] @ right
            counted[1] += of.count[pairs].sum()
        else:
            counted[2] += of.count[pairs].sum()
    inside, across = moves.moves(of, design)
    assert [*inside] == expected[True] and [*across] == expected[False]
    assert 0 < inside.hits < inside.tried and across.hits > 0


def test_moves_of_which_most_were_left_out_have_no_share():
    assert moves.Moves(1, 2, 2).share == 0.5
    assert np.isnan(moves.Moves(1, 2, 3).share) and np.isnan(moves.Moves().share)


def test_neurons_of_one_prime_and_all_zeros_are_replaced_by_themselves():
    pairs, rng = passed(by_hand.random(30, "mlp"), 30), np.random.default_rng(0)
    both = rng.normal(size=(2, 5, 2, 2, 12))  # of a, b: modulo 5, whether 2 and 3 divide
    label = [
        (x % 5, (x % 2 == 0).astype(int), (x % 3 == 0).astype(int)) for x in (pairs.a, pairs.b)
    ]
    before = both[0][label[0]] * both[1][label[1]]
    before[:, 0] = -1  # never on
    none = Characters((), np.zeros((30, 0), dtype=np.complex128))
    every = families.families(30, none)
    object.__setattr__(pairs, "before", before)
    found = families.replaced(pairs, every)
    np.testing.assert_allclose(found.hidden, np.maximum(before, 0), atol=1e-12)
    assert found.variance == pytest.approx(1)
    assert found.family[0] == -1 and set(found.family[1:]) == {2}
    other = families.replaced(pairs, [x[rng.permutation(30)] for x in every])
    assert other.variance < 0.8


def test_a_family_of_a_mixed_character_has_a_cell_for_each_value_and_zeros():
    label = (Part(5, 0, (1,)), Part(7, 0, (2,)))
    f = local(35, label[0]) * local(35, label[1])
    *_, cells = families.families(35, Characters((label,), f[:, None]))
    same = np.isclose(f[:, None], f) & np.equal.outer(
        np.gcd(np.arange(35), 35), np.gcd(np.arange(35), 35)
    )
    assert (np.equal.outer(cells, cells) == same).all()


def last(n=15, seed=3):
    pairs = passed(by_hand.random(n, "transformer", seed), n)
    return decoding.Last(pairs, profile(pairs))


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
    box = decoding.in_a_box(of_last)
    assert np.abs(box).max() <= np.abs(of_last.pairs.weights["W_U"]).max()


def test_a_bias_is_read_as_pairs_have_their_products():
    of_last, zero = last(), np.arange(15) == 0
    varies = zero - of_last.weight @ zero  # 0 in the mean over pairs, not over products
    varies = np.outer(varies, np.random.default_rng(0).normal(size=15))
    assert of_last.read(of_last.y.y + varies).bias == pytest.approx(1)


def test_the_best_bias_is_that_with_which_each_answer_is_as_likely_as_its_products():
    of_last, rng, best = last(), np.random.default_rng(0), np.zeros(15)
    beside, w = rng.normal(size=(15, 15)), of_last.weight
    beside -= w @ beside
    for _ in range(100):
        best += np.log(w / (w @ softmax(beside + best, axis=1)))
    best -= best.mean()
    other = rng.permutation(best)
    for own, share in ((best, 1), (other, 1 - ((best - other) ** 2).sum() / (other**2).sum())):
        y = profile_of(beside + own)
        found = decoding.bias_of_least_loss(decoding.Last(of_last.pairs, y))
        assert found == pytest.approx(share, abs=1e-6)


def test_an_embedding_of_the_code_is_left_as_it_is_and_of_other_functions_is_not():
    w = weights(N)
    span = interaction.span(N, KEY, gates=True)
    np.testing.assert_allclose(span.T @ span, np.eye(span.shape[1]), atol=1e-9)
    key = {J.d: np.ones(len(J), dtype=bool) for J in classes(N) if len(J) > 1}
    for mask in key.values():
        mask[0] = False
    assert all((mask == mask[conjugate(J.orders)]).all() for J, mask in
               zip([J for J in classes(N) if len(J) > 1], key.values(), strict=True))  # fmt: skip
    whole = interaction.projected(w, N, interaction.span(N, key, gates=False))
    assert whole.accuracy == 1 and 1 - votes.share(profile(whole)) < 1e-9
    permuted = span[np.random.default_rng(0).permutation(N)]
    assert interaction.projected(w, N, permuted).accuracy < 0.2
