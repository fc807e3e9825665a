"""A network whose scores, neurons and what these write follow from the formulas of criteria-3.md.

In: the settings as JSON, the weights as safetensors. Out, as safetensors, what takes the place of
parts of the network: the scores of all tokens, one column a head; the pre-activations of every
pair; the stream before the MLP, which is constant; W_out; and two counts, of the free numbers in
all of these and of the weights that they replace.
"""

import numpy as np

from strata import store
from strata.architecture import architecture_of
from strata.inputs import InputError
from strata.measure.activations import attention_scores
from strata.patch.patching import forward_pass
from strata.run import command
from strata.store import Arrays
from studies.mechanism.code import adding, adding_measures, outputs, scores
from studies.params import AddingMeasures


def formulas(weights: Arrays, n: int, seed: int) -> Arrays:
    """Return what takes the place of the parts. Raises InputError for a model without attention,
    and modulo 2, where no character has an angle."""
    if not architecture_of(weights).attends or n == 2:
        raise InputError("by formula: needs a transformer with attention, and n from 3 on")
    pairs = forward_pass(weights, n)
    two = scores.fit_pass(pairs, 2)
    neurons = adding.neurons(pairs, two, seed=seed)
    before = neurons.form("B4")
    written = outputs.written(neurons, np.maximum(before, 0))
    counts = adding_measures.free_numbers(neurons, two, written)
    return {
        "scores": np.concatenate([two.scores, attention_scores(weights).scores[-1:]]),
        "preactivations": before[pairs.row].astype(np.float32),
        "stream": pairs.count @ pairs.stream_before_mlp / n**2,
        "W_out": written.W_out,
        "counts": np.array([counts["numbers"], counts["weights"]]),
    }


def main(settings_path: str, path: str, out: str) -> None:
    settings = store.read_model(settings_path, AddingMeasures)
    weights, _ = store.read_tensors(path)
    parts = formulas(weights, weights["W_U"].shape[1], settings.seed)
    store.write_bytes(out, store.tensors_bytes(parts, {}))


if __name__ == "__main__":
    command(main)
