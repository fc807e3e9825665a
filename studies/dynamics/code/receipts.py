"""Which weights of a run are kept from its training, and whether they are here.

Some 120 sets of weights are more than a repository should carry, so they lie in an ignored folder
and are no output; the output is a receipt with the md5 of each.
"""

from collections.abc import Iterator
from hashlib import md5
from pathlib import Path

from strata import store
from strata.inputs import InputError
from strata.result import Result
from strata.run import Run
from strata.store import Arrays
from strata.train.environment import Environment

FOLDER = Path(".snapshots", "checkpoints")


class Receipt(Result):
    """The kept weights of one training: whose, of which epochs, made where."""

    run: str
    epochs: tuple[int, ...]
    md5: tuple[str, ...]
    """Of the weights file of each epoch."""
    environment: Environment
    hours: float | None
    """That the run's own training took; None where that was not recorded."""
    train_md5: str
    """Of the weights file of the run itself."""
    identical: bool
    """Whether the training ended in the run's own weights, byte for byte."""


def weights_file(run: Run, epoch: int, folder: Path = FOLDER) -> Path:
    """Where the weights of a run after that many epochs lie: a file as that of the run itself."""
    return folder / str(run) / f"{epoch:05}.safetensors"


def has(path: Path, digest: str | None) -> bool:
    """Whether a file is there and has that md5."""
    return path.is_file() and md5(path.read_bytes()).hexdigest() == digest


def missing(receipt: Receipt, folder: Path = FOLDER) -> list[int]:
    """The epochs whose weights are not here as the receipt has them."""
    run, known = Run.parse(receipt.run), zip(receipt.epochs, receipt.md5, strict=True)
    return [epoch for epoch, x in known if not has(weights_file(run, epoch, folder), x)]


def kept(path: Path | str) -> Receipt:
    """A receipt whose weights are here. Raises InputError, which says how to make them, where they
    are not."""
    receipt = store.read_model(path, Receipt)
    if missing(receipt):
        hours = f"{receipt.hours:.1f} hours" if receipt.hours else "as long as the run itself"
        raise InputError(
            f"{receipt.run}: its checkpoints are not here; `make dynamics` trains them again, "
            f"about {hours}, and measures"
        )
    return receipt


def each(receipt: Receipt, folder: Path = FOLDER) -> Iterator[tuple[int, Arrays]]:
    """Epoch and weights, one after the other."""
    run = Run.parse(receipt.run)
    for epoch in receipt.epochs:
        yield epoch, store.read_weights(weights_file(run, epoch, folder), run)
