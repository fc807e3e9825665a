"""How much of the logits within one class the product and the candidate tell together.

The character fit (module readout) knows the quotient of ab and c alone. Here each product has a
profile of its own over the candidates: the mean of the centred logits over the prompts with that
product. What it leaves differs between prompts with one product.
"""

import numpy as np
from jaxtyping import Float
from scipy.sparse import csr_array

from strata.analysis import readout
from strata.monoid import classes, position


class Products:
    """Sums of centred logits by product, over each class's default pair of operand classes."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.large = [J for J in classes(n) if len(J) > 1]
        self.sums = {J.d: np.zeros((len(J), len(J))) for J in self.large}
        self.prompts = {J.d: np.zeros(len(J)) for J in self.large}

    def add(self, a: np.ndarray, b: np.ndarray, logits: Float[np.ndarray, "pairs n"]) -> None:
        """Take in the logits of some pairs."""
        of_a, of_b = np.gcd(a, self.n), np.gcd(b, self.n)
        for J in self.large:
            d1, d2 = readout.default_pair(J.d, self.n)
            own = np.flatnonzero((of_a == d1) & (of_b == d2))
            x = readout.centred(logits[np.ix_(own, J.elements)])
            product = position(self.n)[a[own] * b[own] % self.n]
            one = (np.ones(len(own)), (product, np.arange(len(own))))
            self.sums[J.d] += csr_array(one, shape=(len(J), len(own))) @ x
            self.prompts[J.d] += np.bincount(product, minlength=len(J))

    def squares(self, d: int) -> float:
        """The sum over the prompts of the squares of their product's mean centred logits."""
        return float(((self.sums[d] ** 2).sum(axis=1) / np.maximum(self.prompts[d], 1)).sum())
