"""Statement 4 of criteria-2.md: where primes interact, they do so in the embedding.

The rows of W_E are projected on the functions of a that φ and its gates make, all else stays as it
is, and the network answers again.
"""

import numpy as np
from jaxtyping import Float
from sympy.ntheory import primefactors

from strata.patch.patching import Passed, passed
from strata.patch.projections import Masks
from strata.store import Arrays
from studies.mechanism.code.characters import key_in_any_class, valuations
from studies.mechanism.code.dictionary import basis
from studies.mechanism.code.gates import Code


def span(n: int, key: Masks, gates: bool) -> Float[np.ndarray, "n some"]:
    """An orthonormal basis of 1, φ and, where told, [r | a]·φ for every prime r."""
    use = Code(n, key_in_any_class(n, key)).plain
    columns = [use]
    if gates:
        zeros = ((valuations(n, r) > 0)[:, None] for r in primefactors(n))
        columns += [use[:, 1:] * zero for zero in zeros]
    return basis(np.concatenate(columns, axis=1))


def projected(weights: Arrays, n: int, onto: Float[np.ndarray, "n some"]) -> Passed:
    """All pairs of the network with the rows of its embedding projected on these functions of
    a."""
    W_E = weights["W_E"].astype(np.float64)
    W_E[:n] = onto @ (onto.T @ W_E[:n])
    return passed(weights | {"W_E": W_E}, n)
