"""Small runs: parameters, splits, histories, initial weights, and exact models made by hand."""

from pathlib import Path

import numpy as np
import pandas as pd

from strata import params, task
from strata.measure import all_pairs, metrics, subspaces
from strata.measure.metrics import Metrics
from strata.run import Run, TrainParams
from strata.train import network
from strata.train.environment import Environment

PARAMS = params.load(Path(__file__).parents[1] / "params.yaml").metrics.model_copy(
    update={"random_subsets": 20, "shuffles": 10}
)
TRAIN = TrainParams(
    d_model=12, n_heads=3, d_mlp=20, epochs=1, lr=1e-3, weight_decay=1.0,
    beta1=0.9, beta2=0.98, eps=1e-8, validate_every=1,
)  # fmt: skip
HERE = Environment(
    device="cpu", vendor="AMD", processor=None, instructions=None, capability="AVX2", cores=2,
    threads=1, platform="Linux x86_64", libc=None, python="3.11.7", torch="2.13.0", mkl=None,
    numpy=None, openblas=None,
)  # fmt: skip
NONE = float("nan")


def kind_of(run: Run, params: TrainParams) -> TrainParams:
    """The parameters of a run: those of variant mlp ask for the MLP-only model."""
    return params.model_copy(update={"architecture": run.variant or "transformer"})


def split_of(of: task.Task | int, seed: int = 1) -> dict[str, np.ndarray]:
    order = task.task_of(of).order
    split = task.split(order, seed, 0.3, 0.3)
    return task.pair_table(of) | {"split": split, "mirror_in_train": task.mirrored(split, order)}


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
    """The initial weights."""
    return {name: x.numpy() for name, x in network.initial(run, kind_of(run, params)).items()}


def measured(
    run: Run,
    weights: dict[str, np.ndarray],
    split: dict[str, np.ndarray],
    history: pd.DataFrame,
    of: task.Task | None = None,
) -> Metrics:
    """The metrics of a run from one forward pass."""
    forward = all_pairs.over_all_pairs(weights, of or run.n)
    return metrics.run_metrics(run, weights, split, history, forward, PARAMS, of)


def angles(W_OV: np.ndarray, x: np.ndarray, side: str, k: int = 16) -> np.ndarray:
    """Cosines of the principal angles between the directions of a head, on its read or its write
    side, and those of the rows of a class."""
    return subspaces.cosines(
        subspaces.leading(x, k), getattr(subspaces.head_directions(W_OV, k), side)
    )


def exact_transformer(of: task.Task | int) -> dict[str, np.ndarray]:
    """A transformer that is right on every pair of a task: a neuron for each unordered one.

    Uniform attention of one head copies (e_a + e_b + e_=)/3; neuron {a, b} fires where both are
    there. Where a = b the neurons {a, x} fire as well, so {a, a} is louder than them all.
    """
    own = task.task_of(of)
    n = own.order
    d_model = 2 * n + 1  # a coordinate a token, then one an answer
    pairs = [(a, b) for a in range(n) for b in range(a, n)]
    W_in, W_out = np.zeros((d_model, len(pairs))), np.zeros((len(pairs), d_model))
    for neuron, (a, b) in enumerate(pairs):
        W_in[[a, b], neuron] = 3
        W_out[neuron, n + 1 + own.product(a, b)] = 1 if a != b else 2 * n
    eye, zero = np.eye(d_model), np.zeros((d_model, d_model))
    answers = eye[:, n + 1 :]
    weights = {
        "W_E": eye[: n + 1], "W_Q": zero[None], "W_K": zero[None], "W_V": eye[None],
        "W_O": eye[None], "W_in": W_in, "b_in": np.full(len(pairs), -1.0), "W_out": W_out,
        "W_U": answers, "b_Q": zero[:1], "b_K": zero[:1], "b_V": zero[:1], "b_O": zero[0],
        "b_out": zero[0], "b_U": np.zeros(n),
    }  # fmt: skip
    return {name: x.astype(np.float32) for name, x in weights.items()}


def exact_mlp(n: int) -> dict[str, np.ndarray]:
    """An MLP-only model that is right on every pair: one-hot embeddings, a neuron for each pair."""
    (a, b), eye = np.divmod(np.arange(n * n), n), np.eye(n)
    weights = {
        "W_E": eye, "W_in": np.concatenate([eye[a], eye[b]], axis=1).T,
        "b_in": np.full(n * n, -1.0), "W_out": eye[a * b % n],
        "b_out": np.zeros(n), "W_U": eye, "b_U": np.zeros(n),
    }  # fmt: skip
    return {name: x.astype(np.float32) for name, x in weights.items()}
