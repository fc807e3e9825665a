"""Block after block is the whole file; a file of another modulus or schema is refused."""

import numpy as np
import pyarrow as pa
import pytest

from strata import store
from strata.analysis import activations, streams
from strata.run import InputError

SIZES = {"attention": 6, "mlp": 5, "logits": 7}


@pytest.fixture
def path(tmp_path):
    """The activations of n = 7 in row groups of 20 pairs."""
    rng, made = np.random.default_rng(0), tmp_path / "activations.parquet"
    schema = store.activations_schema(7, 2, 5)
    with store.table_writer(made, schema) as writer:
        for start in range(0, 49, 20):
            rows = np.arange(start, min(start + 20, 49), dtype=np.int32)
            whole = dict.fromkeys(("a", "b", "product", "prediction"), rows)
            lists = {
                name: pa.FixedSizeListArray.from_arrays(
                    rng.random(len(rows) * size).astype(np.float32), size
                )
                for name, size in SIZES.items()
            }
            writer.write_table(pa.table(whole | lists, schema=schema))
    return made


@pytest.mark.parametrize("columns", [["a"], ["mlp"], ["b", "logits"], ["product", "attention"]])
def test_blocks_are_what_the_whole_table_holds(path, columns):
    parts = list(streams.activations(path, 7, columns))
    whole = store.read_activations(path, 7, columns)
    assert [len(part[columns[0]]) for part in parts] == [20, 20, 9]
    for name in columns:
        assert np.array_equal(np.concatenate([part[name] for part in parts]), whole[name])


@pytest.mark.parametrize("n", [6, 8])
def test_a_file_of_another_modulus_is_refused(path, n):
    with pytest.raises(InputError, match=r"activations\.parquet: its columns must be a, b, .+"):
        next(streams.activations(path, n, ["a"]))


def test_a_file_with_rows_missing_is_refused(path):
    schema = store.activations_schema(7, 2, 5)
    with store.parquet(path) as file, store.table_writer(f"{path}.short", schema) as writer:
        writer.write_table(file.read_row_group(0))
    with pytest.raises(InputError, match="20 rows, must be 49"):
        next(streams.activations(f"{path}.short", 7, ["a"]))


def test_a_truncated_or_missing_file_gives_one_line(path, tmp_path):
    path.write_bytes(path.read_bytes()[:-20])
    for bad in (path, tmp_path / "none"):
        with pytest.raises(InputError) as refused:
            next(streams.activations(bad, 7, ["a"]))
        assert "\n" not in str(refused.value)


def test_what_a_run_writes_is_read(tmp_path):
    n, schema = 3, store.activations_schema(3, 0, 2)
    weights = {
        "W_E": np.ones((n, 2), np.float32), "W_in": np.ones((4, 2), np.float32),
        "b_in": np.zeros(2, np.float32), "W_out": np.ones((2, 2), np.float32),
        "b_out": np.zeros(2, np.float32), "W_U": np.ones((2, n), np.float32),
        "b_U": np.arange(n, dtype=np.float32),
    }  # fmt: skip
    with store.table_writer(tmp_path / "x", schema) as writer:
        for a, b, found in activations.blocks(weights, n):
            writer.write_table(pa.table(activations.columns(a, b, n, found), schema=schema))
    (part,) = streams.activations(tmp_path / "x", n, ["mlp", "logits"])
    assert (part["mlp"] == 4).all()
    assert (part["logits"] == 16 + np.arange(n)).all()
