"""The runs that this repository ships, from its remote: no test needs a `dvc checkout`."""

from functools import cache
from pathlib import Path

from ops import files, verify
from strata import store
from strata.api.model import Model, model_of
from strata.run import Run

ROOT = Path(__file__).parents[1]


@cache
def weights() -> dict[str, Path]:
    """Where the weights of each run are."""
    found = {}
    for path, out in verify.outs(files.locked(ROOT)).items():
        if Path(path).match("data/train/*/weights.safetensors"):
            found[Path(path).parts[2]] = verify.at(ROOT / "remote", out.md5)
    return found


def model(name: str) -> Model:
    """A shipped run as a module."""
    run = Run.parse(name)
    return model_of(run, store.read_weights(weights()[name], run))
