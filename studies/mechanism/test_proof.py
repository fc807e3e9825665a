"""The bound is at most the true margin, on every pair and at every rank."""

import numpy as np
import pytest

from strata.api.by_hand import weights as written_down
from strata.architecture import TABLE, architecture_of
from studies.mechanism import by_hand
from studies.mechanism.code import neurons, proof
from studies.mechanism.code.pairs import all_pairs

LONG = np.longdouble


def trained_like(n, noise, seed=0):
    """A nearest code made by hand, with noise on every weight."""
    rng = np.random.default_rng(seed)
    weights, _ = by_hand.nearest_code(n, {3: [1], 5: [1], 7: [1]}, rng)
    return {
        name: (x + noise * np.abs(x).mean() * rng.normal(size=x.shape)).astype(np.float32)
        for name, x in weights.items()
    }


def margins(weights, n, a, b):
    """The margins in extended precision, by the definition of the network."""
    w = {name: x.astype(LONG) for name, x in weights.items()}
    if architecture_of(weights).attends:
        x = np.stack([w["W_E"][i] for i in (a, b, np.full_like(a, n))], axis=1)
        stream = x[:, 2].copy() + w["b_O"]
        for h in range(len(w["W_Q"])):
            query = x[:, 2] @ w["W_Q"][h] + w["b_Q"][h]
            keys = x @ w["W_K"][h] + w["b_K"][h]
            scores = (keys * query[:, None]).sum(axis=2) / np.sqrt(LONG(query.shape[1]))
            weight = np.exp(scores - scores.max(axis=1, keepdims=True))
            weight /= weight.sum(axis=1, keepdims=True)
            values = x @ w["W_V"][h] + w["b_V"][h]
            stream = stream + (weight[:, :, None] * values).sum(axis=1) @ w["W_O"][h]
    else:
        stream = np.concatenate([w["W_E"][a], w["W_E"][b]], axis=1)
    hidden = np.maximum(stream @ w["W_in"] + w["b_in"], 0)
    out = hidden @ w["W_out"] + w["b_out"]
    if architecture_of(weights).attends:
        out = out + stream
    logits = out @ w["W_U"] + w["b_U"]
    rows, q = np.arange(len(a)), a * b % n
    own = logits[rows, q].copy()
    logits[rows, q] = -np.inf
    return own - logits.max(axis=1)


MODELS = {
    **{f"{kind} {n} {seed}": (by_hand.random(n, kind, seed), n)
       for kind in TABLE for n, seed in ((4, 0), (6, 1), (12, 2), (15, 3))},
    "large weights": (by_hand.random(15, "transformer", 4, 5.0), 15),
    "trained-like": (trained_like(15, 0.01), 15),
    "written down": (written_down(15), 15),
    "trained-like, 35": (trained_like(35, 0.003), 35),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_the_bound_is_at_most_the_margin_of_every_pair_at_every_rank(name):
    weights, n = MODELS[name]
    of = all_pairs(weights, n)
    true = margins(weights, n, of.a, of.b)
    found = list(proof.bounds(of))
    assert len(found) == 1 + min(of.before.shape[1], n)
    for bound in found:
        assert (bound.margin <= true).all()
        assert 0 < bound.rounding < 1e-8 * (1 + np.abs(true).max())
    last = found[-1].margin
    assert (last >= true - 1e-4 * (1 + np.abs(true))).all()  # with all directions it is the margin
    every = proof.all_margins(of)
    assert (every.margin <= true).all() and (true <= every.margin + 2 * every.rounding).all()
    assert 0 < every.rounding < 1e-8 * (1 + np.abs(true).max())


def test_so_it_is_around_any_centre():
    weights, n = MODELS["trained-like"]
    of = all_pairs(weights, n)
    true = margins(weights, n, of.a, of.b)
    by_prime = neurons.replaced(of, neurons.measured(of).own)
    random = np.random.default_rng(0).normal(size=of.before.shape)
    for centre in (by_prime, random, 0 * random):
        assert all((bound.margin <= true).all() for bound in proof.bounds(of, centre))


def test_no_bound_is_above_the_margin_where_rounding_is_all_there_is():
    """Two candidates with one column have one logit: nothing may be proven of them."""
    weights, n = by_hand.random(6, "transformer", 0), 6
    weights["W_U"][:, 1] = weights["W_U"][:, 0]
    weights["b_U"][1] = weights["b_U"][0]
    of = all_pairs(weights, n)
    for bound in proof.bounds(of):
        assert (bound.margin[of.q <= 1] < 0).all()


def test_the_code_made_by_hand_is_proven_at_the_rank_of_its_functions():
    weights, use = by_hand.nearest_code(35, {5: [1], 7: [1]}, np.random.default_rng(0))
    found = proof.prove(all_pairs(weights, 35), 0.99)
    assert found.right == 1
    assert found.rank == found.rank_all == use.count
    assert found.proven[-1] == 1 and len(found.proven) == use.count + 1


def test_a_proof_of_few_directions_is_cheaper():
    """At the sizes of the paper's models, whose weights do not matter here."""
    shapes = TABLE["transformer"].sizes(165, 128, 4, 512)
    weights = {name: np.zeros(shape, dtype=np.float32) for name, shape in shapes.items()}
    of = all_pairs(weights, 165)
    assert proof.multiply_adds(of, 11) < 0.3 * proof.all_logits(of)
