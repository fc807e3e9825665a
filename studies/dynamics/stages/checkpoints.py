"""Train one run once more and keep its weights at epochs chosen from its history.

In: a run's name, its settings, its split, its folder of train. Out: a receipt as JSON: the epochs,
the md5 of each set of weights, where they were trained, and whether the training ended in the run's
own weights, byte for byte. The weights lie in .snapshots/checkpoints; where they do already,
nothing is trained. STRATA_DEVICE and STRATA_THREADS hold as in train.
"""

from pathlib import Path

from strata import store
from strata.run import Run, Settings, command, section
from strata.train import environment, snapshots
from studies.dynamics.code import checkpoints, receipts, schedule
from studies.params import CheckpointsParams


def main(name: str, config: str, split_path: str, folder: str, out: str) -> None:
    run, settings = Run.parse(name), store.read_model(config, Settings)
    count = section("studies/params.yaml", "checkpoints", CheckpointsParams).count
    split = store.read_split(split_path, run.n)["split"]
    epochs = schedule.checkpoints(store.read_history(Path(folder, "history.parquet")), count)
    inputs = {"run": name} | settings.model_dump()
    key = snapshots.fingerprint(inputs, [snapshots.CODE, Path(split_path)])
    kept = checkpoints.Kept(receipts.FOLDER, run, key)
    flush = environment.read(Path(folder, "environment.json")).flushes
    index = checkpoints.ensure(kept, epochs, settings, split, flush)
    store.write_json(out, checkpoints.receipt(run, index, epochs, Path(folder)))


if __name__ == "__main__":
    command(main)
