"""Classes in the embedding and in what training adds to it, on planted trainings."""

import numpy as np
import pytest
from small import TRAIN

from strata.monoid import classes
from strata.statistics import above_chance
from studies.dynamics.code import apart
from studies.dynamics.code.order import settled

N = 35
LABEL = np.gcd(np.arange(N), N)
DECAY = TRAIN.model_copy(update={"lr": 0.01, "weight_decay": 1.0})
EPOCHS = np.arange(0, 500, 50)


def means(seed: int) -> np.ndarray:
    """A row for each residue that its class alone decides."""
    return np.random.default_rng(seed).normal(size=(N + 1, 40))[LABEL]


@pytest.fixture(scope="module")
def decaying() -> dict[int, dict[str, float]]:
    """Class means that grow from the first step, in initial noise that decays."""
    first = np.random.default_rng(0).normal(size=(N, 40))
    found = {}
    for t in EPOCHS.tolist():
        W_E = 0.99**t * first + t / 1000 * means(1)
        found[t] = {x.measure: x.value for x in apart.observe(W_E, first, t, DECAY)}
    return found


def test_what_training_adds_is_the_classes_from_the_first_step_while_noise_hides_them(decaying):
    assert "class_share_added" not in decaying[0]
    added = [decaying[t]["class_share_added"] for t in EPOCHS[1:].tolist()]
    assert added == pytest.approx([1.0] * len(added))
    share = np.array([decaying[t]["class_share"] for t in EPOCHS.tolist()])
    late = settled(EPOCHS, above_chance_of(share))
    assert late is not None and late > EPOCHS[1]
    assert settled(EPOCHS[1:], above_chance_of(np.array(added))) == EPOCHS[1]


def above_chance_of(share: np.ndarray) -> np.ndarray:
    chance = (len(classes(N)) - 1) / (N - 1)
    return np.array([above_chance(x, chance) for x in share.tolist()])


def test_the_probe_finds_classes_that_are_there_and_none_in_noise(decaying):
    assert decaying[int(EPOCHS[-1])]["probe"] == 1
    assert decaying[0]["probe"] <= decaying[0]["probe_shuffled_high"]
    assert decaying[0]["probe_shuffled"] == pytest.approx(1 / len(classes(N)), abs=0.1)


def test_a_probe_that_has_seen_a_residue_would_know_it():
    """Every residue in a direction of its own: its class is learned by heart, and not found."""
    accuracy, shuffled = apart.probe(np.eye(N))
    assert accuracy <= shuffled.max()


def test_the_share_between_classes_is_one_for_class_means_and_little_by_chance():
    assert apart.class_share(means(0).astype(np.float32)) == pytest.approx(1)
    noise = np.random.default_rng(1).normal(size=(N, 400)).astype(np.float32)
    assert apart.class_share(noise) == pytest.approx(3 / (N - 1), abs=0.02)  # four classes
