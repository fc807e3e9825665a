"""The first epochs of a run, trained again, against those of its history.

Where all that decides bits is the same, so must be the bytes. Elsewhere sums have another order,
and training amplifies the rounding: the two losses part. How far is counted in epochs: by how many
the one lags behind the other, at the rate at which the loss changes there. A history that was moved
by one epoch is one epoch apart. Limits and measurements: docs/verification.md.
"""

import os
from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float

from ops.verify import Outcome, dealt
from strata import store
from strata.run import InputError, Run, SplitParams, TrainParams
from strata.train import environment, machine
from strata.train.environment import Environment
from strata.train.trainer import Trainer

EPOCHS = 40  # from some fifty on, rounding alone may set two trainings a tenth of an epoch apart
# How many epochs apart two histories may be, up to an epoch: six to ten times what was measured.
LIMITS = ((20, 0.02), (EPOCHS, 0.1))
AROUND = 10  # epochs over which the rate of change is a mean


class Again(NamedTuple):
    """A run's first epochs here: whether they are the recorded bytes, and what is wrong with them.

    ``kind`` is what runs share whose histories come out alike to the byte on one machine, or on
    none: what is known of their environment, their modulus and variant.
    """

    kind: tuple[Any, ...] | None
    same: bool
    fault: str
    apart: float = 0.0  # epochs

    @property
    def settled(self) -> bool:
        """Whether nothing that is found of other runs can change the outcome."""
        return self.same or bool(self.fault)


def repeat(
    run: Run, split: SplitParams, train: TrainParams, epochs: int, device: torch.device
) -> pd.DataFrame:
    """A run's history up to that many epochs, trained here."""
    trainer = Trainer(run, train, dealt(run, split), device)
    trainer.advance(epochs)
    return pd.DataFrame(trainer.history())


def as_recorded(made: Environment) -> torch.device:
    """Make torch work as the record says, as far as this machine can."""
    os.environ["STRATA_THREADS"] = str(made.threads)
    os.environ["STRATA_DEVICE"] = "auto" if made.device == "cuda" else "cpu"
    return machine.prepare(made.flushes)


def compared(folder: Path, run: Run, split: SplitParams, train: TrainParams) -> Again:
    """The first epochs of a run, trained again, against its history."""
    try:
        shipped = store.read_history(folder / "history.parquet")
        made = environment.read(folder / "environment.json")
        device = as_recorded(made)
    except InputError as fault:
        return Again(None, False, str(fault))
    again, here = repeat(run, split, train, EPOCHS, device), machine.describe(device)
    kind = (*made.kind(), run.n, run.variant)
    first = shipped.iloc[:EPOCHS]
    if first.equals(again):
        return Again(kind, True, "")
    if len(first) < len(again):
        return Again(kind, False, f"its history ends at epoch {len(first)}")
    if made.repeats(here):
        return Again(kind, False, f"other bytes from epoch {differs(first, again)} on")
    return Again(kind, False, parting(shipped, again), float(apart(shipped, again).max()))


def differs(one: pd.DataFrame, two: pd.DataFrame) -> int | None:
    """The first epoch, from 1, at which two histories of one length differ, if there is one."""
    same = ((one == two) | (one.isna() & two.isna())).all(axis=1).to_numpy()
    return None if same.all() else int(np.argmin(same)) + 1


def apart(shipped: pd.DataFrame, again: pd.DataFrame) -> Float[np.ndarray, " epochs"]:
    """By how many epochs the losses of two histories are apart, at each epoch of the shorter one.

    The difference over the mean change from one epoch to the next, in the recorded history, around
    that epoch. 0 where both are not finite, infinite where one of them is.
    """
    one, two = (x["loss"].to_numpy(float) for x in (shipped, again))
    one = one[: len(two) + AROUND]
    change = pd.Series(np.abs(np.diff(one, append=one[-1:]))).replace(0, np.nan).ffill()
    rate = np.asarray(change.rolling(AROUND, center=True, min_periods=1).mean())[: len(two)]
    one = one[: len(two)]
    found = np.abs(one - two) / np.fmax(rate, np.finfo(np.float32).eps)
    finite = np.isfinite(one), np.isfinite(two)
    return np.where(finite[0] & finite[1], found, np.where(finite[0] == finite[1], 0, np.inf))


def parting(shipped: pd.DataFrame, again: pd.DataFrame) -> str:
    """Where two histories part by more than rounding can; empty where they don't."""
    found = apart(shipped, again)
    limit = np.array([next(x for end, x in LIMITS if i < end) for i in range(len(found))])
    if not (found > limit).any():
        return ""
    i = int(np.argmax(found > limit))
    losses = f"loss {shipped['loss'].iloc[i]:.6f}, here {again['loss'].iloc[i]:.6f}"
    return f"at epoch {i + 1}: {losses}, {found[i]:.2g} epochs apart, at most {limit[i]:g} allowed"


def judged(run: str, again: Again, like: Collection[Any]) -> Outcome:
    """The outcome for a run, given the kinds of which a run came out to the byte.

    Where one run does, this machine rounds as the one that trained it, and all of its kind must.
    """
    what = f"{run}: first {EPOCHS} epochs, trained again"
    away = f"{again.apart:.1g} epochs apart"
    if again.settled:
        return Outcome(what, again.same, again.fault or "the same bytes")
    if again.kind in like:
        return Outcome(what, False, f"other bytes, {away}; runs of its kind have the same bytes")
    return Outcome(what, True, f"{away}, as rounding sets another machine's")
