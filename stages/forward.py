"""One forward pass over all pairs of a run.

In: a run's name, its weights. Out: Parquet of n² rows, a-major: a, b, product, prediction,
attention from `=` (n_heads × 3, to a, b and `=`), post-ReLU MLP activations (d_mlp), logits (n).
"""

import sys

import pyarrow as pa

from strata import store
from strata.analysis import activations
from strata.run import Run, command


def main() -> None:
    name, weights_path, out = sys.argv[1:]
    run = Run.parse(name)
    n, weights = run.n, store.read_weights(weights_path, run)
    n_heads = len(weights["W_Q"]) if "W_Q" in weights else 0
    schema = store.activations_schema(n, n_heads, len(weights["W_out"]))
    with store.replacing(out) as temporary, store.table_writer(temporary, schema) as writer:
        for a, b, found in activations.blocks(weights, n):
            writer.write_table(pa.table(activations.columns(a, b, n, found), schema=schema))


if __name__ == "__main__":
    command(main)
