"""Run by test_lens.py under a Python that has TransformerLens or nnsight: exits with 0 where what
these see is what the model computes."""

import sys
import warnings
from importlib.metadata import version
from importlib.util import find_spec

import numpy as np
import shipped
import torch

import strata
from strata.api import lens
from strata.api.model import Model

RUNS = ("n113-s1", "mlp-n113-s1")  # one of each kind


def close(x: torch.Tensor, y: torch.Tensor) -> bool:
    return bool((x - y).abs().max() <= 1e-5 * y.abs().max())


def check_with_lens(model: Model) -> None:
    """Compare the logits of all pairs, the caches, and the effect of neurons set to zero with those
    of TransformerLens."""
    hooked, (a, b) = model.hooked(), np.divmod(np.arange(model.n**2), model.n)
    tokens = hooked.to_tokens(a, b)
    logits, cache = hooked.run_with_cache(tokens)
    expected, cached = model.run_with_cache(a, b)
    assert close(logits[:, -1], expected) and set(cache.keys()) == set(cached)
    assert all(close(cache[x][:, -1], cached[x][:, -1]) for x in cached if "attn.hook_" not in x)
    post = "blocks.0.mlp.hook_post"
    ablated = hooked.run_with_hooks(tokens, fwd_hooks=[(post, lambda x, hook: 0 * x)])[:, -1]
    expected_ablated = model.run_with_hooks(a, b, [(post, lambda x, point: 0 * x)])
    assert close(ablated, expected_ablated) and not close(ablated, expected)
    if isinstance(model, strata.Transformer):
        assert close(cache["pattern", 0][:, :, -1], cached["pattern"][:, :, 0])
        parts = cache.decompose_resid()  # the parts add up to the logits
        assert close(parts.sum(dim=0)[:, -1] @ model.W_U + model.b_U, expected)
        assert close(hooked.OV.AB[0], model.W_OV) and close(hooked.QK.AB[0], model.W_QK)
        check_export(model)


def check_export(model: Model) -> None:
    """Check that TransformerLens computes the same with what `strata export --to lens` writes."""
    state = {name: torch.from_numpy(x) for name, x in lens.tensors(model).items()}
    if version("transformer-lens").startswith("3."):
        from transformer_lens import HookedTransformer, HookedTransformerConfig  # pyright: ignore

        network = HookedTransformer(HookedTransformerConfig(**lens.config(model)))
        assert not network.load_state_dict(state, strict=False).unexpected_keys
    else:
        from transformer_lens.conversion_utils import convert_tl_checkpoint  # pyright: ignore
        from transformer_lens.model_bridge import TransformerBridge  # pyright: ignore
        from transformer_lens.model_bridge.sources import native  # noqa: F401 # pyright: ignore

        network = TransformerBridge.boot_native(lens.config(model))
        network.load_state_dict(convert_tl_checkpoint(state, network.cfg), strict=True)
    a = torch.arange(model.n)
    assert close(network(model.to_tokens(a, a.flip(0)))[:, -1], model(a, a.flip(0)))


def check_with_nnsight(model: Model) -> None:
    """Compare the neurons with those that nnsight reads."""
    from nnsight import NNsight  # pyright: ignore[reportMissingImports]

    wrapped, (a, b) = NNsight(model), torch.tensor([[2, 3], [5, 7]])
    with wrapped.trace(a, b):
        post = wrapped.blocks[0].mlp.hook_post.output.save()
    assert torch.equal(post, model.run_with_cache(a, b)[1]["post"])


def main() -> None:
    checks = {"transformer_lens": check_with_lens, "nnsight": check_with_nnsight}
    installed = [name for name in checks if find_spec(name)]
    if not installed:
        print("neither transformer_lens nor nnsight is installed", file=sys.stderr)
        sys.exit(2)
    warnings.simplefilter("ignore")  # of these packages
    for model in map(shipped.model, RUNS):
        for name in installed:
            checks[name](model)
    print("checked", *installed)


if __name__ == "__main__":
    main()
