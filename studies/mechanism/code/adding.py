"""Statement 8 of criteria-3.md: neurons add angles in two channels, a sum and what attention makes.

The pre-activation of a neuron is fitted by functions of the two operands: sums C(a) + C(b) of
characters, zeros, and T_h (C(a) − C(b)), where T_h = A_h(a) − A_h(b) is by how much more head h
attends to a. All fits are least squares over drawn pairs; answers are asked of all pairs.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from strata.arithmetic import primefactors
from strata.measure.activations import attention_scores
from strata.patch.patching import ForwardPass
from studies.mechanism.code import residues, scores
from studies.mechanism.code.dictionary import basis, least_squares, real
from studies.mechanism.code.records import Label
from studies.mechanism.code.residues import (
    divides,
    primes_of,
    square_of,
    values,
    waves,
    zero_functions,
)

DRAWN = 3000  # pairs that fit
KEY = 0.005  # of the importance: families from here on are key
Columns = Float[np.ndarray, "rows some"]
Functions = Float[np.ndarray, "n some"]  # of a residue


class Channels:
    """Build columns for the rows of a pass from functions of a residue."""

    def __init__(
        self, pairs: ForwardPass, difference: Float[np.ndarray, "rows n_heads"], rows: np.ndarray
    ):
        self.a, self.b, self.difference = pairs.a[rows], pairs.b[rows], difference[rows]

    def summed(self, x: Functions) -> Columns:
        """Return x(a) + x(b)."""
        return x[self.a] + x[self.b]

    def attended(self, x: Functions, head: int) -> Columns:
        """Return T_h (x(a) − x(b))."""
        return self.difference[:, head, None] * (x[self.a] - x[self.b])

    @property
    def one(self) -> Columns:
        """Return a column of ones."""
        return np.ones((len(self.a), 1))


@dataclass(frozen=True)
class ResidueFunctions:
    """What the forms are made of: zeros and characters of residues, which ``order`` may permute."""

    n: int
    order: Int[np.ndarray, " n"]

    @cached_property
    def zeros(self) -> Functions:
        """Return [r | x] for all primes r."""
        return zero_functions(self.n, primefactors(self.n))[self.order]

    def zeros_of(self, label: Label) -> Functions:
        """Return [p | x] for the primes of a character."""
        return zero_functions(self.n, primes_of(label))[self.order]

    def character(self, label: Label) -> Functions:
        """Return the cosine and sine of a character."""
        return waves(self.n, label)[self.order]

    def square(self, label: Label) -> Functions:
        """Return the cosine and sine of the square of a character."""
        return real(values(self.n, label)[:, None] ** 2)[self.order]

    def gates(self, label: Label) -> Functions:
        """Return [r | x] C(x) for all primes r that are not primes of the character."""
        x = self.character(label)
        others = [p for p in primefactors(self.n) if p not in primes_of(label)]
        columns = [divides(self.n, p)[self.order, None] * x for p in others]
        return np.concatenate([x[:, :0], *columns], axis=1)


def form_0(use: ResidueFunctions, channels: Channels, label: Label) -> Columns:
    """Return the columns of B0: 1, zeros, and the character, as sums."""
    sums = [use.zeros, use.character(label)]
    return np.concatenate([channels.one, *map(channels.summed, sums)], axis=1)


def form_1(use: ResidueFunctions, channels: Channels, label: Label, head: int) -> Columns:
    """Return the columns of B1: those of B0, and what one head makes of the character and of the
    zeros of its primes."""
    attended = [use.character(label), use.zeros_of(label)]
    gated_columns = [channels.attended(x, head) for x in attended]
    return np.concatenate([form_0(use, channels, label), *gated_columns], axis=1)


def form_2(
    use: ResidueFunctions, channels: Channels, label: Label, characters: Sequence[Label] = ()
) -> Columns:
    """Return the columns of B2: those of B1 for all heads, with gates and the square of the
    character as sums. If characters are given, they stand in its place in both channels, which is
    B4."""
    labels = list(characters) or [label]
    c = np.concatenate([use.character(x) for x in labels], axis=1)
    gates = np.concatenate([use.gates(x) for x in labels], axis=1)
    squares = np.concatenate([use.square(x) for x in labels], axis=1)
    columns = [channels.one, *map(channels.summed, (use.zeros, c, gates, squares))]
    for head in range(channels.difference.shape[1]):
        columns += [channels.attended(x, head) for x in (c, use.zeros_of(label))]
    return np.concatenate(columns, axis=1)


@dataclass(frozen=True)
class Neurons:
    """The neurons of a network: which character each adds, and how much it matters."""

    pairs: ForwardPass
    use: ResidueFunctions
    difference: Float[np.ndarray, "rows n_heads"]
    sample: Int[np.ndarray, " drawn"]
    family: tuple[Label, ...]
    head: Int[np.ndarray, " d_mlp"]
    importance: Float[np.ndarray, " d_mlp"]
    key: tuple[Label, ...]

    @cached_property
    def channels(self) -> Channels:
        """Return the columns of all pairs, which forms are made of."""
        return Channels(self.pairs, self.difference, np.arange(len(self.pairs.a)))

    @cached_property
    def drawn(self) -> Channels:
        """Return the columns of the pairs that were drawn for the fits."""
        return Channels(self.pairs, self.difference, self.sample)

    def key_of(self, label: Label) -> list[Label]:
        """Return the key characters of the same primes, its own among them."""
        labels = [x for x in self.key if primes_of(x) == primes_of(label)]
        return labels if label in labels else [label, *labels]

    def replace(
        self, form: Callable[[Channels, int], Columns], groups: dict[object, list[int]]
    ) -> Float[np.ndarray, "rows d_mlp"]:
        """Return pre-activations by a form; the neurons of a group share their columns."""
        before, weight = np.empty_like(self.pairs.preactivations), self.pairs.count[self.sample]
        for members in groups.values():
            coefficients = least_squares(
                form(self.drawn, members[0]),
                self.pairs.preactivations[self.sample][:, members],
                weight,
            )
            before[:, members] = form(self.channels, members[0]) @ coefficients
        return before

    def by_family(self) -> dict[object, list[int]]:
        """Return the neurons of each character."""
        return grouped(self.family)

    def form(self, name: str) -> Float[np.ndarray, "rows d_mlp"]:
        """Return pre-activations by B0, B1, B2 or B4."""
        if name == "B1":
            groups = grouped(zip(self.family, self.head.tolist(), strict=True))
            return self.replace(
                lambda c, j: form_1(self.use, c, self.family[j], int(self.head[j])), groups
            )
        forms: dict[str, Callable[[Channels, int], Columns]] = {
            "B0": lambda c, j: form_0(self.use, c, self.family[j]),
            "B2": lambda c, j: form_2(self.use, c, self.family[j]),
            "B4": lambda c, j: form_2(self.use, c, self.family[j], self.key_of(self.family[j])),
        }
        return self.replace(forms[name], self.by_family())


def grouped(keys: Iterable[object]) -> dict[object, list[int]]:
    """Return the places of each key."""
    places: dict[object, list[int]] = {}
    for i, key in enumerate(keys):
        places.setdefault(key, []).append(i)
    return places


def right(pairs: ForwardPass, before: Float[np.ndarray, "rows d_mlp"]) -> float:
    """Return the right answers when neurons read this, with no other path to the logits."""
    return pairs.right(logits(pairs, np.maximum(before, 0), pairs.weights["W_out"]))


def logits(
    pairs: ForwardPass,
    hidden: Float[np.ndarray, "rows d_mlp"],
    W_out: Float[np.ndarray, "d_mlp d_model"],
) -> Float[np.ndarray, "rows n"]:
    """Return the logits of these neurons beside the mean of the stream before the MLP."""
    mean = pairs.count @ pairs.stream_before_mlp / pairs.n**2
    return pairs.logits(mean + hidden @ W_out + pairs.weights["b_out"])


def importance(pairs: ForwardPass) -> Float[np.ndarray, " d_mlp"]:
    """Return the variance of each neuron times what it writes to the logits, with sum 1."""
    weight, hidden = pairs.count / pairs.n**2, np.maximum(pairs.preactivations, 0)
    variance = weight @ hidden**2 - (weight @ hidden) ** 2
    written = ((pairs.weights["W_out"] @ pairs.weights["W_U"]) ** 2).sum(axis=1)
    share = np.maximum(variance, 0) * written
    return share / (share.sum() or 1)


def reads(pairs: ForwardPass) -> Float[np.ndarray, "n d_mlp"]:
    """Return u_j(x): what neuron j reads of a residue at the mean pattern."""
    weights = pairs.weights
    on_operand = scores.mean_pattern(pairs)[0, :, 0]
    values_of = attention_scores(weights).values[: pairs.n] * on_operand[:, None]
    W_O = weights["W_O"].reshape(-1, weights["W_O"].shape[-1])
    return values_of.reshape(pairs.n, -1) @ W_O @ weights["W_in"]


def neurons(
    pairs: ForwardPass,
    fit: scores.Fit,
    order: Int[np.ndarray, " n"] | None = None,
    seed: int = 0,
) -> Neurons:
    """Find each neuron's family, head and importance, with the attention of a formula."""
    n = pairs.n
    use = ResidueFunctions(n, np.arange(n) if order is None else order)
    pattern = scores.pattern_of(pairs, fit.scores)
    difference = pattern[..., 0] - pattern[..., 1]
    rng = np.random.default_rng(seed)
    rows = len(pairs.a)
    sample = np.sort(rng.choice(rows, min(DRAWN, rows), replace=False))
    family, head = _families(pairs, use, difference, sample)
    weight = importance(pairs)
    shares: dict[Label, float] = {}
    for label, x in zip(family, weight, strict=True):
        shares[label] = shares.get(label, 0.0) + float(x)
    key = {label for label, share in shares.items() if share >= KEY}
    key |= {square for label in key if (square := square_of(n, label))}
    key |= {label for labels in fit.labels for label in labels}
    return Neurons(pairs, use, difference, sample, family, head, weight, tuple(sorted(key)))


