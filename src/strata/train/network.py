"""Draw the initial weights of both architectures."""

import torch
from torch import Tensor, nn

from strata.architecture import architecture
from strata.run import Run, TrainParams
from strata.task import permutation

Weights = dict[str, Tensor]


def initial(run: Run, params: TrainParams, order: int | None = None) -> Weights:
    """Return the initial weights of a run: torch's default initialisers draw them on the CPU, after
    the split of the seed of the weights. ``order`` says how many tokens may be a or b; n where none
    is given.

    torch's own layers are built and taken apart, so the values are theirs by construction.
    """
    kind, n, d_model, d_mlp = architecture(params), order or run.n, params.d_model, params.d_mlp
    shapes = kind.shapes(n, params)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        permutation(n, run.weights_seed)
        embedding = nn.Embedding(shapes["W_E"][0], d_model)
        weights = {"W_E": embedding.weight}
        if kind.attends:
            weights |= _attention(nn.MultiheadAttention(d_model, params.n_heads))
        for name, layer in {
            "in": nn.Linear(shapes["W_in"][0], d_mlp),
            "out": nn.Linear(d_mlp, d_model),
            "U": nn.Linear(d_model, n),
        }.items():
            weights |= {f"W_{name}": layer.weight.T, f"b_{name}": layer.bias}
        return {name: weights[name].clone() for name in shapes}


def _attention(layer: nn.MultiheadAttention) -> Weights:
    """Return torch's (3·d_model, d_model) projection, transposed and cut into heads."""
    heads = layer.num_heads
    weights: Weights = {}
    for name, W, b in zip(
        "QKV", layer.in_proj_weight.chunk(3), layer.in_proj_bias.chunk(3), strict=True
    ):
        weights[f"W_{name}"] = W.unflatten(0, (heads, -1)).mT
        weights[f"b_{name}"] = b.unflatten(0, (heads, -1))
    weights["W_O"] = layer.out_proj.weight.T.unflatten(0, (heads, -1))
    return weights | {"b_O": layer.out_proj.bias}
