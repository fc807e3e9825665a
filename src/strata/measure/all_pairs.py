"""The forward pass over all n² pairs of a run: what its measures need of it, in one pass.

Predictions and attention of every pair, the sums over prompts from which all descriptions of the
logits follow, and what labels explain of the neurons; never all logits at once.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, Num

from strata.measure import character_fit, neurons
from strata.measure.activations import answers, blocks
from strata.measure.character_fit import Sums
from strata.measure.neurons import Explained, Moments
from strata.monoid import JClass, classes, position
from strata.store import Arrays


class Prompts(NamedTuple):
    """The sums over the prompts of a class's default pair of operand classes, and over all whose
    product lies in the class."""

    pair: Sums
    every: Sums


@dataclass(frozen=True)
class AllPairs:
    """Prediction and attention of every pair, a-major, and sums over pairs.

    ``logit_sums[d]`` are those of J_d, for classes of more than one element. They and ``neurons``
    count where all logits are ``finite`` alone.
    """

    prediction: Int[np.ndarray, " pairs"]
    attention: Num[np.ndarray, "pairs n_heads 3"]
    logit_sums: dict[int, Prompts]
    neurons: Explained
    finite: bool


def over_all_pairs(weights: Arrays, n: int) -> AllPairs:
    """Forward passes over block after block of the pairs."""
    prediction, attention, finite = [], [], True
    logit_sums = {J.d: Prompts(*[character_fit.no_sums(len(J))] * 2) for J in large(n)}
    moments = Moments(neurons.labels(n), len(weights["W_out"]))
    for a, b, found in blocks(weights, n):
        prediction.append(answers(found.logits))
        attention.append(found.attention)
        finite = finite and bool(np.isfinite(found.logits).all())
        if finite:
            moments.add(a, b, found.mlp)
        for J in large(n) if finite else ():
            more = zip(logit_sums[J.d], of_class(J, a, b, found.logits), strict=True)
            logit_sums[J.d] = Prompts(*(so_far + x for so_far, x in more))
    every = np.concatenate(prediction), np.concatenate(attention)
    return AllPairs(*every, logit_sums, moments.explained(), finite)


def large(n: int) -> list[JClass]:
    """The classes with more than one element."""
    return [J for J in classes(n) if len(J) > 1]


def of_class(
    J: JClass, a: np.ndarray, b: np.ndarray, logits: Float[np.ndarray, "pairs n"]
) -> Prompts:
    """The sums over those of these pairs whose product lies in a class."""
    n, (d1, d2) = J.n, character_fit.default_pair(J.d, J.n)
    inside = np.flatnonzero(np.gcd(a * b, n) == J.d)
    own, product = logits[np.ix_(inside, J.elements)], position(n)[a * b % n][inside]
    of_pair = (np.gcd(a, n) == d1)[inside] & (np.gcd(b, n) == d2)[inside]
    pair = character_fit.sums(own[of_pair], product[of_pair], J.orders)
    return Prompts(pair, character_fit.sums(own, product, J.orders))
