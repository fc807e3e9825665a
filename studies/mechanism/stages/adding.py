"""Attention and adding in one run: every measure and every verdict of mechanism/criteria-3.md.

In: a run's name, the settings as JSON, its weights. Out: Parquet, one row for each verdict and each
number that could be measured.
"""

from strata import store
from strata.run import Run, command
from studies.mechanism.code import adding_measures, measures
from studies.params import AddingMeasures


def main(name: str, settings: str, weights: str, out: str) -> None:
    run, asks = Run.parse(name), store.read_model(settings, AddingMeasures)
    rows = adding_measures.measure(store.read_weights(weights, run), run.n, asks)
    measures.write(out, name, rows)


if __name__ == "__main__":
    command(main)
