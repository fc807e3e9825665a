"""Interventions at the last residual stream: is the code what the unembedding reads?

μ_j are the coefficients of φ_j in the weighted fit of the mean residual stream of each product; D
is their span. Definitions and controls: criteria.md.
"""

from dataclasses import dataclass
from math import nan, prod
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from sympy.ntheory import factorint

from strata.monoid import prime_powers
from studies.mechanism.code import codewords
from studies.mechanism.code.dictionary import ZERO, Dictionary, determined, fitted
from studies.mechanism.code.pairs import Pairs, Profile


@dataclass(frozen=True)
class Stream:
    """The last residual stream with its mean, the means of each product less that, μ, and an
    orthonormal basis of D in columns."""

    of: Pairs
    use: Dictionary
    mean: Float[np.ndarray, " d_model"]
    by_product: Float[np.ndarray, "n d_model"]
    mu: Float[np.ndarray, "k d_model"]
    D: Float[np.ndarray, "d_model dim"]


def stream(of: Pairs, use: Dictionary) -> Stream:
    """The residual stream seen by a dictionary."""
    by_product = of.by_product(of.residual)
    mean = of.N @ by_product / of.N.sum()
    mu = fitted(use.design, by_product - mean, of.N)[1:]
    U, sizes, _ = np.linalg.svd(mu.T, full_matrices=False)
    return Stream(of, use, mean, by_product - mean, mu, U[:, sizes > ZERO * sizes.max(initial=0)])


def outside(
    D: Float[np.ndarray, "d_model dim"], rng: np.random.Generator
) -> Float[np.ndarray, "d_model dim"]:
    """As many random orthonormal directions orthogonal to D, which must leave room for them."""
    random = rng.normal(size=D.shape)
    return np.linalg.qr(random - D @ (D.T @ random))[0]


def kept(
    x: Stream, draws: int, rng: np.random.Generator
) -> tuple[dict[str, float], dict[str, float]]:
    """Right answers where D is kept or removed, after changes of equal size elsewhere, NaN if there
    is no room, and with principal components; and the share of the variance in D, and how far it is
    the space of the principal components."""
    of, D, deviation = x.of, x.D, x.of.residual - x.mean
    inside = deviation @ D
    total, own = (float(of.count @ (y**2).sum(axis=1)) for y in (deviation, inside))
    top = np.linalg.eigh((deviation.T * of.count) @ deviation)[1][:, ::-1][:, : D.shape[1]]
    on_top = (deviation @ top) @ top.T
    elsewhere, others, room = 0.0, 0.0, 2 * D.shape[1] <= len(D)
    for C in (outside(D, rng) for _ in range(draws if room else 0)):
        part = deviation @ C
        scale = np.sqrt(own / max(float(of.count @ (part**2).sum(axis=1)), 1e-300))
        elsewhere += of.changed(of.residual - inside @ C.T)
        others += of.changed(x.mean + scale * part @ C.T)
    changed = {
        "keep": of.changed(x.mean + inside @ D.T),
        "remove": of.changed(of.residual - inside @ D.T),
        "equal size elsewhere": elsewhere / draws if room else nan,
        "keep others": others / draws if room else nan,
        "keep principal components": of.changed(x.mean + on_top),
        "remove principal components": of.changed(of.residual - on_top),
    }
    overlap = float(np.linalg.norm(D.T @ top) ** 2 / max(D.shape[1], 1))
    return changed, {"variance in the code": own / total, "principal components": overlap}


class Moves(NamedTuple):
    """Moves of one prime that were tried, how many gave the answer of the moved product, how many
    did with a random direction, and how many the other products do not determine."""

    tried: int
    hits: int
    random: int
    left_out: int


