"""One forward pass over all pairs of a run, whole.

In: a run's name, its weights. Out: Parquet of n² rows, a-major: a, b, product, prediction,
attention from `=` (n_heads × 3, to a, b and `=`), post-ReLU MLP activations (d_mlp), logits (n).
"""

from strata import store
from strata.measure import stored
from strata.run import Run, command


def main(name: str, weights: str, out: str) -> None:
    run = Run.parse(name)
    task = store.read_task(weights, run)
    stored.write_forward(out, store.read_weights(weights, run), task)


if __name__ == "__main__":
    command(main)
