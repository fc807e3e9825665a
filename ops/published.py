"""The paper's own weights through the analysis of every other run: ``make published``.

CHECKPOINT names the published file; without it the one taken last time is used again. What comes
out is in studies/published/weights/, and in paper/published/ with a new receipt. Weights of anybody
else are measured by ``strata analyse``.
"""

import hashlib
import os
import shutil
import time
from pathlib import Path

from ops import files, paper
from strata import store
from strata.inputs import InputError, regular_file
from strata.run import command, read_yaml

LARGEST = 2**28  # bytes; the paper's has 1.4 million
WEIGHTS, KEPT = Path("studies/published/weights"), Path("paper/published")
CHECKPOINT = WEIGHTS / "checkpoint.pt"
RESULTS = ("data/metrics.json", "data/mechanism.parquet", "figures/fig03-attn-scores.pdf")


def take(checkpoint: str) -> None:
    """Keep the published file. Raises InputError for another, and leaves the one before."""
    content = regular_file(checkpoint, LARGEST).read_bytes()
    receipt = store.read_json(KEPT / "receipt.json")
    if hashlib.sha256(content).hexdigest() != receipt["sha256"]:
        reason = f"not the weights that {KEPT}/receipt.json names"
        raise InputError(f"{checkpoint}: {reason}; strata analyse FILE measures any others")
    store.write_bytes(CHECKPOINT, content)


def keep() -> str:
    """Keep the results in paper/published with a new receipt. What is to be said of it."""
    receipt = store.read_json(KEPT / "receipt.json")
    kept = [shutil.copyfile(WEIGHTS / x, KEPT / Path(x).name) for x in RESULTS]
    locked = read_yaml(WEIGHTS / "dvc.lock")["stages"]["measure"]
    md5 = {x["path"]: x["md5"] for x in locked["deps"]}
    new = {
        "commands": locked["cmd"],
        "code": {Path(x).stem: md5[x] for x in md5 if "/data/code/" in x},
        "params": {Path(x).stem: read_yaml(WEIGHTS / x) for x in md5 if "/config/" in x},
        "results": {x.name: hashlib.sha256(x.read_bytes()).hexdigest() for x in kept},
    }
    store.write_json(KEPT / "receipt.json", receipt | new)
    return f"{KEPT}: has its results"


def main() -> None:
    files.require_top()
    if checkpoint := os.environ.get("CHECKPOINT"):
        take(checkpoint)
    elif not CHECKPOINT.is_file():
        raise InputError(
            f"no checkpoint: make published CHECKPOINT=path/to/FILE.pt (see {WEIGHTS}/README.md)"
        )
    paper.main("studies")  # our own runs stand beside
    began = time.monotonic()
    paper.reproduce(str(WEIGHTS))
    paper.show(f"published … {paper.since(began)}: {WEIGHTS}/ has the tables and figures")
    print(keep())


if __name__ == "__main__":
    command(main)
