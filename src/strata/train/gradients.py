"""Compute loss and gradient of both architectures by hand: forward, as ``api.model``, and back.

The gradients are written out because on a CPU autograd on the same chunks takes about a tenth
longer: 49.1 ms against 45.7 ms an epoch of n = 165 on an AMD EPYC, on 26 November 2026. Here
products are accumulated into the gradient in place, and no large buffer is allocated in an epoch.
Every layer keeps its bias as the last row of its matrix and its input ends in a column of ones, so
one product serves both.
"""

import math
from typing import NamedTuple, Protocol, runtime_checkable

import torch
from torch import Tensor

from strata.train.network import Weights

# A chunk has so many rows that on a CPU the (rows, d_mlp) activations stay in the cache, and on a
# GPU one launch fills it.
ROWS = {"cpu": 2400, "cuda": 2**17}


class Batch(NamedTuple):
    """A ``Batch`` holds pairs with their products; ``weight`` is the share of the mean that a row
    stands for."""

    a: Tensor
    b: Tensor
    c: Tensor  # rows 1
    weight: Tensor  # rows 1


@runtime_checkable
class Network(Protocol):
    """A ``Network`` goes forward and backward over chunks; ``begin`` and ``end`` do what is done
    once an epoch."""

    def begin(self) -> None: ...
    def forward(self, a: Tensor, b: Tensor) -> Tensor: ...
    def backward(self, a: Tensor, b: Tensor, d_logits: Tensor) -> None: ...
    def end(self) -> None: ...


def stacked(weights: Weights) -> Weights:
    """Return the weights with heads side by side and each bias as the last row of its matrix."""
    layers = {"W_E": weights["W_E"]}
    for name in ("Q", "K", "V"):
        if f"W_{name}" in weights:
            W, b = weights[f"W_{name}"], weights[f"b_{name}"]
            layers[name] = torch.cat([W.transpose(0, 1).flatten(1), b.reshape(1, -1)])
    for name in ("O", "in", "out", "U"):
        if f"W_{name}" in weights:
            W, b = weights[f"W_{name}"], weights[f"b_{name}"]
            layers[name] = torch.cat([W.reshape(-1, W.shape[-1]), b[None]])
    return layers


def unstacked(layers: Weights, n_heads: int) -> Weights:
    """Undo ``stacked``, so that the weights have their own names and shapes again."""
    weights = {"W_E": layers["W_E"]}
    for name, layer in layers.items():
        W, b = layer[:-1], layer[-1]
        if name in {"Q", "K", "V"}:
            W, b = W.unflatten(1, (n_heads, -1)).transpose(0, 1), b.view(n_heads, -1)
        if name == "O":
            W = W.unflatten(0, (n_heads, -1))
        if name != "W_E":
            weights |= {f"W_{name}": W, f"b_{name}": b}
    return weights


