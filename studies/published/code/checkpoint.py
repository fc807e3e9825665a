"""The published file as a run of ours: strata.api.published says what is in it. ``make published``
takes that one file alone, by its SHA-256."""

from typing import Any, NamedTuple

from strata.api.analysis import history
from strata.api.foreign import from_weights, loaded
from strata.run import Run, Settings, SplitParams, TrainParams
from strata.store import Arrays
from strata.tables.printed import PrintedTraining

EPS = 1e-8  # AdamW's default: the paper names no other


class Converted(NamedTuple):
    """A run that was not trained here, in the form of those that were."""

    run: Run
    metadata: dict[str, Any]
    weights: Arrays
    history: Arrays


def convert(content: bytes, origin: str, printed: PrintedTraining) -> Converted:
    """The run in the published file; how it was trained is what the paper prints of its training.

    Epochs are numbered as the file numbers them. Raises InputError for what is no such file.
    """
    found = loaded(content, origin)
    config = found["config"]
    run = Run(config["P"], found["seed"])
    weights = from_weights(found, run.n, n_heads=config["num_heads"]).weights()
    d_mlp, d_model = weights["W_out"].shape
    train = TrainParams(
        d_model=d_model,
        n_heads=config["num_heads"],
        d_mlp=d_mlp,
        epochs=len(found["losses"]),
        validate_every=printed.validate_every,
        lr=printed.learning_rate,
        weight_decay=printed.weight_decay,
        beta1=printed.betas[0],
        beta2=printed.betas[1],
        eps=EPS,
    )
    split = SplitParams(
        train_fraction=printed.train_fraction, validation_fraction=printed.validation_fraction
    )
    metadata = Settings(split=split, train=train).record(run)
    made = {str(name): x.to_numpy() for name, x in history(found).items()}
    return Converted(run, metadata, weights, made)
