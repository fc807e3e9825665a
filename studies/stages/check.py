"""Refuse parameters or a list of runs that no stage of the studies could work with, and write what
decides each run.

In: a folder, the list of runs. Out, in the folder: split/RUN.json and train/RUN.json of the runs
that are trained here; interventions.json, logits.json, embedding.json, mechanism.json and
zeros.json, the settings of these stages; runs.json and measured.json, the names of the runs that
the list has under all and under measured.
"""

from typing import Any

from ops import files, packages
from strata import store
from strata.inputs import InputError
from strata.run import Run, command, read_yaml
from strata.task import task_of
from studies.params import StudyParams, load

OWN = "studies/data"  # the folder of what the studies train
ONE_N = "seeds", "fractions"  # studies that compare runs of one modulus


def analyses(params: StudyParams) -> dict[str, dict[str, Any]]:
    """What the analysis of a run rests on, by the name of its stage: with a file of it as their
    dep, DVC need not read params.yaml for each of hundreds of stages."""
    accounts, threshold = params.accounts, {"key_threshold": params.metrics.key_threshold}
    interventions = params.interventions.model_dump(exclude={"levels"})
    of_stage = {
        "interventions": interventions,
        "logits": accounts.logits.model_dump(),
        "embedding": accounts.embedding.model_dump(),
        "mechanism": params.mechanism.measures.model_dump(),
        "zeros": params.zeros.model_dump(),
    }
    return {name: own | threshold for name, own in of_stage.items()}


def asked(runs: dict[str, dict[str, Any]], listed: str) -> None:
    """Raises InputError for a run of a study that nothing would train, or that its study cannot
    compare with the others."""
    for line, own in runs.items():
        for name in own.keys() - runs["imported"].keys() - runs["more"].keys():
            if own[name] == OWN:
                must = f"must be under more, too, or nothing trains it: add *{line} there"
                raise InputError(f"{listed}: {line}: {name}: {must}")
    for line in ONE_N:
        if len(moduli := {Run.parse(name).n for name in runs.get(line, ())}) > 1:
            many = " and ".join(map(str, sorted(moduli)))
            must = "must have runs of one n; others may stand under moduli"
            raise InputError(f"{listed}: {line} = runs of {many}: {must}")


def main(folder: str, listed: str) -> None:
    packages.refuse()
    files.refuse_cut_off()
    params, runs = load(), read_yaml(listed)
    for name in sorted({*runs["imported"]} ^ {*runs["import"]}):
        raise InputError(f"{listed}: {name}: must stand under imported and under import")
    asked(runs, listed)
    for name in runs["more"]:
        settings, run = params.settings(Run.parse(name)), Run.parse(name)
        of = settings.task(run)  # refused here, before anything expensive
        if of is not task_of(run.n) and name in {**runs["all"], **runs["measured"]}:
            must = f"learns {of}: what all and measured ask is of multiplication modulo n"
            raise InputError(f"{listed}: {name}: {must}; it may stand under more alone")
        store.write_json(f"{folder}/split/{name}.json", settings.split.model_dump())
        store.write_json(f"{folder}/train/{name}.json", settings.model_dump())
    for name, settings in analyses(params).items():
        store.write_json(f"{folder}/{name}.json", settings)
    for file, part in (("runs", "all"), ("measured", "measured")):
        store.write_json(f"{folder}/{file}.json", [str(Run.parse(name)) for name in runs[part]])


if __name__ == "__main__":
    command(main)
