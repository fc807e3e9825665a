"""Logits planted by hand, as strata and as primes would have them, and what is measured of them."""

from typing import Any

import numpy as np
from tiny import ROOT

from strata.measure import activations
from strata.measure.fourier import conjugate
from strata.monoid import axis_primes, chi, classes, frequencies
from studies import params
from studies.mechanism.code import decision, descriptions, logits
from studies.mechanism.code.characters import Part, local
from studies.mechanism.code.descriptions import class_indicators
from studies.mechanism.code.logits import Profiles
from studies.mechanism.code.records import Logits

ACCOUNTS = params.load(ROOT).accounts
PRIMES = {15: (3, 5), 35: (5, 7), 165: (3, 5, 11), 143: (11, 13)}
SHARED = {
    15: {3: [1], 5: [1]},
    35: {5: [1], 7: [1]},
    165: {3: [1], 5: [1], 11: [2, 3]},
    143: {11: [1, 4], 13: [2, 5]},
}


def shared_keys(n):
    """The same few frequencies of each prime in every class that has it."""
    return {
        J.d: mask(J, [(p, k) for p in axis_primes(J) for k in SHARED[n][p]]) for J in classes(n)
    }


def own_keys(n):
    """Frequencies of each class's own: each of a prime is key in one class alone, in turn."""
    found, turn = {}, dict.fromkeys(PRIMES[n], 0)
    for J in classes(n):
        chosen = []
        for p in axis_primes(J):
            turn[p] += turn[p] < (p - 1) // 2
            chosen += [(p, turn[p])]
        found[J.d] = mask(J, chosen)
    return found


def mask(J, chosen):
    """Key frequencies of a class: k and −k on the axis of p."""
    found = np.zeros(len(J), dtype=bool)
    for p, k in chosen:
        found |= (frequencies(J.orders) == [k * (q == p) for q in axis_primes(J)]).all(axis=1)
    return found | found[conjugate(J.orders)]


def waves(f):
    return 2 * np.real(np.outer(f, f.conj()))


def same_class(n):
    return np.equal.outer(*[np.gcd(np.arange(n), n)] * 2)


def scaled(table, waves):
    """Tables and characters with equal sums of squares, each centred over the candidates."""
    parts = [x - x.mean(axis=1, keepdims=True) for x in (table, waves)]
    sizes = [np.sqrt((descriptions.weights_of(len(x)) @ x**2).sum()) for x in parts]
    return parts[0] / sizes[0] + parts[1] / sizes[1]


def prime_table(n, rng):
    of = descriptions.prime_indicators(n)
    return sum(x @ rng.normal(size=[x.shape[1]] * 2) @ x.T for x in of)


def class_table(n, rng):
    of = class_indicators(n)
    return of @ rng.normal(size=[of.shape[1]] * 2) @ of.T


def prime_waves(n, rng, cross=1.0):
    """Shared characters with positive coefficients; those between classes times `cross`."""
    found = sum(
        rng.uniform(0.5, 2) * waves(local(n, Part(p, 0, (k,))))
        for p, every in SHARED[n].items()
        for k in every
    )
    return np.where(same_class(n), found, cross * found)


def class_waves(n, keys, rng):
    """Every class's own characters, with coefficients of their own unless there is no rng."""
    found = np.zeros((n, n))
    for J in classes(n):
        for k in frequencies(J.orders)[keys[J.d]]:
            f = np.zeros(n, dtype=complex)
            f[J.elements] = chi(k, J.orders)
            found += waves(f) * (rng.uniform(0.5, 2) if rng else 1)
    return found


def profiles(y):
    """The profiles of logits that depend on the product alone."""
    y, n = y - y.mean(axis=1, keepdims=True), len(y)
    N, own = descriptions.weights_of(n), np.zeros(n)
    for J in classes(n):
        inside = y[np.ix_(J.elements, J.elements)]
        own[J.elements] = ((inside - inside.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    right = N * (activations.answers(y) == np.arange(n))
    return Profiles(y, N * (y**2).sum(axis=1), N * own, right)


def recorded(found: Profiles, keys, run="n15-s1") -> Logits:
    """The record of profiles with these key frequencies."""
    of_all = np.ones(found.n, dtype=bool)
    return Logits(
        run=run, n=found.n, architecture="transformer", finite=True,
        accuracy=found.accuracy(of_all), ceiling=found.ceiling(of_all),
        accuracy_classes={J.d: 1.0 for J in classes(found.n)},
        at=logits.at_key(found, keys, 0.5, ACCOUNTS.logits),
    )  # fmt: skip


def measured(y, keys, every=None) -> tuple[Any, Any]:
    """What is measured of planted logits, and what comes of it."""
    record = recorded(every or profiles(y), keys)
    return record.found, decision.votes(record, ACCOUNTS.levels)
