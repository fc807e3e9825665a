"""The embedding under the two accounts: brute force on small n, and models made by hand whose
verdict theory gives."""

from math import gcd

import numpy as np
import pytest
from planted import planted
from small import weights_of

from strata import store
from strata.measure import activations
from strata.monoid import classes
from strata.patch import patching
from strata.patch.hybrids import Hybrids, predictions
from strata.run import Run
from studies.mechanism.by_hand import class_codes, mlp_lookup, random
from studies.mechanism.code import embedding, main_effects, transport
from studies.mechanism.code.dictionary import basis
from studies.mechanism.code.records import Change, Embedding, KeyKept
from studies.params import EmbeddingSettings, load

OWN = load().accounts.embedding.model_dump() | {"draws": 3, "key_threshold": 0.5}
SETTINGS = EmbeddingSettings.model_validate(OWN)
LEVELS = SETTINGS.levels


def measured(run: Run, weights: dict[str, np.ndarray]) -> Embedding:
    return embedding.measure(run, weights, SETTINGS)


@pytest.fixture(scope="module")
def shared():
    return measured(Run(35, 1), planted(35))


@pytest.mark.parametrize("n", [12, 15, 36])
def test_the_sum_of_main_effects_is_the_least_squares_fit_of_residues_modulo_prime_powers(n):
    rows = np.random.default_rng(n).normal(size=(n, 5))
    powers = main_effects.prime_powers(n)
    dummies = np.concatenate([np.eye(Q)[np.arange(n) % Q] for Q in powers], axis=1)
    near = dummies @ np.linalg.lstsq(dummies, rows, rcond=None)[0]
    table = main_effects.additive(rows)
    assert np.allclose(table + rows.mean(axis=0), near, atol=1e-12)
    assert basis(table).shape[1] == min(5, sum(Q - 1 for Q in powers))
    explained = 1 - ((rows - near) ** 2).sum() / ((rows - rows.mean(axis=0)) ** 2).sum()
    assert main_effects.share(rows) == pytest.approx(explained)
    other = main_effects.permuted(rows, np.random.default_rng(0))
    order = np.random.default_rng(0).permutation(n)
    assert np.allclose(other[order], main_effects.additive(rows[order]))


@pytest.mark.parametrize(("n", "Q"), [(12, 3), (36, 4), (35, 5), (30, 5)])
def test_shared_directions_by_brute_force(n, Q):
    rows = np.random.default_rng(n).normal(size=(n, 4))
    parts = []
    for d in (J.d for J in classes(n) if gcd(J.d, Q) == 1):
        units = [r for r in range(Q) if gcd(r, Q) == 1]
        own = [
            np.mean([rows[x] for x in range(n) if gcd(x, n) == d and x % Q == r], axis=0)
            for r in units
        ]
        parts.append(np.array(own) - np.mean(own, axis=0))
    pairs = [(f, g) for i, f in enumerate(parts) for j, g in enumerate(parts) if i != j]
    expected = sum((f * g).sum() for f, g in pairs) / sum(
        ((f**2).sum() + (g**2).sum()) / 2 for f, g in pairs
    )
    assert main_effects.shared_directions(rows, Q) == pytest.approx(expected)


def test_directions_of_one_class_or_one_residue_are_shared_with_none():
    rows = np.random.default_rng(0).normal(size=(49, 3))
    assert main_effects.shared_directions(rows, 49) is None
    assert main_effects.shared_directions(rows[:10], 2) is None
    assert main_effects.share(np.ones((6, 2))) is None


