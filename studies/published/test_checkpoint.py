"""Published files: conversion is exact both ways, and what does not fit is refused in one line."""

import io
import math
import os
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from torch import Tensor, nn

from strata import store
from strata.api.published import export
from strata.architecture import architecture
from strata.measure.activations import forward
from strata.params import load
from strata.run import InputError, Run, Settings, TrainParams
from strata.tables.printed import Printed
from studies.published.code import checkpoint as published_file

ROOT = Path(__file__).parents[2]
PRINTED = store.read_model(ROOT / "paper" / "printed_values.json", Printed)
SIZES = [(2, 4, 1, 3), (6, 16, 4, 32), (12, 12, 3, 5), (15, 8, 8, 40)]  # P, widths, heads


class Model(nn.Module):
    """The paper's transformer from torch's own modules, under the names of its published files."""

    causal_mask: Tensor

    def __init__(self, n: int, d_model: int, n_heads: int, d_mlp: int):
        super().__init__()
        self.n = n
        self.embed = nn.Embedding(n + 1, d_model)
        self.attn = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(d_model, d_mlp), nn.ReLU(), nn.Linear(d_mlp, d_model))
        self.unembed = nn.Linear(d_model, n)
        self.register_buffer("causal_mask", torch.ones(3, 3, dtype=torch.bool).triu(1))

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        x = self.embed(torch.stack([a, b, torch.full_like(a, self.n)], dim=1))
        x = x + self.attn(x, x, x, attn_mask=self.causal_mask, need_weights=False)[0]
        return self.unembed(x + self.mlp(x))[:, -1]


def checkpoint(size: tuple[int, int, int, int], seed: int = 1) -> tuple[Model, dict]:
    """A model with random weights and biases, and the dict that would be published of it."""
    n, d_model, n_heads, d_mlp = size
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(seed)
        model = Model(*size)
        for parameter in model.parameters():
            parameter.normal_(std=0.3)
        losses = torch.rand(7).tolist()
    return model, {
        "model_state_dict": model.state_dict(),
        "config": {"P": n, "embed_dim": d_model, "num_heads": n_heads, "mlp_dim": d_mlp},
        "seed": seed,
        "losses": losses,
        "train_accs": [i / 6 for i in range(7)],
        "eval_accs": [0.25, 0.5, 1.0],
        "eval_epochs": [3, 6, 7],
    }


def saved(value: object) -> bytes:
    file = io.BytesIO()
    torch.save(value, file)
    return file.getvalue()


def converted(value: object) -> published_file.Converted:
    return published_file.convert(saved(value), "x.pt", PRINTED.training)


@pytest.mark.parametrize("size", SIZES)
def test_logits_are_those_of_the_published_model_over_all_pairs(size):
    model, dictionary = checkpoint(size)
    a, b = np.divmod(np.arange(size[0] ** 2), size[0])
    with torch.no_grad():
        theirs = model(torch.from_numpy(a), torch.from_numpy(b)).numpy()
    ours = forward(converted(dictionary).weights, a, b).logits
    assert np.allclose(ours, theirs, atol=1e-5, rtol=0)


@pytest.mark.parametrize("size", SIZES)
def test_a_converted_file_is_a_run_that_store_reads_back(size, tmp_path):
    _, dictionary = checkpoint(size, seed=5)
    found = converted(dictionary)
    path = tmp_path / "weights.safetensors"
    store.write_bytes(path, store.tensors_bytes(found.weights, found.metadata))
    read = store.read_weights(path, Run(size[0], 5))
    assert all(np.array_equal(read[name], x) for name, x in found.weights.items())
    train = TrainParams.model_validate(found.metadata["train"])
    assert {name: x.shape for name, x in read.items()} == architecture(train).shapes(
        found.run.n, train
    )
    assert (train.epochs, train.lr, train.validate_every) == (7, 0.001, 100)
    assert found.metadata["split"] == {"train_fraction": 0.3, "validation_fraction": 0.3}


def test_the_paper_says_how_its_models_were_trained_what_our_parameters_say():
    _, dictionary = checkpoint((165, 128, 4, 512))
    params = load(ROOT / "params.yaml")
    metadata = converted(dictionary).metadata
    ours = Settings(split=params.split, train=params.train).record(Run(165, 1))
    assert metadata == ours | {"train": ours["train"] | {"epochs": 7}}


def test_the_history_is_the_file_s_and_mirror_free_accuracies_are_unknown(tmp_path):
    _, dictionary = checkpoint(SIZES[1])
    store.write_history(tmp_path / "h", converted(dictionary).history)
    history = store.read_history(tmp_path / "h")
    assert history["loss"].tolist() == dictionary["losses"]
    assert history["train_accuracy"].tolist() == dictionary["train_accs"]
    nan = math.nan
    expected = [nan, nan, 0.25, nan, nan, 0.5, 1.0]
    np.testing.assert_array_equal(history["validation_accuracy"], expected)
    assert np.isnan(history["mirror_free_accuracy"].to_numpy()).all()


@pytest.mark.parametrize("size", SIZES)
def test_export_undoes_convert_and_convert_undoes_export(size):
    _, dictionary = checkpoint(size)
    found = converted(dictionary)
    content = export(found.metadata, found.weights, pd.DataFrame(found.history))
    back = torch.load(io.BytesIO(content), weights_only=True)
    state = back.pop("model_state_dict")
    assert back == {k: v for k, v in dictionary.items() if k != "model_state_dict"}
    assert state.keys() == dictionary["model_state_dict"].keys()
    for name, tensor in dictionary["model_state_dict"].items():
        assert state[name].dtype == tensor.dtype and torch.equal(state[name], tensor)
    again = published_file.convert(content, "y.pt", PRINTED.training)
    assert again.metadata == found.metadata
    assert all(np.array_equal(again.weights[k], x) for k, x in found.weights.items())
    assert export(again.metadata, again.weights, pd.DataFrame(again.history)) == content


class Code:
    """A pickle of this makes whoever loads it call a function."""

    def __init__(self, *call: object):
        self.call = call

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize(
    ("name", "call"),
    [(os.name, (os.system, ("touch ran",))), ("shutil", (shutil.copy, (__file__, "ran")))],
)
def test_code_in_a_pickle_is_refused_and_never_runs(name, call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=rf"^x\.pt: refused: it asks for code, {name}\.\w+; save"):
        converted({"model_state_dict": Code(*call)})
    assert list(tmp_path.iterdir()) == []
