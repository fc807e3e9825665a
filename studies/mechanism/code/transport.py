"""A residue of a modulo one prime power changed, by a difference that other classes show.

Definitions and criteria: criteria-primes.md, section 2.3.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from sympy.ntheory import divisors

from strata.measure.activations import ROWS, answers, forward
from strata.monoid import prime_powers
from strata.patch.hybrids import Hybrids, Predictions, norm_matched, predictions
from strata.patch.patching import Rig
from strata.patch.scores import short
from studies.mechanism.code.records import Change


class Targets(NamedTuple):
    """Every a with a residue r modulo Q that it lacks, and the a′ that has it."""

    Q: int
    a: Int[np.ndarray, " count"]
    r: Int[np.ndarray, " count"]
    acts_as: Int[np.ndarray, " count"]
    """a′ ≡ r (mod Q), a′ ≡ a (mod n/Q)."""


def targets(n: int, Q: int, residues: Int[np.ndarray, " some"]) -> Targets:
    """Every a with each of these residues."""
    a, r = (x.ravel() for x in np.meshgrid(np.arange(n), residues, indexing="ij"))
    a, r = a[a % Q != r], r[a % Q != r]
    rest = n // Q
    one = rest * pow(rest, -1, Q)  # 1 modulo Q, 0 modulo n/Q
    return Targets(Q, a, r, (a + (r - a) * one) % n)


def drawn(Q: int, most: int, rng: np.random.Generator) -> Int[np.ndarray, " some"]:
    """All residues modulo Q, or ``most`` − 1 of them at random where there are more; always 0."""
    if most >= Q:
        return np.arange(Q)
    return np.sort(np.append(0, 1 + rng.permutation(Q - 1)[: most - 2]))


def elsewhere(rows: Float[np.ndarray, "n width"], Q: int) -> Float[np.ndarray, "divisors Q width"]:
    """Mean row over the x ≡ r (mod Q) with gcd(x, n/Q) ≠ g, for each divisor g of n/Q and each r.

    For every r these x have the same residues modulo n/Q. Q must not be n.
    """
    n, width = rows.shape
    parts = np.array(divisors(n // Q))
    outside = np.gcd(np.arange(n), n // Q) != parts[:, None]
    x = rows.astype(np.float64).reshape(n // Q, Q, width)
    masks = outside.reshape(len(parts), n // Q, Q)
    sums = [np.where(mask[:, :, None], x, 0).sum(axis=0) for mask in masks]
    return np.array(sums) / masks.sum(axis=1)[:, :, None]


def transported(rows: Float[np.ndarray, "n width"], to: Targets) -> Hybrids:
    """W_E[a] + mean over {x ∈ H, x ≡ r} − mean over {x ∈ H, x ≡ a (mod Q)}, H = the residues x with
    gcd(x, n/Q) ≠ gcd(a, n/Q)."""
    n = len(rows)
    means = elsewhere(rows, to.Q)
    part = np.searchsorted(np.array(divisors(n // to.Q)), np.gcd(to.a, n // to.Q))
    table = rows[to.a] + means[part, to.r] - means[part, to.a % to.Q]
    return Hybrids(table.astype(rows.dtype), to.a, to.acts_as, np.gcd(to.acts_as, n))


def hits(rig: Rig, hybrids: Hybrids, expected: Predictions) -> Float[np.ndarray, " trials"]:
    """1 where the network answers as predicted to (hybrid, b), for each pair that counts.

    A model that tells its operands apart is asked with the hybrid in either place, and a hit in one
    of them is a half.
    """
    n, W_E = rig.n, rig.weights["W_E"]
    i, b = np.nonzero(expected.counts)
    right, found = expected.expected[i, b], np.zeros(len(i))
    for start in range(0, len(i), ROWS):
        rows = slice(start, start + ROWS)
        first, last = i[rows][[0, -1]]
        tokens = np.concatenate([W_E[:n], hybrids.table[first : last + 1], W_E[n:]])
        weights, hybrid = rig.weights | {"W_E": tokens}, n + i[rows] - first
        asked = [(hybrid, b[rows])] if rig.attends else [(hybrid, b[rows]), (b[rows], hybrid)]
        answered = [answers(forward(weights, *operands).logits) for operands in asked]
        found[rows] = np.mean([given == right[rows] for given in answered], axis=0)
    return found


def measured(rig: Rig, Q: int, most: int, seed: int) -> pd.DataFrame:
    """What comes of changes modulo Q: means over the trials of each kind, by the classes of a and
    of a′."""
    rng, W_E = np.random.default_rng([seed, rig.n, Q]), rig.weights["W_E"][: rig.n]
    to = targets(rig.n, Q, drawn(Q, most, rng))
    hybrids = transported(W_E, to)
    expected = predictions(hybrids, rig.n, exact=True)
    i, _ = np.nonzero(expected.counts)
    trials = pd.DataFrame({
        "source": np.gcd(to.a, rig.n)[i],
        "target": np.gcd(to.acts_as, rig.n)[i],
        "success": hits(rig, hybrids, expected),
        "random": hits(rig, norm_matched(hybrids, W_E, rng), expected),
        "chance": expected.chance[expected.counts],
    })  # fmt: skip
    means = pd.DataFrame(trials.groupby(["source", "target"]).mean())
    return means.map(short).reset_index()


def changes(rig: Rig, most: int, seed: int) -> tuple[Change | None, Change | None]:
    """Changes that leave the class, and so the p-adic valuation, as it is, and changes to another
    class, with equal weight of each kind; None where n is a prime power, as no class can show it.

    ``most``: modulo a larger Q not all residues are tried.
    """
    kinds = [measured(rig, Q, most, seed) for Q in prime_powers(rig.n) if rig.n > Q]
    if not kinds:
        return None, None
    every = pd.concat(kinds)
    inside = every["source"] == every["target"]
    return mean(every.loc[inside]), mean(every.loc[~inside])


def mean(kinds: pd.DataFrame) -> Change | None:
    """The mean over kinds, each with equal weight; None of none."""
    means = {name: short(kinds[name].mean()) for name in Change.model_fields}
    return Change(**means) if len(kinds) else None
