"""Run stage scripts and a short training in this process: ``python emulated.py FOLDER`` in a
project's folder, with one stage a line on stdin as ``stages/NAME.py ARGUMENT …``. Under an emulator
what takes longest, the imports, is then done once.
"""

import hashlib
import json
import runpy
import sys
from pathlib import Path

from strata import course, store
from strata.params import load
from strata.run import Run
from strata.training import Trainer


def trained(name: str, split: store.Arrays) -> str:
    """The md5 of a run's weights after a few epochs, as stages/controls.py trains it."""
    trainer = Trainer(Run.parse(name), load("params.yaml").train, split["split"])
    trainer.advance(30)
    return hashlib.md5(store.tensors_bytes(trainer.weights(), {})).hexdigest()


def measured(name: str, split: store.Arrays) -> str:
    """The md5 of what stages/course.py measures of a run's weights at one checkpoint."""
    run, params = Run.parse(name), load("params.yaml").course
    weights = store.read_weights(f"data/train/{name}/weights.safetensors", run)
    final = course.keys(weights, run.n, params)
    rows = [*map(repr, course.observe(weights, split, run.n, final, params))]
    return hashlib.md5("\n".join(rows).encode()).hexdigest()


def main() -> None:
    out = Path(sys.argv[1])
    for line in sys.stdin:
        sys.argv = line.split()
        runpy.run_path(sys.argv[0], run_name="__main__")
    name = str(next(Path("data/train").iterdir()).name)
    split = store.read_split(f"data/split/{name}.parquet", Run.parse(name).n)
    found = {"trained": trained(name, split), "measured": measured(name, split)}
    (out / "md5.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main()
