"""Define the parts of both architectures as torch modules, named as TransformerLens names them.

Axes are pair, position (a, b, `=`), head, d_model and so on. All is read at `=`, so whatever comes
after the keys and values has one position. With ``all_positions`` it has all of them, as other
programs expect; none looks ahead. Vectors are rows: x @ W. Nanda and Bloom, TransformerLens, 2022.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from strata.api.names import PATHS
from strata.architecture import architecture_of

Weights = Mapping[str, Tensor]
Point = Callable[[], nn.Module]


class HookPoint(nn.Identity):
    """A ``HookPoint`` passes an activation on, to be read or replaced; ``name`` is its path."""

    name: str = ""


class Layer(nn.Module):
    """A ``Layer`` is a part of the model, with those of the weights whose path leads to it."""

    def __init__(self, path: str, weights: Weights, point: Point, hooks: tuple[str, ...] = ()):
        super().__init__()
        for name, weight_path in PATHS.items():
            if weight_path.rpartition(".")[0] == path and name in weights:
                self.register_parameter(name, nn.Parameter(weights[name]))
        for name in hooks:
            self.add_module(f"hook_{name}", point())

    if TYPE_CHECKING:  # hook points are attributes too

        def __getattr__(self, name: str) -> Any: ...


class Embed(Layer):
    """This layer looks up rows of W_E."""

    W_E: nn.Parameter

    def forward(self, tokens: Int[Tensor, "pairs pos"]) -> Float[Tensor, "pairs pos d_model"]:
        return self.W_E[tokens]


class Attention(Layer):
    """Attention goes from `=` to a, b and itself. As `=` is the last one, a mask would change
    nothing."""

    all_positions = False  # whether a and b attend as well, each to itself and what comes before
    W_Q: nn.Parameter  # n_heads d_model d_head
    W_K: nn.Parameter
    W_V: nn.Parameter
    W_O: nn.Parameter  # n_heads d_head d_model
    b_Q: nn.Parameter  # n_heads d_head
    b_K: nn.Parameter
    b_V: nn.Parameter
    b_O: nn.Parameter  # d_model

    def forward(self, x: Float[Tensor, "pairs 3 d_model"]) -> Float[Tensor, "pairs read d_model"]:
        last = x if self.all_positions else x[:, -1:]
        q = self.hook_q(torch.einsum("pqm,hmd->pqhd", last, self.W_Q) + self.b_Q)
        k = self.hook_k(torch.einsum("pkm,hmd->pkhd", x, self.W_K) + self.b_K)
        v = self.hook_v(torch.einsum("pkm,hmd->pkhd", x, self.W_V) + self.b_V)
        scores = torch.einsum("pqhd,pkhd->phqk", q / q.shape[-1] ** 0.5, k)
        if self.all_positions:
            ahead = torch.ones_like(scores[0, 0], dtype=torch.bool).triu(1)
            scores = scores.masked_fill(ahead, float("-inf"))
        pattern = self.hook_pattern(self.hook_attn_scores(scores).softmax(dim=-1))
        z = self.hook_z(torch.einsum("phqk,pkhd->pqhd", pattern, v))
        return torch.einsum("pqhd,hdm->pqm", z, self.W_O) + self.b_O


class Neurons(Layer):
    """The MLP has one hidden layer of ReLUs."""

    W_in: nn.Parameter  # width d_mlp
    b_in: nn.Parameter
    W_out: nn.Parameter  # d_mlp d_model
    b_out: nn.Parameter

    def forward(self, x: Float[Tensor, "pairs read width"]) -> Float[Tensor, "pairs read d_model"]:
        preactivation = self.hook_pre(x @ self.W_in + self.b_in)
        return self.hook_post(torch.relu(preactivation)) @ self.W_out + self.b_out


class Unembed(Layer):
    """This layer gives the logits of the n residues."""

    W_U: nn.Parameter  # d_model n
    b_U: nn.Parameter

    def forward(self, x: Float[Tensor, "pairs read d_model"]) -> Float[Tensor, "pairs read n"]:
        return x @ self.W_U + self.b_U


class Block(Layer):
    """The one layer of the transformer has attention and MLP, each added to the residual stream."""

    def __init__(self, weights: Weights, point: Point):
        names = ("resid_pre", "attn_out", "resid_mid", "mlp_out", "resid_post")
        super().__init__("", weights, point, names)
        heads = ("q", "k", "v", "attn_scores", "pattern", "z")
        self.attn = Attention("blocks.0.attn", weights, point, heads)
        self.mlp = Neurons("blocks.0.mlp", weights, point, ("pre", "post"))

    def forward(self, x: Float[Tensor, "pairs 3 d_model"]) -> Float[Tensor, "pairs read d_model"]:
        x = self.hook_resid_pre(x)
        attended = self.hook_attn_out(self.attn(x))
        mid = self.hook_resid_mid(x[:, -attended.shape[1] :] + attended)
        return self.hook_resid_post(mid + self.hook_mlp_out(self.mlp(mid)))


class SideBySide(Layer):
    """The one layer of the MLP-only model reads both embeddings, and has no residual stream."""

    def __init__(self, weights: Weights, point: Point):
        super().__init__("", weights, point, ("resid_pre", "resid_post"))
        self.mlp = Neurons("blocks.0.mlp", weights, point, ("pre", "post"))

    def forward(self, x: Float[Tensor, "pairs 2 d_model"]) -> Float[Tensor, "pairs read d_model"]:
        return self.hook_resid_post(self.mlp(self.hook_resid_pre(x).flatten(1)[:, None]))


def build(into: nn.Module, weights: Weights, point: Point) -> None:
    """Give a module the parts of the model that has these weights, as its own."""
    into.embed = Embed("embed", weights, point)
    into.hook_embed = point()
    layer = Block if architecture_of(weights).attends else SideBySide
    into.blocks = nn.ModuleList([layer(weights, point)])
    into.unembed = Unembed("unembed", weights, point)


def run(model: nn.Module, tokens: Int[Tensor, "pairs pos"]) -> Float[Tensor, "pairs read n"]:
    """Return the logits of the pairs, the last ones at `=`, through the parts that ``build`` gave
    the module."""
    x = model.get_submodule("hook_embed")(model.get_submodule("embed")(tokens))
    return model.get_submodule("unembed")(model.get_submodule("blocks.0")(x))
