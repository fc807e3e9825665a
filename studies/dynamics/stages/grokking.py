"""Spectra and principal components of the embedding of one run over its training, on its kept
weights.

In: a run's name, the receipt of its checkpoints. Out: Parquet, described in
studies/dynamics/code/grokking.py. It trains nothing: where the weights are not in
.snapshots/checkpoints as the receipt has them, it says how to make them.
"""

from strata.run import Run, command
from studies.dynamics.code import grokking, receipts, table


def main(name: str, receipt_path: str, out: str) -> None:
    run, receipt = Run.parse(name), receipts.kept(receipt_path)
    embeddings = {epoch: weights["W_E"][: run.n] for epoch, weights in receipts.each(receipt)}
    axes = grokking.components(embeddings[receipt.epochs[-1]])
    rows = {epoch: [*grokking.observe(x, axes)] for epoch, x in embeddings.items()}
    table.write(out, rows, grokking.SCHEMA)


if __name__ == "__main__":
    command(main)
