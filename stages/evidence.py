"""Tables of interventions: of a run, of a run beside its negative controls, or over many runs.

In: a folder, what to make (run, controls or runs), interventions files; for controls those of the
trained, the memorised and the untrained model, for runs the file that has those of all. Out:
NAME.csv, NAME.tex and NAME.md in the folder.
"""

import sys

from strata import store
from strata.run import command
from strata.tables import format, interventions

KINDS = {
    "run": interventions.of_run,
    "controls": interventions.beside_controls,
    "runs": interventions.over_runs,
}


def main() -> None:
    folder, kind, *paths = sys.argv[1:]
    found = [store.read_json(path) for path in paths]
    format.write(KINDS[kind](*(found[0] if kind == "runs" else found)), folder)


if __name__ == "__main__":
    command(main)
