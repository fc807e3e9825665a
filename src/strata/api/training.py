"""Train a network of one of the variants of params.yaml, as the pipeline trains its runs."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from jaxtyping import Int

from strata import params, task
from strata.api import circuits, clones
from strata.api.model import MLP, Transformer, model_of
from strata.inputs import InputError
from strata.picture import Picture
from strata.run import Headline, Run, validate
from strata.store import Arrays
from strata.task import TRAIN, VALIDATION, Task
from strata.train import loop, machine
from strata.train.environment import gflop
from strata.train.trainer import Trainer


class Training(NamedTuple):
    """A ``Training`` is a trained model, its loss and accuracies after each epoch (an accuracy is
    missing where it was not measured), and the pairs that trained and validated, as ``analyse``
    takes them. ``measures`` has a row for each epoch that was asked for and each class of three
    elements or more: its key frequencies, and the share of its energy that they hold."""

    model: Transformer | MLP
    history: pd.DataFrame
    split: dict[str, Int[np.ndarray, "pairs 2"]]
    measures: pd.DataFrame

    def plot(self) -> Picture:
        """Draw loss and accuracies over the epochs."""
        from strata.plots import pictures  # matplotlib, for figures alone

        return pictures.training(self.history)


def train_model(
    n: int, seed: int = 1, variant: str = "quick", measure_every: int = 0, **settings: Any
) -> Training:
    """Train a network on ab mod n, print how far it is, and return it.

    variant: one of params.yaml, whose ``quick`` takes half a minute for n up to 60; "" has the
    paper's settings. measure_every: after how many epochs its embedding is measured again; 0 for
    never. Measuring changes no bit of the network. settings: other values for some of its keys,
    such as epochs, weight_decay, train_fraction or task. On a processor of one kind the same call
    gives the same bytes. Raises InputError for a key or a value that may not be.
    """
    numbers = validate(Headline, {"n": n, "seed": seed}, "train_model")
    run = Run(numbers.n, numbers.seed, variant)
    settings_of_run = params.load(clones.measures() / "params.yaml").settings(run)
    if settings:
        settings_of_run = settings_of_run.varied(variant or "train_model", settings)
    learnt, shares = settings_of_run.task(run), settings_of_run.split
    dealt = task.split(learnt.order, seed, shares.train_fraction, shares.validation_fraction)
    threads, train = torch.get_num_threads(), settings_of_run.train
    try:
        device = machine.prepare(products=gflop(learnt.order, settings_of_run))
        trainer = Trainer(run, train, dealt, device, learnt, settings_of_run.early)
        measures: list[dict[str, Any]] = []
        stops = [*range(measure_every or train.epochs, train.epochs, measure_every or 1)]
        for epoch in loop.train_through(trainer, [*stops, train.epochs], str(run)):
            if measure_every:
                measures += embedding(trainer.weights(), learnt, epoch)
    finally:
        torch.set_num_threads(threads)
        torch.set_flush_denormal(False)
    if trainer.diverged:
        raise InputError(f"{run}: its loss is not finite after epoch {trainer.epoch}: lower lr")
    pairs = np.stack(np.divmod(np.arange(learnt.order**2), learnt.order), axis=1)
    return Training(
        model_of(run, trainer.weights(), task=learnt),
        pd.DataFrame(trainer.history()).set_index("epoch"),
        {"train": pairs[dealt == TRAIN], "validation": pairs[dealt == VALIDATION]},
        pd.DataFrame(measures, columns=["epoch", "d", "key", "energy"]),
    )


def embedding(weights: Arrays, learnt: Task, epoch: int) -> list[dict[str, Any]]:
    """Return a row for each class of three elements or more."""
    rows = []
    for d in (J.d for J in learnt.classes if len(J) > 2):
        key = circuits.key_frequencies(weights, learnt, d, None)
        energy = float(circuits.spectrum(weights, learnt, d).loc[key].sum())
        rows.append({"epoch": epoch, "d": d, "key": key, "energy": energy})
    return rows
