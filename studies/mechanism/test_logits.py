"""What the two accounts say of logits that are planted by hand: criteria-primes.md, 7."""

from typing import Any

import numpy as np
import pytest
from small import weights_of

from strata.measure import activations
from strata.monoid import classes
from strata.run import Run
from studies.mechanism.code import decision, descriptions, logits
from studies.mechanism.code.characters import local
from studies.mechanism.code.descriptions import class_indicators
from studies.mechanism.planted_logits import (
    SETTINGS,
    class_table,
    class_waves,
    every_key,
    measured,
    own_keys,
    prime_waves,
    primes,
    same_class,
    scaled,
    shared_keys,
    some_keys,
    waves,
)


@pytest.mark.parametrize("n", [165, 143])
def test_planted_primes(n):
    rng = np.random.default_rng(n)
    at, votes = measured(primes(n, rng), shared_keys(n))
    assert np.isclose(at.r2["C"], 1, atol=1e-8) and np.isclose(votes.tau, 1, atol=1e-8)
    assert np.isclose(votes.gating, 1) and np.isclose(votes.balanced, 1)
    assert abs(votes.cost) < 1e-8 and votes.delta > 0.05
    assert votes.L == "primes" and not votes.against and not votes.mixing


@pytest.mark.parametrize("n", [165, 143])
def test_planted_strata(n):
    rng, keys = np.random.default_rng(n), shared_keys(n)
    y = scaled(class_table(n, rng), class_waves(n, keys, rng))
    at, votes = measured(y, keys)
    assert np.isclose(at.r2["S"], 1, atol=1e-8) and votes.delta < -0.05
    assert abs(votes.gating) < 1e-8 and abs(votes.balanced) < 1e-8
    assert votes.L == "strata" and not votes.against
    S = descriptions.describe(n, keys)["S"]
    for J in classes(n):  # of a class that it has not seen S says nothing
        rows = np.gcd(np.arange(n), n) == J.d
        unseen = descriptions.fit(y, np.where(rows, 0, descriptions.weights_of(n)), S)
        assert (unseen[rows] == 0).all()


def test_frequencies_of_each_class_make_sharing_cost():
    keys = own_keys(165)
    y = scaled(class_table(165, np.random.default_rng(0)), class_waves(165, keys, None))
    _, votes = measured(y, keys)
    assert votes.cost >= 0.2 and votes.L == "strata"


@pytest.mark.parametrize(
    ("cross", "L"), [(-0.5, "strata"), (0.1, "strata"), (0.5, "between"), (0.9, "primes")]
)
def test_a_mixture_has_the_gating_that_is_planted(cross, L):
    rng, n = np.random.default_rng(1), 165
    _, votes = measured(primes(n, rng, cross), shared_keys(n))
    assert np.allclose([votes.gating, votes.balanced], cross)
    assert votes.L == L


def test_balanced_gating_keeps_when_classes_are_scaled():
    rng, n = np.random.default_rng(2), 165
    s, t = (class_indicators(n) @ rng.uniform(0.3, 3, class_indicators(n).shape[1]) for _ in "st")
    _, votes = measured(s[:, None] * prime_waves(n, rng) * t, shared_keys(n))
    assert np.isclose(votes.balanced, 1, atol=1e-8) and abs(votes.gating - 1) > 0.01


def test_a_lookup_table_and_random_logits_are_neither():
    _, lookup = measured(np.eye(165), shared_keys(165))
    _, random = measured(np.random.default_rng(4).normal(size=(165, 165)), shared_keys(165))
    assert abs(lookup.gating) < 1e-8 and lookup.L == random.L == "neither"


def test_too_many_key_frequencies_describe_nothing():
    rng, n = np.random.default_rng(5), 165
    at, votes = measured(primes(n, rng), every_key(n))
    assert np.isclose(at.r2["C"], 1) and at.key == at.of and votes.L == "neither"


def test_what_depends_on_more_than_the_product_is_beyond_the_ceiling():
    n, rng = 15, np.random.default_rng(6)
    a, b = np.divmod(np.arange(n * n), n)
    y = primes(n, rng)
    noise = rng.normal(size=(n * n, n))
    noise -= noise.mean(axis=1, keepdims=True)
    for q in range(n):
        noise[a * b % n == q] -= noise[a * b % n == q].mean(axis=0)
    z = y[a * b % n] + noise
    halves = [slice(None, 100), slice(100, None)]
    found = logits.profiles(((a[x], b[x], z[x]) for x in halves), n)
    assert np.allclose(found.y, y)
    of_all = np.ones(n, dtype=bool)
    planted = 1 - (noise**2).sum() / (z**2).sum()
    assert np.isclose(found.ceiling(of_all), planted)
    at, _ = measured(y, shared_keys(n), found)
    assert np.isclose(at.r2["C"], planted)
    assert all(x < planted + 1e-12 for x in at.r2.values())


