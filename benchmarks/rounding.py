"""Which numbers of the interventions rest on rounding: writes benchmarks/rounding.md.

Each run is intervened on twice: as it is, and with the neurons of its MLP and the dimensions of its
heads in another order, which is the same network in exact arithmetic and another order of summation
in float32. Numbers that change are counted, with ``activations.TIE`` and without it. Takes two
minutes a run on two cores.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from tabulate import tabulate

from strata import store
from strata.measure import activations
from strata.run import Run, command
from strata.store import Arrays
from studies.interventions.code import suite
from studies.params import load

RUNS = ("n165-s1", "n113-s1", "mlp-n113-s1")


def reordered(weights: Arrays, rng: np.random.Generator) -> Arrays:
    """The same network with its neurons and the dimensions of its heads in another order."""
    found = dict(weights)
    inner = {"W_in": -1, "b_in": -1, "W_out": 0}
    orders = [inner] + (
        [{"W_Q": 2, "b_Q": 1, "W_K": 2, "b_K": 1}, {"W_V": 2, "b_V": 1, "W_O": 1}]
        if "W_Q" in weights
        else []
    )
    for axes in orders:
        name, axis = next(iter(axes.items()))
        order = rng.permutation(weights[name].shape[axis])
        for name, axis in axes.items():
            found[name] = np.ascontiguousarray(weights[name].take(order, axis))
    return found


def numbers(x: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """Every number in a result, with its path."""
    items = x.items() if isinstance(x, dict) else enumerate(x) if isinstance(x, list) else ()
    for key, value in items:
        yield from numbers(value, f"{path}/{key}")
    if isinstance(x, int | float):
        yield path, float(x)


def changes(name: str, tie: float) -> tuple[int, np.ndarray]:
    """How many numbers a run's interventions have, and by how much those that differ change."""
    activations.TIE = tie
    params, run = load(), Run.parse(name)
    weights = store.read_weights(f"data/train/{name}/weights.safetensors", run)
    both = []
    for some in (weights, reordered(weights, np.random.default_rng(0))):
        made = suite.intervene(run, some, params.interventions, params.metrics.key_threshold)
        both.append(dict(numbers(made)))
    one, two = both
    found = np.array([abs(one[key] - two[key]) for key in one])
    return len(one), found[found > 0]


def main() -> None:
    rows = []
    for name in sys.argv[1:] or RUNS:
        for tie in (0.0, 1e-5):
            count, found = changes(name, tie)
            above = [int((found > level).sum()) for level in (1e-6, 1e-4, 1e-2)]
            rows.append([name, f"{tie:g}", f"{count:,}", *above, f"{found.max(initial=0):.1e}"])
            print(*rows[-1], flush=True)
    columns = ["run", "tie", "numbers", "change > 1e-6", "> 1e-4", "> 0.01", "largest"]
    text = tabulate(rows, columns, tablefmt="github", disable_numparse=True)
    Path("benchmarks/rounding.md").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    command(main)
