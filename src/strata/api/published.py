"""Write a run in the format in which the paper's weights are published.

A file is a ``torch.save`` dict of `model_state_dict`, `config`, `seed`, `losses` and `train_accs`
(one an epoch), `eval_accs` at `eval_epochs`. studies/published reads such files.
"""

import io
from typing import Any

import numpy as np
import pandas as pd
import torch

from strata.api.names import MODULES, TURNED
from strata.architecture import architecture_of
from strata.inputs import InputError
from strata.run import Run
from strata.store import Arrays

MASK = torch.ones(3, 3, dtype=torch.bool).triu(1)  # true where a position may not look
SAME = ("W_E", "b_U", "b_O", "b_in", "b_out")  # these have our layout; TURNED are transposed


def export(metadata: dict[str, Any], weights: Arrays, history: pd.DataFrame) -> bytes:
    """Return a run of strata as a published file, from its weights with their metadata and its
    history.

    Mirror-free accuracies and the parameters of the training are not in that format. Raises
    InputError for a run without attention, which it cannot hold.
    """
    run, train = Run.parse(metadata["run"]), metadata["train"]
    if not architecture_of(weights).attends:
        raise InputError(f"{run}: the published format holds transformers alone")
    config = {"P": run.n, "embed_dim": train["d_model"], "num_heads": train["n_heads"]}
    validated_at = history.dropna(subset="validation_accuracy")
    state = {name: torch.from_numpy(x.copy()) for name, x in _published_weights(weights).items()}
    record = {
        "model_state_dict": state | {"causal_mask": MASK},
        "config": config | {"mlp_dim": train["d_mlp"]},
        "seed": run.seed,
        "losses": history["loss"].tolist(),
        "train_accs": history["train_accuracy"].tolist(),
        "eval_accs": validated_at["validation_accuracy"].tolist(),
        "eval_epochs": validated_at["epoch"].tolist(),
    }
    file = io.BytesIO()
    torch.save(record, file)
    return file.getvalue()


def _published_weights(ours: Arrays) -> Arrays:
    """Return our weights under the names of the published format, in its layout."""
    d = ours["W_E"].shape[1]
    state = {MODULES[key]: ours[key] for key in SAME}
    state |= {MODULES[key]: ours[key].T for key in TURNED}
    matrices = np.stack([ours[f"W_{letter}"] for letter in "QKV"]).swapaxes(2, 3)
    state["attn.in_proj_weight"] = matrices.reshape(3 * d, d)
    state["attn.in_proj_bias"] = np.concatenate([ours[f"b_{x}"].ravel() for x in "QKV"])
    return state | {"attn.out_proj.weight": ours["W_O"].reshape(d, d).T}
