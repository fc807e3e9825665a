"""Files: what was written comes back, the same bytes each time, and anything else gets one line."""

import json
import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small import TRAIN
from written import (
    CONFIG,
    FORMATS,
    HISTORY,
    RUN,
    WEIGHTS,
    read_split,
    write_history,
    write_json,
    write_split,
    write_weights,
)

from strata import store, task
from strata.inputs import InputError


def refused(reader, path, *words: str) -> None:
    """The reader gives one line for this file; it names the file and says the words."""
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
    whole = write(tmp_path / "whole").read_bytes()
    read(tmp_path / "whole")
    for size in np.linspace(0, len(whole) - 2, 8).astype(int):
        torn = tmp_path / "torn"
        torn.write_bytes(whole[:size])
        refused(read, torn)


@every_format
def test_what_is_no_file_of_ours_gets_one_line(write, read, tmp_path):
    refused(read, tmp_path / "missing", "No such file")
    (tmp_path / "folder").mkdir()
    refused(read, tmp_path / "folder")
    junk = [b"\n", b"PAR1" * 20, bytes(8) + b"{}", b"[1, 2", b"\xff\xfe\x00", os.urandom(3000)]
    for content in junk:
        (tmp_path / "junk").write_bytes(content)
        refused(read, tmp_path / "junk")
    for other, _ in FORMATS.values():
        if other is not write:
            refused(read, other(tmp_path / "other"))


def test_weights_come_back_as_they_were(tmp_path):
    found = store.read_weights(write_weights(tmp_path / "w"), RUN)
    assert found.keys() == WEIGHTS.keys()
    for name, x in WEIGHTS.items():
        assert found[name].dtype == np.float32
        assert np.array_equal(found[name], x)
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
    refused(store.read_weights, write_weights(tmp_path / "w", weights), *words)


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
    refused(store.read_weights, path)


def test_the_split_comes_back_and_another_modulus_is_refused(tmp_path):
    found = read_split(write_split(tmp_path / "s"))
    assert found["split"].tolist() == task.split(6, 1, 0.3, 0.3).tolist()
    for name, x in task.pair_table(6).items():
        assert np.array_equal(found[name], x)
    assert found["mirror_in_train"].dtype == bool
    refused(lambda p: store.read_split(p, 7), tmp_path / "s", "36", "49")
    table = pq.read_table(tmp_path / "s")
    shuffled = table.take(np.arange(36)[::-1])
    with store.table_writer(tmp_path / "s", store.SPLIT) as writer:
        writer.write_table(shuffled.cast(store.SPLIT))
    refused(read_split, tmp_path / "s", "(Z_6, ·)")


def test_history_comes_back_as_it_was(tmp_path):
    found = store.read_history(write_history(tmp_path / "h"))
    assert isinstance(found, pd.DataFrame)
    assert list(found) == store.HISTORY.names
    for name, x in HISTORY.items():
        assert found[name].dtype == x.dtype
        assert np.array_equal(found[name], x, equal_nan=True)


def test_a_history_that_skips_an_epoch_is_refused(tmp_path):
    store.write_history(tmp_path / "h", HISTORY | {"epoch": np.array([1, 2, 4, 5, 6], np.int32)})
    refused(store.read_history, tmp_path / "h", "epoch")


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
    refused(store.read_history, tmp_path / "other", "epoch", "train_accuracy")


def test_json_keeps_its_values_and_sorts_its_keys(tmp_path):
    path = write_json(tmp_path / "j")
    assert store.read_json(path) == {"a": {"x": "é"}, "b": [1, 2.5, None]}
    text = path.read_text(encoding="utf-8")
    assert text.endswith("}\n") and [*json.loads(text)] == ["a", "b"]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "f"
    store.write_text(path, "old")

    def fails():
        with store.replacing(path) as temporary:
            temporary.write_text("half", encoding="utf-8")
            raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        fails()
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
    found = pd.read_csv(tmp_path / "h.csv")
    assert list(found) == store.HISTORY.names
    assert 1 <= len(found) <= 10
    assert np.isfinite(found["validation_accuracy"]).all()
    assert found["epoch"].iloc[-1] == epochs - (epochs % 2 == 0)
    assert len(set(np.diff(found["epoch"]).tolist())) <= 1
