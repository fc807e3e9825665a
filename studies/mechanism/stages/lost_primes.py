"""Modulo which prime answers are lost where formulas leave too few right.

In: the settings of the measures as JSON, a folder, and NAME=WEIGHTS for each network. Out:
lost-primes.csv, .tex, .md and .json.
"""

from strata import store
from strata.run import Run, command
from strata.tables import format
from studies.mechanism.code import lost_primes
from studies.params import AddingMeasures


def main(settings: str, folder: str, *networks: str) -> None:
    seed = store.read_model(settings, AddingMeasures).seed
    rows = []
    for network in networks:
        name, _, path = network.partition("=")
        rows += lost_primes.rows(name, store.read_weights(path, Run.parse(name)), seed)
    format.write([lost_primes.table(rows)], folder)


if __name__ == "__main__":
    command(main)