def _families(
    pairs: ForwardPass,
    use: ResidueFunctions,
    difference: Float[np.ndarray, "rows n_heads"],
    sample: Int[np.ndarray, " drawn"],
) -> tuple[tuple[Label, ...], Int[np.ndarray, " d_mlp"]]:
    u, drawn = reads(pairs), Channels(pairs, difference, sample)
    labels = residues.all_labels(pairs.n)
    span = basis(np.concatenate([np.ones((pairs.n, 1)), use.zeros], axis=1))
    gains = np.stack([
        ((scores.basis_beyond(use.character(label), span).T @ u) ** 2).sum(axis=0)
        for label in labels
    ])  # fmt: skip
    best_two = np.argsort(-gains, axis=0, kind="stable")[:2]
    least_error = np.full(u.shape[1], np.inf)
    family, head = best_two[0].copy(), np.zeros(u.shape[1], dtype=np.int64)
    y, root = pairs.preactivations[sample], np.sqrt(pairs.count[sample])[:, None]
    for i in np.unique(best_two):
        members = np.flatnonzero((best_two == i).any(axis=0))
        for h in range(difference.shape[1]):
            q = basis(form_1(use, drawn, labels[i], h) * root)
            target = y[:, members] * root
            error = (target**2).sum(axis=0) - ((q.T @ target) ** 2).sum(axis=0)
            better = error < least_error[members]
            chosen = members[better]
            least_error[chosen], family[chosen], head[chosen] = error[better], i, h
    return tuple(labels[i] for i in family), head


def additive(pairs: ForwardPass) -> Float[np.ndarray, "rows d_mlp"]:
    """Return the rival: the pre-activations by any g_j(a) + g_j(b), fitted over all pairs."""
    n, weight = pairs.n, pairs.count
    total = np.zeros((n, pairs.preactivations.shape[1]))
    half = (weight / 2)[:, None] * pairs.preactivations
    np.add.at(total, pairs.a, half)
    np.add.at(total, pairs.b, half)
    rows = total / n
    mean = rows.mean(axis=0)
    return rows[pairs.a] + rows[pairs.b] - mean
