"""What the package does by itself: a training in one call, and an analysis without a clone."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import strata
from strata import params, task
from strata.inputs import InputError
from strata.run import Run
from strata.train import machine
from strata.train.environment import gflop
from strata.train.trainer import Trainer

SMALL: dict[str, Any] = {
    "d_model": 16,
    "n_heads": 2,
    "d_mlp": 24,
    "epochs": 20,
    "validate_every": 5,
}


def test_a_training_is_that_of_the_pipeline():
    threads = torch.get_num_threads()
    training = strata.train_model(12, 3, **SMALL)
    assert torch.get_num_threads() == threads
    settings = params.load("params.yaml").settings(Run(12, 3, "quick")).varied("quick", SMALL)
    dealt = task.split(12, 3, 0.8, 0.2)
    try:
        device = machine.prepare(products=gflop(12, settings))
        trainer = Trainer(Run(12, 3, "quick"), settings.train, dealt, device)
        trainer.advance(20)
    finally:
        torch.set_num_threads(threads)
        torch.set_flush_denormal(False)
    for name, x in training.model.weights().items():
        np.testing.assert_array_equal(x, trainer.weights()[name])
    np.testing.assert_array_equal(training.history["loss"], trainer.history()["loss"])
    a, b = training.split["train"].T
    assert {*(a * 12 + b)} == {*np.flatnonzero(dealt == task.TRAIN)}
    assert training.plot().png.startswith(b"\x89PNG")
    assert strata.analyse(training).model is training.model


def test_measuring_on_the_way_changes_no_bit_and_ends_with_the_network():
    plain, measured = (
        strata.train_model(15, 3, measure_every=epochs, **SMALL) for epochs in (0, 8)
    )
    weights = plain.model.weights()
    for name, x in measured.model.weights().items():
        np.testing.assert_array_equal(x, weights[name])
    assert plain.measures.empty
    assert measured.measures["epoch"].unique().tolist() == [8, 16, 20]
    last = measured.measures.query("epoch == 20").to_dict("records")
    assert [row["d"] for row in last] == [1, 3]  # the class of 5 has two elements
    for row in last:
        assert row["key"] == plain.model.key_frequencies(row["d"])
        energy = plain.model.spectrum(row["d"])[row["key"]].sum()
        assert row["energy"] == pytest.approx(energy)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"lr": -1.0}, "lr = -1"),
        ({"speed": 1}, "speed: unknown key"),
        ({"variant": "x"}, "must be"),
    ],
)
def test_a_training_that_cannot_be_is_refused_in_one_line(arguments, line):
    with pytest.raises(InputError, match=line):
        strata.train_model(6, **arguments)


@pytest.mark.slow
def test_installed_alone_it_analyses(tmp_path):
    root, library = Path(__file__).parents[2], tmp_path / "library"
    build = [sys.executable, "setup.py", "-q", "build_py", "--build-lib", str(library)]
    subprocess.run(build, cwd=root, check=True, capture_output=True)
    code = (
        "import strata; analysis = strata.analyse(strata.by_hand(6)); "
        "print(analysis.sentence, len(analysis.mechanism) > 9, strata.__file__)"
    )
    variables = {k: x for k, x in os.environ.items() if k != "STRATA_REPOSITORY"}
    process = subprocess.run(
        [sys.executable, "-P", "-c", code], cwd=tmp_path, check=True, capture_output=True,
        text=True, env=variables | {"PYTHONPATH": str(library)},
    )  # fmt: skip
    where = library / "strata" / "__init__.py"
    assert process.stdout == f"answers are ab mod 6 in 100.0 % of pairs True {where}\n"
