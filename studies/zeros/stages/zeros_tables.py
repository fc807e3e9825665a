"""The tables of zero divisors, the verdicts among them.

In: a folder; the settings as JSON; the folder with the measures of the runs. Out: NAME.csv,
NAME.tex, NAME.md and NAME.json for each table.
"""

from strata import store
from strata.run import Run, command
from strata.tables import format
from studies.params import ZerosSettings
from studies.zeros.code import measures, verdicts


def main(folder: str, settings: str, measured: str) -> None:
    params = store.read_model(settings, ZerosSettings)
    asked = [Run.parse(name) for name in params.planned]
    format.write(verdicts.tables(asked, measures.read(measured, asked), params), folder)


if __name__ == "__main__":
    command(main)
