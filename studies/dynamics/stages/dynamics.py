"""The measures of one run over its training, on its kept weights.

In: a run's name, the receipt of its checkpoints, its split. Out: Parquet, described in
studies/dynamics/code/table.py. It trains nothing: where the weights are not in
.snapshots/checkpoints as the receipt has them, it says how to make them.
"""

from strata import store
from strata.run import Run, command, section
from studies.dynamics.code import apart, receipts, table, trajectory
from studies.params import DynamicsParams


def main(name: str, receipt_path: str, split_path: str, out: str) -> None:
    run, params = Run.parse(name), section("studies/params.yaml", "dynamics", DynamicsParams)
    receipt = receipts.kept(receipt_path)
    split = store.read_split(split_path, run.n)
    first, train = store.read_trained(receipts.weights_file(run, receipt.epochs[0]), run)
    last = store.read_weights(receipts.weights_file(run, receipt.epochs[-1]), run)
    final, before = trajectory.keys(last, run.n, params), first["W_E"][: run.n]
    measured = {
        epoch: [
            *trajectory.observe(weights, split, run.n, final, params),
            *apart.observe(weights["W_E"][: run.n], before, epoch, train),
        ]
        for epoch, weights in receipts.each(receipt)
    }
    table.write(out, measured)


if __name__ == "__main__":
    command(main)
