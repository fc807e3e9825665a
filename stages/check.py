"""Refuse a list of runs that no stage could work with, before anything expensive starts; and write
what decides each run.

In: the checked parameters; a folder; after --runs the names of the runs, that of the headline last.
Out, in the folder: split/RUN.json and train/RUN.json, which change where that run's own settings
do; metrics.json, the settings of the measures; runs.json, the names without the headline's. Says
how many of the runs were trained with other settings.
"""

from collections.abc import Iterable

from ops import files, packages, provenance
from strata import store
from strata.inputs import InputError
from strata.params import RunsParams
from strata.run import Run, command


def changed_runs(folder: str, names: Iterable[str]) -> list[str]:
    """Return the runs that the lock records as trained with other settings than the folder has."""
    locked = files.locked_stages()
    paths = {name: f"{folder}/train/{name}.json" for name in names}
    return [
        name
        for name, path in paths.items()
        for dep in locked.get(f"{files.RUNS}:train@{name}", {}).get("deps", ())
        if dep["path"] == path and dep["md5"] != provenance.md5(path)
    ]


def main(checked: str, folder: str, flag: str, *names: str) -> None:
    packages.refuse()
    params, listed = store.read_model(checked, RunsParams), names[:-1]
    for name in listed:
        if listed.count(name) > 1:
            raise InputError(f"runs: {name}: must be listed once")
    for name in dict.fromkeys(names):
        run = Run.parse(name)
        settings = params.settings(run)
        settings.task(run)  # refused here, before anything expensive
        store.write_json(f"{folder}/split/{name}.json", settings.split.model_dump())
        store.write_json(f"{folder}/train/{name}.json", settings.model_dump())
    store.write_json(f"{folder}/metrics.json", params.metrics.model_dump())
    store.write_json(f"{folder}/runs.json", listed)
    if changed := changed_runs(folder, listed):
        print(
            f"{len(changed)} of {len(listed)} runs were trained with other settings and would be"
            " trained again: make plan says how long that takes, make back undoes the change"
        )


if __name__ == "__main__":
    command(main)
