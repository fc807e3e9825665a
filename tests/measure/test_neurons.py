"""What neurons follow is found by brute force, and in activations that were made to follow it."""

import numpy as np
import pytest
from small import weights_of

from strata.measure import all_pairs, neurons
from strata.run import Run


def moments_of(x: np.ndarray, n: int, parts: int = 1) -> neurons.Moments:
    moments = neurons.Moments(neurons.labels(n), x.shape[1])
    for rows in np.array_split(np.arange(n * n), parts):
        moments.add(*np.divmod(rows, n), x[rows])
    return moments


@pytest.mark.parametrize("n", [6, 12, 13, 15])
def test_shares_are_those_between_cells_by_brute_force(n):
    x = np.random.default_rng(n).normal(size=(n * n, 4)) + 3
    _, variance, between = moments_of(x, n, parts=3).explained()
    assert variance == pytest.approx(n * n * x.var(axis=0))
    for name, labels in neurons.labels(n).items():
        cells: dict[tuple[int, int], list[np.ndarray]] = {}
        for a in range(n):
            for b in range(n):
                cells.setdefault((labels[a], labels[b]), []).append(x[a * n + b])
        expected = sum(len(v) * (np.mean(v, axis=0) - x.mean(axis=0)) ** 2 for v in cells.values())
        assert between[name] == pytest.approx(expected)


def test_each_neuron_that_varies_has_the_prime_power_that_explains_most_of_it():
    variance = np.array([2, 4, 2, 1e-12])  # the last varies by rounding alone
    between = {"classes": [1, 1, 0, 0], "2": [2, 1, 2, 0], "3": [1, 3, 0, 1e-12]}
    between = {name: np.array(x, dtype=float) for name, x in between.items()}
    metrics = neurons.neuron_metrics(neurons.Explained(np.full(4, 9.0), variance, between))
    assert (metrics.varying, metrics.neurons) == (3, {2: 2, 3: 1})
    assert (metrics.classes, metrics.one_power) == pytest.approx((2 / 8, 7 / 8))
    assert metrics.modulo == pytest.approx({2: 5 / 8, 3: 4 / 8})


def test_neurons_that_never_vary_follow_nothing():
    weights = weights_of(Run(6, 1))
    weights |= {"W_in": np.zeros_like(weights["W_in"])}
    metrics = neurons.neuron_metrics(all_pairs.over_all_pairs(weights, 6).neurons)
    assert (metrics.varying, metrics.classes, metrics.one_power) == (0, None, None)
    assert metrics.neurons == {2: 0, 3: 0}
