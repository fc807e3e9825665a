"""The table of the cuts of a run, or over many runs.

In: a folder; the cuts of a run, or the list of all runs and the folder with the cuts of each. Out:
NAME.csv, NAME.tex, NAME.md and NAME.json in the folder.
"""

from strata import store
from strata.collected import read_all
from strata.params import GridParams
from strata.run import command
from strata.tables import format
from studies.interventions.code import evidence
from studies.interventions.code.records import Interventions
from studies.params import load


def main(folder: str, path: str, data: str = "") -> None:
    if not data:
        table = evidence.table_of_run(store.read_model(path, Interventions))
    else:
        runs = read_all(path, data, Interventions)
        usual_runs = [run for run in runs if GridParams.usual(run.run)]
        table = evidence.table_over_runs(usual_runs, load().interventions.intact)
    format.write([table], folder)


if __name__ == "__main__":
    command(main)
