"""The two accounts: dense least squares as oracle, planted logits, networks, and their tables."""

from math import gcd, lcm
from typing import Any

import numpy as np
import pandas as pd
import pytest
from small import random_weights
from sympy import primefactors

from strata.measure.activations import answers, forward
from strata.monoid import chi, classes, frequencies, prime_powers
from strata.patch.patching import forward_pass
from strata.results import Row
from studies.mechanism.code import account_tables, accounts, votes
from studies.mechanism.code.accounts import Account
from studies.mechanism.code.dictionary import by_class
from studies.mechanism.code.profile import profile, profile_of_logits
from studies.mechanism.planted import profile_of, some_keys
from studies.params import load

N = 42
# Planted, and which accounts must explain all of it: no other may.
EXPLAINED = {
    "free-votes": {"free-votes"},
    "free-classes": {"free-classes"},
    "tied-primes": {"tied-primes", "free-votes"},
    "tied-classes": {"tied-classes"},
    "tied-quotients": {"tied-quotients", "tied-primes", "free-votes", "tied-classes"},
    "tied-inside": {"tied-inside", "tied-classes"},
}


def columns(n, key):
    """Return every column of each account, as it is defined, over all products and candidates."""
    q, c = (x.ravel() for x in np.indices((n, n)))
    d, e = np.gcd(q, n), np.gcd(c, n)
    candidates = [c == x for x in range(n)]
    cells: dict[str, list[np.ndarray]] = {id: [] for id in EXPLAINED}
    for p in primefactors(n):
        cells["free-votes"] += [x & (q % p == i) for x in candidates for i in range(p)]
        coprime = (q % p > 0) & (c % p > 0)
        cells["tied-primes"] += [(q % p == i) & (c % p == j) for i in range(p) for j in range(p)]
        cells["tied-quotients"] += [coprime & ((q - u * c) % p == 0) for u in range(1, p)]
        cells["tied-quotients"] += [((q % p == 0) == i) & ((c % p == 0) == j) & ~coprime
                                    for i in (0, 1) for j in (0, 1)]  # fmt: skip
    for J in classes(n):
        inside = d == J.d
        cells["free-classes"] += [x & inside for x in candidates]
        for k in frequencies(J.orders)[key[J.d]]:
            wave = np.zeros(n, dtype=complex)
            wave[J.elements] = chi(k, J.orders)
            parts = np.real(wave), np.imag(wave)
            cells["free-classes"] += [x * part[q] for part in parts for x in candidates]
        for K in classes(n):
            m = n // lcm(J.d, K.d)
            units = [u for u in range(m) if gcd(u, m) == 1]
            pairs = [inside & (e == K.d) & ((q - u * c) % m == 0) for u in units]
            cells["tied-classes"] += pairs
            cells["tied-inside"] += pairs if J == K else []
    for id, form in cells.items():
        if id.startswith("tied"):
            by_class = "classes" in id or "inside" in id
            form += (
                [x & (d == J.d) for x in candidates for J in classes(n)] if by_class else candidates
            )
    return {id: np.array(x, dtype=float).T for id, x in cells.items()}


@pytest.mark.parametrize("n", [15, 30])
def test_every_account_is_least_squares_over_all_products_and_candidates(n):
    key, rng = some_keys(n), np.random.default_rng(n)
    y = profile_of(rng.normal(size=(n, n)))
    without = np.where(np.gcd(np.arange(n), n) == 1, 0, y.N)
    designs = columns(n, key)
    forms = accounts.accounts(n, key)
    assert forms.keys() == designs.keys()
    for id, account in forms.items():
        X = designs[id]
        assert account.numbers == np.linalg.matrix_rank(X), id
        for weight in (y.N, without) if account.shared else (y.N,):
            root = np.sqrt(np.repeat(weight, n))
            solution = np.linalg.lstsq(X * root[:, None], y.y.ravel() * root, rcond=1e-10)[0]
            np.testing.assert_allclose(account.fit(y.y, weight).ravel(), X @ solution, atol=1e-8)


def noise_of(account: Account):
    """Project noise on all logits of this form."""
    noise = profile_of(np.random.default_rng(1).normal(size=(N, N)))
    return profile_of(account.fit(noise.y, noise.N))


def measured(y, key) -> dict[tuple[str, str], Any]:
    """Measure logits, by account and measure."""
    return {(row.id, row.measure): row.value for row in accounts.measure(y, key)}


