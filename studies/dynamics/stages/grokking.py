"""Spectra and principal components of the embedding of one run over its training, on its kept
weights.

In: a run's name, the receipt of its checkpoints. Out: Parquet, described in
studies/dynamics/code/grokking.py. It trains nothing: where the weights are not in
.snapshots/checkpoints as the receipt has them, it says how to make them.
"""

from strata import store
from strata.run import InputError, Run, command
from studies.dynamics.code import grokking, receipts


def main(name: str, receipt_path: str, out: str) -> None:
    run, receipt = Run.parse(name), store.read_model(receipt_path, receipts.Receipt)
    if receipt.run != name:
        raise InputError(f"{receipt_path}: of {receipt.run}, must be of {name}")
    if receipts.missing(receipt):
        raise InputError(
            f"{name}: its checkpoints are not here; `make dynamics` trains them again, and measures"
        )
    embeddings = {epoch: weights["W_E"][: run.n] for epoch, weights in receipts.each(receipt)}
    axes = grokking.components(embeddings[receipt.epochs[-1]])
    grokking.write(out, {epoch: [*grokking.observe(x, axes)] for epoch, x in embeddings.items()})


if __name__ == "__main__":
    command(main)