@pytest.mark.parametrize(("n", "Q"), [(12, 4), (36, 9), (35, 7)])
def test_a_transported_change_is_the_difference_that_residues_of_other_classes_show(n, Q):
    rows = np.random.default_rng(n).normal(size=(n, 3))
    to = transport.targets(n, Q, np.arange(Q))
    assert len(to.a) == n * (Q - 1)
    found = transport.transported(rows, to)
    for a, r, acts_as, row in zip(to.a, to.r, to.acts_as, found.table, strict=True):
        assert acts_as % Q == r and (acts_as - a) % (n // Q) == 0 and acts_as in range(n)
        H = [x for x in range(n) if gcd(x, n // Q) != gcd(int(a), n // Q)]
        gained = np.mean([rows[x] for x in H if x % Q == r], axis=0)
        lost = np.mean([rows[x] for x in H if (x - a) % Q == 0], axis=0)
        assert np.allclose(row, rows[a] + gained - lost)
        assert {gcd(x, n) for x in H}.isdisjoint({gcd(int(a), n), gcd(int(acts_as), n)})


def test_residues_are_drawn_where_there_are_many_and_0_always():
    found = transport.drawn(16, 13, np.random.default_rng(0))
    assert len(found) == 12 == len({*found.tolist()}) and found[0] == 0 and found.max() < 16
    assert transport.drawn(13, 13, np.random.default_rng(0)).tolist() == list(range(13))


def test_a_hit_in_one_of_two_places_is_a_half():
    n, rng, weights = 15, np.random.default_rng(0), random(15, "mlp")
    a = np.arange(n)
    table = rng.normal(size=weights["W_E"][:n].shape).astype(np.float32)
    hybrids = Hybrids(table, a, (a + 1) % n, np.gcd(a + 1, n))
    expected = predictions(hybrids, n, exact=True)
    trials = np.argwhere(expected.counts)
    by_hand = []
    for i, b in trials:
        put = weights | {"W_E": np.concatenate([weights["W_E"][:n], table[i : i + 1]])}
        places = np.array([[n, b], [b, n]])
        given = activations.answers(activations.forward(put, *places.T).logits)
        by_hand.append(np.mean(given == expected.expected[i, b]))
    found = transport.hits(patching.rig(weights, n), hybrids, expected)
    assert found.tolist() == by_hand and 0.5 in by_hand


@pytest.mark.parametrize("n", [15, 35])
def test_planted_primes_are_primes(n, shared):
    found = shared if n == 35 else measured(Run(n, 1), planted(n))
    assert found.E == "primes" and found.main_effects
    effects = found.main_effects
    assert effects.share == pytest.approx(1, abs=1e-6)
    assert all(x == pytest.approx(1, abs=1e-6) for x in effects.eta.values())
    assert effects.kept == effects.keep == effects.keep_components == 1
    assert effects.remove is not None and effects.remove <= 0.2
    for change in (found.within, found.crossing):
        assert change and change.success == 1 and change.random < 0.5


def test_primes_need_share_no_directions():
    found = measured(Run(15, 1), planted(15, shared=False))
    effects = found.main_effects
    assert found.E == "primes" and effects and effects.share and effects.share < 0.9
    assert all(x == pytest.approx(0, abs=1e-6) for x in effects.eta.values())
    assert effects.kept == 1
    assert found.within and found.crossing and found.within.success == found.crossing.success == 1


@pytest.mark.parametrize("own", [False, True])
def test_planted_strata_are_strata(own):
    found = measured(Run(35, 1, "mlp"), mlp_lookup(class_codes(35, shared=not own)))
    assert found.within and found.crossing and found.main_effects
    assert found.crossing.success <= 0.2 and found.main_effects.kept < 0.95
    assert found.within.success == (0 if own else 1)
    assert found.E and found.E.startswith("strata, own" if own else "strata, shared")


@pytest.mark.parametrize("which", ["lookup", "random"])
def test_what_follows_no_account_is_neither(which):
    run = Run(15, 1, "mlp" if which == "lookup" else "")
    found = measured(run, mlp_lookup(np.eye(15)) if which == "lookup" else weights_of(run))
    assert found.within and found.within.success <= 0.2
    assert found.crossing and found.crossing.success <= 0.2
    assert found.E == "neither"


def test_a_prime_power_has_no_other_class_to_show_a_change_and_no_verdict(tmp_path):
    found = measured(Run(9, 1), weights_of(Run(9, 1)))
    assert found.E is found.within is found.crossing is None
    assert found.main_effects and found.main_effects.share == pytest.approx(1)
    store.write_json(tmp_path / "x.json", found)
    assert store.read_model(tmp_path / "x.json", Embedding) == found


def test_a_run_that_diverged_is_recorded_and_no_more():
    found = measured(Run(6, 1), weights_of(Run(6, 1)) | {"b_U": np.full(6, np.nan)})
    assert not found.finite and found.E is found.main_effects is None


def change(success: float, chance: float = 0.1) -> Change:
    return Change(success=success, chance=chance, random=0.0)


@pytest.mark.parametrize(
    ("within", "crossing", "kept", "key", "expected"),
    [
        (1.0, 0.9, 0.6, 1.0, "primes"),
        (1.0, 0.9, 0.5, 1.0, "between"),
        (1.0, 0.2, 0.94, 1.0, "strata, shared coordinates"),
        (1.0, 0.3, 0.6, 1.0, "between"),
        (1.0, 0.2, 0.95, 1.0, "between"),
        (0.2, 0.1, 0.94, 0.95, "strata, own coordinates"),
        (0.2, 0.1, 0.95, 0.95, "between"),
        (0.2, 0.1, 0.95, 0.94, "neither"),
        (0.2, 0.1, 0.0, None, "neither"),
        (0.1, 1.0, 1.0, 1.0, "between"),
    ],
)
def test_the_verdict_follows_its_levels(shared, within, crossing, kept, key, expected):
    effects = shared.main_effects.model_copy(update={"kept": kept})
    of_key = KeyKept(skill=key, highest=0.1)
    found = embedding.verdict(LEVELS, effects, of_key, change(within), change(crossing))
    assert found == expected


def test_what_its_controls_do_as_well_does_not_count(shared):
    effects, whole = shared.main_effects, KeyKept(skill=1.0, highest=0.1)

    def verdict(key: KeyKept, across: Change, permuted: float) -> str | None:
        made = effects.model_copy(update={"keep_permuted": permuted})
        return embedding.verdict(LEVELS, made, key, across, across)

    assert verdict(whole, change(1.0), 0.4) == "primes"
    assert verdict(whole, change(1.0), 0.6) == "between"
    assert verdict(whole, change(0.95, chance=0.5), 0.4) == "between"
    assert verdict(KeyKept(skill=1.0, highest=0.6), change(0.1), 0.4) == "neither"
