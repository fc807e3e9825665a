"""Keep in paper/published/ what came of the paper's own weights, with a receipt.

Run by `make published`, after its pipeline. The results are kept where the weights are those that
the receipt names; those of another file stay in published/ alone.
"""

import hashlib
import shutil
from pathlib import Path
from typing import Any

from strata import store
from strata.run import command, read_yaml
from studies.published.code.origin import Origin, Step

KEPT = Path("paper", "published")
MADE = Path("published")
RESULTS = {
    "metrics": "data/metrics.json",
    "logits": "data/logits.json",
    "embedding": "data/embedding.json",
    "interventions": "data/interventions.json",
    "mechanism": "data/mechanism.parquet",
    "figures": "figures/fig03-attn-scores.pdf",
}
STEPS = (
    "convert", "activations", "metrics", "logits", "embedding", "interventions", "mechanism",
)  # fmt: skip


def sha256(path: Path) -> str:
    return hashlib.sha256(store.read_bytes(path)).hexdigest()


def step(locked: dict[str, Any]) -> Step:
    """What a lock says of a stage."""
    [code] = (x["md5"] for x in locked["deps"] if x["path"].startswith("../data/code/"))
    paths = (x["path"].removeprefix("../") for x in locked["deps"])
    settings = [read_yaml(path) for path in paths if path.startswith("data/config/")]
    return Step(cmd=locked["cmd"], code=code, params=settings[0] if settings else {})


def main() -> None:
    before = store.read_model(KEPT / "receipt.json", Origin)
    weights = MADE / "checkpoint.pt"
    if sha256(weights) != before.sha256:
        print(f"{KEPT}: stays as it is, its results are of another file")
        return
    locked = read_yaml(MADE / "dvc.lock")["stages"]
    kept = {}
    for path in RESULTS.values():
        kept[Path(path).name] = KEPT / Path(path).name
        shutil.copyfile(MADE / path, kept[Path(path).name])
    new = {
        "run": store.read_bytes(MADE / "data" / "run.txt").decode().strip(),
        "steps": {name: step(locked[name]) for name in STEPS},
        "results": {name: sha256(path) for name, path in kept.items()},
    }
    store.write_json(KEPT / "receipt.json", before.model_copy(update=new))


if __name__ == "__main__":
    command(main)
