"""Each neuron's preactivation as const + g(a) + g′(b): McCracken et al., 2025 (arXiv:2505.18266).

A simple neuron has g(a) = A cos(2π Σ_j k_j t_j(a)/o_j − s) where a is a unit modulo Q, t its
coordinates in (Z/Q)^× and o their orders, and one value for each p-adic valuation above 0; g′
likewise. The pairs are a complete design, so the best g is the projection of the mean over b.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from strata.measure.fourier import conjugate
from strata.monoid import JClass, chi, frequencies, prime_powers
from studies.mechanism.code.main_effects import effects, functions


class Read(NamedTuple):
    """What the neurons read over all pairs, before ReLU: the mean, the mean over b for each a and
    over a for each b, both less the mean, and the variance."""

    mean: Float[np.ndarray, " d_mlp"]
    of_a: Float[np.ndarray, "n d_mlp"]
    of_b: Float[np.ndarray, "n d_mlp"]
    variance: Float[np.ndarray, " d_mlp"]


class Fit(NamedTuple):
    """g and g′ of every neuron; const is the mean."""

    of_a: Float[np.ndarray, "n d_mlp"]
    of_b: Float[np.ndarray, "n d_mlp"]

    @property
    def variance(self) -> Float[np.ndarray, " d_mlp"]:
        """Over all pairs."""
        return (self.of_a**2).mean(axis=0) + (self.of_b**2).mean(axis=0)


class Space(NamedTuple):
    """Functions of a mod Q that sum to 0: an orthonormal basis."""

    Q: int
    basis: Float[np.ndarray, "Q dimension"]

    def project(self, x: Float[np.ndarray, "n d_mlp"]) -> Float[np.ndarray, "n d_mlp"]:
        """The nearest functions to those in the columns of x."""
        near = self.basis @ (self.basis.T @ effects(x, self.Q))
        return np.tile(near, (len(x) // self.Q, 1))


def spaces(n: int) -> list[Space]:
    """That of simple neurons for every Q and every k up to its sign."""
    found = []
    for Q in prime_powers(n):
        J, a = JClass(Q, 1), np.arange(Q)
        parts = np.unique(np.gcd(a, Q))
        valuations = (np.gcd(a, Q)[:, None] == parts).astype(float)
        pairs = conjugate(J.orders)
        chosen = [i for i, minus in enumerate(pairs) if 0 < i <= minus] or [0]
        for k in frequencies(J.orders)[chosen]:
            waves = np.zeros((Q, 2))
            wave = chi(k, J.orders)
            waves[J.elements] = np.stack([np.real(wave), np.imag(wave)], axis=1)
            columns = np.concatenate([valuations, waves], axis=1)
            found.append(Space(Q, functions(columns - columns.mean(axis=0))))
    return found


def fitted(of: Read, candidates: Sequence[Space], chosen: Int[np.ndarray, " d_mlp"]) -> Fit:
    """Each neuron fitted in the space that is chosen for it."""
    fit = Fit(np.zeros_like(of.of_a), np.zeros_like(of.of_b))
    for i in np.unique(chosen):
        here, space = chosen == i, candidates[i]
        fit.of_a[:, here] = space.project(of.of_a[:, here])
        fit.of_b[:, here] = space.project(of.of_b[:, here])
    return fit


def ranking(of: Read, candidates: Sequence[Space]) -> Int[np.ndarray, "spaces d_mlp"]:
    """For each neuron the spaces by the variance that they explain, most first."""
    explained = [
        Fit(space.project(of.of_a), space.project(of.of_b)).variance for space in candidates
    ]
    return np.argsort(-np.array(explained), axis=0, kind="stable")
