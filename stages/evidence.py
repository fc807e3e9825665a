"""Tables of interventions: of a run, of a run beside its negative controls, or over many runs.

In: a folder, what to make (run, controls or runs), interventions files; for controls those of the
trained, the memorised and the untrained model, for runs the file that has those of all. Out:
NAME.csv, NAME.tex and NAME.md in the folder.
"""

from strata import store
from strata.params import GridParams
from strata.run import InputError, command
from strata.schema import Interventions
from strata.tables import evidence, format, interventions

KINDS = {
    "run": interventions.of_run,
    "controls": evidence.beside_controls,
    "runs": evidence.over_runs,
}


def main(folder: str, kind: str, *paths: str) -> None:
    if kind not in KINDS or len(paths) != (3 if kind == "controls" else 1):
        raise InputError("arguments must be FOLDER and run or runs with a file, or controls with 3")
    if kind == "runs":
        every = store.read_models(paths[0], Interventions)
        runs = [run for run in every if GridParams.usual(run.run)]
    else:
        runs = [store.read_model(path, Interventions) for path in paths]
    format.write(KINDS[kind](*runs), folder)


if __name__ == "__main__":
    command(main)
