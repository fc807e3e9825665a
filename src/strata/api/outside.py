"""Measure a network of any shape, by its embedding and its logits alone."""

import os
from collections.abc import Iterator
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from strata.api.model import Source
from strata.api.tasks import task_with
from strata.inputs import InputError, opened, regular_file
from strata.measure import all_pairs, neurons
from strata.measure.activations import BLOCK, answers
from strata.measure.all_pairs import AllPairs, Prompts
from strata.measure.character_fit import no_sums
from strata.store import Arrays
from strata.task import task_of

LARGEST = 2**33  # bytes of a file of logits: those of n = 1024 take half of it


class Outside:
    """An ``Outside`` is a network of which the logits of all n² pairs are known, a-major: an array
    of n or more columns, or a function of a and b, tensors of tokens, that returns it; and, if
    there is one, the embedding (n or more tokens, d). An array may be a file of NumPy. What is
    beyond n is left out.

    n: where neither the pairs of an array nor the columns of a function say it. task: as
    ``tasks.task_with`` takes it. Raises InputError where the shapes do not fit.
    """

    run, changed = None, ()

    def __init__(self, embedding: Any, logits: Any, n: int | None = None, task: Any = None):
        self.has_embedding, self._logits = embedding is not None, logits
        if not callable(logits):
            rows = array(logits, "logits")
            self._logits = rows.reshape(-1, rows.shape[-1])
        first = self._block(np.zeros(1, np.int64), np.zeros(1, np.int64))
        count = isqrt(len(self._logits)) if not callable(logits) else first.shape[1]
        self.n = count if n is None else n
        self.task = task_of(self.n) if task is None else task_with(task, self.n)
        no_embedding = np.full((self.n, 1), np.nan, np.float32)
        self.W_E = array(embedding, "embedding") if self.has_embedding else no_embedding
        if first.shape[1] < self.n or (not callable(logits) and len(self._logits) != self.n**2):
            shape = "a function of a and b" if callable(logits) else self._logits.shape
            must = f"must have {self.n**2} rows and {self.n} columns or more"
            raise InputError(f"logits: {shape}, {first.shape[1]} columns: {must}, for n = {self.n}")
        if self.W_E.ndim != 2 or len(self.W_E) < self.n:
            must = f"must be ({self.n} or more, d), for n = {self.n}"
            raise InputError(f"embedding is {self.W_E.shape}: {must}")
        beyond = {"tokens": len(self.W_E) - self.n, "logits": first.shape[1] - self.n}
        notes = tuple(f"Left out, beyond n: {x} of the {k}." for k, x in beyond.items() if x)
        self.source = Source(
            "embedding and logits" if self.has_embedding else "logits",
            "a network of any shape",
            notes=notes,
        )

    def weights(self) -> Arrays:
        """Return the embedding in float32; one that is not finite where there is none."""
        return {"W_E": self.W_E}

    def _block(self, a: np.ndarray, b: np.ndarray) -> Float[np.ndarray, "pairs columns"]:
        if not callable(self._logits):
            return self._logits[a * isqrt(len(self._logits)) + b]
        with torch.no_grad():
            logits = array(self._logits(torch.from_numpy(a), torch.from_numpy(b)), "logits")
        if logits.ndim != 2 or len(logits) != len(a):
            raise InputError(f"logits(a, b) is {logits.shape}: must be ({len(a)}, n)")
        return logits

    def blocks(self) -> Iterator[tuple[np.ndarray, np.ndarray, Float[np.ndarray, "pairs n"]]]:
        """Yield a, b and the logits of block after block of all pairs."""
        for start in range(0, self.n**2, BLOCK):
            a, b = np.divmod(np.arange(start, min(start + BLOCK, self.n**2)), self.n)
            yield a, b, self._block(a, b)[:, : self.n]

    def over_all_pairs(self) -> AllPairs:
        """Return what the measures need of all pairs; there are no heads and no neurons."""
        task, prediction, finite, large = self.task, [], True, all_pairs.large(self.task)
        sums = {J.d: Prompts(*[no_sums(len(J))] * 2) for J in large}
        for a, b, logits in self.blocks():
            prediction.append(answers(logits))
            finite = finite and bool(np.isfinite(logits).all())
            for J in large if finite else ():
                block = all_pairs.class_sums(task, J, a, b, logits)
                sums[J.d] = Prompts(*(x + y for x, y in zip(sums[J.d], block, strict=True)))
        none = neurons.Moments(neurons.labels(task), 0).explained()
        scores = np.zeros((len(self.W_E), 0), np.float32)
        return AllPairs(np.concatenate(prediction), scores, sums, none, finite)


def array(values: Any, name: str) -> np.ndarray:
    """Return numbers as float32, of NumPy, torch, a file of NumPy or what NumPy reads. Raises
    InputError where they are no array of two axes or more."""
    if isinstance(values, Path) or (isinstance(values, str) and os.path.isfile(values)):
        values = read(Path(values), name)
    try:
        plain = values.detach().cpu().float() if isinstance(values, torch.Tensor) else values
        numbers = np.asarray(plain).astype(np.float32)
    except (TypeError, ValueError):
        kind = type(values).__name__
        raise InputError(f"{name}: a {kind}, must be an array of numbers") from None
    if numbers.ndim < 2 or not numbers.size:
        raise InputError(f"{name} is {numbers.shape}: must have two axes, none empty")
    return numbers


def read(path: Path, name: str) -> np.ndarray:
    """Return the array in a file of NumPy. Raises InputError where it is none."""
    try:
        return np.load(opened(regular_file(path, LARGEST).read_bytes(), LARGEST))
    except OSError as error:
        raise InputError(
            f"{name}: {path}: {error.strerror or 'not a file of numpy.save'}"
        ) from None
    except (ValueError, EOFError):
        raise InputError(f"{name}: {path}: must be a file of numpy.save, .npy") from None
