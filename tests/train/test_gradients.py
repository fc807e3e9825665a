"""Hand-written gradients against autograd of the plain step, in float64 to 1e-6."""

import numpy as np
import plain
import pytest
import torch
from small import TRAIN, kind_of

from strata import task
from strata.run import Run, TrainParams
from strata.train import gradients, trainer


def trainer_of(run: Run, params: TrainParams = TRAIN) -> trainer.Trainer:
    return trainer.Trainer(run, kind_of(run, params), task.split(run.n, run.seed, 0.3, 0.3))


def assert_gradients(trainer: trainer.Trainer, weights: plain.Weights) -> None:
    """Those of a trainer, after one pass, are those of the plain loss of the same weights."""
    plain.loss(weights, trainer.run).backward()
    assert trainer.parameter.grad is not None
    trainer.parameter.grad.zero_()
    with torch.no_grad():
        loss, hits = gradients.epoch(trainer.network, trainer.batches)
    parts = trainer.parameter.grad.split([x.numel() for x in trainer.layers.values()])
    layers = zip(trainer.layers.items(), parts, strict=True)
    ours = gradients.unstacked(
        {name: part.view_as(layer) for (name, layer), part in layers}, trainer.params.n_heads
    )
    assert abs(float(loss) / plain.loss(weights, trainer.run).item() - 1) < 1e-6
    a, b, c = plain.training(trainer.run)
    right = plain.logits(weights, a, b).argmax(dim=1) == c
    assert abs(float(hits) - right.double().mean().item()) < 1e-9
    for name, weight in weights.items():
        assert weight.grad is not None
        largest = 1e-3 if name == "b_K" else weight.grad.abs().max()  # it moves all scores alike
        assert (ours[name] - weight.grad).abs().max() < 1e-6 * largest, name


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize("variant", ["", "mlp"])
@pytest.mark.parametrize("n", [2, 12, 15])
@pytest.mark.parametrize("rows", [10**6, 7, 1])
def test_loss_and_gradients_are_those_of_autograd(monkeypatch, variant, n, rows):
    monkeypatch.setitem(gradients.ROWS, "cpu", rows)
    run = Run(n, 4, variant)
    trainer = trainer_of(run)
    assert_gradients(trainer, plain.initial(run, kind_of(run, TRAIN)))


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize("n_heads", [1, 4, 12])
def test_gradients_hold_for_any_number_of_heads_and_away_from_the_initial_weights(n_heads):
    params = TRAIN.model_copy(update={"n_heads": n_heads, "epochs": 40, "lr": 0.01})
    run = Run(11, 0)
    trainer = trainer_of(run, params)
    trainer.advance(40)
    weights = trainer.weights().items()
    assert_gradients(trainer, {name: torch.from_numpy(x).requires_grad_() for name, x in weights})


def test_sums_by_token_are_the_same_in_every_form():
    rng = np.random.default_rng(0)
    tokens = torch.from_numpy(rng.integers(0, 9, 500))
    values = torch.from_numpy(rng.normal(size=(500, 6)))
    expected = torch.zeros(12, 6, dtype=torch.float64).index_add_(0, tokens, values)
    assert torch.allclose(gradients.by_token(tokens, values, 12), expected)

    class OnGPU(torch.Tensor):
        is_cuda = True  # type: ignore[assignment]

    found = gradients.by_token(tokens, values.as_subclass(OnGPU), 12)
    assert torch.allclose(found.as_subclass(torch.Tensor), expected)
    assert (expected[9:] == 0).all()
