"""Refuse a params.yaml or a list of runs that no stage could work with, before anything expensive
starts; and write what decides each run.

In: params.yaml; a folder; after --runs the names of the runs, that of the headline last. Out, in
the folder: split/RUN.json and train/RUN.json, which change where that run's own settings do;
metrics.json, interventions.json, logits.json and embedding.json, the settings of these stages;
runs.json, the names without the headline's. Says how many of the runs were trained with other
settings.
"""

from collections.abc import Iterable
from typing import Any

from ops import files, provenance
from strata import store
from strata.params import Params, load
from strata.run import InputError, Run, command


def others(folder: str, names: Iterable[str]) -> list[str]:
    """The runs that the lock has as trained with other settings than are in the folder now."""
    locked = files.locked()
    paths = {name: f"{folder}/train/{name}.json" for name in names}
    return [
        name
        for name, path in paths.items()
        for dep in locked.get(f"train@{name}", {}).get("deps", ())
        if dep["path"] == path and dep["md5"] != provenance.md5(path)
    ]


def analyses(params: Params) -> dict[str, dict[str, Any]]:
    """What the analysis of a run rests on, by the name of its stage: with a file of it as their
    dep, DVC need not read params.yaml for each of hundreds of stages."""
    metrics, accounts = params.metrics, params.accounts
    of_stage = {
        "interventions": params.interventions,
        "logits": accounts.logits,
        "embedding": accounts.embedding,
    }
    threshold = {"key_threshold": metrics.key_threshold}
    found = {name: own.model_dump() | threshold for name, own in of_stage.items()}
    return {"metrics": metrics.model_dump()} | found


def main(folder: str, flag: str, *names: str) -> None:
    params, listed = load("params.yaml"), names[:-1]
    for name in listed:
        if listed.count(name) > 1:
            raise InputError(f"runs: {name}: must be listed once")
    for name in dict.fromkeys(names):
        settings = params.settings(Run.parse(name))
        store.write_json(f"{folder}/split/{name}.json", settings.split.model_dump())
        store.write_json(f"{folder}/train/{name}.json", settings.model_dump())
    for name, settings in analyses(params).items():
        store.write_json(f"{folder}/{name}.json", settings)
    store.write_json(f"{folder}/runs.json", listed)
    if differ := others(folder, listed):
        print(
            f"{len(differ)} of {len(listed)} runs were trained with other settings and would be"
            " trained again: make plan says how long that takes, make back undoes the change"
        )


if __name__ == "__main__":
    command(main)
