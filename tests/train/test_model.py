"""The two architectures against torch's own modules."""

import runpy
from pathlib import Path

import numpy as np
import plain
import pytest
import torch

from strata import store
from strata.architecture import architecture
from strata.run import Run, SplitParams, TrainParams
from strata.task import pair_table
from strata.train import network

STAGES = Path(__file__).parents[2] / "stages"
WIDE = TrainParams(
    d_model=128, n_heads=4, d_mlp=512, epochs=1, lr=1e-3, weight_decay=1.0,
    beta1=0.9, beta2=0.98, eps=1e-8, validate_every=100,
)  # fmt: skip
NARROW = WIDE.model_copy(update={"d_model": 12, "n_heads": 3, "d_mlp": 20})
WIDE_MLP, NARROW_MLP = (x.model_copy(update={"architecture": "mlp"}) for x in (WIDE, NARROW))
RUNS = [
    (Run(165, 1), WIDE),
    (Run(165, 1, "mlp"), WIDE_MLP),
    (Run(12, 0), NARROW),
    (Run(2, 5), NARROW),
    (Run(9, 3, "mlp"), NARROW_MLP),
    (Run(7, 2), NARROW.model_copy(update={"n_heads": 1})),
    (Run(7, 2), NARROW.model_copy(update={"n_heads": 12})),
]
NAMES = [f"{run}-{params.n_heads}" for run, params in RUNS]


def all_pairs(n: int) -> tuple[torch.Tensor, torch.Tensor]:
    table = pair_table(n)
    return torch.from_numpy(table["a"]), torch.from_numpy(table["b"])


@pytest.mark.parametrize(("run", "params"), RUNS, ids=NAMES)
def test_initial_weights_are_the_draws_of_torchs_own_modules(run, params):
    before = torch.random.get_rng_state()
    ours = network.initial(run, params)
    assert torch.equal(torch.random.get_rng_state(), before)  # the caller's generator is left alone
    assert {name: tuple(x.shape) for name, x in ours.items()} == architecture(params).shapes(
        run.n, params
    )
    assert list(ours) == list(architecture(params).shapes(run.n, params))
    theirs = plain.Plain(run, params).model.state_dict()
    theirs.pop("later", None)
    found = plain.modules(ours)
    assert found.keys() == theirs.keys()
    assert all(torch.equal(found[name], theirs[name]) for name in theirs)


def test_crossed_seeds_take_the_split_of_the_one_and_the_initial_weights_of_the_other(tmp_path):
    names = ("n12-s1-w2", "n12-s1", "n12-s2")
    fractions = SplitParams(train_fraction=0.3, validation_fraction=0.3)
    store.write_json(tmp_path / "config.json", fractions)
    main = runpy.run_path(str(STAGES / "split.py"))["main"]
    for name in names:
        main(name, str(tmp_path / "config.json"), str(tmp_path / name))
    crossed, one, other = ((tmp_path / name).read_bytes() for name in names)
    assert crossed == one != other
    crossed, one, other = (network.initial(Run.parse(name), NARROW)["W_E"] for name in names)
    assert torch.equal(crossed, other) and not torch.equal(crossed, one)


@pytest.mark.parametrize(("run", "params"), RUNS, ids=NAMES)
def test_forward_gives_the_logits_of_torchs_own_modules_on_every_pair(run, params):
    a, b = all_pairs(run.n)
    weights, oracle = network.initial(run, params), plain.Plain(run, params).model
    with torch.no_grad():
        for part in torch.arange(len(a)).split(4096):
            found = network.forward(weights, a[part], b[part]).logits
            assert torch.allclose(found, oracle(a[part], b[part]), atol=1e-5, rtol=0)


@pytest.mark.parametrize(("run", "params"), [x for x in RUNS if "mlp" not in str(x[0])])
def test_the_transformer_is_symmetric_in_its_operands(run, params):
    a, b = all_pairs(run.n)
    some = torch.from_numpy(np.random.default_rng(0).permutation(len(a))[:2000])
    a, b = a[some], b[some]
    weights = network.initial(run, params)
    there, back = network.forward(weights, a, b), network.forward(weights, b, a)
    assert torch.allclose(there.logits, back.logits, atol=1e-5, rtol=0)
    assert torch.allclose(there.attention, back.attention[:, :, [1, 0, 2]], atol=1e-6, rtol=0)


def test_the_mlp_model_is_not_symmetric():
    a, b = all_pairs(9)
    weights = network.initial(Run(9, 3, "mlp"), NARROW_MLP)
    there, back = network.forward(weights, a, b).logits, network.forward(weights, b, a).logits
    assert not torch.allclose(there[a != b], back[a != b], atol=1e-2)


def test_attention_is_the_softmax_of_query_times_key_by_hand():
    run = Run(6, 0)
    weights = {k: v.double() for k, v in network.initial(run, NARROW).items()}
    W_E, d_head = weights["W_E"], NARROW.d_model // NARROW.n_heads
    a, b = all_pairs(6)
    found = network.forward(weights, a, b).attention
    assert torch.allclose(found.sum(dim=2), torch.ones(36, 3, dtype=torch.float64))
    for row, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        for h in range(NARROW.n_heads):
            query = W_E[6] @ weights["W_Q"][h] + weights["b_Q"][h]
            scores = [
                float(query @ (W_E[t] @ weights["W_K"][h] + weights["b_K"][h])) / d_head**0.5
                for t in (x, y, 6)
            ]
            expected = np.exp(scores) / np.exp(scores).sum()
            assert np.allclose(found[row, h], expected, atol=1e-12)


def test_mlp_activations_are_post_relu_and_the_mlp_model_has_no_heads():
    a, b = all_pairs(9)
    for params in (NARROW, NARROW_MLP):
        found = network.forward(network.initial(Run(9, 3), params), a, b)
        assert found.mlp.shape == (81, NARROW.d_mlp)
        assert (found.mlp >= 0).all()
        assert 0.2 < (found.mlp > 0).double().mean() < 0.8
        assert found.attention.shape == (81, 3 if params is NARROW else 0, 3)
