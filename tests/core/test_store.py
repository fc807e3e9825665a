"""Files: what was written comes back, the same bytes each time, and anything else gets one line,
whatever is in it."""

import json
import os
import struct
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small import TRAIN, split_of, weights_of

from strata import store, task
from strata.inputs import InputError
from strata.measure import all_pairs, stored
from strata.run import Run

RUN = Run(6, 1)
CONFIG = {"run": str(RUN), "train": TRAIN.model_dump()}
WEIGHTS = weights_of(RUN)
KINDS = ["a", "b", "product", "prediction", "attention", "neuron", "logit"]
HISTORY = {
    "epoch": np.arange(1, 6, dtype=np.int32),
    "loss": np.array([3, 2, 1, 0.5, np.inf], dtype=np.float32),
    "train_accuracy": np.array([0, 0.1, 1 / 3, 0.5, 1]),
    "validation_accuracy": np.array([np.nan, 0.1, np.nan, 0.3, 0.7]),
    "mirror_free_accuracy": np.array([np.nan, 0.1, np.nan, np.nan, 0.7]),
}


def write_weights(path, weights=None, config=None):
    content = store.tensors_bytes(WEIGHTS if weights is None else weights, config or CONFIG)
    store.write_bytes(path, content)
    return path


def write_split(path):
    store.write_table(path, split_of(RUN.n), store.SPLIT)
    return path


def write_history(path):
    store.write_history(path, HISTORY)
    return path


def write_forward(path):
    stored.write_forward(path, WEIGHTS, 6, block=10)
    return path


def write_all_pairs(path):
    stored.write_all_pairs(path, all_pairs.over_all_pairs(WEIGHTS, 6), 6)
    return path


def write_json(path):
    store.write_json(path, {"b": [1, 2.5, None], "a": {"x": "é"}})
    return path


def read_split(path):
    return store.read_split(path, 6)


# How each kind of file is written, and how it is read.
FORMATS = {
    "weights": (write_weights, store.read_weights),
    "split": (write_split, read_split),
    "history": (write_history, store.read_history),
    "forward": (write_forward, lambda path: list(stored.read_forward(path, 6, KINDS))),
    "all_pairs": (write_all_pairs, lambda path: stored.read_all_pairs(path, 6, WEIGHTS)),
    "json": (write_json, store.read_json),
}


def check_refused(reader, path, *words: str) -> None:
    """Check that the reader refuses the file in one line that names the file and has the words."""
    with pytest.raises(InputError, match=r"\A.{,499}\Z") as fault:
        reader(path)
    for word in (str(path), *words):
        assert word in str(fault.value)


every_format = pytest.mark.parametrize(("write", "read"), FORMATS.values(), ids=FORMATS)


@every_format
def test_the_same_input_gives_the_same_bytes_whatever_the_name(write, read, tmp_path):
    first = write(tmp_path / "one").read_bytes()
    assert write(tmp_path / "folder" / "of" / "another").read_bytes() == first
    assert write(tmp_path / "one").read_bytes() == first
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "one"]


@every_format
def test_a_file_truncated_anywhere_gets_one_line(write, read, tmp_path):
    content = write(tmp_path / "whole").read_bytes()
    read(tmp_path / "whole")
    for size in np.linspace(0, len(content) - 2, 8).astype(int):
        torn = tmp_path / "torn"
        torn.write_bytes(content[:size])
        check_refused(read, torn)


@every_format
def test_what_is_no_file_of_ours_gets_one_line(write, read, tmp_path):
    check_refused(read, tmp_path / "missing", "No such file")
    (tmp_path / "folder").mkdir()
    check_refused(read, tmp_path / "folder")
    junk = [b"\n", b"PAR1" * 20, bytes(8) + b"{}", b"[1, 2", b"\xff\xfe\x00", os.urandom(3000)]
    for content in junk:
        (tmp_path / "junk").write_bytes(content)
        check_refused(read, tmp_path / "junk")
    for other, _ in FORMATS.values():
        if other is not write:
            check_refused(read, other(tmp_path / "other"))


