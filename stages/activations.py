"""One forward pass over all pairs of a run: what its measures need of it.

In: a run's name, its weights. Out: Parquet of one row (strata.measure.stored.all_pairs_schema):
predictions of all pairs, attention scores, sums of logits by product and candidate, and what labels
explain of the neurons. stages/forward.py writes all activations instead.
"""

from strata import store
from strata.measure import all_pairs, stored
from strata.run import Run, command


def main(name: str, weights: str, out: str) -> None:
    run = Run.parse(name)
    task = store.read_task(weights, run)
    forward = all_pairs.over_all_pairs(store.read_weights(weights, run), task)
    stored.write_all_pairs(out, forward, task)


if __name__ == "__main__":
    command(main)
