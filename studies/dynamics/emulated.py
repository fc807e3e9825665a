"""The md5 of what the stage dynamics measures of a run's weights at one checkpoint: ``python
emulated.py RUN`` in a project's folder, on an emulated processor or on the one at hand."""

import hashlib
import sys

from strata import store
from strata.run import Run
from studies.dynamics.code import apart, trajectory
from studies.params import load


def main() -> None:
    name = sys.argv[1]
    run, params = Run.parse(name), load().dynamics
    split = store.read_split(f"data/split/{name}.parquet", run.n)
    weights, train = store.read_trained(f"data/train/{name}/weights.safetensors", run)
    final = trajectory.keys(weights, run.n, params)
    rows = [*map(repr, trajectory.observe(weights, split, run.n, final, params))]
    W_E = weights["W_E"][: run.n]
    rows += map(repr, apart.observe(W_E, W_E[::-1], 1, train))
    print(hashlib.md5("\n".join(rows).encode()).hexdigest())


if __name__ == "__main__":
    main()
