"""The two architectures: their weights, initial values and forward pass.

Row vectors throughout: x @ W. Both are read at one place, so a forward pass costs one position per
pair.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from strata.architecture import architecture, architecture_of
from strata.run import Run, TrainParams
from strata.task import permutation

Weights = dict[str, Tensor]


class Activations(NamedTuple):
    """What a forward pass shows. The MLP-only model has no attention: its third field has no
    heads."""

    logits: Float[Tensor, "pairs n"]
    mlp: Float[Tensor, "pairs d_mlp"]
    attention: Float[Tensor, "pairs n_heads 3"]


def initial(run: Run, params: TrainParams) -> Weights:
    """The initial weights of a run: torch's default initialisers, drawn on the CPU after the split
    of the seed of the weights.

    torch's own layers are built and taken apart, so the values are theirs by construction.
    """
    kind, n, d_model, d_mlp = architecture(params), run.n, params.d_model, params.d_mlp
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
    """torch's (3·d_model, d_model) projection, transposed and cut into heads."""
    heads = layer.num_heads
    weights: Weights = {}
    for name, W, b in zip(
        "QKV", layer.in_proj_weight.chunk(3), layer.in_proj_bias.chunk(3), strict=True
    ):
        weights[f"W_{name}"] = W.unflatten(0, (heads, -1)).mT
        weights[f"b_{name}"] = b.unflatten(0, (heads, -1))
    weights["W_O"] = layer.out_proj.weight.T.unflatten(0, (heads, -1))
    return weights | {"b_O": layer.out_proj.bias}


def forward(weights: Weights, a: Int[Tensor, " pairs"], b: Int[Tensor, " pairs"]) -> Activations:
    """Logits for c = ab at `=`, with the activations behind them. Differentiable."""
    if not architecture_of(weights).attends:
        W_E = weights["W_E"]
        return _head(weights, torch.cat([W_E[a], W_E[b]], dim=1), 0, a.new_zeros(len(a), 0, 3))
    keys, values, query = qkv(weights)
    scores = (keys * query).sum(-1)  # token head
    equals = torch.full_like(a, len(weights["W_E"]) - 1)
    tokens = torch.stack([a, b, equals], dim=1)  # pairs 3
    pattern = scores[tokens].softmax(dim=1)  # pairs 3 head
    mixed = torch.einsum("pth,pthd->phd", pattern, values[tokens])
    x = weights["W_E"][-1] + torch.einsum("phd,hdm->pm", mixed, weights["W_O"]) + weights["b_O"]
    return _head(weights, x, x, pattern.mT)


def qkv(weights: Weights) -> tuple[Tensor, Tensor, Tensor]:
    """Keys and values of every token (token head d_head), and the query of `=`, divided by
    √d_head."""
    W_E = weights["W_E"]
    keys = torch.einsum("tm,hmd->thd", W_E, weights["W_K"]) + weights["b_K"]
    values = torch.einsum("tm,hmd->thd", W_E, weights["W_V"]) + weights["b_V"]
    query = torch.einsum("m,hmd->hd", W_E[-1], weights["W_Q"]) + weights["b_Q"]
    return keys, values, query / query.shape[-1] ** 0.5


def _head(weights: Weights, x: Tensor, residual: Tensor | int, attention: Tensor) -> Activations:
    """MLP and unembedding; the MLP-only model adds no residual stream."""
    mlp = torch.relu(x @ weights["W_in"] + weights["b_in"])
    out = residual + mlp @ weights["W_out"] + weights["b_out"]
    return Activations(out @ weights["W_U"] + weights["b_U"], mlp, attention)