def test_weights_come_back_as_they_were(tmp_path):
    weights = store.read_weights(write_weights(tmp_path / "w"), RUN)
    assert weights.keys() == WEIGHTS.keys()
    for name, x in WEIGHTS.items():
        assert weights[name].dtype == np.float32
        assert np.array_equal(weights[name], x)
    tensors, metadata = store.read_tensors(tmp_path / "w")
    assert metadata == CONFIG
    assert tensors.keys() == WEIGHTS.keys()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"W_E": None}, ("W_E", "missing", "(7, 12)")),
        ({"W_extra": np.zeros(3, np.float32)}, ("W_extra", "(3,)")),
        ({"b_U": np.zeros((6, 1), np.float32)}, ("b_U", "(6, 1)", "(6,)")),
        ({"W_U": WEIGHTS["W_U"].astype(float)}, ("W_U", "float64", "float32")),
        ({"W_E": WEIGHTS["W_E"][:-1]}, ("W_E", "(6, 12)", "(7, 12)")),
        (dict.fromkeys(WEIGHTS), ("missing",)),
    ],
)
def test_a_wrong_tensor_is_named_with_what_it_must_be(change, words, tmp_path):
    weights = {name: x for name, x in (WEIGHTS | change).items() if x is not None}
    check_refused(store.read_weights, write_weights(tmp_path / "w", weights), *words)


@pytest.mark.parametrize(
    "config",
    [
        {"run": "n6-s1"},
        {"train": TRAIN.model_dump()},
        CONFIG | {"run": "n1-s1"},
        CONFIG | {"train": TRAIN.model_dump() | {"n_heads": 5}},
        CONFIG | {"train": TRAIN.model_dump() | {"architecture": "mlp"}},
        "text",
    ],
)
def test_weights_without_a_usable_configuration_are_refused(config, tmp_path):
    path = write_weights(tmp_path / "w", config=config)
    check_refused(store.read_weights, path)


def test_the_split_comes_back_and_another_modulus_is_refused(tmp_path):
    split = read_split(write_split(tmp_path / "s"))
    assert split["split"].tolist() == task.split(6, 1, 0.3, 0.3).tolist()
    for name, x in task.pair_table(6).items():
        assert np.array_equal(split[name], x)
    assert split["mirror_in_train"].dtype == bool
    check_refused(lambda p: store.read_split(p, 7), tmp_path / "s", "36", "49")
    table = pq.read_table(tmp_path / "s")
    shuffled = table.take(np.arange(36)[::-1])
    with store.table_writer(tmp_path / "s", store.SPLIT) as writer:
        writer.write_table(shuffled.cast(store.SPLIT))
    check_refused(read_split, tmp_path / "s", "(Z_6, ·)")


def test_a_history_that_skips_an_epoch_is_refused(tmp_path):
    store.write_history(tmp_path / "h", HISTORY | {"epoch": np.array([1, 2, 4, 5, 6], np.int32)})
    check_refused(store.read_history, tmp_path / "h", "epoch")


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.drop_columns("loss"),
        lambda t: t.append_column("more", pa.array(range(5))),
        lambda t: t.set_column(1, "loss", t["loss"].cast(pa.float64())),
    ],
)
def test_another_schema_is_refused_with_ours_named(change, tmp_path):
    pq.write_table(change(pq.read_table(write_history(tmp_path / "h"))), tmp_path / "other")
    check_refused(store.read_history, tmp_path / "other", "epoch", "train_accuracy")


