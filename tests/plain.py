"""Networks and trainings in plain PyTorch, which ours are compared with; the training of the
transformer is that of docs/nano_strata.py."""

import torch
from torch import Tensor, nn

from docs import nano_strata
from strata.run import Run, TrainParams

Weights = dict[str, Tensor]


class Net(nn.Module):
    """The network in torch's own layers, which is the oracle of what its weights compute. Its mask,
    which published files hold, changes nothing at the last position."""

    mask = torch.ones(3, 3, dtype=torch.bool).triu(1)

    def __init__(self, n: int, d: int, heads: int, d_mlp: int, bias: bool):
        super().__init__()
        self.n = n
        self.embed = nn.Embedding(n + 1, d)
        self.attn = nn.MultiheadAttention(d, heads, bias=bias, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(d, d_mlp, bias), nn.ReLU(), nn.Linear(d_mlp, d, bias))
        self.unembed = nn.Linear(d, n, bias)

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        x = self.embed(torch.stack([a, b, torch.full_like(a, self.n)], dim=1))
        x = x + self.attn(x, x, x, attn_mask=self.mask, need_weights=False)[0]
        return self.unembed(x + self.mlp(x))[:, -1]


def initial(run: Run, params: TrainParams) -> Weights:
    """Return initial weights of the MLP-only model, drawn after the split from its generator."""
    n, d_model, d_mlp = run.n, params.d_model, params.d_mlp
    with torch.random.fork_rng(devices=[]):
        nano_strata.split(n, run.seed, 3)
        W = {"W_E": nn.Embedding(n, d_model).weight}
        sizes = {"in": (2 * d_model, d_mlp), "out": (d_mlp, d_model), "U": (d_model, n)}
        for name, size in sizes.items():
            layer = nn.Linear(*size)
            W |= {f"W_{name}": layer.weight.T, f"b_{name}": layer.bias}
    return {name: x.detach().clone().requires_grad_() for name, x in W.items()}


def logits(W: Weights, a: Tensor, b: Tensor) -> Tensor:
    """Return the logits of each pair; the MLP-only model has no residual stream."""
    if "W_Q" in W:
        return nano_strata.forward(W, a, b)[0]
    x = torch.cat([W["W_E"][a], W["W_E"][b]], dim=1)
    x = torch.relu(x @ W["W_in"] + W["b_in"]) @ W["W_out"] + W["b_out"]
    return x @ W["W_U"] + W["b_U"]


def train(W: Weights, run: Run, params: TrainParams) -> list[float]:
    """Train in place on three in ten of all ordered pairs. Return the loss of each epoch before its
    step."""
    with torch.random.fork_rng(devices=[]):
        a, b, c = nano_strata.product(nano_strata.split(run.n, run.seed, 3)[0], run.n)
    adam = torch.optim.AdamW(
        W.values(), params.lr, (params.beta1, params.beta2), params.eps, params.weight_decay
    )
    losses = []
    for _ in range(params.epochs):
        adam.zero_grad()
        loss = nn.functional.cross_entropy(logits(W, a, b), c)
        loss.backward()
        adam.step()
        losses.append(loss.item())
    return losses
