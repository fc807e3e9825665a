"""Statement 4 of criteria-2.md: where primes interact, they do so in the embedding.

The rows of W_E are projected on the functions of a that φ and its gates make, all else stays as it
is, and the network answers again.
"""

import numpy as np
from jaxtyping import Float

from strata.arithmetic import primefactors
from strata.patch.patching import ForwardPass, forward_pass
from strata.patch.projections import Masks
from strata.store import Arrays
from studies.mechanism.code.characters import characters_of, key_in_any_class, valuations
from studies.mechanism.code.dictionary import basis
from studies.mechanism.code.gates import Code


def span(n: int, key: Masks, gates: bool, mixed: bool = True) -> Float[np.ndarray, "n some"]:
    """Return an orthonormal basis of 1 and φ and, with gates, of [r | a]·φ for every prime r.
    Without mixed, φ has the characters of one prime alone."""
    characters = key_in_any_class(n, key)
    if not mixed:
        characters = characters_of(n, [label for label in characters.labels if len(label) == 1])
    functions = Code(n, characters).plain
    columns = [functions]
    if gates:
        zeros = ((valuations(n, r) > 0)[:, None] for r in primefactors(n))
        columns += [functions[:, 1:] * zero for zero in zeros]
    return basis(np.concatenate(columns, axis=1))


def project_embedding(weights: Arrays, n: int, onto: Float[np.ndarray, "n some"]) -> ForwardPass:
    """Project the rows of the embedding on these functions of a, and run all pairs of the
    network."""
    W_E = weights["W_E"].astype(np.float64)
    W_E[:n] = onto @ (onto.T @ W_E[:n])
    return forward_pass(weights | {"W_E": W_E}, n)
