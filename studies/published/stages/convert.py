"""A published file as a run of ours.

In: the file, the paper's printed values (how its models were trained). Out, in a folder:
weights.safetensors, history.parquet, split.parquet (of the file's n and seed) and run.txt, the name
of the run.
"""

from pathlib import Path

from strata import store, task
from strata.run import command
from strata.tables.printed import Printed
from studies.published.code import checkpoint


def main(path: str, printed_path: str, out: str) -> None:
    printed, folder = store.read_model(printed_path, Printed), Path(out)
    found = checkpoint.convert(store.read_bytes(path), path, printed.training)
    n, shares = found.run.n, printed.training
    split = task.split(n, found.run.seed, shares.train_fraction, shares.validation_fraction)
    pairs = task.pair_table(n) | {"split": split, "mirror_in_train": task.mirrored(split, n)}
    content = store.tensors_bytes(found.weights, found.metadata)
    store.write_bytes(folder / "weights.safetensors", content)
    store.write_history(folder / "history.parquet", found.history)
    store.write_table(folder / "split.parquet", pairs, store.SPLIT)
    store.write_text(folder / "run.txt", f"{found.run}\n")


if __name__ == "__main__":
    command(main)
