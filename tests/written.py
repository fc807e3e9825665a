"""Files of one small run, written for tests that read them back, whole or spoilt."""

import numpy as np
from small import split_of

from strata import store
from strata.run import Run, TrainParams
from strata.train import network

RUN = Run(6, 1)
PARAMS = TrainParams(
    d_model=8, n_heads=2, d_mlp=12, epochs=5, lr=1e-3, weight_decay=1.0,
    beta1=0.9, beta2=0.98, eps=1e-8, validate_every=2,
)  # fmt: skip
CONFIG = {"run": str(RUN), "train": PARAMS.model_dump()}
WEIGHTS = {name: x.numpy() for name, x in network.initial(RUN, PARAMS).items()}
HISTORY = {
    "epoch": np.arange(1, 6, dtype=np.int32),
    "loss": np.array([3, 2, 1, 0.5, np.inf], dtype=np.float32),
    "train_accuracy": np.array([0, 0.1, 1 / 3, 0.5, 1]),
    "validation_accuracy": np.array([np.nan, 0.1, np.nan, 0.3, 0.7]),
    "mirror_free_accuracy": np.array([np.nan, 0.1, np.nan, np.nan, 0.7]),
}


def write_weights(path, weights=None, config=None):
    content = store.tensors_bytes(WEIGHTS if weights is None else weights, config or CONFIG)
    store.write_bytes(path, content)
    return path


def write_split(path):
    store.write_table(path, split_of(RUN.n), store.SPLIT)
    return path


def write_history(path):
    store.write_history(path, HISTORY)
    return path
