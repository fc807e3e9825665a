"""The published file as a run of ours, trained as the paper says, which is what params.yaml says.

In: the name of the run, its settings, the file. Out, in a folder: weights.safetensors,
history.parquet; epochs are numbered as the file numbers them.
"""

from pathlib import Path

from strata import store
from strata.api.analysis import history
from strata.api.foreign import from_weights, load_checkpoint
from strata.run import Run, Settings, command


def main(name: str, config: str, path: str, out: str) -> None:
    run, settings = Run.parse(name), store.read_model(config, Settings)
    checkpoint, folder = load_checkpoint(store.read_bytes(path), path), Path(out)
    weights = from_weights(checkpoint, run.n).weights()
    recorded = {str(name): x.to_numpy() for name, x in history(checkpoint).items()}
    content = store.tensors_bytes(weights, settings.record(run))
    store.write_bytes(folder / "weights.safetensors", content)
    store.write_history(folder / "history.parquet", recorded)


if __name__ == "__main__":
    command(main)
