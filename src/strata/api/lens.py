"""Give a model to TransformerLens, with its hooks, caches and patching on our network."""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, cast

import numpy as np
import torch
from packaging.version import Version

from strata.api import layers
from strata.api.names import PATHS
from strata.inputs import InputError

OLDEST, NEXT = Version("3.9"), Version("5")


def installed() -> Any:
    """Return TransformerLens. Raises InputError where it is missing, or is another major version
    than those that were tried with this module."""
    how = "must be 3.9 or 4: pip install 'transformer-lens>=3.9,<5'"
    try:
        release = Version(version("transformer-lens"))
    except PackageNotFoundError:
        raise InputError(f"TransformerLens is not installed; it {how}") from None
    if not OLDEST <= release < NEXT:
        raise InputError(f"TransformerLens {release}: {how}")
    return import_module("transformer_lens")


def tensors(model: Any) -> dict[str, np.ndarray]:
    """Return the state of a model, with the positional embedding 0 that TransformerLens expects."""
    state = {name: x.cpu().numpy() for name, x in model.state_dict().items()}
    if len(model.W_E) > model.n:
        state["pos_embed.W_pos"] = np.zeros((3, model.W_E.shape[1]), np.float32)
    return state


def config(model: Any) -> dict[str, int | str | None]:
    """Return what HookedTransformerConfig of TransformerLens 3 takes to build this network."""
    n_tokens, d_model = model.W_E.shape
    sizes = {"n_layers": 1, "d_model": d_model, "d_mlp": len(model.b_in), "d_vocab": n_tokens}
    sizes |= {"d_vocab_out": model.n, "n_heads": 0, "d_head": 0, "n_ctx": 2}
    if n_tokens > model.n:
        n_heads, _, d_head = model.W_Q.shape
        sizes |= {"n_heads": n_heads, "d_head": d_head, "n_ctx": 3}
    return {**sizes, "act_fn": "relu", "normalization_type": None}


class Hooked:
    """A ``Hooked`` network is called with tokens (pairs, position), a, b and `=`, whose number is
    n, for logits (pairs, position, n); the last position is what the network answers.

    It is combined with a HookedRootModule, which has the hooks.
    """

    embed: Any
    unembed: Any
    blocks: Any

    def __init__(self, model: Any, lens: Any) -> None:
        super().__init__()
        names = {k: x for k, x in PATHS.items() if x in model.state_dict()}
        weights = {k: model.get_parameter(x).clone() for k, x in names.items()}
        root: Any = self
        layers.build(root, weights, import_module("transformer_lens.hook_points").HookPoint)
        if "W_Q" in weights:
            self.blocks[0].attn.all_positions = True
        fields = config(model) | {"device": str(model.W_E.device)}
        config_class = import_module("transformer_lens.config").TransformerLensConfig
        self.cfg = config_class.from_dict(fields)
        self.cfg.d_vocab_out = model.n  # version 4 has no such field of its own
        self._tokens, self._cache = model.to_tokens, lens.ActivationCache
        self._factored = lens.FactoredMatrix
        root.requires_grad_(False)
        root.setup()
        root.eval()

    def to_tokens(self, a: Any, b: Any) -> torch.Tensor:
        """Return the tokens of pairs."""
        return self._tokens(a, b)

    def forward(self, tokens: Any) -> torch.Tensor:
        root: Any = self
        tokens = torch.as_tensor(tokens).to(self.W_E.device)
        return layers.run(root, tokens[None] if tokens.ndim == 1 else tokens)

    def run_with_cache(self, *words: Any, return_cache_object: bool = True, **named: Any) -> Any:
        """Return the logits and all activations, as an ActivationCache or a dict."""
        above: Any = super()
        logits, cache = above.run_with_cache(*words, **named)
        if return_cache_object:
            batch = not named.get("remove_batch_dim", False)
            cache = self._cache(cache, self, has_batch_dim=batch)
        return logits, cache

    def tokens_to_residual_directions(self, tokens: Any) -> torch.Tensor:
        """Return the direction of the residual stream that each answer is read along."""
        return self.W_U.T[torch.as_tensor(tokens).to(self.W_U.device)]

    def accumulated_bias(
        self, layer: int, mlp_input: bool = False, include_mlp_biases: bool = True
    ) -> torch.Tensor:
        """Return the biases written before the layer, or before its MLP."""
        (block,), mlp = self.blocks, include_mlp_biases and layer > 0
        attention = block.attn.b_O * (layer > 0 or mlp_input)
        return attention + block.mlp.b_out if mlp else attention

    @property
    def OV(self) -> Any:
        """Return the OV circuits, a FactoredMatrix of layers and heads."""
        return self._factored(self.W_V, self.W_O)

    @property
    def QK(self) -> Any:
        """Return the QK circuits, a FactoredMatrix of layers and heads."""
        return self._factored(self.W_Q, self.W_K.transpose(-2, -1))

    def __getattr__(self, name: str) -> Any:
        """Return the weights by their names; those of blocks have an axis of layers first."""
        if name in PATHS:
            weight = cast(Any, self).get_parameter(PATHS[name])
            return weight[None] if PATHS[name].startswith("blocks") else weight
        return cast(Any, super()).__getattr__(name)


def hooked(model: Any) -> Any:
    """Return a Model as a HookedRootModule in eval mode, which shares no memory with it."""
    lens = installed()
    return type("Hooked", (Hooked, lens.HookedRootModule), {})(model, lens)
