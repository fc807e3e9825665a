"""Tables of interventions: of a run, of a run beside its negative controls, or over many runs.

In: a folder, what to make (run, controls or runs), interventions files; for controls those of the
trained, the memorised and the untrained model, for runs the file that has those of all and that
with their metrics. Out: NAME.csv, NAME.tex and NAME.md in the folder.
"""

from strata import store
from strata.collected import read_collected
from strata.measure.metrics import Metrics
from strata.params import GridParams, load
from strata.run import InputError, command
from strata.tables import format
from strata.tables.headline import Table
from studies.interventions.code import evidence
from studies.interventions.code import tables as interventions
from studies.interventions.code.records import Interventions

FILES = {"run": 1, "controls": 3, "runs": 2}


def main(folder: str, kind: str, *paths: str) -> None:
    if len(paths) != FILES.get(kind):
        raise InputError(
            "arguments must be FOLDER, then run with 1 file, controls with 3, or runs with 2"
        )
    if kind == "runs":
        format.write(of_runs(*paths), folder)
        return
    read = [store.read_model(path, Interventions) for path in paths]
    made = interventions.of_run if kind == "run" else evidence.beside_controls
    format.write(made(*read), folder)


def of_runs(path: str, metrics: str) -> tuple[Table, ...]:
    """The tables over the usual runs."""
    runs, measured = read_collected(path, Interventions), read_collected(metrics, Metrics)
    usual = [run for run in runs if GridParams.usual(run.run)]
    return evidence.over_runs(usual, measured, load("params.yaml"))


if __name__ == "__main__":
    command(main)
