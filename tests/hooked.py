"""Run by test_lens.py under a Python that has TransformerLens or nnsight: exits with 0 where what
these see is what the model computes."""

import sys
import warnings
from importlib.metadata import version
from importlib.util import find_spec

import numpy as np
import shipped
import torch

from strata.api import console
from strata.api.model import Model

RUNS = ("n113-s1", "mlp-n113-s1")  # one of each kind
POINTS = ("blocks.0.attn.hook_pattern", "blocks.0.attn.hook_z", "blocks.0.hook_resid_mid")


def with_lens(model: Model) -> None:
    """Logits of all pairs, caches, and a head patched to zero, by TransformerLens."""
    hooked, (a, b) = model.hooked(), np.divmod(np.arange(model.n**2), model.n)
    logits, cache = hooked.run_with_cache(a, b)
    own, ours = model.run_with_cache(a, b)
    assert torch.equal(logits, own) and set(cache) == set(ours)
    assert all(torch.equal(cache[name], ours[name]) for name in ours)
    assert set(hooked.hook_dict) == set(ours)
    post = "blocks.0.mlp.hook_post"
    changed = hooked.run_with_hooks(a, b, fwd_hooks=[(post, lambda x, hook: 0 * x)])
    same = model.run_with_hooks(a, b, [(post, lambda x, point: 0 * x)])
    assert torch.equal(changed, same) and not torch.equal(changed, own)
    if len(model.W_E) > model.n:
        assert set(POINTS) < set(cache)
        if version("transformer-lens").startswith("3."):
            as_hooked_transformer(model)


def as_hooked_transformer(model: Model) -> None:
    """What `strata export --to lens` writes is a HookedTransformer of TransformerLens 3."""
    from transformer_lens import HookedTransformer, HookedTransformerConfig  # pyright: ignore

    theirs = HookedTransformer(HookedTransformerConfig(**console.config(model)))
    state = {name: torch.from_numpy(x) for name, x in console.tensors(model).items()}
    assert not theirs.load_state_dict(state, strict=False).unexpected_keys
    a = torch.arange(model.n)
    logits, own = theirs(model.tokens(a, a.flip(0)))[:, -1], model(a, a.flip(0))
    assert (logits - own).abs().max() <= 1e-5 * own.abs().max()


def with_nnsight(model: Model) -> None:
    """The neurons read, and the residual stream replaced, by nnsight."""
    from nnsight import NNsight  # pyright: ignore[reportMissingImports]

    wrapped, (a, b) = NNsight(model), torch.tensor([[2, 3], [5, 7]])
    with wrapped.trace(a, b):
        post = wrapped.blocks[0].mlp.hook_post.output.save()
    assert torch.equal(post, model.run_with_cache(a, b)[1]["post"])
    with wrapped.trace(a, b):
        wrapped.blocks[0].hook_resid_post.output[:] = 0
        logits = wrapped.output.save()
    assert torch.equal(logits, model.b_U.expand(2, -1))


def main() -> None:
    packages = {"transformer_lens": with_lens, "nnsight": with_nnsight}
    there = [name for name in packages if find_spec(name)]
    if "--none" in sys.argv or not there:
        print("neither transformer_lens nor nnsight is here", file=sys.stderr)
        sys.exit(2)
    warnings.simplefilter("ignore")  # theirs
    for model in map(shipped.model, RUNS):
        for name in there:
            packages[name](model)
    print("checked", *there)


if __name__ == "__main__":
    main()
