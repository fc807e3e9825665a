"""The tables of zero divisors, the verdicts among them.

In: a folder; the settings as JSON; the folder with the measures of the runs. Out: NAME.csv,
NAME.tex, NAME.md and NAME.json for each table.
"""

from strata import store
from strata.run import Run, command
from strata.tables import format
from studies.params import ZerosSettings
from studies.zeros.code import measures, tables


def main(folder: str, settings: str, measured: str) -> None:
    params = store.read_model(settings, ZerosSettings)
    planned = [Run.parse(name) for name in params.planned]
    format.write(tables.tables(planned, measures.read(measured, planned), params), folder)


if __name__ == "__main__":
    command(main)
