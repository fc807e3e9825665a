"""Files: what was written comes back, the same bytes each time, and anything else gets one line."""

import contextlib
import json
import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from written import CONFIG, HISTORY, PARAMS, RUN, WEIGHTS, write_history, write_split, write_weights

from strata import store, task
from strata.measure import all_pairs, stored
from strata.run import InputError, Run

LISTS = {"attention": (36, 6), "mlp": (36, 12), "logits": (36, 6)}


def refused(reader, path, *words: str) -> str:
    """The one line that the reader gives for this file; it names the file and says the words."""
    with pytest.raises(InputError) as fault:
        reader(path)
    line = str(fault.value)
    assert "\n" not in line
    assert len(line) < 500
    for word in (str(path), *words):
        assert word in line
    return line


def read_split(path):
    return store.read_split(path, 6)


def read_forward(path):
    parts = list(stored.read_forward(path, 6, ["a", "b", "product", "prediction", *LISTS]))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def write_forward(path):
    stored.write_forward(path, WEIGHTS, 6, block=10)
    return path


def read_all_pairs(path):
    return stored.read_all_pairs(path, 6, WEIGHTS)


def write_all_pairs(path):
    stored.write_all_pairs(path, all_pairs.over_all_pairs(WEIGHTS, 6), 6)
    return path


def write_json(path):
    store.write_json(path, {"b": [1, 2.5, None], "a": {"x": "é"}})
    return path


FORMATS = [
    (write_weights, store.read_weights),
    (write_split, read_split),
    (write_history, store.read_history),
    (write_forward, read_forward),
    (write_all_pairs, read_all_pairs),
    (write_json, store.read_json),
]
IDS = ["weights", "split", "history", "forward", "all_pairs", "json"]


@pytest.mark.parametrize(("write", "read"), FORMATS, ids=IDS)
def test_the_same_input_gives_the_same_bytes_whatever_the_name(write, read, tmp_path):
    first = write(tmp_path / "one").read_bytes()
    assert write(tmp_path / "folder" / "of" / "another").read_bytes() == first
    assert write(tmp_path / "one").read_bytes() == first
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "one"]


@pytest.mark.parametrize(("write", "read"), FORMATS, ids=IDS)
def test_a_file_truncated_anywhere_gets_one_line(write, read, tmp_path):
    whole = write(tmp_path / "whole").read_bytes()
    read(tmp_path / "whole")
    for size in np.linspace(0, len(whole) - 2, 30).astype(int):
        torn = tmp_path / "torn"
        torn.write_bytes(whole[:size])
        refused(read, torn)


@pytest.mark.parametrize(("write", "read"), FORMATS, ids=IDS)
def test_what_is_no_file_of_ours_gets_one_line(write, read, tmp_path):
    refused(read, tmp_path / "missing", "No such file")
    (tmp_path / "folder").mkdir()
    refused(read, tmp_path / "folder")
    junk = [b"\n", b"PAR1" * 20, bytes(8) + b"{}", b"[1, 2", b"\xff\xfe\x00", os.urandom(3000)]
    for content in junk:
        (tmp_path / "junk").write_bytes(content)
        refused(read, tmp_path / "junk")
    for other, _ in FORMATS:
        if other is not write and not (read is store.read_json and other is write_json):
            refused(read, other(tmp_path / "other"))


@pytest.mark.parametrize(("write", "read"), FORMATS[:5], ids=IDS[:5])
def test_a_file_with_a_flipped_byte_is_read_or_refused_but_never_breaks_the_reader(
    write, read, tmp_path
):
    whole, rng = write(tmp_path / "whole").read_bytes(), np.random.default_rng(0)
    for place in [*range(12), *rng.integers(0, len(whole), 60)]:
        damaged = bytearray(whole)
        damaged[place] ^= 0x55
        (tmp_path / "damaged").write_bytes(damaged)
        with contextlib.suppress(InputError):
            read(tmp_path / "damaged")


def test_weights_come_back_as_they_were(tmp_path):
    found = store.read_weights(write_weights(tmp_path / "w"), RUN)
    assert found.keys() == WEIGHTS.keys()
    for name, x in WEIGHTS.items():
        assert found[name].dtype == np.float32
        assert np.array_equal(found[name], x)
    tensors, metadata = store.read_tensors(tmp_path / "w")
    assert metadata == CONFIG
    assert tensors.keys() == WEIGHTS.keys()


def test_tensors_keep_shape_type_and_order_of_any_layout(tmp_path):
    tensors = {
        "scalar": np.array(2.5, dtype=np.float32),
        "empty": np.zeros((0, 3)),
        "transposed": np.arange(6).reshape(2, 3).T,
        "strided": np.arange(20, dtype=np.int32)[::3],
    }
    store.write_bytes(tmp_path / "t", store.tensors_bytes(tensors, {"a": 1}))
    found, _ = store.read_tensors(tmp_path / "t")
    for name, x in tensors.items():
        assert found[name].dtype == x.dtype
        assert found[name].shape == x.shape
        assert np.array_equal(found[name], x)


