"""Files from a remote are refused in one line whatever is in them."""

import json
import struct
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from written import CONFIG, FORMATS, WEIGHTS, write_split, write_weights

from strata import store
from strata.inputs import InputError

SCRATCH = {"suppress_health_check": [HealthCheck.function_scoped_fixture], "database": None}
READERS = {name: read for name, (_, read) in FORMATS.items()} | {"tensors": store.read_tensors}
DAMAGED = ["history", "split", "weights"]
FUZZ = 500  # inputs of each of the tests below


def survives(name: str, path: Path, content: bytes) -> None:
    """The reader takes the bytes or refuses them in one line."""
    path.write_bytes(content)
    lines = []
    try:
        READERS[name](path)
    except InputError as fault:
        lines = str(fault).splitlines()
    assert len(lines) <= 1


@settings(max_examples=FUZZ, **SCRATCH)
@given(name=st.sampled_from(sorted(READERS)), content=st.binary(max_size=400))
def test_any_bytes_are_read_or_refused(name, content, tmp_path):
    survives(name, tmp_path / "x", content)


@pytest.fixture(scope="module")
def valid(tmp_path_factory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("valid")
    return {name: FORMATS[name][0](folder / name).read_bytes() for name in DAMAGED}


@settings(max_examples=FUZZ, **SCRATCH)
@given(data=st.data(), name=st.sampled_from(DAMAGED))
def test_a_damaged_file_is_read_or_refused(data, name, valid, tmp_path):
    whole = bytearray(valid[name])
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(whole) - 1))
        size = data.draw(st.integers(0, 8))
        whole[at : at + size] = data.draw(st.binary(max_size=8))
    survives(name, tmp_path / "x", bytes(whole))


NUMBER = st.one_of(st.integers(-(2**70), 2**70), st.floats(), st.none(), st.text(max_size=4))
ENTRY = st.fixed_dictionaries(
    {},
    optional={
        "dtype": st.sampled_from(["F32", "F64", "I64", "BF16", "F8_E4M3", "C64", "", "X"]),
        "shape": st.lists(NUMBER, max_size=3),
        "data_offsets": st.lists(NUMBER, max_size=3),
    },
)
UNKNOWN_TO_NUMPY = {"dtype": "F8_E4M3", "shape": [4], "data_offsets": [0, 4]}


@settings(max_examples=FUZZ, **SCRATCH)
@given(
    header=st.dictionaries(st.sampled_from([*WEIGHTS, "other", "__metadata__"]), ENTRY, max_size=4),
    size=st.one_of(st.none(), st.integers(0, 2**64 - 1)),
    rest=st.binary(max_size=64),
)
@example(header={"W_E": UNKNOWN_TO_NUMPY}, size=None, rest=bytes(4))
def test_any_header_of_tensors_is_read_or_refused(header, size, rest, tmp_path):
    text = json.dumps(header | {"__metadata__": {"strata": json.dumps(CONFIG)}}).encode()
    length = struct.pack("<Q", len(text) if size is None else size)
    survives("weights", tmp_path / "x", length + text + rest)


def value() -> st.SearchStrategy:
    leaf = st.one_of(st.none(), st.booleans(), NUMBER)
    return st.recursive(leaf, lambda x: st.lists(x, max_size=2) | st.dictionaries(
        st.sampled_from(["run", "train", "split", "n_heads", "d_model"]), x, max_size=3),
        max_leaves=3)  # fmt: skip


@settings(max_examples=500, **SCRATCH)
@given(config=value(), train=st.dictionaries(st.sampled_from(list(CONFIG["train"])), NUMBER))
def test_any_configuration_in_the_metadata_is_read_or_refused(config, train, tmp_path):
    # A list may be of pairs: a dict whose keys the tests' type check refuses.
    assume(not isinstance(config, list))
    for metadata in (config, CONFIG | {"train": CONFIG["train"] | train}):
        survives("weights", tmp_path / "x", store.tensors_bytes(WEIGHTS, metadata))


@pytest.mark.parametrize("count", [2**40, 2**62])
def test_absurd_sizes_cost_neither_memory_nor_time(count, tmp_path):
    entry = {"dtype": "F32", "shape": [count], "data_offsets": [0, 4 * count]}
    header = json.dumps({"W_E": entry, "__metadata__": {"strata": json.dumps(CONFIG)}}).encode()
    (tmp_path / "x").write_bytes(struct.pack("<Q", len(header)) + header)
    with pytest.raises(InputError, match="not a safetensors file of ours, or truncated"):
        store.read_weights(tmp_path / "x")
    (tmp_path / "x").write_bytes(struct.pack("<Q", count) + header)
    with pytest.raises(InputError, match="not a safetensors file of ours, or truncated"):
        store.read_weights(tmp_path / "x")
    # A configuration may ask for any size: nothing of that size is ever made.
    config = CONFIG | {"train": CONFIG["train"] | {"d_mlp": count}}
    write_weights(tmp_path / "x", config=config)
    with pytest.raises(InputError, match=r"tensor W_in is float32 .* must be float32"):
        store.read_weights(tmp_path / "x")


def test_a_table_whose_text_is_not_utf8_is_refused(tmp_path):
    """In a cell, where pyarrow raises an error of its own, and in a column's name."""
    content = write_split(tmp_path / "x").read_bytes()
    table = pq.read_table(tmp_path / "x")
    text = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff\xfe"]).buffers())
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(36, np.int32)), text)
    with store.table_writer(tmp_path / "x", store.SPLIT) as writer:
        at = table.column_names.index("split")
        writer.write_table(table.set_column(at, "split", column).cast(store.SPLIT, safe=False))
    with pytest.raises(InputError, match=r"x: not a whole Parquet file"):
        store.read_split(tmp_path / "x", 6)
    (tmp_path / "x").write_bytes(content.replace(b"\x07class_c", b"\x07cla\x80s_c"))
    with pytest.raises(InputError, match=r"x: not a whole Parquet file"):
        store.read_split(tmp_path / "x", 6)


def test_a_word_that_is_no_part_of_a_split_is_refused(tmp_path):
    table = pq.read_table(write_split(tmp_path / "x"))
    columns = {name: table[name].to_pylist() for name in table.column_names}
    columns["split"][-1] = "tr\x1b[2Jain"
    store.write_table(tmp_path / "x", columns, store.SPLIT)
    with pytest.raises(InputError, match="must be one of"):
        store.read_split(tmp_path / "x", 6)
