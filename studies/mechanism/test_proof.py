"""The bound is at most the true margin, and near to it, on every pair."""

import numpy as np
import pytest
from small import random_weights

from strata.api.by_hand import weights as written_down
from strata.architecture import TABLE, architecture_of
from strata.patch.patching import forward_pass
from studies.mechanism.code import proof

LONG = np.longdouble


def margins(weights, n, a, b):
    """Compute the margins in extended precision, by the definition of the network."""
    w = {name: x.astype(LONG) for name, x in weights.items()}
    if architecture_of(weights).attends:
        x = np.stack([w["W_E"][i] for i in (a, b, np.full_like(a, n))], axis=1)
        stream = x[:, 2].copy() + w["b_O"]
        for h in range(len(w["W_Q"])):
            query = x[:, 2] @ w["W_Q"][h] + w["b_Q"][h]
            keys = x @ w["W_K"][h] + w["b_K"][h]
            scores = (keys * query[:, None]).sum(axis=2) / LONG(np.float32(query.shape[1] ** 0.5))
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
    right_logits = logits[rows, q].copy()
    logits[rows, q] = -np.inf
    return right_logits - logits.max(axis=1)


MODELS = {
    **{f"{kind} {n} {seed}": (random_weights(n, kind, seed), n)
       for kind in TABLE for n, seed in ((4, 0), (6, 1), (12, 2), (15, 3))},
    "large weights": (random_weights(15, "transformer", 4, 5.0), 15),
    "written down": (written_down(15), 15),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_the_margin_of_every_pair_is_above_the_bound_by_twice_the_rounding_at_most(name):
    weights, n = MODELS[name]
    pairs = forward_pass(weights, n)
    true, bound = margins(weights, n, pairs.a, pairs.b), proof.all_margins(pairs)
    assert (bound.margin <= true).all() and (true <= bound.margin + 2 * bound.rounding).all()
    assert 0 < bound.rounding < 1e-8 * (1 + np.abs(true).max())


def test_no_bound_is_above_the_margin_where_rounding_is_all_there_is():
    """Give two candidates one column, and so one logit: nothing may be proven of them."""
    weights, n = random_weights(6, "transformer", 0), 6
    weights["W_U"][:, 1] = weights["W_U"][:, 0]
    weights["b_U"][1] = weights["b_U"][0]
    pairs = forward_pass(weights, n)
    assert (proof.all_margins(pairs).margin[pairs.label <= 1] < 0).all()


def test_roundings_that_all_go_one_way_are_within_the_bound():
    """Sum 1 + 4095·2⁻⁵⁴, which is 1 where the small terms are added one by one."""
    n, d, small = 6, 4096, 2.0**-27
    row, zero = np.full(d, small), np.zeros(d)
    row[0] = 1
    W_U = np.zeros((d, n))
    W_U[0, 0] = -1  # so the margin of a product 0 comes out too large
    weights = {
        "W_E": np.tile(row, (n, 1)), "W_in": np.concatenate([row, zero])[:, None],
        "b_in": np.zeros(1), "W_out": np.eye(1, d), "b_out": zero, "W_U": W_U, "b_U": np.zeros(n),
    }  # fmt: skip
    pairs = forward_pass({name: x.astype(np.float32) for name, x in weights.items()}, n)
    assert (proof.all_margins(pairs).margin <= margins(weights, n, pairs.a, pairs.b)).all()
