"""The mechanism of one run: every measure and every verdict of mechanism/criteria-2.md.

In: a run's name, the settings as JSON, its weights. Out: Parquet, one row for each verdict and each
number that could be measured.
"""

from strata import store
from strata.run import Run, command
from studies.mechanism.code import measures
from studies.params import MechanismSettings


def main(name: str, settings: str, weights: str, out: str) -> None:
    run, mechanism_settings = Run.parse(name), store.read_model(settings, MechanismSettings)
    rows = measures.measure(store.read_weights(weights, run), run.n, mechanism_settings)
    measures.write(out, name, rows)


if __name__ == "__main__":
    command(main)
