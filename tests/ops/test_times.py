"""Times that a plan gives, from those that were recorded."""

from pathlib import Path

import pytest

from ops.times import Times, gflop
from strata.params import load
from strata.run import Run

ROOT = Path(__file__).parents[2]


@pytest.fixture
def times(monkeypatch) -> Times:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("STRATA_THREADS", "2")
    return Times(load("params.yaml"))


def test_a_stage_takes_what_was_recorded_for_the_modulus_of_the_record(times):
    assert times.stage("fig01-hierarchy") == times.known["fig01-hierarchy"]
    assert times.stage(f"interventions@n{times.n}-s3") == times.known["interventions"]
    assert times.stage("metrics@n330-s1") > times.known["metrics"] > times.stage("metrics@n35-s1")


def test_a_variant_of_fewer_epochs_trains_in_proportion(times):
    settings = times.params.settings(Run(165, 1, "quick"))
    share = settings.train.epochs / times.params.train.epochs
    assert times.stage("train@quick-n165-s1") == pytest.approx(share * times.stage("train@n165-s1"))


def test_the_products_of_an_epoch_are_shared_by_the_threads(times, monkeypatch):
    run, settings = Run(165, 1), times.params.settings(Run(165, 1))
    two = times.training(run)
    monkeypatch.setenv("STRATA_THREADS", "1")
    products = settings.train.epochs * gflop(165, settings) / times.rate
    assert times.training(run) - two == pytest.approx(products / 2)


def test_the_products_are_those_that_the_benchmark_counts(times):
    # benchmarks/training.md: 7.04 Gflop over 6931 distinct pairs, drawn at random
    assert gflop(165, times.params.settings(Run(165, 1))) == pytest.approx(7.04, rel=5e-3)
