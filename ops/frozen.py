"""Frozen stages: checkpoints@RUN, which trains for hours, and dynamics@RUN and grokking@RUN, which
measure.

``dvc repro`` never runs them, whatever has changed; ``make dynamics`` does. Run as a program, this
module says in one line which of their results were made with other files or parameters than those
here.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ops import files, provenance
from strata import store
from strata.inputs import few
from strata.run import InputError, command, read_yaml
from studies.dynamics.code.receipts import Receipt, missing

STAGES = ("checkpoints", "dynamics", "grokking")


def runs() -> list[str]:
    """The runs whose training dynamics are measured."""
    stages = files.stages()
    return stages["checkpoints"]["matrix"]["run"] if "checkpoints" in stages else []


def receipt(run: str) -> Receipt | None:
    """What is recorded of a run's checkpoints; None where that is not here."""
    try:
        return store.read_model(Path("data", "checkpoints", f"{run}.json"), Receipt)
    except InputError:
        return None


def changed(locked: Mapping[str, Any] | None) -> list[str]:
    """What is no longer as a lock has it of a stage: files that it read, keys of params.yaml. Of a
    stage that no lock has: dvc.lock."""
    return ["dvc.lock"] if locked is None else [*_files(locked), *_keys(locked)]


def _files(locked: Mapping[str, Any]) -> Iterator[str]:
    for dep in locked["deps"]:
        if not Path(dep["path"]).is_file() or provenance.md5(dep["path"]) != dep["md5"]:
            yield dep["path"]


def _keys(locked: Mapping[str, Any]) -> Iterator[str]:
    for path, values in locked.get("params", {}).items():
        now = read_yaml(path)
        for key, value in values.items():
            if provenance.value(now, key) != value:
                yield f"{path}: {key}"


def to_train(run: str, locked: Mapping[str, Any]) -> bool:
    """Whether a run has to be trained once more before it can be measured: its checkpoints are not
    here, or of another training."""
    recorded = receipt(run)
    return bool(not recorded or missing(recorded) or changed(locked.get(f"checkpoints@{run}")))


def line() -> str:
    """The runs whose results are not of what is here, what differs, and what brings them up to
    date; empty where there are none."""
    locked = files.locked()
    every = {run: [x for s in STAGES for x in changed(locked.get(f"{s}@{run}"))] for run in runs()}
    stale = {run: what for run, what in every.items() if what}
    if not stale:
        return ""
    what = list(dict.fromkeys(x for names in stale.values() for x in names))
    named = "" if stale == every else f" RUN='{' '.join(stale)}'"
    recorded = [receipt(run) for run in stale if to_train(run, locked)]
    hours = sum(x.hours for x in recorded if x and x.hours)
    training = f"after training for about {hours:.1f} hours" if recorded else "in minutes"
    return (
        f"training dynamics of {', '.join(stale)}: made with other files or parameters "
        f"({few(what)}); `make dynamics{named}` makes them again, {training}"
    )


def main() -> None:
    if said := line():
        print(said)


if __name__ == "__main__":
    command(main)
