"""A network of another shape, from training to what it computes with: two layers, LayerNorm,
positions and GELU in plain PyTorch, which strata does not load, but can ask.

    python docs/two_layers.py

It learns ab mod 21 from four fifths of the pairs in about 10 s of a processor, and strata takes as
long to say how. Its embedding and its logits are all that is handed over: arrays, or a function of
a and b.
"""

import sys

import torch
from torch import nn

import strata

N, WIDTH = 21, 64


class Network(nn.Module):
    """It reads a, b and =, and answers at =."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(N + 1, WIDTH)  # the last token is =
        self.positions = nn.Parameter(torch.randn(3, WIDTH) / WIDTH**0.5)
        layer = nn.TransformerEncoderLayer(
            WIDTH, 4, 4 * WIDTH, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        self.layers = nn.TransformerEncoder(
            layer, 2, norm=nn.LayerNorm(WIDTH), enable_nested_tensor=False
        )
        self.unembed = nn.Linear(WIDTH, N)

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        x = self.embed(torch.stack([a, b, torch.full_like(a, N)], dim=1)) + self.positions
        return self.unembed(self.layers(x)[:, -1])


def main(steps: int) -> "strata.Analysis":
    """Train the network, hand it to strata, and print and return the analysis."""
    print(f"{steps} steps: about {steps / 60:.0f} s of a processor, more on a busy one", flush=True)
    torch.manual_seed(0)
    network = Network()
    pairs = torch.cartesian_prod(torch.arange(N), torch.arange(N))
    train, validation = pairs[torch.randperm(N * N)].split([353, 88])
    optimizer = torch.optim.AdamW(
        network.parameters(), lr=2e-3, weight_decay=1.0, betas=(0.9, 0.98)
    )
    for step in range(1, steps + 1):
        loss = nn.functional.cross_entropy(network(*train.T), train.prod(dim=1) % N)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            print(f"step {step}: loss {loss.item():.3g}", flush=True)
    print("measuring what it computes, and the mechanism: about as long again", flush=True)
    network.eval()  # from here on nothing depends on what is inside
    split = {"train": train, "validation": validation}
    analysis = strata.analyse(split=split, embedding=network.embed.weight, logits=network)
    print(analysis)
    ids = ["free-votes", "free-classes", "code-right", "bias"]
    rows = analysis.mechanism["id"].isin(ids)
    statements = analysis.mechanism.loc[rows, ["id", "sentence", "measure", "value"]]
    print(statements.to_string(index=False))
    return analysis


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 600)
