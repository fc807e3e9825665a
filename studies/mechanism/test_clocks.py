"""The networks of Zhong et al. are run as they are, and the hole is seen where it is planted."""

import numpy as np
import pytest

from studies.mechanism.code import clocks

N = 7
SHAPES = {
    "embed.W_E": (8, N), "pos_embed.W_pos": (2, 8), "unembed.W_U": (8, N),
    "blocks.0.attn.W_K": (2, 4, 8), "blocks.0.attn.W_Q": (2, 4, 8),
    "blocks.0.attn.W_V": (2, 4, 8), "blocks.0.attn.W_O": (8, 8), "blocks.0.attn.mask": (2, 2),
    "blocks.0.mlp.W_in": (16, 8), "blocks.0.mlp.b_in": (16,), "blocks.0.mlp.W_out": (8, 16),
    "blocks.0.mlp.b_out": (8,),
}  # fmt: skip


def pair(w, a, b, coefficient):
    """Return the logits of one pair, computed one head and one position at a time."""
    x = [w["embed.W_E"][:, t] + w["pos_embed.W_pos"][i] for i, t in enumerate((a, b))]
    heads = []
    for q, k, v in zip(*(w[f"blocks.0.attn.W_{c}"] for c in "QKV"), strict=True):
        score = np.exp([(q @ x[1]) @ (k @ y) / np.sqrt(len(q)) for y in x])
        weight = score / score.sum() * coefficient + 1 - coefficient
        heads.append(sum(c * (v @ y) for c, y in zip(weight, x, strict=True)))
    stream = x[1] + w["blocks.0.attn.W_O"] @ np.concatenate(heads)
    hidden = np.maximum(w["blocks.0.mlp.W_in"] @ stream + w["blocks.0.mlp.b_in"], 0)
    return (stream + w["blocks.0.mlp.W_out"] @ hidden + w["blocks.0.mlp.b_out"]) @ w["unembed.W_U"]


@pytest.mark.parametrize("coefficient", [0.0, 0.5, 1.0])
def test_every_pair_is_run_as_one_alone(coefficient):
    rng = np.random.default_rng(0)
    tensors = {name: rng.normal(size=shape) for name, shape in SHAPES.items()}
    logits, pattern = clocks.forward(tensors, coefficient)
    for row, (a, b) in enumerate(np.ndindex(N, N)):
        assert logits[row] == pytest.approx(pair(tensors, a, b, coefficient))
    fixed = clocks.forward(tensors, pattern=pattern.mean(axis=0))
    assert np.ptp(fixed.pattern, axis=0).max() == 0
    assert np.allclose(fixed.logits, logits) == (coefficient == 0)


@pytest.mark.parametrize("k", [2, 5])
def test_a_vote_is_read_at_its_frequency_by_the_difference_of_the_operands(k):
    n = 13
    a, b = np.divmod(np.arange(n * n), n)
    angle = 2 * np.pi * k / n
    size = np.abs(np.cos(angle * (a - b) / 2))
    logits = size[:, None] * np.cos(angle * ((a + b)[:, None] - np.arange(n)))
    law = np.abs(np.cos(np.pi * k * np.arange(7) / n))
    assert clocks.votes(logits, k) == pytest.approx(law / 2)
    assert clocks.votes(logits, 4) == pytest.approx(np.zeros(7))
    flat = np.cos(angle * ((a + b)[:, None] - np.arange(n)))
    assert clocks.right(flat) == 1
    votes = clocks.votes_of(k, clocks.votes(flat, k), law, n)
    assert (votes.amplitude, votes.variation(votes.unchanged)) == pytest.approx((0.5, 0))
    assert votes.law == pytest.approx(law) and votes.variation(law) > 0.4


def test_heads_are_put_to_the_frequency_by_which_they_attend():
    n = 11
    a, b = np.divmod(np.arange(n * n), n)
    on_a = 0.5 + 0.3 * np.cos(2 * np.pi * 4 * a / n) - 0.1 * np.cos(2 * np.pi * b / n)
    pattern = np.stack([np.stack([on_a, 1 - on_a], 1), np.full((n * n, 2), 0.5)], axis=1)
    assert clocks.frequency_of_heads(pattern).tolist() == [4, 0]
