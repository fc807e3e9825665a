"""The runs that this repository ships, from its remote: no test needs a `dvc checkout`."""

from functools import cache
from pathlib import Path

from ops import files
from ops.shipped import REMOTES, Outs, place
from strata import store
from strata.api.model import Model, model_of
from strata.run import Run

ROOT = Path(__file__).parents[1]
STORES = [ROOT / remote for remote in REMOTES]


@cache
def weights() -> dict[str, Path]:
    """Return the path of the weights of each run."""
    paths = {}
    for out in Outs(files.locked_stages(ROOT)):
        if Path(out.path).match("data/train/*/weights.safetensors"):
            paths[Path(out.path).parent.name] = place(out.md5, STORES)
    return paths


def model(name: str) -> Model:
    """Return a shipped run as a module."""
    run = Run.parse(name)
    return model_of(run, store.read_weights(weights()[name], run))
