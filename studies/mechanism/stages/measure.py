"""The mechanism of one run: every measure and every verdict of mechanism/criteria.md.

In: a run's name, the settings as JSON, its weights. Out: Parquet, one row for each number: run, of,
measure, unit, value. What could not be measured is no row.
"""

from math import isnan

from strata import results, store
from strata.run import Run, command
from studies.mechanism.code import measures
from studies.params import MechanismSettings


def main(name: str, settings: str, weights: str, out: str) -> None:
    run, own = Run.parse(name), store.read_model(settings, MechanismSettings)
    rows = measures.measure(store.read_weights(weights, run), run.n, own)
    results.write(out, ((name, *row) for row in rows if not isnan(row.value)))


if __name__ == "__main__":
    command(main)
