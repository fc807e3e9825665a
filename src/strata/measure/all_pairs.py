"""Run the forward pass over all n² pairs of a run, and keep what its measures need, in one pass.

These are predictions of every pair, the attention scores of the tokens, the sums over prompts from
which all descriptions of the logits follow, and what labels explain of the neurons; never all
logits at once.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from strata.measure import activations, character_fit, neurons
from strata.measure.activations import answers, blocks, n_heads
from strata.measure.character_fit import Sums
from strata.measure.neurons import Explained, Moments
from strata.store import Arrays
from strata.task import AnyClass, Task, task_of


class Prompts(NamedTuple):
    """``Prompts`` are the sums over the prompts of a class's default pair of operand classes, and
    over all whose product lies in the class."""

    pair: Sums
    every: Sums


@dataclass(frozen=True)
class AllPairs:
    """``AllPairs`` holds the prediction of every pair, a-major, attention scores of every token,
    and sums over pairs.

    ``logit_sums[d]`` are those of J_d, for classes of more than one element. They and ``neurons``
    count only where all logits are ``finite``. The MLP-only model has no heads.
    """

    prediction: Int[np.ndarray, " pairs"]
    scores: Float[np.ndarray, "tokens n_heads"]
    logit_sums: dict[int, Prompts]
    neurons: Explained
    finite: bool

    @property
    def attention(self) -> Float[np.ndarray, "pairs n_heads 3"]:
        """Return the weights of `=` on a, on b and on itself for every pair, a-major, as the scores
        give them."""
        n = math.isqrt(len(self.prediction))
        return activations.attention(self.scores, *np.divmod(np.arange(n * n), n))


def over_all_pairs(weights: Arrays, n: Task | int) -> AllPairs:
    """Run the network over block after block of the pairs, and keep what the measures need."""
    task, prediction, finite = task_of(n), [], True
    logit_sums = {J.d: Prompts(*[character_fit.no_sums(len(J))] * 2) for J in large(n)}
    moments = Moments(neurons.labels(n), len(weights["W_out"]))
    for a, b, block in blocks(weights, n):
        prediction.append(answers(block.logits))
        finite = finite and bool(np.isfinite(block.logits).all())
        if finite:
            moments.add(a, b, block.mlp)
        for J in large(n) if finite else ():
            pairs = zip(logit_sums[J.d], class_sums(task, J, a, b, block.logits), strict=True)
            logit_sums[J.d] = Prompts(*(x + y for x, y in pairs))
    return AllPairs(
        np.concatenate(prediction), token_scores(weights), logit_sums, moments.explained(), finite
    )


def token_scores(weights: Arrays) -> Float[np.ndarray, "tokens n_heads"]:
    """Return the attention scores of every token at `=`; for the MLP-only model those of no
    head."""
    if n_heads(weights):
        return activations.attention_scores(weights).scores
    return np.zeros((len(weights["W_E"]), 0), np.float32)


def large(n: Task | int) -> list[AnyClass]:
    """Return the classes with more than one element."""
    return [J for J in task_of(n).classes if len(J) > 1]


def class_sums(
    task: Task, J: AnyClass, a: np.ndarray, b: np.ndarray, logits: Float[np.ndarray, "pairs n"]
) -> Prompts:
    """Return the sums over those of these pairs whose product lies in a class."""
    label, (d1, d2) = task.labels, character_fit.default_pair(J.d, task)
    inside = np.flatnonzero(label[task.product(a, b)] == J.d)
    class_logits = logits[np.ix_(inside, J.elements)]
    product = task.position[task.product(a, b)][inside]
    in_pair = (label[a] == d1)[inside] & (label[b] == d2)[inside]
    pair = character_fit.sums(class_logits[in_pair], product[in_pair], J.orders)
    return Prompts(pair, character_fit.sums(class_logits, product, J.orders))
