"""The tables over the training dynamics of some runs: when each class is learned, in which order,
and where the checkpoints were trained.

In: a folder, the folders of dynamics, checkpoints and train, the names of the runs. Out: NAME.csv,
NAME.tex, NAME.md and NAME.json for each table. Measures of another training than the history's are
refused.
"""

from pathlib import Path

from strata import store
from strata.inputs import InputError
from strata.params import GridParams
from strata.run import Run, command, section
from strata.tables import format
from strata.train import environment, network
from studies.dynamics.code import held, table
from studies.dynamics.code import tables as dynamics
from studies.dynamics.code.receipts import Receipt
from studies.params import DynamicsParams


def main(folder: str, measured: str, kept: str, trained: str, *names: str) -> None:
    runs = [Run.parse(name) for name in names]
    params = section("params.yaml", "grid", GridParams)
    thresholds = section("studies/params.yaml", "dynamics", DynamicsParams)
    frames, origins, ends = {}, {}, {}
    for run in runs:
        own, frame = Path(trained, str(run)), table.read(Path(measured, f"{run}.parquet"))
        receipt = store.read_model(Path(kept, f"{run}.json"), Receipt)
        history = store.read_history(own / "history.parquet")
        if receipt.identical and (fault := held.fault(frame, history)):
            raise InputError(f"{run}: {fault}")
        weights, train = store.read_trained(own / "weights.safetensors", run)
        first = network.initial(run, train)["W_E"][: run.n].numpy()
        frames[run], ends[run] = frame, (first, weights["W_E"][: run.n])
        origins[run] = receipt, environment.read(own / "environment.json")
    format.write(dynamics.tables(frames, origins, ends, params, thresholds), folder)


if __name__ == "__main__":
    command(main)
