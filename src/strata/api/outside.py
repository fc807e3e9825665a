"""Measure a network of any shape, by its embedding and its logits alone."""

import inspect
import os
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from strata.api.model import Model, Source
from strata.api.tasks import task_with
from strata.inputs import InputError, opened, regular_file
from strata.measure import all_pairs, neurons
from strata.measure.activations import BLOCK, answers
from strata.measure.all_pairs import AllPairs, Prompts
from strata.measure.character_fit import no_sums
from strata.store import Arrays
from strata.task import task_of

LARGEST = 2**33  # bytes of a file of logits: those of n = 1024 take half of it
ROUNDING = 1e-3  # of the largest logit: by as much may two programs differ on one network


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
        self.has_embedding, self.logits = embedding is not None, logits
        if not callable(logits):
            rows = array(logits, "logits")
            if rows.ndim > 2 and len(rows) != rows.shape[1]:
                last = "of several positions, the last: logits[:, -1]"
                raise InputError(f"logits is {rows.shape}: must be (n², n), row an + b; {last}")
            self.logits = rows.reshape(-1, rows.shape[-1])
        try:
            first = self._block(np.zeros(1, np.int64), np.zeros(1, np.int64))
        except TypeError as error:
            tokens = "lambda a, b: net(torch.stack([a, b], dim=1))[:, -1]"
            must = f"must be a function of a and b; for a net of tokens, {tokens}"
            raise InputError(f"logits: {str(error).splitlines()[0]}: {must}") from None
        count = isqrt(len(self.logits)) if not callable(logits) else first.shape[1]
        self.n = int(n) if isinstance(n, int | np.integer) else count
        if self.n < 2 or n not in (None, self.n):
            wrong = self.n if n is None else n
            raise InputError(f"n = {wrong!r:.20}: must be a whole number, 2 or more")
        self.task = task_of(self.n) if task is None else task_with(task, self.n)
        no_embedding = np.full((self.n, 1), np.nan, np.float32)
        self.W_E = array(embedding, "embedding") if self.has_embedding else no_embedding
        if first.shape[1] < self.n or (not callable(logits) and len(self.logits) != self.n**2):
            shape = "a function of a and b" if callable(logits) else self.logits.shape
            must = f"must have {self.n**2} rows and {self.n} columns or more"
            k, hint = (
                first.shape[1],
                "a table of answers becomes logits by np.eye(n)[table.ravel()]",
            )
            fits = k if n is None else self.n
            if not callable(logits) and count**2 == len(self.logits) and fits < count:
                cut = f"logits.reshape({count}, {count}, -1)[:{fits}, :{fits}]"
                hint = f"leave out the rows of = and of other tokens: {cut}"
            raise InputError(f"logits: {shape}, {k} columns: {must}, for n = {self.n}; {hint}")
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
        if not callable(self.logits):
            return self.logits[a * isqrt(len(self.logits)) + b]
        with torch.no_grad():
            logits = array(self.logits(torch.from_numpy(a), torch.from_numpy(b)), "logits")
        if logits.ndim != 2 or len(logits) != len(a):
            last = "; of several positions, the last: [:, -1]" * (logits.ndim == 3)
            raise InputError(f"logits(a, b) is {logits.shape}: must be ({len(a)}, n){last}")
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
            finite = finite and bool(np.isfinite(logits).all())
            prediction.append(answers(logits if finite else np.nan_to_num(logits)))
            for J in large if finite else ():
                block = all_pairs.class_sums(task, J, a, b, logits)
                sums[J.d] = Prompts(*(x + y for x, y in zip(sums[J.d], block, strict=True)))
        none = neurons.Moments(neurons.labels(task), 0).explained()
        scores = np.zeros((len(self.W_E), 0), np.float32)
        return AllPairs(np.concatenate(prediction), scores, sums, none, finite)


def forward_of(module: nn.Module, model: Model) -> Callable[[Tensor, Tensor], Tensor] | None:
    """Return the logits of a module as a function of a and b. It is called with these or, if its
    forward has one argument, with the tokens that the model of its weights reads. None where
    neither gives logits."""
    parameters = inspect.signature(module.forward).parameters.values()
    positional = [x for x in parameters if x.kind in (x.POSITIONAL_ONLY, x.POSITIONAL_OR_KEYWORD)]
    of_tokens = sum(x.default is x.empty for x in positional) == 1

    def logits(a: Tensor, b: Tensor) -> Tensor:
        inputs = [model.to_tokens(a, b)] if of_tokens else [a, b]
        values = copy(*(x.to(device) for x in inputs))
        return values[:, -1] if values.ndim == 3 else values

    try:
        copy = deepcopy(module).eval()
        device = next(copy.parameters()).device
        with torch.no_grad():
            first = logits(*torch.zeros(2, 2, dtype=torch.long))
        return logits if first.ndim == len(first) == 2 and first.shape[1] >= model.n else None
    except Exception:  # the code is anybody's
        return None


def checked(module: nn.Module, model: Model, read_as: str) -> "Model | Outside":
    """Compare the model that was read from the weights of a module with its forward, on all pairs.
    Return the model or, where it has other logits, the module's own, with its embedding; the notes
    of the source say which. read_as: what the weights were read as."""
    source, function = model.source or Source(type(module).__name__, ""), forward_of(module, model)
    if function is None:
        note = f"Its weights were read as {read_as}, unchecked: its forward takes no pairs."
        model.source = replace(source, notes=(*source.notes, note))
        return model
    network, same, moved = Outside(model.W_E, function, model.n), True, 0
    network.task = model.task
    for a, b, theirs in network.blocks():
        ours = model(a, b).numpy()
        moved += int((answers(ours) != answers(theirs)).sum())
        ours, theirs = (x - x.mean(axis=1, keepdims=True) for x in (ours, theirs))
        same = same and np.abs(ours - theirs).max() <= ROUNDING * np.abs(theirs).max()
    if same:
        note = "Its own forward gives the same logits."
        model.source = replace(source, notes=(*source.notes, note))
        return model
    note = (
        f"Its forward gives other logits than {read_as} with its weights, and other answers to "
        f"{moved} of {model.n**2} pairs: its own logits are measured."
    )
    network.source = replace(network.source, name=source.name, notes=(*network.source.notes, note))
    return network


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
