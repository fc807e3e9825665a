"""Results read back as they were written, and a file of another shape refused in one line."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata import store
from strata.collected import read_collected, write_collected
from strata.inputs import InputError
from strata.measure.accuracy import Accuracy, Epochs

ACCURACY = Accuracy(
    all=0.5, train=1.0, validation=0.25, mirror_free=None,
    by_target={1: 0.5, 15: 1.0, 3: 0.0}, by_operands={(1, 1): 0.5, (3, 5): 1 / 3, (5, 3): 0.25},
)  # fmt: skip

EPOCHS = st.builds(
    Epochs, train=st.integers(0), validation=st.none(), mirror_free=st.integers(0) | st.none()
)


def test_a_result_is_read_back_as_it_was_written(tmp_path):
    store.write_json(tmp_path / "x.json", ACCURACY)
    assert store.read_model(tmp_path / "x.json", Accuracy) == ACCURACY
    plain = json.loads((tmp_path / "x.json").read_bytes())
    assert plain["by_operands"] == {"1x1": 0.5, "3x5": 1 / 3, "5x3": 0.25}
    assert list(plain["by_target"]) == ["1", "15", "3"]


@given(st.lists(EPOCHS, min_size=1))
def test_results_in_one_file_come_back_in_their_order(tmp_path_factory, epochs):
    path = tmp_path_factory.getbasetemp() / "x.parquet"
    write_collected(path, [x.model_dump_json().encode() for x in epochs])
    assert read_collected(path, Epochs) == epochs


def test_a_collected_result_that_is_another_is_named_by_its_row(tmp_path):
    write_collected(tmp_path / "x.parquet", [ACCURACY.model_dump_json().encode()])
    with pytest.raises(InputError, match=r"x\.parquet, row 0: all = 0\.5: Extra inputs"):
        read_collected(tmp_path / "x.parquet", Epochs)
    store.write_json(tmp_path / "x.json", WHOLE)
    with pytest.raises(InputError, match=r"x\.json: not a whole Parquet file"):
        read_collected(tmp_path / "x.json", Epochs)


WHOLE = ACCURACY.model_dump(mode="json")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[" * 100_000, "Invalid JSON: recursion limit exceeded"),
        ("\x00", "Invalid JSON"),
        ("[]", "Input should be an object"),
        (json.dumps(WHOLE | {"all": "0.5"}), "all = '0.5': Input should be a valid number"),
        (json.dumps(WHOLE | {"all": float("nan")}), "all = nan: Input should be a finite number"),
        (json.dumps(WHOLE | {"al": 1}), "al = 1: Extra inputs are not permitted"),
        (json.dumps({k: v for k, v in WHOLE.items() if k != "all"}), "all: Field required"),
        (json.dumps(WHOLE | {"by_operands": {"3-5": 1}}), "by_operands.3-5"),
        (json.dumps(WHOLE | {"by_target": {"x": 1}}), "by_target.x"),
    ],
)
def test_a_file_of_another_shape_is_refused_in_one_line(tmp_path, text, line):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(InputError, match=rf"\A{tmp_path}/x\.json.*{line}.{{,200}}\Z"):
        store.read_model(tmp_path / "x.json", Accuracy)
