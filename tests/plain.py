"""The plain training step as the paper's text has it: the oracle that ours is held against.

Three positions through nn.MultiheadAttention and the MLP, every ordered training pair, autograd,
the default AdamW, and the loss read back each epoch.
"""

import math
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from strata.run import Run, TrainParams


class Transformer(nn.Module):
    """One layer over (a, b, =), read at the last of the three positions."""

    def __init__(self, n: int, params: TrainParams):
        super().__init__()
        self.n = n
        self.embedding = nn.Embedding(n + 1, params.d_model)
        self.attention = nn.MultiheadAttention(params.d_model, params.n_heads, batch_first=True)
        self.inner = nn.Linear(params.d_model, params.d_mlp)
        self.outer = nn.Linear(params.d_mlp, params.d_model)
        self.unembedding = nn.Linear(params.d_model, n)
        self.register_buffer("later", torch.ones(3, 3, dtype=torch.bool).triu(1))

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        x = self.embedding(torch.stack([a, b, torch.full_like(a, self.n)], dim=1))
        x = x + self.attention(x, x, x, attn_mask=self.later, need_weights=False)[0]
        x = x + self.outer(torch.relu(self.inner(x)))
        return self.unembedding(x)[:, -1]


class MLP(nn.Module):
    """The MLP-only model: the two embeddings side by side, no residual stream."""

    def __init__(self, n: int, params: TrainParams):
        super().__init__()
        self.embedding = nn.Embedding(n, params.d_model)
        self.inner = nn.Linear(2 * params.d_model, params.d_mlp)
        self.outer = nn.Linear(params.d_mlp, params.d_model)
        self.unembedding = nn.Linear(params.d_model, n)

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        x = torch.cat([self.embedding(a), self.embedding(b)], dim=1)
        return self.unembedding(self.outer(torch.relu(self.inner(x))))


class Plain:
    """One run: the split, the modules' own initial values from the same generator, steps."""

    def __init__(self, run: Run, params: TrainParams, share: float = 0.3):
        n, kind = run.n, {"transformer": Transformer, "mlp": MLP}[params.architecture]
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(run.seed)
            dealt = torch.randperm(n * n)
            self.model = kind(n, params)
        size = math.floor(share * n * n)
        self.train, self.validation = dealt[:size], dealt[size : 2 * size]
        self.a, self.b = self.train // n, self.train % n
        self.c = self.a * self.b % n
        self.optimizer = torch.optim.AdamW(
            self.model.parameters(), lr=params.lr, betas=(params.beta1, params.beta2),
            eps=params.eps, weight_decay=params.weight_decay,
        )  # fmt: skip

    def loss(self) -> Tensor:
        """Mean cross-entropy over the ordered training pairs."""
        return nn.functional.cross_entropy(self.model(self.a, self.b), self.c)

    def step(self) -> float:
        """One epoch: the loss before the step."""
        loss = self.loss()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def modules(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Our weights, or their gradients, under the names and in the layout of the modules above."""
    found = {"embedding.weight": weights["W_E"]}
    if "W_Q" in weights:
        side_by_side = [torch.cat([*weights[f"W_{x}"]], dim=1) for x in "QKV"]  # heads
        found["attention.in_proj_weight"] = torch.cat([W.T for W in side_by_side])
        found["attention.in_proj_bias"] = torch.cat([weights[f"b_{x}"].flatten() for x in "QKV"])
        found["attention.out_proj.weight"] = torch.cat([*weights["W_O"]]).T
        found["attention.out_proj.bias"] = weights["b_O"]
    for ours, theirs in {"in": "inner", "out": "outer", "U": "unembedding"}.items():
        found[f"{theirs}.weight"] = weights[f"W_{ours}"].T
        found[f"{theirs}.bias"] = weights[f"b_{ours}"]
    return found
