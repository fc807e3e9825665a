"""Measure what neurons of the MLP follow: the classes of a and b, or a and b modulo a prime power.

A share is of the variance of the activations over all n² ordered pairs, which the means of the
pairs with the same labels of a and b explain. With k labels dealt anew to the residues, a share is
at most about (k − 1) / (n − 1) on average: that of what depends on a or on b alone.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array

from strata.result import Result
from strata.task import Task, task_of


class NeuronMetrics(Result):
    """``NeuronMetrics`` are shares of the variance of activations over all n² pairs; None if none
    varies."""

    varying: int
    """Neurons that vary."""
    classes: float | None
    """Explained by the classes of a and b."""
    modulo: dict[int, float | None]
    """Explained by a and b modulo each prime power, or by each direct factor."""
    one_power: float | None
    """Explained where each neuron has the prime power that explains most of it."""
    neurons: dict[int, int]
    """How many neurons have which prime power."""


Labels = Int[np.ndarray, " n"]  # of each residue: 0, 1, …


def labels(n: Task | int) -> dict[str, Labels]:
    """Return the class of each element, and its label in each direct factor: of residues, the
    residue modulo each prime power of n.

    >>> {name: x.tolist() for name, x in labels(6).items()}
    {'classes': [3, 0, 1, 2, 1, 0], '2': [0, 1, 0, 1, 0, 1], '3': [0, 1, 2, 0, 1, 2]}
    """
    classes = np.unique(task_of(n).labels, return_inverse=True)[1]
    return {"classes": classes} | {str(q): x for q, x in task_of(n).factors.items()}


class Explained(NamedTuple):
    """``Explained`` holds for each neuron the sum of squares over all pairs, that of deviations
    from the mean, and how much of the latter each labelling explains."""

    squares: Float[np.ndarray, " neurons"]
    variance: Float[np.ndarray, " neurons"]
    between: dict[str, Float[np.ndarray, " neurons"]]


class Moments:
    """``Moments`` are sums and squares of activations, over all pairs and by the labels of a and b.

    Residues modulo an n that is a prime power are all apart and explain all of the variance, so
    they need no sums.
    """

    def __init__(self, labels: Mapping[str, Labels], neurons: int) -> None:
        self.labels = labels
        self.cells = {name: int(x.max()) + 1 for name, x in labels.items()}
        self.squares = np.zeros(neurons)
        self.sums = {
            name: np.zeros((k * k, neurons))
            for name, k in self.cells.items()
            if k < len(labels[name]) or name == "classes"
        }

    def add(self, a: np.ndarray, b: np.ndarray, x: Float[np.ndarray, "pairs neurons"]) -> None:
        """Add the activations of some pairs."""
        x = x.astype(np.float64)
        self.squares += (x**2).sum(axis=0)
        for name, sums in self.sums.items():
            labels, k = self.labels[name], self.cells[name]
            members = (np.ones(len(a)), (labels[a] * k + labels[b], np.arange(len(a))))
            sums += csr_array(members, shape=(k * k, len(a))) @ x

    def explained(self) -> Explained:
        """Return what each labelling explains of the activations of all pairs."""
        n = len(next(iter(self.labels.values())))
        mean = next(iter(self.sums.values())).sum(axis=0) ** 2 / n**2
        between = {name: self._squared_means(name) - mean for name in self.labels}
        return Explained(self.squares, self.squares - mean, between)

    def _squared_means(self, name: str) -> Float[np.ndarray, " neurons"]:
        """Return the squared means over the pairs with the same labels, summed over all pairs."""
        if name not in self.sums:
            return self.squares
        pairs = np.bincount(self.labels[name])
        return (self.sums[name] ** 2 / np.outer(pairs, pairs).reshape(-1, 1)).sum(axis=0)


def neuron_metrics(explained: Explained) -> NeuronMetrics:
    """Count the neurons that vary, and return the share of their variance that labels explain.

    The labels are the classes, a and b modulo each prime power, and for each neuron the prime power
    that explains most of it; the last also gives how many neurons have which. A share is None where
    no neuron varies.
    """
    varies = explained.variance > 1e-9 * explained.squares
    total = explained.variance[varies].sum()
    powers = {int(q): x[varies] for q, x in explained.between.items() if q != "classes"}
    best = np.stack([*powers.values()] or [np.full(varies.sum(), np.nan)])
    best_power = best.argmax(axis=0)

    def share(x: np.ndarray) -> float | None:
        return float(x.sum() / total) if varies.any() else None

    return NeuronMetrics(
        varying=int(varies.sum()),
        classes=share(explained.between["classes"][varies]),
        modulo={q: share(x) for q, x in powers.items()},
        one_power=share(best.max(axis=0)) if powers else None,
        neurons={q: int((best_power == i).sum()) for i, q in enumerate(powers)},
    )
