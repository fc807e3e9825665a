"""Refuse a params.yaml or a list of runs that no stage could work with, before anything expensive
starts; and write what decides each run.

In: params.yaml; a folder; after --runs the names of the runs, that of the headline last. Out, in
the folder: split/RUN.json and train/RUN.json, which change where that run's own settings do;
runs.json, the names without the headline's.
"""

from strata import store
from strata.params import load
from strata.run import InputError, Run, command


def main(folder: str, flag: str, *names: str) -> None:
    params, listed = load("params.yaml"), names[:-1]
    for name in listed:
        if listed.count(name) > 1:
            raise InputError(f"runs: {name}: must be listed once")
    for name in dict.fromkeys(names):
        settings = params.settings(Run.parse(name))
        store.write_json(f"{folder}/split/{name}.json", settings.split.model_dump())
        store.write_json(f"{folder}/train/{name}.json", settings.model_dump())
    store.write_json(f"{folder}/runs.json", listed)


if __name__ == "__main__":
    command(main)
