"""docs/nano_strata.py does what the library does, in float64."""

import numpy as np
import pytest
import torch

from docs import nano_strata as nano
from strata import params, task
from strata.measure import activations, fourier
from strata.monoid import classes, frequencies
from strata.run import Run
from strata.train import gradients
from strata.train.trainer import Trainer

RUN, EPOCHS = Run(30, 1, "quick"), 200
QUICK = params.load("params.yaml").settings(RUN)


@pytest.fixture
def training(double, monkeypatch):
    """Train with the library, then with the file for as many epochs. Return the library's trainer
    and split, then the weights, training pairs, validation pairs and losses of the file."""
    train = QUICK.train
    split = task.split(RUN.n, RUN.seed, QUICK.split.train_fraction, QUICK.split.validation_fraction)
    monkeypatch.setitem(gradients.ROWS, "cpu", 100)  # several chunks
    trainer = Trainer(RUN, train.model_copy(update={"epochs": EPOCHS}), split)
    trainer.advance(EPOCHS)
    pairs, validation = nano.split(RUN.n, RUN.seed, nano.TENTHS)
    W = nano.initial(RUN.n, nano.D_MODEL, nano.N_HEADS, nano.D_MLP)
    losses = nano.train(W, pairs, EPOCHS, nano.LR, nano.WEIGHT_DECAY, nano.EPS)
    return trainer, split, W, pairs, validation, losses


def test_a_training_of_the_file_is_that_of_the_library(training):
    trainer, split, W, pairs, validation, losses = training
    assert np.array_equal(pairs.sort().values, np.flatnonzero(split == task.TRAIN))
    assert np.array_equal(validation.sort().values, np.flatnonzero(split == task.VALIDATION))
    history, weights = trainer.history(), trainer.weights()
    assert np.allclose(losses, history["loss"], atol=0, rtol=1e-6)  # kept as float32
    assert W.keys() == weights.keys() and losses[-1] < losses[0] / 10
    for name, x in W.items():
        assert np.allclose(x.detach(), weights[name], atol=1e-8, rtol=0), name
    assert nano.accuracy(W, validation) == history["validation_accuracy"][-1]
    trainer.advance(EPOCHS)
    a, b = np.divmod(np.arange(RUN.n**2), RUN.n)
    expected = activations.forward(weights, a, b)
    with torch.no_grad():
        logits, pattern = nano.forward(W, torch.from_numpy(a), torch.from_numpy(b))
    assert np.allclose(logits, expected.logits, atol=1e-6, rtol=0)
    assert np.allclose(pattern.permute(1, 2, 0), expected.attention, atol=1e-6, rtol=0)


@pytest.mark.parametrize("n", [35, 165, 330])
def test_the_spectrum_of_each_class_is_that_of_the_library(n):
    W_E = np.random.default_rng(n).normal(size=(n, 5))
    for J in classes(n):
        if len(J) > 1:
            shares = nano.spectrum(W_E, n, J.d)  # an odd residue has an axis of length 1 for 2
            assert [k[-len(J.orders) :] for k in shares] == [*map(tuple, frequencies(J.orders))]
            expected = fourier.energy_share(W_E[J.elements], J.orders)
            assert [*shares.values()] == pytest.approx(expected)


def test_votes_are_least_squares_over_all_pairs_by_hand():
    """Fit one parameter for each prime, residue and candidate to the logits of every pair."""
    n, rng = 15, np.random.default_rng(0)
    logits = rng.normal(size=(n * n, n))
    y, count = nano.by_product(logits, n)
    centred = logits - logits.mean(axis=1, keepdims=True)
    q = np.array([a * b % n for a in range(n) for b in range(n)])
    rows = np.array([[x % 3 == r for r in range(3)] + [x % 5 == r for r in range(5)] for x in q])
    for c in range(n):
        mean = np.array([centred[q == x, c].mean() for x in range(n)])
        assert np.allclose(y[:, c], mean)
    fitted = rows @ np.linalg.pinv(rows.astype(float)) @ centred
    share = (fitted**2).sum() / (y[q] ** 2).sum()
    assert nano.votes(y, count, np.arange(n))[0] == pytest.approx(share)
    order = rng.permutation(n)
    assert nano.votes(y[order], count[order], order)[0] == pytest.approx(share)
    g = rng.normal(size=(8, n))
    indicators = np.stack([rows[q == x][0] for x in range(n)])
    assert nano.votes(indicators @ g, count, np.arange(n))[0] == pytest.approx(1)


def test_the_vote_of_a_character_by_difference_is_the_planted_one():
    """Plant votes by the powers of 3 modulo 7, which are 1, 3, 2, 6, 4, 5."""
    n, planted = 35, [3.0, 1.0, 4.0, 0.5]
    t = {3**i % 7: i for i in range(6)}
    chi = np.array([np.exp(2j * np.pi * t[c % 7] / 6) if c % 7 else 0 for c in range(n)])
    logits = np.zeros((n * n, n))
    for a in range(n):
        for b in range(n):
            if a % 7 and b % 7:
                delta = abs(t[a % 7] - t[b % 7])
                size = planted[min(delta, 6 - delta)]
                logits[a * n + b] = size * (chi[a * b % n] * chi.conj()).real
    # Thirty of the candidates are units modulo 7, and a cosine squared is one half on average.
    assert nano.vote(logits, n, 7, 1) == pytest.approx([x * 15 / n for x in planted])
    assert nano.vote(logits, n, 7, 2) == pytest.approx([0] * 4, abs=1e-9)


def test_the_file_runs_by_itself(monkeypatch, capsys):
    monkeypatch.setattr(nano, "EPOCHS", 5)
    nano.main()
    printed = capsys.readouterr().out
    assert "votes of [5, 7] explain" in printed and printed.endswith("↑ 23\n")
