"""The published file as a run of ours, trained as the paper says, which is what params.yaml says.

In: the name of the run, its settings, the file. Out, in a folder: weights.safetensors,
history.parquet; epochs are numbered as the file numbers them.
"""

from pathlib import Path

from strata import store
from strata.api.analysis import history
from strata.api.foreign import from_weights, loaded
from strata.run import Run, Settings, command


def main(name: str, config: str, path: str, out: str) -> None:
    run, settings = Run.parse(name), store.read_model(config, Settings)
    found, folder = loaded(store.read_bytes(path), path), Path(out)
    weights = from_weights(found, run.n).weights()
    known = {str(name): x.to_numpy() for name, x in history(found).items()}
    content = store.tensors_bytes(weights, settings.record(run))
    store.write_bytes(folder / "weights.safetensors", content)
    store.write_history(folder / "history.parquet", known)


if __name__ == "__main__":
    command(main)
