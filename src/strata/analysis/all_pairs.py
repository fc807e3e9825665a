"""One pass over all n² pairs of a run: keeps what its numbers need, never all logits at once."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Num

from strata.analysis import readout
from strata.analysis.activations import answers, blocks
from strata.analysis.readout import Sums
from strata.monoid import JClass, classes, position
from strata.store import Arrays


@dataclass(frozen=True)
class Sweep:
    """Prediction and attention of every pair, a-major, and what the character fits need.

    ``readouts[d]``: the sums over the prompts of J_d's default pair of operand classes, and over
    all its prompts; of classes with more than one element. They count where ``finite`` alone.
    """

    prediction: Int[np.ndarray, " pairs"]
    attention: Num[np.ndarray, "pairs n_heads 3"]
    readouts: dict[int, tuple[Sums, Sums]]
    finite: bool


def sweep(weights: Arrays, n: int) -> Sweep:
    """Forward passes over block after block of the pairs."""
    prediction, attention, finite = [], [], True
    large = [J for J in classes(n) if len(J) > 1]
    readouts = {J.d: (_none(J), _none(J)) for J in large}
    for a, b, found in blocks(weights, n):
        logits = found.logits
        prediction.append(answers(logits))
        attention.append(found.attention)
        finite = finite and bool(np.isfinite(logits).all())
        for J in large if finite else ():
            pair, every = readouts[J.d]
            more = _sums(J, a, b, logits)
            readouts[J.d] = pair + more[0], every + more[1]
    return Sweep(np.concatenate(prediction), np.concatenate(attention), readouts, finite)


def _none(J: JClass) -> Sums:
    return Sums(np.zeros(len(J)), 0.0, 0.0, 0)


def _sums(
    J: JClass, a: np.ndarray, b: np.ndarray, logits: Float[np.ndarray, "pairs n"]
) -> tuple[Sums, Sums]:
    """The sums of one block over the prompts of the class's default pair, and over all of J_d."""
    n, (d1, d2) = J.n, readout.default_pair(J.d, J.n)
    inside = np.flatnonzero(np.gcd(a * b, n) == J.d)
    own, product = logits[np.ix_(inside, J.elements)], position(n)[a * b % n][inside]
    of_pair = (np.gcd(a, n) == d1)[inside] & (np.gcd(b, n) == d2)[inside]
    pair = readout.sums(own[of_pair], product[of_pair], J.orders)
    return pair, readout.sums(own, product, J.orders)
