"""The epoch of ``training.Trainer`` with its gradient left to autograd.

What the hand-written backward pass is worth.
"""

import torch
from torch import Tensor
from torch.nn.functional import embedding

from strata.train.gradients import Batch
from strata.train.trainer import Trainer


class Autograd:
    """The transformer's epoch over the same chunks, with the same parameter and optimizer."""

    def __init__(self, trainer: Trainer):
        self.trainer, self.n_heads = trainer, trainer.params.n_heads
        assert trainer.parameter.grad is not None
        self.grad = trainer.parameter.grad
        parts = self.grad.split([layer.numel() for layer in trainer.layers.values()])
        self.leaves = {}
        for (name, layer), part in zip(trainer.layers.items(), parts, strict=True):
            rows = [slice(None)] if name == "W_E" else [slice(-1), -1]  # a matrix and its bias
            self.leaves[name] = [layer[i].detach().requires_grad_() for i in rows]
            for leaf, i in zip(self.leaves[name], rows, strict=True):
                leaf.grad = part.view_as(layer)[i]  # accumulated in place

    def affine(self, name: str, x: Tensor) -> Tensor:
        W, b = self.leaves[name]
        return torch.addmm(b, x, W)

    def tables(self) -> list[Tensor]:
        """Scores (token head) and values (token d_model) of all tokens, the embedding of `=`."""
        (W_E,) = self.leaves["W_E"]
        query = self.affine("Q", W_E[-1:]).view(self.n_heads, -1)
        keys = self.affine("K", W_E).unflatten(1, (self.n_heads, -1))
        scores = (keys * (query / query.shape[1] ** 0.5)).sum(-1)
        return [scores, self.affine("V", W_E), W_E[-1]]

    def loss(self, scores: Tensor, values: Tensor, equals: Tensor, batch: Batch) -> Tensor:
        """The share of the mean loss that a chunk contributes; its right answers are counted."""

        def sources(table: Tensor) -> list[Tensor]:
            last = table[-1].expand(len(batch.a), -1)
            return [embedding(batch.a, table), embedding(batch.b, table), last]

        pattern = torch.stack(sources(scores)).softmax(dim=0)[..., None]
        read = [x.unflatten(1, (self.n_heads, -1)) for x in sources(values)]
        mixed = pattern[0] * read[0] + pattern[1] * read[1] + pattern[2] * read[2]
        x = equals + self.affine("O", mixed.flatten(1))
        x = x + self.affine("out", torch.relu(self.affine("in", x)))
        log_p = torch.log_softmax(self.affine("U", x), dim=1)
        of_label = log_p.gather(1, batch.c)
        self.right += (batch.weight * (of_label >= log_p.amax(dim=1, keepdim=True))).sum().detach()
        return -(of_label * batch.weight).sum()

    def step(self) -> float:
        """One epoch: the loss before the step."""
        self.grad.zero_()
        self.right = torch.zeros(())  # the training accuracy, which our epoch records too
        tables, total = self.tables(), 0.0
        # A chunk's graph ends at copies of the tables: it is freed before the next one is built.
        copies = [table.detach().requires_grad_() for table in tables]
        scores, values, equals = copies
        for batch in self.trainer.batches:
            loss = self.loss(scores, values, equals, batch)
            loss.backward()
            total += loss.detach()
        torch.autograd.backward(tables, [copy.grad for copy in copies])
        self.trainer.optimizer.step()
        return float(total)
