"""The two models of a run that interventions should find nothing in.

In: a run's name. Out, in a folder: untrained.safetensors, its initial weights;
memorised.safetensors, those at the first validation where the training pairs are right, as far as
metrics.accuracy asks, and the mirror-free pairs are not: refused if they are.
"""

import sys
from pathlib import Path

from strata import store, task
from strata.run import InputError, Run, Settings, SplitParams, TrainParams, command, section
from strata.thresholds import MetricsParams
from strata.training.trainer import Trainer


def memorised(trainer: Trainer, level: float) -> None:
    """Train to the first validation at which the training accuracy is at that level."""
    while trainer.epoch < trainer.params.epochs:
        trainer.advance(trainer.epoch + trainer.params.validate_every)
        seen = trainer.latest()
        if seen["train"] >= level:
            if seen["mirror-free"] >= 0.5:
                raise InputError(f"{trainer.run}: generalises as it memorises: no such control")
            return
    raise InputError(f"{trainer.run}: does not memorise in {trainer.params.epochs} epochs")


def main() -> None:
    name, out = sys.argv[1], Path(sys.argv[2])
    run, params = Run.parse(name), section("params.yaml", "train", TrainParams)
    shares = section("params.yaml", "split", SplitParams)
    level = section("params.yaml", "metrics", MetricsParams).accuracy
    split = task.split(run.n, run.seed, shares.train_fraction, shares.validation_fraction)
    trainer = Trainer(run, params, split)
    config = Settings(split=shares, train=params).record(run)
    store.write_bytes(out / "untrained.safetensors", store.tensors_bytes(trainer.weights(), config))
    memorised(trainer, level)
    config["epoch"] = trainer.epoch
    store.write_bytes(out / "memorised.safetensors", store.tensors_bytes(trainer.weights(), config))


if __name__ == "__main__":
    command(main)
