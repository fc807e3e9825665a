"""What is written of a forward pass reads back, bit for bit; a file of anything else is refused."""

import dataclasses
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from small import weights_of

from strata import store
from strata.inputs import InputError
from strata.measure import activations, all_pairs, stored
from strata.run import Run

RUNS = [Run(2, 1), Run(12, 1), Run(13, 2), Run(15, 1), Run(15, 1, "mlp")]


def same(one: all_pairs.AllPairs, other: all_pairs.AllPairs) -> bool:
    """Whether two passes agree in every bit."""
    names = [[*x.logit_sums, *x.neurons.between] for x in (one, other)]
    pairs = zip(leaves(one), leaves(other), strict=True)
    return names[0] == names[1] and all(np.array_equal(x, y, equal_nan=True) for x, y in pairs)


def leaves(found: all_pairs.AllPairs) -> list:
    sums = [s for prompts in found.logit_sums.values() for s in prompts]
    return [
        found.finite, found.prediction, found.scores,
        found.neurons.squares, found.neurons.variance, *found.neurons.between.values(),
        *(getattr(s, field.name) for s in sums for field in dataclasses.fields(s)),
    ]  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*(invalid value|overflow).*:RuntimeWarning")
@pytest.mark.parametrize("factor", [1, np.nan], ids=["finite", "diverged"])
@pytest.mark.parametrize("run", RUNS, ids=str)
def test_what_measures_need_of_a_pass_comes_back_as_it_was(run, factor, tmp_path):
    weights = {name: x * np.float32(factor) for name, x in weights_of(run).items()}
    found = all_pairs.over_all_pairs(weights, run.n)
    stored.write_all_pairs(tmp_path / "x", found, run.n)
    back = stored.read_all_pairs(tmp_path / "x", run.n, weights)
    assert same(back, found) and back.finite == (factor == 1)
    row = pd.read_parquet(tmp_path / "x")
    assert row["finite"].tolist() == [back.finite]
    assert len(row["prediction"][0]) == run.n * (run.n + 1) // 2


@pytest.mark.parametrize("run", [Run(9, 1), Run(15, 1)], ids=str)
def test_attention_of_a_mirrored_pair_is_the_mirror_bit_for_bit(run):
    found = all_pairs.over_all_pairs(weights_of(run), run.n).attention.reshape(run.n, run.n, -1, 3)
    assert np.array_equal(found, found.swapaxes(0, 1)[..., [1, 0, 2]])


@pytest.mark.parametrize("other", [Run(14, 1), Run(16, 1), Run(15, 1, "mlp")], ids=str)
def test_a_pass_of_another_model_is_refused(other, tmp_path):
    found = all_pairs.over_all_pairs(weights_of(other), other.n)
    stored.write_all_pairs(tmp_path / "x", found, other.n)
    with pytest.raises(InputError, match="x: its columns must be finite, prediction, "):
        stored.read_all_pairs(tmp_path / "x", 15, weights_of(Run(15, 1)))


def test_metrics_import_no_torch():
    code = "import sys, strata.measure.metrics, strata.measure.stored; print([*sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "'strata.measure.metrics'" in found.stdout
    assert "'torch'" not in found.stdout


@pytest.fixture
def forward(tmp_path):
    """All activations of a run of n = 7 in row groups of 20 pairs."""
    path = tmp_path / "forward.parquet"
    stored.write_forward(path, weights_of(Run(7, 1)), 7, block=20)
    return path


@pytest.mark.parametrize("kinds", [["a"], ["neuron"], ["b", "logit"], ["product", "attention"]])
def test_blocks_of_all_activations_are_what_the_whole_table_holds(forward, kinds):
    parts = list(stored.read_forward(forward, 7, kinds))
    whole = pd.read_parquet(forward)
    assert [len(part[kinds[0]]) for part in parts] == [20, 20, 9]
    for kind in kinds:
        read = np.concatenate([part[kind] for part in parts])
        own = whole[kind] if kind in whole else whole.filter(regex=f"^{kind}_")
        assert np.array_equal(read, own.to_numpy())


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_activations_have_a_column_with_unit_and_meaning_for_each_number(run, tmp_path):
    weights, (a, b) = weights_of(run), np.divmod(np.arange(run.n**2), run.n)
    stored.write_forward(tmp_path / "x", weights, run.n)
    frame, found = pd.read_parquet(tmp_path / "x"), activations.forward(weights, a, b)
    np.testing.assert_array_equal(frame["product"], a * b % run.n)
    np.testing.assert_array_equal(frame["prediction"], activations.answers(found.logits))
    wide = (frame.filter(regex=f"^{x}_").to_numpy() for x in ("attention", "neuron", "logit"))
    for numbers, own in zip(wide, (found.attention, found.mlp, found.logits), strict=True):
        np.testing.assert_array_equal(numbers, own.reshape(len(a), -1))
    schema = pq.read_schema(tmp_path / "x")
    assert all({*field.metadata} == {b"unit", b"meaning"} for field in schema)


def test_every_column_that_a_stage_writes_is_explained():
    text = (Path(__file__).parents[2] / "data" / "README.md").read_text("utf-8")
    own = stored.all_pairs_schema(12, 3, 5)
    names = {x for form in (store.SPLIT, store.HISTORY, own) for x in form.names}
    assert [x for x in sorted(names) if f"`{x}`" not in text] == []
    assert all({*field.metadata} == {b"unit", b"meaning"} for field in own)
