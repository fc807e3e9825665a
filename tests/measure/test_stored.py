"""What is written of a forward pass reads back, bit for bit; a file of anything else is refused."""

import dataclasses
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from small import weights_of

from strata.inputs import InputError
from strata.measure import activations, all_pairs, stored
from strata.run import Run

RUNS = [Run(2, 1), Run(12, 1), Run(13, 2), Run(15, 1), Run(15, 1, "mlp")]


def same(one: all_pairs.AllPairs, other: all_pairs.AllPairs) -> bool:
    """Whether two passes agree in every bit."""
    names = [[*x.logit_sums, *x.neurons.between] for x in (one, other)]
    pairs = zip(leaves(one), leaves(other), strict=True)
    return names[0] == names[1] and all(np.array_equal(x, y, equal_nan=True) for x, y in pairs)


def leaves(forward: all_pairs.AllPairs) -> list:
    sums = [s for prompts in forward.logit_sums.values() for s in prompts]
    return [
        forward.finite, forward.prediction, forward.scores,
        forward.neurons.squares, forward.neurons.variance, *forward.neurons.between.values(),
        *(getattr(s, field.name) for s in sums for field in dataclasses.fields(s)),
    ]  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*(invalid value|overflow).*:RuntimeWarning")
@pytest.mark.parametrize("factor", [1, np.nan], ids=["finite", "diverged"])
@pytest.mark.parametrize("run", RUNS, ids=str)
def test_what_measures_need_of_a_pass_comes_back_as_it_was(run, factor, tmp_path):
    weights = {name: x * np.float32(factor) for name, x in weights_of(run).items()}
    forward = all_pairs.over_all_pairs(weights, run.n)
    stored.write_all_pairs(tmp_path / "x", forward, run.n)
    restored = stored.read_all_pairs(tmp_path / "x", run.n, weights)
    assert same(restored, forward) and restored.finite == (factor == 1)
    frame = pd.read_parquet(tmp_path / "x")
    assert frame["finite"].tolist() == [restored.finite]
    assert len(frame["prediction"][0]) == run.n * (run.n + 1) // 2


@pytest.mark.parametrize("run", [Run(9, 1), Run(15, 1)], ids=str)
def test_attention_of_a_mirrored_pair_is_the_mirror_bit_for_bit(run):
    maps = all_pairs.over_all_pairs(weights_of(run), run.n).attention.reshape(run.n, run.n, -1, 3)
    assert np.array_equal(maps, maps.swapaxes(0, 1)[..., [1, 0, 2]])


@pytest.mark.parametrize("other", [Run(14, 1), Run(16, 1), Run(15, 1, "mlp")], ids=str)
def test_a_pass_of_another_model_is_refused(other, tmp_path):
    forward = all_pairs.over_all_pairs(weights_of(other), other.n)
    stored.write_all_pairs(tmp_path / "x", forward, other.n)
    with pytest.raises(InputError, match="x: its columns must be finite, prediction, "):
        stored.read_all_pairs(tmp_path / "x", 15, weights_of(Run(15, 1)))


def test_metrics_import_no_torch():
    code = "import sys, strata.measure.metrics, strata.measure.stored; print([*sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "'strata.measure.metrics'" in done.stdout
    assert "'torch'" not in done.stdout


@pytest.fixture
def forward(tmp_path):
    """Write all activations of a run of n = 7 in row groups of 20 pairs."""
    path = tmp_path / "forward.parquet"
    stored.write_forward(path, weights_of(Run(7, 1)), 7, block=20)
    return path


@pytest.mark.parametrize("kinds", [["a"], ["neuron"], ["b", "logit"], ["product", "attention"]])
def test_blocks_of_all_activations_are_what_the_whole_table_holds(forward, kinds):
    parts = list(stored.read_forward(forward, 7, kinds))
    table = pd.read_parquet(forward)
    assert [len(part[kinds[0]]) for part in parts] == [20, 20, 9]
    for kind in kinds:
        read = np.concatenate([part[kind] for part in parts])
        expected = table[kind] if kind in table else table.filter(regex=f"^{kind}_")
        assert np.array_equal(read, expected.to_numpy())


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_activations_have_a_column_with_unit_and_meaning_for_each_number(run, tmp_path):
    weights, (a, b) = weights_of(run), np.divmod(np.arange(run.n**2), run.n)
    stored.write_forward(tmp_path / "x", weights, run.n)
    frame, acts = pd.read_parquet(tmp_path / "x"), activations.forward(weights, a, b)
    np.testing.assert_array_equal(frame["product"], a * b % run.n)
    np.testing.assert_array_equal(frame["prediction"], activations.answers(acts.logits))
    wide = (frame.filter(regex=f"^{x}_").to_numpy() for x in ("attention", "neuron", "logit"))
    for numbers, expected in zip(wide, (acts.attention, acts.mlp, acts.logits), strict=True):
        np.testing.assert_array_equal(numbers, expected.reshape(len(a), -1))
    schema = pq.read_schema(tmp_path / "x")
    pairs_schema = stored.all_pairs_schema(12, 3, 5)
    assert all({*field.metadata} == {b"unit", b"meaning"} for field in (*schema, *pairs_schema))
