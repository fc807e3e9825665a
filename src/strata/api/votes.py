"""Fit votes to the logits of any network: each direct factor of its task, such as a prime of n,
sees the product in that factor alone and votes for every candidate, and the votes are added."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from strata.inputs import InputError
from strata.measure.activations import answers
from strata.task import Task

Blocks = Iterable[tuple[np.ndarray, np.ndarray, Float[np.ndarray, "pairs n"]]]


class Votes(NamedTuple):
    """``Votes`` are those that explain most of the mean logits of every product, less their mean
    over all candidates: by factor (a row for each remainder, a column for each candidate), and what
    each candidate has whatever the product.

    ``share`` is what they explain of these means, ``right`` the share of the pairs that they answer
    rightly, ``same`` that in which they give the network's answer.
    """

    by_factor: dict[int, Float[np.ndarray, "remainders n"]]
    bias: Float[np.ndarray, " n"]
    remainders: dict[int, Int[np.ndarray, " n"]]
    share: float
    right: float
    same: float

    def frame(self, q: int) -> pd.DataFrame:
        """Return the votes of one factor. Raises InputError where there is no such factor."""
        if q not in self.by_factor:
            allowed = ", ".join(map(str, self.by_factor))
            raise InputError(f"votes: q = {q!r:.20}: must be one of {allowed}")
        frame = pd.DataFrame(self.by_factor[q]).rename_axis(columns="candidate")
        return frame.rename_axis(index=f"product modulo {q}")


def fit(blocks: Blocks, task: Task, prediction: Int[np.ndarray, " pairs"]) -> Votes:
    """Fit the votes by least squares over all pairs; a product that no pair has counts for nothing.

    blocks: a, b and the logits of block after block of all pairs. prediction: the network's answer
    to each pair, a-major. Raises InputError where the task has no unique direct factors.
    """
    remainders, n = task.factors, task.order
    if not remainders:
        raise InputError(f"votes: {task} has no unique direct factors: there is nobody to vote")
    product, sums = task.table.ravel(), np.zeros((n, n))
    for a, b, logits in blocks:
        np.add.at(sums, product[a * n + b], logits)
    count = np.bincount(product, minlength=n)
    y = sums / np.maximum(count, 1)[:, None]
    y -= y.mean(axis=1, keepdims=True)
    sizes = [int(x.max()) + 1 for x in remainders.values()]
    columns = [np.eye(k)[x] for k, x in zip(sizes, remainders.values(), strict=True)]
    design, root = np.concatenate(columns, axis=1), np.sqrt(count)[:, None]
    solution = np.linalg.lstsq(root * design, root * y)[0]
    by_factor, bias = {}, np.zeros(n)
    for q, x, g in zip(remainders, columns, np.split(solution, np.cumsum(sizes)[:-1]), strict=True):
        mean = count @ x @ g / count.sum()
        by_factor[q], bias = g - mean, bias + mean
    fitted = design @ solution
    total = float(count @ (y**2).sum(axis=1))
    choice = answers(fitted)[product]
    return Votes(
        by_factor, bias, remainders,
        1 - float(count @ ((y - fitted) ** 2).sum(axis=1)) / total if total else float("nan"),
        float((choice == product).mean()),
        float((choice == prediction).mean()),
    )  # fmt: skip
