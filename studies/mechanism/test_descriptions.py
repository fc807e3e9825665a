"""Two descriptions of the logits: least squares over all pairs and cells is their oracle."""

import numpy as np
import pytest
from sympy import factorint

from strata.monoid import classes, unit
from strata.statistics import folds
from studies.mechanism.code import characters, descriptions
from studies.mechanism.code.records import Part
from studies.mechanism.planted_logits import every_key, some_keys


def design(n, description):
    """All columns as they are defined, centred over the candidates: (n², columns)."""
    blocks = [np.outer(i, j) for table in description.tables for i in table.T for j in table.T]
    waves = [2 * np.real(np.outer(f, f.conj())) for f in description.characters.values.T]
    X = np.array(blocks + waves)
    return (X - X.mean(axis=2, keepdims=True)).reshape(len(X), -1).T


@pytest.mark.parametrize("n", [12, 15, 18, 36])
def test_the_fit_is_that_of_least_squares_over_all_cells(n):
    y = np.random.default_rng(1).normal(size=(n, n))
    y -= y.mean(axis=1, keepdims=True)
    weight, fold = descriptions.weights_of(n), folds(n, 0, 5)
    without = np.gcd(np.arange(n), n) != 1
    for description in descriptions.describe(n, some_keys(n)).values():
        X = design(n, description)
        for used in (np.ones(n), fold != 0, without):
            size = np.sqrt(np.repeat(weight * used, n))
            solved = np.linalg.lstsq(X * size[:, None], y.ravel() * size, rcond=1e-10)[0]
            ours = descriptions.fit(y, weight * used, description)
            assert np.allclose(ours.ravel(), X @ solved, atol=1e-10)


@pytest.mark.parametrize("n", [12, 36, 18])
def test_ranks_of_tables_are_counts_and_characters_sum_to_0_over_blocks(n):
    D, kappa = len(classes(n)), factorint(n).values()  # the exponent of each prime
    none = {J.d: np.zeros(len(J), dtype=bool) for J in classes(n)}
    bare = descriptions.describe(n, none)
    ranks = {name: np.linalg.matrix_rank(design(n, x)) for name, x in bare.items()}
    of_primes = sum(k * (k + 1) for k in kappa)
    assert ranks == {"S": D**2 - D, "C": of_primes, "C+": of_primes}
    for x in descriptions.describe(n, every_key(n)).values():
        assert all(np.allclose(block.T @ x.characters.values, 0) for block in x.tables)


def test_a_shared_character_quotes_w_and_not_the_unit_coordinate_between_classes():
    n = 12  # 1 in J_1 and 2 in J_2... at p = 3: w = x mod 3, u(x) = x / d mod 12 / d
    found = characters.of_primes(n, every_key(n))
    of_three = found.labels.index((Part(3, 0, (1,)),))
    f = found.values[:, of_three]
    by_w = [1 if x % 3 == 1 else -1 if x % 3 == 2 else 0 for x in range(n)]
    by_unit = [0 if x % 3 == 0 else 1 if unit(x, n) % 3 == 1 else -1 for x in range(n)]
    assert np.allclose(f, by_w) and not np.allclose(by_w, by_unit)
    for J in classes(n):  # inside a class their quotients agree
        inside = J.elements
        w, u = np.array(by_w)[inside], np.array(by_unit)[inside]
        assert (np.outer(w, w) == np.outer(u, u)).all()


def test_folds_are_dealt_in_turn_over_classes():
    fold = folds(165, 0, 5)
    for J in classes(165):
        counts = np.bincount(fold[J.elements], minlength=5) if len(J) > 1 else np.zeros(5)
        assert counts.max() - counts.min() <= 1 and (len(J) > 1 or fold[J.elements[0]] == -1)
    assert np.ptp(np.bincount(fold[fold >= 0])) <= 1
    assert (fold != folds(165, 1, 5)).any()
    assert (fold == folds(165, 0, 5)).all()
