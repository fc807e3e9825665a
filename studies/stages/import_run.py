"""A model that was trained elsewhere, as a run beside ours.

In: the name that the run has here; its file of weights, or a folder with that and split.csv,
split.parquet, split.npz, split.json or split.pt; how many heads it has, 0 where the file says it.
Out: the weights as a file of ours, the history that the file records, which may be none, where the
model is from, what its measures need of a pass over all pairs, its metrics.
"""

from pathlib import Path

from strata import store
from strata.api import analysis, foreign
from strata.inputs import InputError
from strata.measure import stored
from strata.run import Run, command


def find_files(path: Path) -> tuple[Path, Path | None]:
    """Return the file of weights, and that of the split if there is one. Raise InputError where the
    folder has others."""
    if not path.is_dir():
        return path, None
    files = sorted(x for x in path.iterdir() if not x.name.startswith("."))
    splits = [x for x in files if x.stem == "split"]
    weights = [x for x in files if x not in splits]
    if len(weights) != 1 or len(splits) > 1:
        raise InputError(f"{path}: must have one file of weights, and one split or none")
    return weights[0], splits[0] if splits else None


def main(name: str, path: str, heads: str, train: str, activations: str, metrics: str) -> None:
    run, (weights, split) = Run.parse(name), find_files(Path(path))
    model = foreign.from_weights(weights, run.n, n_heads=int(heads) or None)
    model.run = run
    analysed = analysis.Analysis(model, split, ".")
    folder, history = Path(train), {str(k): x.to_numpy() for k, x in analysed.history.items()}
    analysed.write_weights(folder / "weights.safetensors")
    store.write_history(folder / "history.parquet", history)
    store.write_json(folder / "environment.json", analysis.imported(model, run)["imported"])
    stored.write_all_pairs(activations, analysed.forward, run.n)
    store.write_json(metrics, analysed.metrics)


if __name__ == "__main__":
    command(main)
