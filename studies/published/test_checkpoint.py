"""Published files: conversion is exact both ways, and code in one is refused in one line."""

import io
import os
from pathlib import Path

import numpy as np
import pytest
import torch
from plain import Net
from small import ALL

from strata import store
from strata.api.foreign import load_checkpoint
from strata.api.published import export
from strata.inputs import InputError
from strata.measure.activations import forward
from strata.run import Settings
from studies.published.stages import convert

SIZES = [(2, 4, 1, 3), (6, 16, 4, 32), (12, 12, 3, 5), (15, 8, 8, 40)]  # P, widths, heads


def checkpoint(size: tuple[int, int, int, int], seed: int = 1) -> tuple[Net, dict]:
    """Return a model with random weights and biases, and the dict that would be published of it."""
    n, d_model, n_heads, d_mlp = size
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(seed)
        model = Net(*size, bias=True)
        for parameter in model.parameters():
            parameter.normal_(std=0.3)
        losses = torch.rand(7).tolist()
    return model, {
        "model_state_dict": model.state_dict() | {"causal_mask": Net.mask},
        "config": {"P": n, "embed_dim": d_model, "num_heads": n_heads, "mlp_dim": d_mlp},
        "seed": seed,
        "losses": losses,
        "train_accs": [i / 6 for i in range(7)],
        "eval_accs": [0.25, 0.5, 1.0],
        "eval_epochs": [3, 6, 7],
    }


@pytest.mark.parametrize("size", SIZES)
def test_convert_keeps_the_logits_of_all_pairs_and_export_undoes_it(size, tmp_path):
    n, d_model, n_heads, d_mlp = size
    model, dictionary = checkpoint(size)
    torch.save(dictionary, tmp_path / "x.pt")
    widths = {"d_model": d_model, "n_heads": n_heads, "d_mlp": d_mlp, "epochs": 7}
    train = ALL.train.model_copy(update=widths)
    store.write_json(tmp_path / "settings", Settings(split=ALL.split, train=train))
    convert.main(f"n{n}-s1", *(str(tmp_path / x) for x in ("settings", "x.pt", "")))
    weights, metadata = store.read_tensors(tmp_path / "weights.safetensors")
    a, b = np.divmod(np.arange(n * n), n)
    with torch.no_grad():
        theirs = model(torch.from_numpy(a), torch.from_numpy(b)).numpy()
    assert np.allclose(forward(weights, a, b).logits, theirs, atol=1e-5, rtol=0)
    recorded = store.read_history(tmp_path / "history.parquet")
    assert np.isnan(recorded["mirror_free_accuracy"].to_numpy()).all()
    back = torch.load(io.BytesIO(export(metadata, weights, recorded)), weights_only=True)
    state = back.pop("model_state_dict")
    assert back == {k: v for k, v in dictionary.items() if k != "model_state_dict"}
    assert state.keys() == dictionary["model_state_dict"].keys()
    for name, tensor in dictionary["model_state_dict"].items():
        assert state[name].dtype == tensor.dtype and torch.equal(state[name], tensor)


class Code:
    """A pickle of this makes whoever loads it run a command."""

    def __reduce__(self):
        return os.system, ("touch ran",)


def test_code_in_a_pickle_is_refused_and_never_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    torch.save({"model_state_dict": Code()}, "x.pt")
    with pytest.raises(InputError, match=r"^x\.pt: refused: it asks for code, \w+\.system; save"):
        load_checkpoint(Path("x.pt").read_bytes(), "x.pt")
    assert list(tmp_path.iterdir()) == [tmp_path / "x.pt"]