def chunks(batch: Batch) -> list[Batch]:
    """Cut the batch into equal chunks of at most ROWS rows."""
    count = -(-len(batch.a) // ROWS[batch.a.device.type])
    return [Batch(*parts) for parts in zip(*(x.tensor_split(count) for x in batch), strict=True)]


def loss_gradient(logits: Tensor, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
    """Return the weighted cross-entropy, its gradient, and the weight of the rows whose largest
    logit is right.

    All of it is float32, as in the paper. CHANGELOG.md says what a float64 log-softmax would
    change.
    """
    log_p = torch.log_softmax(logits, dim=1)
    label_log_p = log_p.gather(1, batch.c)
    loss = -(label_log_p * batch.weight).sum()
    correct = (batch.weight * (label_log_p >= log_p.amax(dim=1, keepdim=True))).sum()
    d_logits = log_p.exp_().scatter_add_(1, batch.c, torch.full_like(batch.weight, -1))
    return loss, d_logits.mul_(batch.weight), correct


def by_token(tokens: Tensor, values: Tensor, count: int) -> Tensor:
    """Sum the rows of values that carry each token, in an order that does not vary."""
    if values.is_cuda:  # atomics would add in any order, and the sorting kernel stalls a CUDA graph
        return torch.nn.functional.one_hot(tokens, count).to(values.dtype).T @ values
    return torch.ops.aten.embedding_dense_backward(values, tokens, count, -1, False)


def _ones(like: Tensor, rows: int, width: int) -> Tensor:
    """Return a buffer for a layer's input: width columns and one of ones, padded for alignment."""
    return like.new_ones(rows, -(-(width + 1) // 16) * 16)[:, : width + 1]


class Head:
    """This head is MLP and unembedding on chunks: x → ReLU(x W_in) → W_out (+ residual) → W_U."""

    def __init__(self, layers: Weights, grads: Weights, rows: int):
        self.W_in, self.W_out, self.W_U = (layers[name] for name in ("in", "out", "U"))
        self.dW_in, self.dW_out, self.dW_U = (grads[name] for name in ("in", "out", "U"))
        d_mlp, d_model = self.W_out.shape[0] - 1, self.W_out.shape[1]
        self.x = _ones(self.W_in, rows, self.W_in.shape[0] - 1)
        self.mlp = _ones(self.W_in, rows, d_mlp)
        self.out = _ones(self.W_in, rows, d_model)
        self.logits = self.W_U.new_empty(rows, self.W_U.shape[1])
        self.d_out = self.W_U.new_empty(rows, d_model)
        self.d_mlp = self.W_U.new_empty(rows, d_mlp)

    def forward(self, rows: int, residual: bool) -> Tensor:
        """Return the logits of the first ``rows`` rows of the input buffer x."""
        x, mlp, out = self.x[:rows], self.mlp[:rows], self.out[:rows]
        torch.mm(x, self.W_in, out=mlp[:, :-1]).relu_()
        torch.mm(mlp, self.W_out, out=out[:, :-1])
        if residual:
            out[:, :-1] += x[:, :-1]
        return torch.mm(out, self.W_U, out=self.logits[:rows])

    def backward(self, d_logits: Tensor) -> tuple[Tensor, Tensor]:
        """Return the gradients at the residual stream's end and before the ReLU, and add up those
        of the weights."""
        rows = len(d_logits)
        x, mlp, out = self.x[:rows], self.mlp[:rows], self.out[:rows]
        d_out, d_mlp = self.d_out[:rows], self.d_mlp[:rows]
        self.dW_U.addmm_(out.T, d_logits)
        torch.mm(d_logits, self.W_U[:-1].T, out=d_out)
        self.dW_out.addmm_(mlp.T, d_out)
        torch.mm(d_out, self.W_out[:-1].T, out=d_mlp)
        torch.ops.aten.threshold_backward.grad_input(d_mlp, mlp[:, :-1], 0, grad_input=d_mlp)
        self.dW_in.addmm_(x.T, d_mlp)
        return d_out, d_mlp


class MLP:
    """The MLP-only model puts the head on the two embeddings side by side, without a residual
    stream. It has no attention heads, so ``n_heads`` says nothing."""

    def __init__(self, layers: Weights, grads: Weights, rows: int, n_heads: int):
        self.head = Head(layers, grads, rows)
        self.W_E, self.dW_E = layers["W_E"], grads["W_E"]
        self.d_x = self.W_E.new_empty(rows, 2 * self.W_E.shape[1])

    def begin(self) -> None:
        """Do nothing, as chunks share nothing."""

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        d_model = self.W_E.shape[1]
        self.head.x[: len(a), :d_model] = self.W_E[a]
        self.head.x[: len(a), d_model:-1] = self.W_E[b]
        return self.head.forward(len(a), residual=False)

    def backward(self, a: Tensor, b: Tensor, d_logits: Tensor) -> None:
        _, d_mlp = self.head.backward(d_logits)
        d_x = torch.mm(d_mlp, self.head.W_in[:-1].T, out=self.d_x[: len(a)])
        for tokens, part in zip((a, b), d_x.chunk(2, dim=1), strict=True):
            self.dW_E += by_token(tokens, part.contiguous(), len(self.W_E))

    def end(self) -> None:
        """Do nothing, as nothing is left to do."""


class Transformer:
    """The transformer attends by tables of n+1 keys and values, then has the head, at the position
    of `=` alone."""

    def __init__(self, layers: Weights, grads: Weights, rows: int, n_heads: int):
        self.layers, self.grads, self.n_heads = layers, grads, n_heads
        self.head = Head(layers, grads, rows)
        self.W_E, self.W_O = layers["W_E"], layers["O"]
        self.equals = len(self.W_E) - 1
        self.z = _ones(self.W_E, rows, self.W_E.shape[1])
        self.d_x, self.d_z = (self.W_E.new_empty(rows, self.W_E.shape[1]) for _ in range(2))

    def _project(self, name: str, x: Tensor) -> Tensor:
        return torch.addmm(self.layers[name][-1], x, self.layers[name][:-1])

    def begin(self) -> None:
        """Compute the query of `=` and keys, values and scores of every token; their gradients
        start at zero."""
        n_heads = self.n_heads
        self.query = self._project("Q", self.W_E[-1:]).view(n_heads, -1)
        self.keys = self._project("K", self.W_E).unflatten(1, (n_heads, -1))
        self.values = self._project("V", self.W_E).unflatten(1, (n_heads, -1))
        self.scale = 1 / math.sqrt(self.query.shape[1])
        self.scores = (self.keys * (self.query * self.scale)).sum(-1)  # token head
        self.d_scores, self.d_values = torch.zeros_like(self.scores), torch.zeros_like(self.values)
        self.d_equals = torch.zeros_like(self.W_E[-1])

    def _sources(self, table: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return table[a], table[b], table[self.equals].expand(len(a), *table.shape[1:])

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        rows = len(a)
        self.pattern = torch.stack(self._sources(self.scores, a, b)).softmax(dim=0)  # 3 rows head
        self.read = self._sources(self.values, a, b)
        mixed = self.pattern[0, :, :, None] * self.read[0]
        for weight, values in zip(self.pattern[1:], self.read[1:], strict=True):
            mixed.addcmul_(weight[:, :, None], values)
        self.z[:rows, :-1] = mixed.flatten(1)
        attended = torch.mm(self.z[:rows], self.W_O, out=self.d_x[:rows])
        torch.add(attended, self.W_E[-1], out=self.head.x[:rows, :-1])
        return self.head.forward(rows, residual=True)

    def backward(self, a: Tensor, b: Tensor, d_logits: Tensor) -> None:
        rows = len(a)
        d_out, d_mlp = self.head.backward(d_logits)
        d_x = torch.addmm(d_out, d_mlp, self.head.W_in[:-1].T, out=self.d_x[:rows])
        self.d_equals += d_x.sum(0)
        self.grads["O"].addmm_(self.z[:rows].T, d_x)
        d_z = torch.mm(d_x, self.W_O[:-1].T, out=self.d_z[:rows]).unflatten(1, (self.n_heads, -1))
        d_pattern = torch.stack([(d_z * values).sum(-1) for values in self.read])
        mean = (self.pattern * d_pattern).sum(0)
        d_scores = self.pattern * (d_pattern - mean)
        for tokens, weight, d_score in zip((a, b), self.pattern, d_scores, strict=False):
            d_values = (weight[:, :, None] * d_z).flatten(1)
            sums = by_token(tokens, torch.cat([d_values, d_score], dim=1), len(self.W_E))
            self.d_values += sums[:, : d_values.shape[1]].view_as(self.d_values)
            self.d_scores += sums[:, d_values.shape[1] :]
        self.d_values[-1] += (self.pattern[2][:, :, None] * d_z).sum(0)
        self.d_scores[-1] += d_scores[2].sum(0)

    def end(self) -> None:
        """Carry the tables' gradients to W_E and to the query, key and value matrices."""
        d_scores = self.d_scores * self.scale
        d_tables = {
            "K": (d_scores[:, :, None] * self.query).flatten(1),
            "V": self.d_values.flatten(1),
            "Q": torch.einsum("th,thd->hd", d_scores, self.keys).view(1, -1),
        }
        self.grads["W_E"][-1] += self.d_equals
        for name, d_table in d_tables.items():
            tokens = slice(-1, None) if name == "Q" else slice(None)
            self.grads[name][:-1].addmm_(self.W_E[tokens].T, d_table)
            self.grads[name][-1] += d_table.sum(0)
            self.grads["W_E"][tokens].addmm_(d_table, self.layers[name][:-1].T)


def epoch(network: Network, batches: list[Batch]) -> tuple[Tensor, Tensor]:
    """Return loss and accuracy over all batches, and add the gradient to the network's."""
    total, hits = 0.0, 0.0
    network.begin()
    for batch in batches:
        logits = network.forward(batch.a, batch.b)
        loss, d_logits, correct = loss_gradient(logits, batch)
        network.backward(batch.a, batch.b, d_logits)
        total, hits = total + loss, hits + correct
    network.end()
    return torch.as_tensor(total), torch.as_tensor(hits)