@pytest.mark.parametrize("n", [13, 25, 27, 16])
def test_a_prime_power_cannot_decide(n):
    rng = np.random.default_rng(n)
    at, votes = measured(rng.normal(size=(n, n)), some_keys(n))
    for r2 in (at.r2, at.held_out):
        assert abs(r2["C"] - r2["S"]) < 1e-9
    assert not decision.decides(n) and votes.L not in ("primes", "strata")
    assert votes.gating is None and votes.balanced is None and votes.tau is None


@pytest.mark.parametrize("n", [12, 18, 36])
def test_coefficients_between_classes_are_those_of_the_split_columns(n):
    rng = np.random.default_rng(n)
    keys = every_key(n)
    y = rng.normal(size=(n, n))
    y -= y.mean(axis=1, keepdims=True)
    at, _ = measured(y, keys)
    N, same, d = descriptions.weights_of(n), same_class(n), np.gcd(np.arange(n), n)
    split = []
    for x in at.characters:
        X = waves(np.prod([local(n, part) for part in x.parts], axis=0))
        split += [X * same, X * ~same]
        for i, own in enumerate(x.classes):
            for j, other in enumerate(x.classes):
                cell = np.where((d[:, None] == own) & (d == other), X, 0)
                assert np.isclose(x.beta[i][j], (cell * y).sum() / (cell**2).sum())
    tables = [np.outer(i, j) for i in class_indicators(n).T for j in class_indicators(n).T]
    gram = np.einsum("q,iqc,jqc->ij", N, split, split)
    assert np.allclose(gram, np.diag(np.diag(gram)), atol=1e-8)
    assert np.allclose(np.einsum("q,iqc,jqc->ij", N, split, tables), 0, atol=1e-9)
    of_split = np.einsum("q,iqc,qc->i", N, split, y) / np.diag(gram)
    assert np.allclose(of_split, [b for x in at.characters for b in (x.same, x.different)])


def test_the_cost_of_sharing_is_that_of_least_squares_inside_classes():
    n, rng = 15, np.random.default_rng(7)
    keys = every_key(n)
    y = rng.normal(size=(n, n))
    at, _ = measured(y, keys)
    N, f = descriptions.weights_of(n), descriptions.describe(n, keys)["C+"].characters
    X = np.array([waves(column) for column in f.values.T])
    rows, columns, weight, place = [], [], [], []
    for J in classes(n):
        inside = y[np.ix_(J.elements, J.elements)]
        rows.append((inside - inside.mean(axis=1, keepdims=True)).ravel())
        columns.append(X[:, J.elements][:, :, J.elements].reshape(len(X), -1).T)
        weight.append(np.full(len(J) ** 2, N[J.elements[0]]))
        place.append(np.full(len(J) ** 2, J.d))
    rows, columns, weight, place = map(np.concatenate, (rows, columns, weight, place))
    root, costs = np.sqrt(weight), []
    common = np.linalg.lstsq(columns * root[:, None], rows * root, rcond=1e-10)[0]
    for J in (J for J in classes(n) if len(J) > 1):
        here = place == J.d
        own = np.linalg.lstsq(columns[here], rows[here], rcond=1e-10)[0]
        explained = [(rows[here] ** 2).sum() - ((rows - columns @ b)[here] ** 2).sum()
                     for b in (own, common)]  # fmt: skip
        costs.append(1 - explained[1] / explained[0])
    assert np.isclose(at.cost, np.mean(costs))


def test_a_network_is_described_by_the_sums_of_its_logits():
    run = Run(6, 1)
    weights = weights_of(run)
    found: Any = logits.measure(run, weights, SETTINGS)
    a, b = np.divmod(np.arange(36), 6)
    z = activations.forward(weights, a, b).logits.astype(float)
    z -= z.mean(axis=1, keepdims=True)
    y = np.array([z[a * b % 6 == q].mean(axis=0) for q in range(6)])
    left = sum(((z[a * b % 6 == q] - y[q]) ** 2).sum() for q in range(6))
    assert np.isclose(found.ceiling, 1 - left / (z**2).sum(), atol=1e-6)
    diverged = logits.measure(run, weights | {"b_U": np.full(6, np.nan, np.float32)}, SETTINGS)
    assert not diverged.finite and not diverged.at
