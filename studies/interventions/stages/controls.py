"""The two models of a run that interventions should find nothing in.

In: a run's name, its settings as JSON. Out, in a folder: untrained.safetensors, its initial
weights; memorised.safetensors, those at the first validation where the training pairs are right, as
far as metrics.accuracy asks, and the mirror-free pairs are not: refused if they are.
"""

from pathlib import Path

from strata import store, task
from strata.inputs import InputError
from strata.params import MetricsParams
from strata.run import Run, Settings, command, section
from strata.train import loop
from strata.train.trainer import Trainer


def memorised(trainer: Trainer, level: float) -> None:
    """Train to the first validation at which the training accuracy is at that level."""
    interval, epochs = trainer.params.validate_every, trainer.params.epochs
    for _ in loop.train_through(
        trainer, [*range(interval, epochs, interval), epochs], f"{trainer.run}"
    ):
        accuracies = trainer.latest()
        if accuracies["train"] >= level:
            if accuracies["mirror-free"] >= 0.5:
                raise InputError(f"{trainer.run}: generalises as it memorises: no such control")
            return
    raise InputError(f"{trainer.run}: does not memorise in {epochs} epochs")


def main(name: str, config: str, folder: str) -> None:
    out = Path(folder)
    run, settings = Run.parse(name), store.read_model(config, Settings)
    shares, level = settings.split, section("params.yaml", "metrics", MetricsParams).accuracy
    split = task.split(run.n, run.seed, shares.train_fraction, shares.validation_fraction)
    trainer, record = Trainer(run, settings.train, split), settings.record(run)
    store.write_bytes(out / "untrained.safetensors", store.tensors_bytes(trainer.weights(), record))
    memorised(trainer, level)
    record["epoch"] = trainer.epoch
    store.write_bytes(out / "memorised.safetensors", store.tensors_bytes(trainer.weights(), record))


if __name__ == "__main__":
    command(main)
