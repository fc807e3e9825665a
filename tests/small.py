"""Small runs: parameters, splits, histories, initial or random weights."""

from pathlib import Path

import numpy as np
import pandas as pd

from strata import params, store, task
from strata.architecture import TABLE, ArchitectureName
from strata.measure import all_pairs, metrics, subspaces
from strata.measure.metrics import Metrics
from strata.run import Run, TrainParams
from strata.tables.printed import Printed
from strata.train import network

ROOT = Path(__file__).parents[1]
ALL = params.load(ROOT / "params.yaml")
PARAMS = ALL.metrics.model_copy(update={"random_subsets": 20, "shuffles": 10})
PRINTED = store.read_model(ROOT / "paper" / "printed_values.json", Printed)
TRAIN = TrainParams(
    d_model=12, n_heads=3, d_mlp=20, epochs=1, lr=1e-3, weight_decay=1.0,
    beta1=0.9, beta2=0.98, eps=1e-8, validate_every=1,
)  # fmt: skip
NONE = float("nan")


def kind_of(run: Run, params: TrainParams) -> TrainParams:
    """Return the parameters of a run: those of variant mlp ask for the MLP-only model."""
    return params.model_copy(update={"architecture": run.variant or "transformer"})


def split_of(task_or_n: task.Task | int, seed: int = 1) -> dict[str, np.ndarray]:
    order = task.task_of(task_or_n).order
    split = task.split(order, seed, 0.3, 0.3)
    columns = {"split": split, "mirror_in_train": task.mirrored(split, order)}
    return task.pair_table(task_or_n) | columns


def history_of(validation: list[float], loss: float = 0.5) -> pd.DataFrame:
    epochs = len(validation)
    return pd.DataFrame(
        {
            "epoch": np.arange(1, epochs + 1, dtype=np.int32),
            "loss": np.full(epochs, loss, dtype=np.float32),
            "train_accuracy": np.ones(epochs),
            "validation_accuracy": validation,
            "mirror_free_accuracy": np.full(epochs, np.nan),
        }
    )


def weights_of(run: Run, params: TrainParams = TRAIN) -> dict[str, np.ndarray]:
    """Return the initial weights."""
    return {name: x.numpy() for name, x in network.initial(run, kind_of(run, params)).items()}


def measured(
    run: Run,
    weights: dict[str, np.ndarray] | None = None,
    split: dict[str, np.ndarray] | None = None,
    history: pd.DataFrame | None = None,
    other_task: task.Task | None = None,
) -> Metrics:
    """Measure a run with one forward pass; without weights, a run that has not been trained."""
    weights = weights_of(run) if weights is None else weights
    split = split_of(other_task or run.n, run.seed) if split is None else split
    history = history_of([0.5]) if history is None else history
    forward = all_pairs.over_all_pairs(weights, other_task or run.n)
    return metrics.run_metrics(run, weights, split, history, forward, PARAMS, other_task)


def angles(W_OV: np.ndarray, x: np.ndarray, side: str, k: int = 16) -> np.ndarray:
    """Return the cosines of the principal angles between the directions of a head, on its read or
    its write side, and those of the rows of a class."""
    return subspaces.cosines(
        subspaces.leading(x, k), getattr(subspaces.head_directions(W_OV, k), side)
    )


def random_weights(
    n: int, kind: ArchitectureName = "transformer", seed: int = 0, size: float = 1.0
) -> dict[str, np.ndarray]:
    """Return random weights of a small network, with random biases."""
    rng, shapes = np.random.default_rng(seed), TABLE[kind].sizes(n, 8, 2, 12)
    return {
        name: (size * rng.normal(size=shape) / np.sqrt(shape[0])).astype(np.float32)
        for name, shape in shapes.items()
    }
