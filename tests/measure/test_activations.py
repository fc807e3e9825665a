"""All pairs: block by block it is one whole forward pass, and its table reads back."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from small import kind_of

from strata import store
from strata.measure import activations, stored
from strata.run import Run, TrainParams
from strata.train import network

STAGE = str(Path(__file__).parents[2] / "stages" / "forward.py")
PARAMS = TrainParams(
    d_model=12, n_heads=3, d_mlp=20, epochs=1, lr=1e-3, weight_decay=1.0,
    beta1=0.9, beta2=0.98, eps=1e-8, validate_every=1,
)  # fmt: skip
RUNS = [Run(12, 3), Run(7, 0), Run(2, 1), Run(9, 1, "mlp")]


def weights_of(run: Run) -> dict[str, np.ndarray]:
    return {name: x.numpy() for name, x in network.initial(run, kind_of(run, PARAMS)).items()}


def whole(run: Run) -> tuple[np.ndarray, np.ndarray, activations.Activations]:
    """Every pair in one forward pass, which tests/api holds against torch's."""
    a, b = np.divmod(np.arange(run.n**2), run.n)
    return a, b, activations.forward(weights_of(run), a, b)


@pytest.mark.parametrize("run", RUNS, ids=str)
@pytest.mark.parametrize("block", [1, 10, 49, 10**6])
def test_blocks_are_one_whole_forward_pass(run, block):
    parts = list(activations.blocks(weights_of(run), run.n, block))
    assert all(len(a) <= block for a, _, _ in parts)
    a, b, expected = whole(run)
    assert np.array_equal(np.concatenate([part[0] for part in parts]), a)
    assert np.array_equal(np.concatenate([part[1] for part in parts]), b)
    for name in ("logits", "mlp", "attention"):
        found = np.concatenate([getattr(part[2], name) for part in parts])
        assert found.dtype == np.float32
        assert np.allclose(found, getattr(expected, name), atol=1e-6)


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_a_transformer_is_symmetric_in_its_operands_and_the_mlp_is_not(run):
    n, (_, _, found) = run.n, whole(run)
    logits = found.logits.reshape(n, n, n)
    same = np.allclose(logits, logits.swapaxes(0, 1), atol=1e-5)
    assert same != bool(run.variant)


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_the_table_that_the_stage_writes_reads_back(run, tmp_path, monkeypatch):
    weights, out = tmp_path / "weights", tmp_path / "out.parquet"
    config = {"run": str(run), "train": kind_of(run, PARAMS).model_dump()}
    store.write_bytes(weights, store.tensors_bytes(weights_of(run), config))
    written = []
    for _ in range(2):
        monkeypatch.setattr(sys, "argv", [STAGE, str(run), str(weights), str(out)])
        runpy.run_path(STAGE, run_name="__main__")
        written.append(out.read_bytes())
    assert written[0] == written[1]
    attends = "attention_0_a" in pq.read_schema(out).names
    kinds = ["a", "b", "product", "prediction", "neuron", "logit", *["attention"] * attends]
    parts = list(stored.read_forward(out, run.n, kinds))
    found = {kind: np.concatenate([part[kind] for part in parts]) for kind in kinds}
    a, b, expected = whole(run)
    assert np.array_equal(found["a"], a)
    assert np.array_equal(found["b"], b)
    assert np.array_equal(found["product"], a * b % run.n)
    assert np.array_equal(found["prediction"], activations.answers(found["logit"]))
    assert np.allclose(found["logit"], expected.logits, atol=1e-6)
    assert np.allclose(found["neuron"], expected.mlp, atol=1e-6)
    assert attends == (run.variant != "mlp")
    if not attends:
        return
    attention = found["attention"].reshape(-1, PARAMS.n_heads, 3)  # head-major: to a, to b, to =
    assert np.allclose(attention, expected.attention, atol=1e-6)
    assert np.allclose(attention.sum(axis=2), 1, atol=1e-6)
    swapped = attention.reshape(run.n, run.n, PARAMS.n_heads, 3).swapaxes(0, 1)[..., [1, 0, 2]]
    assert np.allclose(attention, swapped.reshape(attention.shape), atol=1e-6)


def test_equal_logits_count_as_equal_and_the_least_residue_is_the_answer():
    """However rounding falls out among the largest; a larger difference decides."""
    rng, largest = np.random.default_rng(0), 40.0
    for size in (0.0, 1e-7, activations.TIE / 3):
        logits = rng.normal(size=(500, 9))
        logits[:, [2, 5, 7]] = largest * (1 + size * rng.uniform(-1, 1, size=(500, 3)))
        assert (activations.answers(logits.astype(np.float32)) == 2).all()
    logits[:, 5] = largest * (1 + 3 * activations.TIE)
    assert (activations.answers(logits.astype(np.float32)) == 5).all()
    assert (activations.answers(np.full((2, 4), -np.inf, np.float32)) == 0).all()
    beside = np.array([[0, 1e6, 0], [1.0, 1.1, 0]], np.float32)  # the largest of its own row counts
    assert (activations.answers(beside) == 1).all()
