"""Tables of interventions: of a run, of a run beside its negative controls, or over many runs.

In: a folder, what to make (run, controls or runs), interventions files; for controls those of the
trained, the memorised and the untrained model, for runs the list of their names, the folder with
the file of each and, where there are such weights, that of published ones. Out: NAME.csv, NAME.tex,
NAME.md and NAME.json in the folder; for runs also results.parquet, the numbers of each run, that of
published weights under the name "published".
"""

from pathlib import Path

from strata import results, store
from strata.collected import read_all
from strata.params import GridParams
from strata.run import command
from strata.tables import format
from studies.interventions.code import evidence
from studies.interventions.code.records import Interventions
from studies.params import load


def main(folder: str, kind: str, *paths: str) -> None:
    params = load()
    levels = params.interventions.levels
    if kind == "runs":
        runs = read_all(paths[0], paths[1], Interventions)
        usual = [run for run in runs if GridParams.usual(run.run)]
        format.write(evidence.over_runs(usual, levels, params.grid.confidence), folder)
        named = {run.run: run for run in runs}
        if len(paths) > 2:
            named["published"] = store.read_model(paths[2], Interventions)
        rows = (x for name, run in named.items() for x in evidence.results(name, run, levels))
        results.write_rows(Path(folder, "results.parquet"), rows)
        return
    read = [store.read_model(path, Interventions) for path in paths]
    if kind == "run":
        format.write(evidence.of_run(read[0], levels), folder)
    else:
        format.write([evidence.beside_controls(read, levels)], folder)


if __name__ == "__main__":
    command(main)
