"""MLP-only models made by hand that look pairs up, and work class by class or by no account."""

import numpy as np
from sympy.ntheory import primefactors

CODE = 3.0  # so far is a class from another in each of their dimensions


def lookup(W_E: np.ndarray) -> dict[str, np.ndarray]:
    """A neuron for each pair of residues, which votes for its product. It is 1 at the rows of the
    two residues, and off where less than all of both is there."""
    n, width = len(W_E), max(W_E.shape)
    i, j = np.divmod(np.arange(n * n), n)
    W_E = np.pad(W_E, ((0, 0), (0, width - W_E.shape[1])))
    W_in = np.concatenate([W_E[i], W_E[j]], axis=1).T
    weights = {
        "W_E": W_E, "W_in": W_in, "b_in": 1 - (W_in**2).sum(axis=0), "b_U": np.zeros(n),
        "W_out": np.eye(n, width)[i * j % n], "b_out": np.zeros(width), "W_U": np.eye(width, n),
    }  # fmt: skip
    return {name: x.astype(np.float32) for name, x in weights.items()}


def class_codes(n: int, shared: bool = True) -> np.ndarray:
    """For square-free n an embedding by the class of a residue and its residue modulo each prime
    that does not divide it, so that a class is known as a whole and never as zeros modulo primes.
    Where not ``shared``, every class keeps its residues in dimensions of its own."""
    of = [
        {(d,): CODE} | {(0 if shared else d, p, a % p): 1.0 for p in primefactors(n) if a % p}
        for a, d in enumerate(np.gcd(np.arange(n), n).tolist())
    ]
    dimensions = sorted({x for parts in of for x in parts})
    return np.array([[parts.get(x, 0.0) for x in dimensions] for parts in of])
