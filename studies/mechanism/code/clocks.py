"""The networks of Zhong et al., “The Clock and the Pizza” (arXiv:2306.17844): what becomes of the
vote of each frequency when attention is fixed at its mean. It is statement 6 of
mechanism/criteria-3.md, asked of networks that other people trained to add modulo 59.

They have one layer, positions and no bias but those of the MLP, read a and b, and answer at b.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from strata.tables.table import Cells, Column, Table
from studies.mechanism.code import hole

Tensors = Mapping[str, np.ndarray]


class Answers(NamedTuple):
    """The logits of all pairs, a-major, and how much each head attends to a and to b."""

    logits: Float[np.ndarray, "pairs n"]
    pattern: Float[np.ndarray, "pairs n_heads 2"]


def forward(
    tensors: Tensors, coefficient: float = 1, pattern: Float[np.ndarray, "n_heads 2"] | None = None
) -> Answers:
    """Run the network over all pairs.

    ``coefficient`` mixes attention with a pattern of ones, as the authors do; 1 is attention as it
    is. A given pattern takes its place for every pair.
    """
    w = {name.removeprefix("blocks.0."): x.astype(np.float64) for name, x in tensors.items()}
    n = w["embed.W_E"].shape[1]
    a, b = np.divmod(np.arange(n * n), n)
    embedding, position = w["embed.W_E"].T, w["pos_embed.W_pos"]
    x = np.stack([embedding[a] + position[0], embedding[b] + position[1]], axis=1)
    query = np.einsum("hdm,pm->phd", w["attn.W_Q"], x[:, 1])
    key, value = (np.einsum("hdm,ptm->phtd", w[f"attn.W_{name}"], x) for name in "KV")
    if pattern is None:
        scores = np.einsum("phd,phtd->pht", query, key) / np.sqrt(key.shape[-1])
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        attention = scores / scores.sum(axis=-1, keepdims=True) * coefficient + 1 - coefficient
    else:
        attention = np.broadcast_to(pattern, (*key.shape[:2], 2))
    heads = np.einsum("pht,phtd->phd", attention, value).reshape(n * n, -1)
    stream = x[:, 1] + heads @ w["attn.W_O"].T
    hidden = np.maximum(stream @ w["mlp.W_in"].T + w["mlp.b_in"], 0)
    stream = stream + hidden @ w["mlp.W_out"].T + w["mlp.b_out"]
    return Answers(stream @ w["unembed.W_U"], attention)


def right(logits: Float[np.ndarray, "pairs n"]) -> float:
    """Return the share of pairs whose sum is answered."""
    n = logits.shape[1]
    return float((logits.argmax(axis=1) == _sums(n)).mean())


def votes(logits: Float[np.ndarray, "pairs n"], k: int) -> Float[np.ndarray, " deltas"]:
    """Return how much of the wave of frequency k at a + b the logits hold, in the mean over the
    pairs with each difference of a and b, up to sign."""
    n = logits.shape[1]
    wave, delta = np.exp(2j * np.pi * k * np.arange(n) / n), _differences(n)
    vote = np.real(wave[_sums(n)] * (logits @ wave.conj())) / n
    return np.bincount(delta, vote) / np.bincount(delta)


def votes_of(
    k: int, unchanged: Float[np.ndarray, " deltas"], at_mean: Float[np.ndarray, " deltas"], n: int
) -> hole.Votes:
    """Return the votes of a frequency as those of statement 6. These residues are one cycle of n
    elements, as the units modulo a prime are one of p − 1, so n + 1 stands for p."""
    return hole.Votes(n + 1, k, at_mean, unchanged, np.bincount(_differences(n)).astype(float))


def frequency_of_heads(pattern: Float[np.ndarray, "pairs n_heads 2"]) -> Int[np.ndarray, " heads"]:
    """Return the frequency in a of the difference between what each head gives to a and to b that
    has the largest energy; 0 for a head whose pattern is constant."""
    n = round(len(pattern) ** 0.5)
    difference = (pattern[..., 0] - pattern[..., 1]).reshape(n, n, -1)
    wave = np.fft.fft(difference - difference.mean(axis=(0, 1)), axis=0)
    energy = (np.abs(wave[1 : (n + 1) // 2]) ** 2).sum(axis=1)
    return np.where(energy.max(axis=0) > 0, 1 + energy.argmax(axis=0), 0)


def measure(name: str, tensors: Tensors, coefficient: float) -> list[Cells]:
    """Return a row for each frequency that counts."""
    answers = forward(tensors, coefficient)
    at_mean = forward(tensors, pattern=answers.pattern.mean(axis=0))
    n = answers.logits.shape[1]
    heads = frequency_of_heads(answers.pattern)
    rows = []
    for k in range(1, (n + 1) // 2):
        by_delta = votes_of(k, votes(answers.logits, k), votes(at_mean.logits, k), n)
        rows.append({
            "network": name, "attention": coefficient, "right": right(answers.logits),
            "right at mean": right(at_mean.logits), "k": k, "heads": int((heads == k).sum()),
            "amplitude": by_delta.amplitude, "correlation": by_delta.correlation,
            "variation at mean": by_delta.variation(by_delta.at_mean),
            "variation": by_delta.variation(by_delta.unchanged),
        })  # fmt: skip
    least = hole.COUNTS * max(row["amplitude"] for row in rows)
    return sorted((x for x in rows if x["amplitude"] >= least), key=lambda x: -x["amplitude"])


def table(frame: pd.DataFrame) -> Table:
    """Return the table of all networks."""
    return Table("clocks", "Networks of Zhong et al., a frequency a row.", frame, COLUMNS)


def _sums(n: int) -> Int[np.ndarray, " pairs"]:
    return np.add.outer(np.arange(n), np.arange(n)).ravel() % n


def _differences(n: int) -> Int[np.ndarray, " pairs"]:
    difference = np.subtract.outer(np.arange(n), np.arange(n)).ravel() % n
    return np.minimum(difference, n - difference)


COLUMNS = {
    "network": Column("network", align="l"),
    "attention": Column("attention, 0 = uniform"),
    "right": Column("right", "share"),
    "right at mean": Column("right at mean attention", "share"),
    "k": Column("frequency"),
    "heads": Column("heads that attend by it", "count"),
    "correlation": Column("correlation with the law at mean", "index"),
    "variation at mean": Column("variation at mean", "index"),
    "variation": Column("variation", "index"),
}
