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
from sympy.ntheory import factorint

from strata.api import by_hand
from strata.architecture import architecture_of
from strata.patch.patching import Passed, outcome, passed
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


def squares(weights: Arrays) -> float:
    """The total squared norm."""
    return float(sum((x.astype(np.float64) ** 2).sum() for x in weights.values()))


def balanced(weights: Arrays) -> Arrays:
    """The weights of the least total squared norm with these logits, by factors alone, float64."""
    w = {name: x.astype(np.float64) for name, x in weights.items()}
    total = squares(w)
    for _ in range(ROUNDS):
        for axes, *both in FACTORS:
            wrote, read = (
                sum(np.einsum(f"{AXES[x]},{AXES[x]}->{axes}", w[x], w[x]) for x in names)
                for names in both
            )
            used = (wrote > 0) & (read > 0)
            factor = np.divide(read, wrote, out=np.ones_like(wrote), where=used) ** 0.25
            for names, by in zip(both, (factor, 1 / factor), strict=True):
                w |= {x: np.einsum(f"{AXES[x]},{axes}->{AXES[x]}", w[x], by) for x in names}
        before, total = total, squares(w)
        if before - total <= ENOUGH * total:
            break
    return w


def multiplied(weights: Arrays, factor: float) -> Arrays:
    """The balanced weights whose logits are these by a factor."""
    return balanced(weights | {name: factor * weights[name] for name in ("W_U", "b_U")})


def of_squares(weights: Arrays, total: float) -> Arrays:
    """The balanced weights with the logits by the factor for which this is the total squared norm.
    Raises ValueError where attention alone has more."""
    w = balanced(weights)
    excess = lambda log: squares(multiplied(w, np.exp(log))) - total  # noqa: E731
    found = root_scalar(excess, bracket=(-LARGEST, LARGEST), xtol=1e-9)
    return multiplied(w, np.exp(found.root))


class Size(NamedTuple):
    """Neurons that are on for some pair and write, parameters that are not 0, total squared norm as
    it is and balanced, the least margin of all pairs as far as it is proven."""

    neurons: int
    parameters: int
    squares: float
    balanced: float
    margin: float


def size(pairs: Passed) -> Size:
    """The size of a transformer that was run over all its pairs."""
    used = (pairs.before.max(axis=0) > 0) & pairs.weights["W_out"].any(axis=1)
    return Size(
        int(used.sum()), sum(int((x != 0).sum()) for x in pairs.weights.values()),
        squares(pairs.weights), squares(balanced(pairs.weights)),
        float(proof.all_margins(pairs).margin.min()),
    )  # fmt: skip


def comparable(pairs: Passed) -> bool:
    """Whether a network written by hand is of the kind and modulus of this one."""
    square_free = max(factorint(pairs.n).values()) == 1
    return architecture_of(pairs.weights).attends and square_free and pairs.n <= by_hand.LARGEST


def loss_and_margin(pairs: Passed) -> tuple[float, float]:
    """The mean over all ordered pairs of the cross-entropy, in nats, and of how far the logit of
    the right answer is above the largest other."""
    loss, _, margin = outcome(pairs.logits(pairs.residual), pairs.label)
    return float(pairs.count @ loss) / pairs.n**2, float(pairs.count @ margin) / pairs.n**2


def beside_by_hand(pairs: Passed) -> dict[str, float]:
    """A network's total squared norm, mean loss in nats, and mean and least margin; the loss and
    the mean margin of the one written by hand at this norm, and the norm, over the network's, at
    which that has the mean margin of the network; NaN where this is not above 0."""
    total = squares(pairs.weights)
    loss, margin = loss_and_margin(pairs)
    weights = of_squares(by_hand.weights(pairs.n), total)
    scaled = passed(weights, pairs.n)
    its_loss, its_margin = loss_and_margin(scaled)
    alike = squares(multiplied(weights, margin / its_margin)) if margin > 0 else float("nan")
    return {
        "squared norm": total, "loss": loss, "mean margin": margin, "by hand: loss": its_loss,
        "by hand: mean margin": its_margin, "by hand: norm for this margin": alike / total,
    }  # fmt: skip