@pytest.mark.parametrize("id", EXPLAINED)
def test_a_planted_account_is_explained_by_itself_and_by_what_is_freer_alone(id):
    key = some_keys(N, share=0.2)
    numbers = measured(noise_of(accounts.accounts(N, key)[id]), key)
    shares = {name: numbers[name, "share"] for name in EXPLAINED}
    explaining = {name for name, x in shares.items() if x == pytest.approx(1)}
    assert explaining == EXPLAINED[id]
    assert all(x < 0.97 for name, x in shares.items() if name not in explaining)


def test_a_class_that_was_left_out_is_predicted_where_primes_share_and_nowhere_else():
    key = some_keys(N)
    forms, of_two = accounts.accounts(N, key), by_class(N) >= 0
    for id in ("free-votes", "tied-primes", "tied-quotients"):
        y = noise_of(forms[id])
        left_out = accounts.predict_left_out(y, forms[id].fit)
        np.testing.assert_allclose(left_out.shares, 1)
        assert left_out.right == (answers(y.y) == np.arange(N))[of_two].mean()
    of_votes = votes.predict_left_out(y, votes.remainders(N))
    by_account = accounts.predict_left_out(y, forms["free-votes"].fit)
    np.testing.assert_allclose(by_account.shares, of_votes.shares)
    assert by_account.right == of_votes.right
    for id in ("free-classes", "tied-classes", "tied-inside"):
        assert not forms[id].shared
        assert accounts.predict_left_out(noise_of(forms[id]), forms["free-votes"].fit).median < 0.5


@pytest.mark.parametrize(("n", "quotients"), [(12, False), (13, True), (9, False), (10, True)])
def test_quotients_ask_for_a_square_free_modulus_and_left_out_classes_for_two_primes(n, quotients):
    y = profile_of(np.random.default_rng(n).normal(size=(n, n)))
    rows = accounts.measure(y, some_keys(n))
    assert ("tied-quotients" in {row.id for row in rows}) == quotients
    assert any(row.measure == "left out" for row in rows) == (len(prime_powers(n)) > 1)


def test_the_profile_of_logits_is_that_of_the_network_that_gives_them():
    network = random_weights(15, "transformer")
    a, b = np.divmod(np.arange(15 * 15), 15)
    y, expected = (
        profile_of_logits(forward(network, a, b).logits),
        profile(forward_pass(network, 15)),
    )
    np.testing.assert_allclose(y.y, expected.y, atol=1e-5)
    assert y.squares == pytest.approx(expected.squares, rel=1e-5)


def rows_of(run, share, right_left_out):
    """Return one account of a run: its share, and of how many left-out products the answer is
    right."""
    values = {"share": share, "right": share, "numbers": 17.0, "left out, right": right_left_out}
    return [Row(run, "free-votes", "votes", name, "share", x) for name, x in values.items()]


def test_tables_have_medians_over_fresh_networks_that_generalise_and_the_controls_beside():
    params = load().mechanism.model_copy(update={"fresh": ["n15-s1", "n15-s2", "n15-s3", "n15-s4"]})
    fresh = {"n15-s1": (0.9, 1.0), "n15-s2": (0.98, 1.0), "n15-s3": (1.0, 0.5), "n15-s4": (0, 0)}
    rows = [row for run, values in fresh.items() for row in rows_of(run, *values)]
    rows += rows_of("n15-s5", 0.7, 0.0) + rows_of("untrained", 0.97, 0.0)
    right = {run: 0.5 if run == "n15-s4" else 1.0 for run in (*fresh, "n15-s5", "untrained")}
    measures = [Row(run, "whole", "all pairs", "right", "accuracy", x) for run, x in right.items()]
    measures += [Row(run, "kind", "how primes interact", verdict="gated") for run in right]
    summary, runs = account_tables.tables(pd.DataFrame(rows), pd.DataFrame(measures), params)
    row: Any = summary.frame.set_index("id").loc["free-votes"]
    expected = {"share": 0.98, "least": 0.9, "nearly": 2, "whole": 2, "numbers": 17, "runs": 3}
    assert {name: row[f"fresh {name}"] for name in expected} == expected
    assert (row["earlier share"], row["untrained"]) == (0.7, 0.97)
    assert {*runs.frame["run"]} == {*right}
