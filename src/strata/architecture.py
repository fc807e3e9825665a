"""Define the kinds of model: what each has, and the shapes of its weights.

Only this module tells a kind by its name or by its tensors; all other code asks an
``Architecture``.
"""

from collections.abc import Callable, Collection
from typing import NamedTuple

from strata.run import ArchitectureName, TrainParams

Shapes = dict[str, tuple[int, ...]]


class Architecture(NamedTuple):
    """An ``Architecture`` is a kind of model; ``sizes`` takes n, d_model, n_heads and d_mlp."""

    name: ArchitectureName
    attends: bool  # from `=` to a and b; else it reads both embeddings side by side
    symmetric: bool  # logits(a, b) = logits(b, a), so a pair and its mirror are one example
    sizes: Callable[[int, int, int, int], Shapes]

    def shapes(self, n: int, params: TrainParams) -> Shapes:
        """Return the name and shape of every weight for modulus n, in the order in which weights
        are kept."""
        return self.sizes(n, params.d_model, params.n_heads, params.d_mlp)


def _transformer(n: int, d_model: int, n_heads: int, d_mlp: int) -> Shapes:
    d_head = d_model // n_heads
    attention: Shapes = {}
    for name in "QKV":
        attention[f"W_{name}"] = (n_heads, d_model, d_head)
        attention[f"b_{name}"] = (n_heads, d_head)
    attention |= {"W_O": (n_heads, d_head, d_model), "b_O": (d_model,)}
    return {"W_E": (n + 1, d_model)} | attention | _head(n, d_model, d_model, d_mlp)


def _mlp(n: int, d_model: int, n_heads: int, d_mlp: int) -> Shapes:
    return {"W_E": (n, d_model)} | _head(n, 2 * d_model, d_model, d_mlp)


def _head(n: int, width: int, d_model: int, d_mlp: int) -> Shapes:
    """Return the shapes of the MLP, which reads ``width`` numbers, and of the unembedding."""
    read = {"W_in": (width, d_mlp), "b_in": (d_mlp,)}
    return read | {"W_out": (d_mlp, d_model), "b_out": (d_model,), "W_U": (d_model, n), "b_U": (n,)}


TABLE: dict[ArchitectureName, Architecture] = {
    "transformer": Architecture("transformer", True, True, _transformer),
    "mlp": Architecture("mlp", False, False, _mlp),
}


def architecture(params: TrainParams) -> Architecture:
    """Return the kind of model that these parameters ask for."""
    return TABLE[params.architecture]


def architecture_of(weights: Collection[str]) -> Architecture:
    """Return the kind of model that has weights of these names; a transformer has queries."""
    return TABLE["transformer" if "W_Q" in weights else "mlp"]
