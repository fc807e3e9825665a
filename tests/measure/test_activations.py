"""All pairs: block by block it is one whole forward pass, and equal logits count as equal."""

import numpy as np
import pytest
from small import weights_of

from strata.measure import activations
from strata.run import Run

RUNS = [Run(12, 3), Run(7, 0), Run(2, 1), Run(9, 1, "mlp")]


def forward_all(run: Run) -> tuple[np.ndarray, np.ndarray, activations.Activations]:
    """Run every pair in one forward pass, which tests/api compares with torch's."""
    a, b = np.divmod(np.arange(run.n**2), run.n)
    return a, b, activations.forward(weights_of(run), a, b)


@pytest.mark.parametrize(("run", "block"), [*zip(RUNS, (10, 1, 10**6, 49), strict=True)])
def test_blocks_are_one_whole_forward_pass(run, block):
    parts = list(activations.blocks(weights_of(run), run.n, block))
    assert all(len(a) <= block for a, _, _ in parts)
    a, b, expected = forward_all(run)
    assert np.array_equal(np.concatenate([part[0] for part in parts]), a)
    assert np.array_equal(np.concatenate([part[1] for part in parts]), b)
    for name in ("logits", "mlp", "attention"):
        values = np.concatenate([getattr(part[2], name) for part in parts])
        assert values.dtype == np.float32
        assert np.allclose(values, getattr(expected, name), atol=1e-6)


def test_equal_logits_count_as_equal_and_the_least_residue_is_the_answer():
    """Vary how rounding falls out among the largest; a larger difference decides."""
    rng, largest = np.random.default_rng(0), 40.0
    for size in (0.0, 1e-7, activations.TIE / 3):
        logits = rng.normal(size=(500, 9))
        logits[:, [2, 5, 7]] = largest * (1 + size * rng.uniform(-1, 1, size=(500, 3)))
        assert (activations.answers(logits.astype(np.float32)) == 2).all()
    logits[:, 5] = largest * (1 + 3 * activations.TIE)
    assert (activations.answers(logits.astype(np.float32)) == 5).all()
    assert (activations.answers(np.full((2, 4), -np.inf, np.float32)) == 0).all()
    two_rows = np.array([[0, 1e6, 0], [1.0, 1.1, 0]], np.float32)  # each has a largest of its own
    assert (activations.answers(two_rows) == 1).all()