def test_weights_of_another_run_are_refused(tmp_path):
    path = write_weights(tmp_path / "w")
    for other in (Run(6, 2), Run(7, 1), Run(6, 1, "mlp")):
        refused(lambda p, run=other: store.read_weights(p, run), path, str(RUN), str(other))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"W_E": None}, ("W_E", "missing", "(7, 8)")),
        ({"W_extra": np.zeros(3, np.float32)}, ("W_extra", "(3,)")),
        ({"b_U": np.zeros((6, 1), np.float32)}, ("b_U", "(6, 1)", "(6,)")),
        ({"W_U": WEIGHTS["W_U"].astype(float)}, ("W_U", "float64", "float32")),
        ({"W_E": WEIGHTS["W_E"][:-1]}, ("W_E", "(6, 8)", "(7, 8)")),
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
        {"train": PARAMS.model_dump()},
        CONFIG | {"run": 5},
        CONFIG | {"run": "n1-s1"},
        CONFIG | {"train": {}},
        CONFIG | {"train": None},
        CONFIG | {"train": PARAMS.model_dump() | {"n_heads": 3}},
        ["list"],
        "text",
        7,
        True,
    ],
)
def test_weights_without_a_usable_configuration_are_refused(config, tmp_path):
    path = write_weights(tmp_path / "w", config=config)
    refused(store.read_weights, path)


def test_tensors_without_our_metadata_are_refused(tmp_path):
    from safetensors.numpy import save

    for metadata in (None, {}, {"strata": "no json"}, {"other": "{}"}):
        (tmp_path / "t").write_bytes(save({"x": np.zeros(2)}, metadata))
        refused(store.read_tensors, tmp_path / "t")


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
    refused(read_split, tmp_path / "s", "n = 6")


def test_history_comes_back_as_it_was(tmp_path):
    found = store.read_history(write_history(tmp_path / "h"))
    assert isinstance(found, pd.DataFrame)
    assert list(found) == store.HISTORY.names
    for name, x in HISTORY.items():
        assert found[name].dtype == x.dtype
        assert np.array_equal(found[name], x, equal_nan=True)


def test_a_history_of_no_epoch_is_refused(tmp_path):
    store.write_history(tmp_path / "h", {name: x[:0] for name, x in HISTORY.items()})
    refused(store.read_history, tmp_path / "h", "0 rows, must be at least 1")


def test_json_nested_too_deep_is_refused(tmp_path):
    (tmp_path / "j").write_text("[" * 100_000 + "]" * 100_000)
    refused(store.read_json, tmp_path / "j", "not valid JSON")


def test_a_history_that_skips_an_epoch_is_refused(tmp_path):
    store.write_history(tmp_path / "h", HISTORY | {"epoch": np.array([1, 2, 4, 5, 6], np.int32)})
    refused(store.read_history, tmp_path / "h", "epoch")


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.drop_columns("loss"),
        lambda t: t.append_column("more", pa.array(range(5))),
        lambda t: t.select(t.column_names[::-1]),
        lambda t: t.set_column(1, "loss", t["loss"].cast(pa.float64())),
        lambda t: t.rename_columns(["epoch", "cost", *t.column_names[2:]]),
    ],
)
def test_another_schema_is_refused_with_ours_named(change, tmp_path):
    pq.write_table(change(pq.read_table(write_history(tmp_path / "h"))), tmp_path / "other")
    refused(store.read_history, tmp_path / "other", "epoch", "train_accuracy")


def test_the_activation_table_reads_back_whole_or_by_column(tmp_path):
    path = write_forward(tmp_path / "a")
    found = read_forward(path)
    assert {name: found[name].shape for name in LISTS} == LISTS
    some = list(stored.read_forward(path, 6, ["mlp", "a"]))
    assert [len(part["a"]) for part in some] == [10, 10, 10, 6]
    assert all(set(part) == {"mlp", "a"} for part in some)
    assert np.array_equal(np.concatenate([part["mlp"] for part in some]), found["mlp"])
    refused(lambda p: next(stored.read_forward(p, 7, ["a"])), path, "logits")
    schema = stored.forward_schema(6, 2, 12)
    refused(lambda p: store.read_table(p, schema, rows=49), path, "36", "49")


def test_json_keeps_its_values_and_sorts_its_keys(tmp_path):
    path = write_json(tmp_path / "j")
    assert store.read_json(path) == {"a": {"x": "é"}, "b": [1, 2.5, None]}
    text = path.read_text(encoding="utf-8")
    assert text.index('"a"') < text.index('"b"')
    assert text.endswith("}\n")
    assert json.loads(text) == store.read_json(path)


@pytest.mark.parametrize("value", [float("nan"), [float("inf")], {"x": object()}])
def test_json_that_cannot_be_written_leaves_the_old_file(value, tmp_path):
    path = write_json(tmp_path / "j")
    before = path.read_bytes()
    with pytest.raises((ValueError, TypeError)):
        store.write_json(path, value)
    assert path.read_bytes() == before


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


@pytest.mark.parametrize("epochs", [1, 2, 3, 10, 99, 100, 1000])
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


def test_a_history_without_any_validation_thins_to_its_header(tmp_path):
    store.write_thinned(tmp_path / "h.csv", {name: np.full(3, np.nan) for name in HISTORY})
    assert (tmp_path / "h.csv").read_text(encoding="utf-8") == ",".join(HISTORY) + "\n"
