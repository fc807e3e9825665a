"""The tables of moduli with four prime factors.

In: a folder; the list of runs; the metrics of all listed runs, and the results of the mechanism and
of the interventions, without which their verdicts are left out. Out: NAME.csv, NAME.tex, NAME.md
and NAME.json for each table.
"""

from strata import results
from strata.arithmetic import primefactors
from strata.collected import read_collected
from strata.measure.metrics import Metrics
from strata.run import command
from strata.tables import format
from studies.moduli.code import decide
from studies.params import runs


def main(folder: str, listed: str, metrics: str, accounts: str, interventions: str) -> None:
    planned = [run for run in runs("moduli", listed) if len(primefactors(run.n)) == 4]
    studies = map(results.read_rows, (accounts, interventions))
    format.write(decide.tables(planned, read_collected(metrics, Metrics), *studies), folder)


if __name__ == "__main__":
    command(main)
