"""Spectra and principal components of the embedding at checkpoints, on planted rows."""

import numpy as np
import pandas as pd

from strata.measure import fourier, subspaces
from strata.monoid import classes
from studies.dynamics.code import grokking

N = 15
RNG = np.random.default_rng(0)
NOISE = RNG.normal(size=(N, 8)).astype(np.float32)


def turned(x: np.ndarray, size: float) -> np.ndarray:
    """The same rows with a character of the units planted, of that amplitude in each column."""
    [J] = [J for J in classes(N) if J.d == 1]
    wave = np.cos(2 * np.pi * J.coordinates[:, -1] / J.orders[-1])
    found = x.astype(np.float64)
    found[J.elements] += size * wave[:, None]
    return found


def table(embeddings: dict[int, np.ndarray]) -> pd.DataFrame:
    axes = grokking.components(embeddings[max(embeddings)])
    rows = [(t, *row) for t, x in embeddings.items() for row in grokking.observe(x, axes)]
    return pd.DataFrame(rows, columns=grokking.SCHEMA.names)


def matrix(frame: pd.DataFrame, of: str) -> np.ndarray:
    """One kind of numbers, a row for each checkpoint."""
    own = frame.loc[frame["of"] == of]
    return own.pivot(index="epoch", columns="place", values="value").to_numpy()


def test_a_planted_character_has_the_amplitude_that_was_planted():
    zero = np.zeros((N, 8))
    sizes = {0: 0.5, 10: 1.0, 20: 3.0}
    frame = table({epoch: turned(zero, size) for epoch, size in sizes.items()})
    found = matrix(frame, "J1")
    [J] = [J for J in classes(N) if J.d == 1]
    assert found.shape == (3, len(J) - 1)
    # cos(2πt/q) is half of the character and half of its conjugate, in each of 8 columns.
    peaks = np.sort(found, axis=1)[:, -2:]
    np.testing.assert_allclose(peaks, [[np.sqrt(8) * s / 2] * 2 for s in sizes.values()], rtol=1e-6)
    np.testing.assert_allclose(np.sort(found, axis=1)[:, :-2], 0, atol=1e-7)


def test_at_the_end_shares_and_scores_are_those_of_the_run():
    end = turned(NOISE, 2.0)
    frame = table({0: NOISE, 7: end})
    for J in (J for J in classes(N) if len(J) > 1):
        energy = matrix(frame, f"J{J.d}")[-1] ** 2
        share = fourier.energy_share(end[J.elements], J.orders)[1:]
        np.testing.assert_allclose(energy / energy.sum(), share, atol=1e-6)
    scores = np.stack([matrix(frame, f"PC{k}")[-1] for k in (1, 2, 3)], axis=1)
    np.testing.assert_allclose(scores, subspaces.project(end), atol=1e-5)
    held = matrix(frame, "share")[-1]
    np.testing.assert_allclose(held.cumsum(), subspaces.cumulative_variance(end)[:3], atol=1e-6)


def test_the_picture_does_not_turn_between_checkpoints():
    """Scores are on the axes of the end: half of the end's rows have half of its scores."""
    end = turned(NOISE, 2.0)
    frame = table({0: end / 2 + 1, 7: end})
    for k in (1, 2, 3):
        half, whole = matrix(frame, f"PC{k}")
        np.testing.assert_allclose(half, whole / 2, atol=1e-6)
    np.testing.assert_allclose(*matrix(frame, "share"), atol=1e-6)
