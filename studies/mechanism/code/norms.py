"""How large the weights of a transformer are for what it computes.

It computes the same where all that is written to a neuron, or to a dimension of the residual
stream, of values or of queries, is made larger by a factor and all that is read there smaller by
it. The sum of squares is convex in the logarithms of these factors, and so least where as much is
read as written everywhere. The logits as a whole are made larger in W_U and b_U, and the factors
then carry that to all layers.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import root_scalar

from strata.api import by_hand
from strata.architecture import architecture_of
from strata.arithmetic import factorint
from strata.patch.patching import ForwardPass, forward_pass, outcome
from strata.store import Arrays
from studies.mechanism.code import proof

AXES = {
    "W_E": "td", "W_Q": "hds", "b_Q": "hs", "W_K": "hds", "b_K": "hs", "W_V": "hdv", "b_V": "hv",
    "W_O": "hvd", "b_O": "d", "W_in": "dm", "b_in": "m", "W_out": "md", "b_out": "d", "W_U": "dn",
}  # fmt: skip
# Where there are factors: its axes, what writes there, what reads there.
FACTORS = (
    ("m", ("W_in", "b_in"), ("W_out",)),
    ("hv", ("W_V", "b_V"), ("W_O",)),
    ("hs", ("W_Q", "b_Q"), ("W_K", "b_K")),
    ("d", ("W_E", "W_O", "b_O", "W_out", "b_out"), ("W_Q", "W_K", "W_V", "W_in", "W_U")),
)
ENOUGH, ROUNDS = 1e-10, 5000  # the relative gain of a round that is the last, and the most rounds
LARGEST = 100.0  # logarithm of a factor of all logits


def squared_norm(weights: Arrays) -> float:
    """Return the total squared norm."""
    return float(sum((x.astype(np.float64) ** 2).sum() for x in weights.values()))


def balance(weights: Arrays) -> Arrays:
    """Return the float64 weights of the least squared norm with these logits, by factors alone."""
    w = {name: x.astype(np.float64) for name, x in weights.items()}
    total = squared_norm(w)
    for _ in range(ROUNDS):
        for axes, *sides in FACTORS:
            written, read = (
                sum(np.einsum(f"{AXES[x]},{AXES[x]}->{axes}", w[x], w[x]) for x in names)
                for names in sides
            )
            in_use = (written > 0) & (read > 0)
            factor = np.divide(read, written, out=np.ones_like(written), where=in_use) ** 0.25
            for names, by in zip(sides, (factor, 1 / factor), strict=True):
                w |= {x: np.einsum(f"{AXES[x]},{axes}->{AXES[x]}", w[x], by) for x in names}
        before, total = total, squared_norm(w)
        if before - total <= ENOUGH * total:
            break
    return w


def scale_logits(weights: Arrays, factor: float) -> Arrays:
    """Return the balanced weights whose logits are these times a factor."""
    return balance(weights | {name: factor * weights[name] for name in ("W_U", "b_U")})


def with_squared_norm(weights: Arrays, total: float) -> Arrays:
    """Return the balanced weights of this total squared norm whose logits are these times a factor.
    Raises ValueError where attention alone has a larger norm."""
    w = balance(weights)
    excess = lambda log: squared_norm(scale_logits(w, np.exp(log))) - total  # noqa: E731
    root = root_scalar(excess, bracket=(-LARGEST, LARGEST), xtol=1e-9)
    return scale_logits(w, np.exp(root.root))


class Size(NamedTuple):
    """Neurons that are on for some pair and write, parameters that are not 0, total squared norm as
    it is and balanced, the least margin of all pairs as far as it is proven."""

    neurons: int
    parameters: int
    squares: float
    balanced: float
    margin: float


def size(pairs: ForwardPass) -> Size:
    """Measure the size of a transformer that was run over all its pairs."""
    in_use = (pairs.preactivations.max(axis=0) > 0) & pairs.weights["W_out"].any(axis=1)
    return Size(
        int(in_use.sum()), sum(int((x != 0).sum()) for x in pairs.weights.values()),
        squared_norm(pairs.weights), squared_norm(balance(pairs.weights)),
        float(proof.all_margins(pairs).margin.min()),
    )  # fmt: skip


def comparable(pairs: ForwardPass) -> bool:
    """Whether a network written by hand exists for the kind and modulus of this one."""
    square_free = max(factorint(pairs.n).values()) == 1
    return architecture_of(pairs.weights).attends and square_free and pairs.n <= by_hand.LARGEST


def loss_and_margin(pairs: ForwardPass) -> tuple[float, float]:
    """Return the mean over all ordered pairs of the cross-entropy, in nats, and of how far the
    logit of the right answer is above the largest other."""
    loss, _, margin = outcome(pairs.logits(pairs.residual), pairs.label)
    return float(pairs.count @ loss) / pairs.n**2, float(pairs.count @ margin) / pairs.n**2


def compare_by_hand(pairs: ForwardPass) -> dict[str, float]:
    """Compare a network with the one written by hand. Return the network's total squared norm, mean
    loss in nats and mean margin; the loss and the mean margin of the one written by hand at this
    norm; and the norm, over the network's, at which that one has the mean margin of the network.
    The last is NaN where the network's mean margin is not above 0."""
    total = squared_norm(pairs.weights)
    loss, margin = loss_and_margin(pairs)
    weights = with_squared_norm(by_hand.weights(pairs.n), total)
    scaled = forward_pass(weights, pairs.n)
    hand_loss, hand_margin = loss_and_margin(scaled)
    norm = squared_norm(scale_logits(weights, margin / hand_margin)) if margin > 0 else float("nan")
    return {
        "squared norm": total, "loss": loss, "mean margin": margin, "by hand: loss": hand_loss,
        "by hand: mean margin": hand_margin, "by hand: norm for this margin": norm / total,
    }  # fmt: skip
