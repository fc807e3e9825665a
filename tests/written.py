"""Files of one small run, written for tests that read them back, whole or spoilt."""

import numpy as np
from small import TRAIN, split_of, weights_of

from strata import store
from strata.measure import all_pairs, stored
from strata.run import Run

RUN = Run(6, 1)
CONFIG = {"run": str(RUN), "train": TRAIN.model_dump()}
WEIGHTS = weights_of(RUN)
KINDS = ["a", "b", "product", "prediction", "attention", "neuron", "logit"]
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


def write_forward(path):
    stored.write_forward(path, WEIGHTS, 6, block=10)
    return path


def write_all_pairs(path):
    stored.write_all_pairs(path, all_pairs.over_all_pairs(WEIGHTS, 6), 6)
    return path


def write_json(path):
    store.write_json(path, {"b": [1, 2.5, None], "a": {"x": "é"}})
    return path


def read_split(path):
    return store.read_split(path, 6)


# How each kind of file is written, and how it is read.
FORMATS = {
    "weights": (write_weights, store.read_weights),
    "split": (write_split, read_split),
    "history": (write_history, store.read_history),
    "forward": (write_forward, lambda path: list(stored.read_forward(path, 6, KINDS))),
    "all_pairs": (write_all_pairs, lambda path: stored.read_all_pairs(path, 6, WEIGHTS)),
    "json": (write_json, store.read_json),
}
