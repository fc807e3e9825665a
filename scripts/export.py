"""Write a run in the format in which the paper's weights are published.

``python scripts/export.py data/train/n165-s1 P165_d128_h4_mlp512_s1.pt``
"""

import sys
from pathlib import Path

from strata import interop, store
from strata.run import InputError, command


def main() -> None:
    if len(sys.argv) != 3:
        raise InputError("must be called with the folder of a run and the file to write")
    folder, out = map(Path, sys.argv[1:])
    weights = store.read_weights(folder / "weights.safetensors")
    _, metadata = store.read_tensors(folder / "weights.safetensors")
    history = store.read_history(folder / "history.parquet")
    store.write_bytes(out, interop.export(metadata, weights, history))


if __name__ == "__main__":
    command(main)
