"""Logits planted by hand, as strata and as primes would have them, and what is measured of them."""

from typing import Any

import numpy as np
from tiny import ROOT

from strata.measure.fourier import conjugate
from strata.monoid import axis_primes, chi, classes, frequencies
from studies import params
from studies.mechanism import by_hand
from studies.mechanism.code import decision, descriptions, logits
from studies.mechanism.code.characters import local
from studies.mechanism.code.descriptions import class_indicators
from studies.mechanism.code.logits import Profiles
from studies.mechanism.code.profile import Profile
from studies.mechanism.code.records import Logits, Part

ACCOUNTS = params.load(ROOT).accounts
SETTINGS = params.LogitsSettings(**ACCOUNTS.logits.model_dump(), key_threshold=0.5)
SHARED = {
    15: {3: [1], 5: [1]},
    35: {5: [1], 7: [1]},
    165: {3: [1], 5: [1], 11: [2, 3]},
    143: {11: [1, 4], 13: [2, 5]},
}


def shared_keys(n):
    """The same few frequencies of each prime in every class that has it."""
    return by_hand.shared(n, SHARED[n])


def own_keys(n):
    """Frequencies of each class's own: each of a prime is key in one class alone, in turn."""
    found, turn = {}, dict.fromkeys(SHARED[n], 0)
    for J in classes(n):
        for p in axis_primes(J):
            turn[p] += turn[p] < (p - 1) // 2
        found[J.d] = [(p, turn[p]) for p in axis_primes(J)]
    return by_hand.key_of(n, found)


def some_keys(n, share=0.4):
    """Random key frequencies with their conjugates."""
    rng, found = np.random.default_rng(n), {}
    for J in classes(n):
        mask = rng.random(len(J)) < share
        found[J.d] = mask | mask[conjugate(J.orders)]
        found[J.d][0] = False
    return found


def every_key(n):
    return some_keys(n, share=1)


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


def primes(n, rng, cross=1.0):
    """Logits of primes: any function of each remainder, and shared characters."""
    return scaled(prime_table(n, rng), prime_waves(n, rng, cross))


def class_waves(n, keys, rng):
    """Every class's own characters, with coefficients of their own unless there is no rng."""
    found = np.zeros((n, n))
    for J in (J for J in classes(n) if J.d in keys):
        for k in frequencies(J.orders)[keys[J.d]]:
            f = np.zeros(n, dtype=complex)
            f[J.elements] = chi(k, J.orders)
            found += waves(f) * (rng.uniform(0.5, 2) if rng else 1)
    return found


def profiles(y):
    """The profiles of logits that depend on the product alone."""
    y = y - y.mean(axis=1, keepdims=True)
    return Profiles(y, descriptions.weights_of(len(y)) * (y**2).sum(axis=1))


def profile_of(y) -> Profile:
    """The profile of centred logits that depend on the product alone."""
    of = profiles(y)
    return Profile(of.y, of.total)


def recorded(profiles: Profiles, keys, run="n15-s1") -> Logits:
    """The record of profiles with these key frequencies."""
    return Logits(
        run=run, n=profiles.n, architecture="transformer", finite=True,
        ceiling=profiles.ceiling(np.ones(profiles.n, dtype=bool)),
        at=logits.at_key(profiles, keys, SETTINGS),
    )  # fmt: skip


def measured(y, keys, every=None) -> tuple[Any, Any]:
    """What is measured of planted logits, and what comes of it."""
    record = recorded(every or profiles(y), keys)
    return record.found, decision.votes(record, ACCOUNTS.levels)
