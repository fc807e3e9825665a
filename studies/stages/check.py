"""Refuse parameters or a list of runs that no stage of the studies could work with, and write what
decides each run.

In: a folder, the list of runs. Out, in the folder: split/RUN.json and train/RUN.json of the runs
that are trained here; interventions.json, mechanism.json, zeros.json and adding.json, the settings
of these stages; runs.json, measured.json and attending.json, the names of the runs that the list
has under all, under measured and under attending.
"""

from typing import Any

from ops import files, packages
from strata import store
from strata.inputs import InputError
from strata.run import Run, command, read_yaml
from strata.task import task_of
from studies.params import StudyParams, load

DATA = "studies/data"  # the folder of what the studies train
ONE_N = "seeds", "fractions"  # studies that compare runs of one modulus


def analysis_settings(params: StudyParams) -> dict[str, dict[str, Any]]:
    """Return what the analysis of a run rests on, by the name of its stage. With a file of it as
    their dep, DVC need not read params.yaml for each of hundreds of stages."""
    threshold = {"key_threshold": params.metrics.key_threshold}
    interventions = params.interventions.model_dump(exclude={"intact"})
    by_stage = {
        "interventions": interventions,
        "mechanism": params.mechanism.measures.model_dump(),
        "zeros": params.zeros.model_dump(),
    }
    settings = {name: settings | threshold for name, settings in by_stage.items()}
    return settings | {"adding": params.adding.measures.model_dump()}


def check_runs(runs: dict[str, dict[str, Any]], listed: str) -> None:
    """Check that each run of a study is trained and that its study can compare it with the others.
    Raise InputError otherwise."""
    for line, folders in runs.items():
        for name in folders.keys() - runs["imported"].keys() - runs["more"].keys():
            if folders[name] == DATA:
                must = f"must be under more, too, or nothing trains it: add *{line} there"
                raise InputError(f"{listed}: {line}: {name}: {must}")
    for line in ONE_N:
        if len(moduli := {Run.parse(name).n for name in runs.get(line, ())}) > 1:
            listed_moduli = " and ".join(map(str, sorted(moduli)))
            must = "must have runs of one n; others may stand under moduli"
            raise InputError(f"{listed}: {line} = runs of {listed_moduli}: {must}")


def main(folder: str, listed: str) -> None:
    packages.refuse()
    files.refuse_cut_off()
    params, runs = load(), read_yaml(listed)
    for name in sorted({*runs["imported"]} ^ {*runs["import"]}):
        raise InputError(f"{listed}: {name}: must stand under imported and under import")
    check_runs(runs, listed)
    for name in runs["more"]:
        settings, run = params.settings(Run.parse(name)), Run.parse(name)
        task = settings.task(run)  # refused here, before anything expensive
        multiplied = {**runs["all"], **runs["measured"], **runs["attending"]}
        if task is not task_of(run.n) and name in multiplied:
            must = f"learns {task}: what these lists ask is of multiplication modulo n"
            raise InputError(f"{listed}: {name}: {must}; it may stand under more alone")
        store.write_json(f"{folder}/split/{name}.json", settings.split.model_dump())
        store.write_json(f"{folder}/train/{name}.json", settings.model_dump())
    for name, settings in analysis_settings(params).items():
        store.write_json(f"{folder}/{name}.json", settings)
    for file, part in (("runs", "all"), ("measured", "measured"), ("attending", "attending")):
        store.write_json(f"{folder}/{file}.json", [str(Run.parse(name)) for name in runs[part]])


if __name__ == "__main__":
    command(main)
