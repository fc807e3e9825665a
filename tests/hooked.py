"""Run by test_lens.py under a Python that has TransformerLens or nnsight: exits with 0 where what
these see is what the model computes."""

import sys
import warnings
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np
import shipped
import torch

import strata
from strata.api import lens
from strata.api.model import Model

RUNS = ("n113-s1", "mlp-n113-s1")  # one of each kind


def with_lens(model: Model) -> None:
    """Logits of all pairs, caches, and neurons at zero, by TransformerLens."""
    import transformer_lens  # pyright: ignore[reportMissingImports]

    hooked, (a, b) = model.hooked(), np.divmod(np.arange(model.n**2), model.n)
    assert not hooked.training and hooked.cfg.d_vocab_out == model.n
    tokens = hooked.to_tokens(a, b)
    logits, cache = hooked.run_with_cache(tokens)
    own, ours = model.run_with_cache(a, b)
    assert close(logits[:, -1], own) and set(cache.keys()) == set(ours)
    assert isinstance(cache, transformer_lens.ActivationCache)
    assert all(close(cache[x][:, -1], ours[x][:, -1]) for x in ours if "attn.hook_" not in x)
    post = "blocks.0.mlp.hook_post"
    changed = hooked.run_with_hooks(tokens, fwd_hooks=[(post, lambda x, hook: 0 * x)])[:, -1]
    same = model.run_with_hooks(a, b, [(post, lambda x, point: 0 * x)])
    assert close(changed, same) and not close(changed, own)
    if len(model.W_E) > model.n:
        assert close(cache["pattern", 0][:, :, -1], ours["pattern"][:, :, 0])
        with_cache(model, hooked, cache, own)
        with_patching(model, hooked)
        third = version("transformer-lens").startswith("3.")
        (as_hooked_transformer if third else as_bridge)(model)


def close(x: torch.Tensor, y: torch.Tensor) -> bool:
    return bool((x - y).abs().max() <= 1e-5 * y.abs().max())


def with_cache(model: Model, hooked: Any, cache: Any, logits: torch.Tensor) -> None:
    """What the cache takes apart adds up to the logits, the biases apart."""
    parts, names = cache.decompose_resid(return_labels=True)
    assert names == ["embed", "0_attn_out", "0_mlp_out"]
    assert close(parts.sum(dim=0)[:, -1] @ model.W_U + model.b_U, logits)
    heads = cache.stack_head_results()
    assert close(heads.sum(dim=0)[:, -1] + model.b_O, parts[1][:, -1])
    assert isinstance(model, strata.Transformer)
    assert close(hooked.OV.AB[0], model.W_OV) and close(hooked.QK.AB[0], model.W_QK)
    assert hooked.W_Q.shape == (1, *model.W_Q.shape) and hooked.W_U.shape == model.W_U.shape
    answer = logits.argmax(dim=1)
    at_equals = cache.decompose_resid(pos_slice=-1)
    by_part = cache.logit_attrs(at_equals, answer, pos_slice=-1)
    own = logits.gather(1, answer[:, None])[:, 0] - model.b_U[answer]
    assert close(by_part.sum(dim=0), own)
    assert hooked.accumulated_bias(1).shape == model.b_out.shape


def with_patching(model: Model, hooked: Any) -> None:
    """Each of its sweeps runs; what is patched at = alone decides as much as it should."""
    from transformer_lens import patching  # pyright: ignore[reportMissingImports]

    clean, other = hooked.to_tokens(2, 3), hooked.to_tokens(5, 3)
    answers = [int(hooked(x)[0, -1].argmax()) for x in (clean, other)]

    def metric(logits: torch.Tensor) -> torch.Tensor:
        return logits[0, -1, answers[0]] - logits[0, -1, answers[1]]

    _, cache = hooked.run_with_cache(clean)
    whole, none = metric(hooked(clean)), metric(hooked(other))
    for name in ("resid_pre", "resid_mid", "attn_out", "mlp_out"):
        found = getattr(patching, f"get_act_patch_{name}")(hooked, other, cache, metric)
        assert found.shape == (1, 3)
        if name == "resid_pre":  # a differs, b and = do not
            assert close(found[0], torch.stack([whole, none, none]))
        else:  # a and b are not read any more
            assert close(found[0, :2], torch.stack([none, none]))
    for name in ("out", "q", "k", "v", "pattern"):
        sweep = getattr(patching, f"get_act_patch_attn_head_{name}_all_pos")
        found = sweep(hooked, other, cache, metric)
        assert found.shape == (1, hooked.cfg.n_heads) and found.isfinite().all()


def as_hooked_transformer(model: Model) -> None:
    """What `strata export --to lens` writes is a HookedTransformer of TransformerLens 3."""
    from transformer_lens import HookedTransformer, HookedTransformerConfig  # pyright: ignore

    theirs = HookedTransformer(HookedTransformerConfig(**lens.config(model)))
    state = {name: torch.from_numpy(x) for name, x in lens.tensors(model).items()}
    assert not theirs.load_state_dict(state, strict=False).unexpected_keys
    a = torch.arange(model.n)
    assert close(theirs(model.to_tokens(a, a.flip(0)))[:, -1], model(a, a.flip(0)))
    back = strata.from_weights(theirs)
    assert (
        back.source and back.source.format == "TransformerLens" and close(back(a, a), model(a, a))
    )
    theirs.process_weights_(fold_ln=False)
    processed = strata.from_weights(theirs.state_dict())
    assert (processed(a, a.flip(0)).argmax(1) == model(a, a.flip(0)).argmax(1)).all()


def as_bridge(model: Model) -> None:
    """And the native network of TransformerLens 4."""
    from transformer_lens.conversion_utils import convert_tl_checkpoint  # pyright: ignore
    from transformer_lens.model_bridge import TransformerBridge  # pyright: ignore
    from transformer_lens.model_bridge.sources import native  # noqa: F401 # pyright: ignore

    theirs = TransformerBridge.boot_native(lens.config(model))
    state = {name: torch.from_numpy(x) for name, x in lens.tensors(model).items()}
    theirs.load_state_dict(convert_tl_checkpoint(state, theirs.cfg), strict=True)
    a = torch.arange(model.n)
    assert close(theirs(model.to_tokens(a, a.flip(0)))[:, -1], model(a, a.flip(0)))


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
    if not there:
        print("neither transformer_lens nor nnsight is here", file=sys.stderr)
        sys.exit(2)
    warnings.simplefilter("ignore")  # theirs
    for model in map(shipped.model, RUNS):
        for name in there:
            packages[name](model)
    print("checked", *there)


if __name__ == "__main__":
    main()