def test_json_keeps_its_values_and_sorts_its_keys(tmp_path):
    path = write_json(tmp_path / "j")
    assert store.read_json(path) == {"a": {"x": "é"}, "b": [1, 2.5, None]}
    text = path.read_text(encoding="utf-8")
    assert text.endswith("}\n") and [*json.loads(text)] == ["a", "b"]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "f"
    store.write_text(path, "old")

    def fail():
        with store.replacing(path) as temporary:
            temporary.write_text("half", encoding="utf-8")
            raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        fail()
    assert [p.name for p in tmp_path.iterdir()] == ["f"]
    assert path.read_text(encoding="utf-8") == "old"
    before = write_history(tmp_path / "h").read_bytes()
    with pytest.raises((pa.ArrowException, ValueError)):
        store.write_history(tmp_path / "h", HISTORY | {"loss": np.zeros(4, np.float32)})
    assert (tmp_path / "h").read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["f", "h"]


@pytest.mark.parametrize("epochs", [2, 3, 10, 1000])
def test_the_thinned_history_is_short_and_ends_with_the_last_validation(epochs, tmp_path):
    history = {name: np.arange(1, epochs + 1.0) for name in store.HISTORY.names}
    history["validation_accuracy"][1::2] = np.nan
    store.write_thinned(tmp_path / "h.csv", history, points=10)
    thinned = pd.read_csv(tmp_path / "h.csv")
    assert list(thinned) == store.HISTORY.names
    assert 1 <= len(thinned) <= 10
    assert np.isfinite(thinned["validation_accuracy"]).all()
    assert thinned["epoch"].iloc[-1] == epochs - (epochs % 2 == 0)
    assert len(set(np.diff(thinned["epoch"]).tolist())) <= 1


SCRATCH = {"suppress_health_check": [HealthCheck.function_scoped_fixture], "database": None}
READERS = {name: read for name, (_, read) in FORMATS.items()} | {"tensors": store.read_tensors}
DAMAGED = ["history", "split", "weights"]


def check_read_or_refused(name: str, path: Path, content: bytes) -> None:
    """Check that the reader takes the bytes or refuses them in one line."""
    path.write_bytes(content)
    lines = []
    try:
        READERS[name](path)
    except InputError as fault:
        lines = str(fault).splitlines()
    assert len(lines) <= 1


@pytest.fixture(scope="module")
def valid(tmp_path_factory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("valid")
    return {name: FORMATS[name][0](folder / name).read_bytes() for name in DAMAGED}


@settings(max_examples=200, **SCRATCH)
@given(data=st.data(), name=st.sampled_from(DAMAGED))
def test_a_damaged_file_is_read_or_refused(data, name, valid, tmp_path):
    content = bytearray(valid[name])
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(content) - 1))
        size = data.draw(st.integers(0, 8))
        content[start : start + size] = data.draw(st.binary(max_size=8))
    check_read_or_refused(name, tmp_path / "x", bytes(content))


def test_an_unknown_type_and_an_absurd_size_are_refused(tmp_path):
    unknown = {"dtype": "F8_E4M3", "shape": [4], "data_offsets": [0, 4]}  # to NumPy
    header = json.dumps({"W_E": unknown}).encode()
    (tmp_path / "x").write_bytes(struct.pack("<Q", len(header)) + header + bytes(4))
    with pytest.raises(InputError):
        store.read_weights(tmp_path / "x")
    # A configuration may ask for any size: nothing of that size is ever made.
    config = CONFIG | {"train": CONFIG["train"] | {"d_mlp": 2**62}}
    write_weights(tmp_path / "x", config=config)
    with pytest.raises(InputError, match=r"tensor W_in is float32 .* must be float32"):
        store.read_weights(tmp_path / "x")


def test_a_word_that_is_no_part_of_a_split_is_refused(tmp_path):
    table = pq.read_table(write_split(tmp_path / "x"))
    columns = {name: table[name].to_pylist() for name in table.column_names}
    columns["split"][-1] = "tr\x1b[2Jain"
    store.write_table(tmp_path / "x", columns, store.SPLIT)
    with pytest.raises(InputError, match="must be one of"):
        store.read_split(tmp_path / "x", 6)