def moves(x: Stream, rng: np.random.Generator) -> dict[str, Moves]:
    """Within a class and across a zero: for each prime power each pair once, its q moved to a
    random q′ that differs modulo this prime power alone."""
    of, n = x.of, x.of.n
    kind = np.gcd(np.arange(n), n)
    found = {"within": Moves(0, 0, 0, 0), "across": Moves(0, 0, 0, 0)}
    for Q in prime_powers(n):
        unit = n // Q * pow(n // Q, -1, Q)
        moved = (of.q + rng.integers(1, Q, len(of.q)) * unit) % n
        for d, e in sorted({*zip(kind[of.q].tolist(), kind[moved].tolist(), strict=True)}):
            rows = np.flatnonzero((kind[of.q] == d) & (kind[moved] == e))
            more = tried(x, rows, moved[rows], (kind == d) | (kind == e), rng)
            where = "within" if d == e else "across"
            found[where] = Moves(*np.add(found[where], more).tolist())
    return found


def tried(
    x: Stream,
    rows: Int[np.ndarray, " some"],
    moved: Int[np.ndarray, " some"],
    without: Bool[np.ndarray, " n"],
    rng: np.random.Generator,
) -> Moves:
    """Move these pairs to these products, with μ fitted without some products, where that fit says
    how."""
    design = x.use.design
    coefficients = fitted(design, x.by_product, np.where(without, 0, x.of.N))
    apart = design[moved] - design[x.of.q[rows]]
    known = determined(apart, design[~without])
    change, here = apart[known] @ coefficients, x.of.residual[rows[known]]
    random = rng.normal(size=(len(change), x.D.shape[1])) @ x.D.T
    random *= (np.linalg.norm(change, axis=1) / np.linalg.norm(random, axis=1))[:, None]
    hits = [
        int((x.of.logits(here + by).argmax(axis=1) == moved[known]).sum())
        for by in (change, random)
    ]
    return Moves(int(known.sum()), hits[0], hits[1], int((~known).sum()))


def edited(
    x: Stream, of: Profile, M: Float[np.ndarray, "k k"], values: Float[np.ndarray, "n k"]
) -> dict[str, float]:
    """Right answers of the unembedding without the bias of each candidate, or without the
    cross-talk of each direction of the code; with what the nearest code M says that the bias, or
    both, are; and with the bias on the line of its regression on the candidate's own excess. Each
    candidate's mean logit stays but where the bias is changed."""
    model, N = x.of, x.of.N
    bias, by_code = (N @ y / N.sum() for y in (of.y, codewords.predicted(values, M)))
    v = x.mu @ model.weights["W_U"]
    off, code = -cross_talk(v, x.use), cross_talk(M @ values.T, x.use)
    dual, none, line = np.linalg.pinv(x.mu, rcond=ZERO), np.zeros_like(v), excess(of)

    def after(change: np.ndarray, mean: np.ndarray) -> float:
        logits = model.logits(model.residual) + (model.residual @ dual) @ change
        logits -= logits.mean(axis=1, keepdims=True)
        return model.right(logits - model.count @ logits / model.count.sum() + mean)

    return {
        "bias off": after(none, 0 * bias),
        "cross-talk off": after(off, bias),
        "bias predicted": after(none, by_code),
        "both predicted": after(off + code, by_code),
        "bias a line in the own excess": after(none, line.slope * line.own),
    }


def cross_talk(v: Float[np.ndarray, "k n"], use: Dictionary) -> Float[np.ndarray, "k n"]:
    """What each function of c is beside its mean over the residues of c modulo the prime powers
    that its direction knows."""
    n, found = v.shape[1], np.zeros_like(v)
    for j, primes in enumerate(use.primes):
        residue = np.arange(n) % prod(p ** factorint(n)[p] for p in primes)
        found[j] = v[j] - (np.bincount(residue, v[j]) / np.bincount(residue))[residue]
    return found


class Excess(NamedTuple):
    """The candidate's own excess y(c, c) − bias(c), and the regression of the bias on it."""

    own: Float[np.ndarray, " n"]
    slope: float
    share: float


def excess(of: Profile) -> Excess:
    """−½ is the slope of exact codewords whose mean is 0; −1 where all right answers have one
    logit."""
    bias = of.N @ of.y / of.N.sum()
    own, bias = np.diag(of.y) - bias, bias - bias.mean()
    slope = float(bias @ (own - own.mean()) / ((own - own.mean()) ** 2).sum())
    left = bias - slope * (own - own.mean())
    return Excess(own, slope, float(1 - (left**2).sum() / (bias**2).sum()))
