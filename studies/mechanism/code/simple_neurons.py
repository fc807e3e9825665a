"""Each neuron's preactivation as const + g(a) + g′(b): McCracken et al., 2025 (arXiv:2505.18266).

A simple neuron has g(a) = A cos(2π Σ_j k_j t_j(a)/o_j − s) where a is a unit modulo Q, t its
coordinates in (Z/Q)^× and o their orders, and one value for each p-adic valuation above 0; g′
likewise. The pairs are a complete design, so the best g is the projection of the mean over b.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from strata.measure.activations import answers, before_mlp
from strata.measure.fourier import conjugate
from strata.monoid import JClass, chi, frequencies, prime_powers
from strata.patch.patching import Rig, chunks
from strata.patch.scores import short
from strata.statistics import above_chance
from studies.mechanism.code.main_effects import effects, functions
from studies.mechanism.code.records import Neurons, Replaced

PAIRS = 4800  # in a block, of whole rows


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


def arriving(
    rig: Rig, a: Int[np.ndarray, " pairs"], b: Int[np.ndarray, " pairs"]
) -> tuple[np.ndarray, Float[np.ndarray, "pairs d_mlp"]]:
    """The residual stream that passes the MLP by, 0 where there is none, and the preactivations."""
    before = before_mlp(rig.weights, a, b)
    return before.residual, before.preactivations


def blocks(rig: Rig) -> Iterator[tuple[np.ndarray, Float[np.ndarray, "some n d_mlp"]]]:
    """Some a, and the preactivations with each of them and every b."""
    n = rig.n
    for a in np.array_split(np.arange(n), max(1, n * n // PAIRS)):
        _, before = arriving(rig, np.repeat(a, n), np.tile(np.arange(n), len(a)))
        yield a, before.reshape(len(a), n, -1).astype(np.float64)


def read(rig: Rig) -> Read:
    """Means and variance of the preactivations over all pairs."""
    width = rig.weights["b_in"].shape
    of_a, of_b, squares = np.zeros((rig.n, *width)), np.zeros((rig.n, *width)), np.zeros(width)
    for a, before in blocks(rig):
        of_a[a] = before.mean(axis=1)
        of_b += before.sum(axis=0) / rig.n
        squares += (before**2).sum(axis=(0, 1)) / rig.n**2
    mean = of_a.mean(axis=0)
    return Read(mean, of_a - mean, of_b - mean, np.maximum(squares - mean**2, 0))


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


def replaced(rig: Rig, of: Read, fit: Fit) -> Replaced:
    """The network with ReLU of the fits in the place of its neurons."""
    weights, right = rig.weights, []
    for rows in chunks(np.arange(len(rig.a))):
        a, b = rig.a[rows], rig.b[rows]
        stays, before = arriving(rig, a, b)
        mlp = np.maximum(of.mean + fit.of_a[a] + fit.of_b[b], 0).astype(before.dtype)
        out = stays + (mlp @ weights["W_out"] + weights["b_out"])
        right.append(answers(out @ weights["W_U"] + weights["b_U"]) == rig.label[rows])
    accuracy = float(np.average(np.concatenate(right), weights=rig.count))
    skill = above_chance(accuracy, float(np.average(rig.chance, weights=rig.count)))
    return Replaced(
        share=short(_weighted(fit.variance, of.variance)),
        accuracy=short(accuracy),
        skill=None if skill is None else short(skill),
    )


def _weighted(x: Float[np.ndarray, " d_mlp"], variance: Float[np.ndarray, " d_mlp"]) -> float:
    """Σ x / Σ variance; 0 where nothing varies."""
    return float(x.sum() / (variance.sum() or 1))


def agreement(rig: Rig, of: Read, fit: Fit) -> float:
    """Share of pairs on which [preactivation > 0] = [fit > 0], weighted by the variance."""
    same = np.zeros_like(of.variance)
    for a, before in blocks(rig):
        near = of.mean + fit.of_a[a][:, None] + fit.of_b[None]
        same += ((before > 0) == (near > 0)).sum(axis=(0, 1)) / rig.n**2
    return _weighted(same * of.variance, of.variance)


def neurons(rig: Rig) -> Neurons:
    """Simple neurons, those of one Q, and sums of any functions of a and of b."""
    of, candidates = read(rig), spaces(rig.n)
    order = ranking(of, candidates)
    simple = fitted(of, candidates, order[0])
    whole = [Space(Q, functions(np.eye(Q) - 1 / Q)) for Q in prime_powers(rig.n)]
    second = agreement(rig, of, fitted(of, candidates, order[1])) if len(order) > 1 else None
    powers = np.array([space.Q for space in candidates])[order[0]]
    return Neurons(
        simple=replaced(rig, of, simple),
        one_power=replaced(rig, of, fitted(of, whole, ranking(of, whole)[0])),
        additive=replaced(rig, of, Fit(of.of_a, of.of_b)),
        by_power={
            Q: short(_weighted(of.variance * (powers == Q), of.variance))
            for Q in prime_powers(rig.n)
        },
        cosets=short(agreement(rig, of, simple)),
        cosets_second=None if second is None else short(second),
    )
