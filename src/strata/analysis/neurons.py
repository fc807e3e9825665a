"""What the neurons of the MLP follow: the classes of a and b, or a and b modulo one prime power.

Shares are of the variance of the activations over all n² ordered pairs, which the means of the
pairs with the same labels of a and b explain. With k labels dealt anew to the residues a share is
at most about (k − 1) / (n − 1) on average: that of what depends on a or on b alone.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array

from strata.analysis.token_fourier import bands

Measures = dict[str, Any]
Labels = Int[np.ndarray, " n"]  # of each residue: 0, 1, …


def labels(n: int) -> dict[str, Labels]:
    """The class of each residue, and the residue modulo each prime power of n.

    >>> {name: x.tolist() for name, x in labels(6).items()}
    {'classes': [3, 0, 1, 2, 1, 0], '2': [0, 1, 0, 1, 0, 1], '3': [0, 1, 2, 0, 1, 2]}
    """
    a = np.arange(n)
    classes = np.unique(np.gcd(a, n), return_inverse=True)[1]
    return {"classes": classes} | {str(q): a % q for q in bands(n)}


class Moments:
    """Sums and squares of activations, of all pairs and of those with each pair of labels."""

    def __init__(self, of: Mapping[str, Labels], neurons: int) -> None:
        self.of = of
        self.cells = {name: int(x.max()) + 1 for name, x in of.items()}
        self.sums = {name: np.zeros((k * k, neurons)) for name, k in self.cells.items()}
        self.squares = np.zeros(neurons)

    def add(self, a: np.ndarray, b: np.ndarray, x: Float[np.ndarray, "pairs neurons"]) -> None:
        """Take in the activations of some pairs."""
        x = x.astype(np.float64)
        self.squares += (x**2).sum(axis=0)
        for name, of in self.of.items():
            k = self.cells[name]
            one = (np.ones(len(a)), (of[a] * k + of[b], np.arange(len(a))))
            self.sums[name] += csr_array(one, shape=(k * k, len(a))) @ x

    def explained(self) -> tuple[Float[np.ndarray, " neurons"], dict[str, np.ndarray]]:
        """The variance of each neuron, summed over all pairs, and what each labelling explains."""
        pairs = {name: np.bincount(of, minlength=self.cells[name]) for name, of in self.of.items()}
        every = next(iter(self.sums.values())).sum(axis=0)
        mean = every**2 / sum(next(iter(pairs.values()))) ** 2
        between = {
            name: (sums**2 / np.outer(pairs[name], pairs[name]).reshape(-1, 1)).sum(axis=0) - mean
            for name, sums in self.sums.items()
        }
        return self.squares - mean, between


def measure(moments: Moments) -> Measures:
    """How many neurons vary, the share of their variance that the classes explain, that a and b
    modulo each prime power explain, and that they explain where each neuron has the prime power
    that explains most of it; and how many neurons have which. None where no neuron varies.
    """
    variance, between = moments.explained()
    varies = variance > 1e-9 * moments.squares
    total = variance[varies].sum()
    powers = {name: x[varies] for name, x in between.items() if name != "classes"}
    best = np.stack(list(powers.values()))
    own = best.argmax(axis=0)

    def share(x: np.ndarray) -> float | None:
        return float(x.sum() / total) if varies.any() else None

    return {
        "varying": int(varies.sum()),
        "classes": share(between["classes"][varies]),
        "modulo": {name: share(x) for name, x in powers.items()},
        "one_power": share(best.max(axis=0)),
        "neurons": {name: int((own == i).sum()) for i, name in enumerate(powers)},
    }
