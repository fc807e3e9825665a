"""Measure the networks of Zhong et al.: their weights are not shipped, what comes out of them is.

In: a folder with NAME.pt and NAME.json of each network, as github.com/fjzzq2002/pizza has them (MIT
licence). Out: CSV, one row for each frequency of a network, with the SHA-256 of its weights.
"""

import hashlib
import io
from pathlib import Path

import pandas as pd
import torch

from strata import store
from strata.inputs import InputError
from strata.run import command
from studies.mechanism.code import clocks


def main(folder: str, out: str) -> None:
    rows = []
    for path in sorted(Path(folder).glob("*.pt")):
        content, settings = store.read_bytes(path), store.read_json(path.with_suffix(".json"))
        state = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
        tensors = {name: x.numpy() for name, x in state.items()}
        measured = clocks.measure(path.stem, tensors, float(settings["attn_coeff"]))
        rows += [row | {"sha256": hashlib.sha256(content).hexdigest()} for row in measured]
    if not rows:
        raise InputError(f"{folder}: has no NAME.pt: name the folder with the published networks")
    store.write_text(out, pd.DataFrame(rows).to_csv(index=False))


if __name__ == "__main__":
    command(main)
