"""The paper's own weights through the analysis of every other run: ``make published``.

CHECKPOINT names the published file; without it the one taken last time is used again. What comes
out is in studies/published/weights/, and in paper/published/ with a receipt where the weights are
those that the receipt names.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ops import calls, files, paper
from strata import store
from strata.inputs import regular
from strata.run import InputError, command, read_yaml

LARGEST = 2**28  # bytes; the paper's has 1.4 million
WEIGHTS, KEPT = Path("studies/published/weights"), Path("paper/published")
TAKEN = WEIGHTS / "checkpoint.pt"
CONVERT = "studies/published/stages/convert.py"
RESULTS = (
    "data/metrics.json",
    "data/logits.json",
    "data/embedding.json",
    "data/interventions.json",
    "data/mechanism.parquet",
    "figures/fig03-attn-scores.pdf",
)
STEPS = (
    "convert", "activations", "metrics", "logits", "embedding", "interventions", "mechanism",
)  # fmt: skip


def take(checkpoint: str) -> None:
    """Keep the published file. Raises InputError, and leaves the one before, where it would never
    end, would fill the memory, or does not fit."""
    regular(checkpoint, LARGEST)
    with TemporaryDirectory() as scratch:
        asked = [sys.executable, CONVERT, checkpoint, "paper/printed_values.json", scratch]
        found = subprocess.run(asked, stderr=subprocess.PIPE, text=True, check=False)
    if found.returncode:
        raise InputError(found.stderr.strip().removeprefix("convert: "))
    content = Path(checkpoint).read_bytes()
    if not TAKEN.is_file() or TAKEN.read_bytes() != content:
        store.write_bytes(TAKEN, content)


def sha256(path: Path) -> str:
    return hashlib.sha256(store.read_bytes(path)).hexdigest()


def keep() -> str:
    """Keep the results in paper/published with a new receipt, if they are of its weights. What is
    to be said of it."""
    receipt = store.read_json(KEPT / "receipt.json")
    if sha256(TAKEN) != receipt["sha256"]:
        return f"{KEPT}: stays as it is, its results are of another file"
    for path in RESULTS:
        shutil.copyfile(WEIGHTS / path, KEPT / Path(path).name)
    locked = read_yaml(WEIGHTS / "dvc.lock")["stages"]
    new = {
        "run": store.read_bytes(WEIGHTS / "data" / "run.txt").decode().strip(),
        "steps": {name: step(locked[name]) for name in STEPS},
        "results": {Path(x).name: sha256(KEPT / Path(x).name) for x in RESULTS},
    }
    store.write_json(KEPT / "receipt.json", receipt | new)
    return f"{KEPT}: has its results"


def step(locked: dict[str, Any]) -> dict[str, Any]:
    """What a lock says of a stage."""
    (code,) = (x["md5"] for x in locked["deps"] if "/data/code/" in x["path"])
    settings = [read_yaml(WEIGHTS / x["path"]) for x in locked["deps"] if "/config/" in x["path"]]
    return {"cmd": locked["cmd"], "code": code, "params": settings[0] if settings else {}}


def main() -> None:
    files.at_top()
    if checkpoint := os.environ.get("CHECKPOINT"):
        take(checkpoint)
    elif not TAKEN.is_file():
        raise InputError(
            f"no checkpoint: make published CHECKPOINT=path/to/FILE.pt (see {WEIGHTS}/README.md)"
        )
    paper.main("studies")  # our own runs stand beside
    began = time.monotonic()
    own = os.environ | {"SHELL": str(paper.TIMED.resolve())}
    asked = calls.command("repro", project=str(WEIGHTS))
    if subprocess.run(asked, env=own, stdout=subprocess.DEVNULL, check=False).returncode:
        raise InputError("dvc repro did not run to its end")
    seconds = time.monotonic() - began
    print(f"published … {seconds:.0f} s: {WEIGHTS}/ has the tables and figures")
    print(keep())


if __name__ == "__main__":
    command(main)
