"""Initial weights and logits of the two architectures against those of the plain step."""

import runpy
from pathlib import Path

import numpy as np
import plain
import pytest
import torch
from small import TRAIN, kind_of

from strata import store
from strata.api.model import model_of
from strata.architecture import architecture
from strata.run import Run, SplitParams
from strata.train import network

STAGES = Path(__file__).parents[2] / "stages"
WIDE = TRAIN.model_copy(update={"d_model": 128, "n_heads": 4, "d_mlp": 512})
WIDTHS = [
    (Run(165, 1), WIDE),
    (Run(165, 1, "mlp"), WIDE),
    (Run(12, 0), TRAIN),
    (Run(2, 5), TRAIN),
    (Run(9, 3, "mlp"), TRAIN),
    (Run(7, 2), TRAIN.model_copy(update={"n_heads": 1})),
    (Run(7, 2), TRAIN.model_copy(update={"n_heads": 12})),
]
RUNS = [(run, kind_of(run, params)) for run, params in WIDTHS]
NAMES = [f"{run}-{params.n_heads}" for run, params in RUNS]


@pytest.mark.parametrize(("run", "params"), RUNS, ids=NAMES)
def test_initial_weights_are_the_draws_of_torchs_own_layers(run, params):
    before = torch.random.get_rng_state()
    ours = network.initial(run, params)
    assert torch.equal(torch.random.get_rng_state(), before)  # the caller's generator is left alone
    shapes = architecture(params).shapes(run.n, params)
    assert [(name, tuple(x.shape)) for name, x in ours.items()] == [*shapes.items()]
    for name, x in plain.initial(run, params).items():
        assert torch.allclose(ours[name], x, atol=1e-7, rtol=0), name


def test_crossed_seeds_take_the_split_of_the_one_and_the_initial_weights_of_the_other(tmp_path):
    names = ("n12-s1-w2", "n12-s1", "n12-s2")
    fractions = SplitParams(train_fraction=0.3, validation_fraction=0.3)
    store.write_json(tmp_path / "config.json", fractions)
    main = runpy.run_path(str(STAGES / "split.py"))["main"]
    for name in names:
        main(name, str(tmp_path / "config.json"), str(tmp_path / name))
    crossed, one, other = ((tmp_path / name).read_bytes() for name in names)
    assert crossed == one != other
    crossed, one, other = (network.initial(Run.parse(name), TRAIN)["W_E"] for name in names)
    assert torch.equal(crossed, other) and not torch.equal(crossed, one)


@pytest.mark.parametrize(("run", "params"), RUNS, ids=NAMES)
def test_a_loaded_model_gives_the_plain_logits_on_every_pair(run, params):
    weights = network.initial(run, params)
    model = model_of(run, {name: x.numpy() for name, x in weights.items()})
    a, b = np.divmod(np.arange(run.n**2), run.n)
    with torch.no_grad():
        for part in np.array_split(np.arange(len(a)), 1 + len(a) // 4096):
            pairs = torch.from_numpy(a[part]), torch.from_numpy(b[part])
            ours, theirs = model(*pairs), plain.logits(weights, *pairs)
            assert torch.allclose(ours, theirs, atol=1e-5, rtol=0)
