"""How far rounding sets two trainings of one run apart: the first epochs of every run trained again
on this machine, against the recorded ones.

Adds to parting.json what this machine gives, by the environment in which it trained, and writes
parting.md from all that is there. STRATA_THREADS and ATEN_CPU_CAPABILITY choose another one;
arguments are the runs, else all. docs/verification.md shows the table.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ops import trainings
from strata import store
from strata.params import load
from strata.run import Run
from strata.train import environment, machine

HERE, TRAINED = Path(__file__).parent, Path("data/train")
EPOCHS, UP_TO = 100, (5, 10, 20, 30, 40, 50, 60, 80, 100)
MOVED = "a history moved by one epoch, at least"


def by_limit(found: np.ndarray, extreme: Callable[[np.ndarray], float]) -> list[float]:
    """The extreme value from the limit before to each of UP_TO."""
    return [float(f"{extreme(x):.2g}") for x in np.split(found, UP_TO[:-1])]


def measured(run: Run) -> tuple[str, dict[str, Any]]:
    """Where the run was trained and is now, and how far its histories are apart."""
    settings, folder = load("params.yaml").settings(run), TRAINED / str(run)
    made = environment.read(folder / "environment.json")
    device = machine.prepare(made.flushes)
    shipped = store.read_history(folder / "history.parquet")
    again = trainings.repeat(run, settings, EPOCHS, device)
    moved = trainings.apart(shipped, shipped.iloc[1 : EPOCHS + 1].reset_index(drop=True))
    pair = f"{made.words()} → {machine.describe(device).words()}"
    apart = by_limit(trainings.apart(shipped, again), np.max)
    return pair, {"apart": apart, "moved": by_limit(moved, np.min)}


def table(by_pair: dict[str, dict[str, Any]]) -> str:
    """All measurements as Markdown: for each pair of machines the largest over its runs."""
    edges = [1, *(x + 1 for x in UP_TO[:-1])]
    names = [f"{a}–{b}" for a, b in zip(edges, UP_TO, strict=True)]
    rows = [
        [
            pair,
            str(len(runs)),
            *(f"{x:.1g}" for x in np.max([r["apart"] for r in runs.values()], 0)),
        ]
        for pair, runs in sorted(by_pair.items())
    ]
    every = [run for runs in by_pair.values() for run in runs.values()]
    limits = [next((f"{x:g}" for end, x in trainings.LIMITS if e <= end), "–") for e in UP_TO]
    rows += [["**limit of `make verify`**", "", *limits]]
    rows += [[MOVED, "", *(f"{x:.2g}" for x in np.min([r["moved"] for r in every], 0))]]
    head = ["recorded → trained again", "runs", *names]
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main() -> None:
    names = sys.argv[1:] or sorted(path.name for path in TRAINED.iterdir())
    path = HERE / "parting.json"
    found = json.loads(path.read_text("utf-8")) if path.exists() else {}
    for name in names:
        pair, own = measured(Run.parse(name))
        found.setdefault(pair, {})[name] = own
        print(f"{name}: {pair}: {own['apart']}", flush=True)
        lines = json.dumps(found, sort_keys=True).replace("}, ", "},\n")  # one a run
        path.write_text(f"{lines}\n", "utf-8")
        (HERE / "parting.md").write_text(table(found), "utf-8")


if __name__ == "__main__":
    main()
