"""Measure a network of any shape, by its embedding and its logits alone."""

import inspect
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from functools import partial
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
CALLS = {0: "a and b", 2: "tokens a, b", 3: "tokens a, b, ="}  # by the width of rows of tokens


class Outside:
    """An ``Outside`` is a network of which the logits of all n² pairs are known, a-major: an array
    of n or more columns, or a function of a and b, tensors of tokens, or a module, that returns it;
    and, if there is one, the embedding (n to n + 2 tokens, d). An array may be a file of NumPy, or
    a table (n, n) of answers. What is beyond n is left out, −inf masks an answer, and ``beyond``
    says in which pairs a logit beyond n is the largest.

    n: where neither the pairs of an array nor the columns of a function say it. task: as
    ``tasks.task_with`` takes it. Raises InputError where the shapes do not fit.
    """

    run, changed = None, ()

    def __init__(self, embedding: Any, logits: Any, n: int | None = None, task: Any = None):
        whole, notes = int(n) if isinstance(n, int | np.integer) else None, ()
        if isinstance(logits, nn.Module):
            logits = forward_of(logits, whole)
            notes = (f"Its forward was called with {CALLS[logits.keywords['width']]}.",)
        self.has_embedding, self.logits = embedding is not None, logits
        if not callable(logits):
            rows = array(logits, "logits")
            k = len(rows)
            if rows.shape == (k, k) and np.isin(rows, np.arange(k)).all():
                rows = np.eye(k, dtype=np.float32)[rows.astype(int)]
                notes = ("What was given is a table of answers, row a, column b.",)
            if rows.ndim > 2 and len(rows) != rows.shape[1]:
                last = "of several positions, the last: logits[:, -1]"
                raise InputError(f"logits is {rows.shape}: must be (n², n), row an + b; {last}")
            self.logits = rows.reshape(-1, rows.shape[-1])
        try:
            first = self._block(np.zeros(1, np.int64), np.zeros(1, np.int64))
        except TypeError as error:
            must = "must be a function of a and b; for a net of tokens, the module: logits=net"
            raise InputError(f"logits: {str(error).splitlines()[0]}: {must}") from None
        count = isqrt(len(self.logits)) if not callable(logits) else first.shape[1]
        self.n = count if whole is None else whole
        if self.n < 2 or n not in (None, self.n):
            wrong = self.n if n is None else n
            raise InputError(f"n = {wrong!r:.20}: must be a whole number, 2 or more")
        self.task = task_of(self.n) if task is None else task_with(task, self.n)
        no_embedding = np.full((self.n, 1), np.nan, np.float32)
        self.W_E = array(embedding, "embedding") if self.has_embedding else no_embedding
        if first.shape[1] < self.n or (not callable(logits) and len(self.logits) != self.n**2):
            shape = "a function of a and b" if callable(logits) else self.logits.shape
            must = f"must have {self.n**2} rows and {self.n} columns or more"
            k, hint = first.shape[1], "give n=N (--n N), or a row for each pair, a-major"
            fits = k if n is None else self.n
            squared = not callable(logits) and count**2 == len(self.logits)
            if squared and fits < count <= fits + 2:  # rows of tokens beyond n
                cut = f"logits.reshape({count}, {count}, -1)[:{fits}, :{fits}]"
                hint = f"leave out the rows of = and of other tokens: {cut}"
            raise InputError(f"logits: {shape}, {k} columns: {must}, for n = {self.n}; {hint}")
        if self.W_E.ndim != 2 or not self.n <= len(self.W_E) <= self.n + 2:
            must = f"must be ({self.n} to {self.n + 2}, d), a row for each token, for n = {self.n}"
            how = f"cut it by E[:{self.n}], or turn it by E.T[:{self.n}]"
            raise InputError(f"embedding is {self.W_E.shape}: {must}; {how}")
        if self.has_embedding and len(bad := np.argwhere(~np.isfinite(self.W_E))):
            wrong = (
                f"{len(bad)} of {self.W_E.size} numbers are not finite, first in row {bad[0, 0]}"
            )
            raise InputError(f"embedding: {wrong}: must be finite; or leave embedding out")
        beyond = {"tokens": len(self.W_E) - self.n, "logits": first.shape[1] - self.n}
        notes += tuple(f"Left out, beyond n: {x} of the {k}." for k, x in beyond.items() if x)
        self.beyond = np.zeros(self.n**2, bool)
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
            values = last_position(self.logits(torch.from_numpy(a), torch.from_numpy(b)))
        shape = tuple(np.shape(values))
        if len(shape) != 2 or shape[0] != len(a):
            must = f"must be ({len(a)}, n); drop [:, -1] if your net already returns one position"
            raise InputError(f"logits(a, b) is {shape}: {must}")
        return array(values, "logits")

    def blocks(self) -> Iterator[tuple[np.ndarray, np.ndarray, Float[np.ndarray, "pairs n"]]]:
        """Yield a, b and the logits of block after block of all pairs; in the place of −inf, which
        masks, less than all others of a pair. Raises InputError for logits that are no numbers."""
        for start in range(0, self.n**2, BLOCK):
            a, b = np.divmod(np.arange(start, min(start + BLOCK, self.n**2)), self.n)
            whole = self._block(a, b)
            logits = whole[:, : self.n]
            if (bad := (np.isnan(logits) | (logits == np.inf)).any(axis=1)).any():
                i = bad.argmax()
                what = "NaN" if np.isnan(logits[i]).any() else "+inf"
                how = "mask by logits[~logits.isfinite()] = -torch.inf (of NumPy, np.isfinite)"
                first = f"logits[{start + i}], of a = {a[i]}, b = {b[i]}, has {what}"
                raise InputError(f"{first}: must be numbers or −inf; {how}")
            self.beyond[start : start + len(a)] = whole.max(axis=1) > logits.max(axis=1)
            masks = np.isinf(logits)
            if masks.any():
                largest = np.abs(np.where(masks, 0, logits)).max(axis=1, keepdims=True)
                logits = np.where(masks, -2 * largest - 1, logits)
            yield a, b, logits

    def over_all_pairs(self) -> AllPairs:
        """Return what the measures need of all pairs; there are no heads and no neurons."""
        task, prediction, large = self.task, [], all_pairs.large(self.task)
        sums = {J.d: Prompts(*[no_sums(len(J))] * 2) for J in large}
        for a, b, logits in self.blocks():
            prediction.append(answers(logits))
            for J in large:
                block = all_pairs.class_sums(task, J, a, b, logits)
                sums[J.d] = Prompts(*(x + y for x, y in zip(sums[J.d], block, strict=True)))
        none = neurons.Moments(neurons.labels(task), 0).explained()
        scores = np.zeros((len(self.W_E), 0), np.float32)
        return AllPairs(np.concatenate(prediction), scores, sums, none, finite=True)


def last_position(values: Any) -> Any:
    """Return the logits at the last position of what a network returns, which may be a tuple or
    have them as an attribute."""
    values = getattr(values, "logits", values)
    values = values[0] if isinstance(values, tuple) else values
    return values[:, -1] if getattr(values, "ndim", 0) == 3 else values


def forward_of(module: nn.Module, n: int | None) -> partial[Tensor]:
    """Return the logits of a module as a function of a and b. It is called with these or with rows
    of tokens, with = as the last where it has a token n: the way its forward has arguments for
    first. Raises InputError where no way gives logits pair by pair, or n could be two numbers."""
    parameters = inspect.signature(module.forward).parameters.values()
    positional = [x for x in parameters if x.kind in (x.POSITIONAL_ONLY, x.POSITIONAL_OR_KEYWORD)]
    of_tokens = sum(x.default is x.empty for x in positional) == 1
    lengths = {len(x) for x in module.parameters() if x.ndim == 2}
    name, fault = type(module).__name__, ""

    def logits(a: Tensor, b: Tensor, width: int, equals: int) -> Tensor:
        tokens = [x.to(device) for x in (a, b, torch.full_like(a, equals))]
        inputs = [torch.stack(tokens[:width], dim=1)] if width else tokens[:2]
        values = last_position(copy(*inputs))
        if getattr(values, "ndim", 0) != 2:
            what = tuple(getattr(values, "shape", ())) or f"a {type(values).__name__}"
            raise TypeError(f"it returns {what}, must be (pairs, n)")
        return values

    a, b = torch.tensor([[0, 1, 1], [1, 0, 1]])
    for width in (3, 2, 0) if of_tokens else (0, 3, 2):
        try:
            copy = deepcopy(module).eval()
            weight = next(copy.parameters(), torch.empty(0))
            device, copy = weight.device, copy.float() if weight.element_size() < 4 else copy
            with torch.no_grad():
                size = n or logits(a, b, width, 0).shape[1]
                vocabulary = {size + 1, size + 2} & lengths
                if vocabulary or width < 3:
                    rows, later = (logits(a[i:], b[i:], width, size) for i in (0, 1))
                    if rows.shape[1] < size:
                        raise ValueError(f"it has {rows.shape[1]} logits, n = {size}")
                    if torch.allclose(rows[1:], later, 1e-3, 1e-3, equal_nan=True):
                        return partial(logits, width=width, equals=size)
                    raise ValueError("a pair alone has other logits than among others")
        except Exception as error:  # the code is anybody's
            fault = fault or str(error).partition("\n")[0]
            continue
        if width == 3 and n is None and not vocabulary:
            raise InputError(f"{name}: has {size} logits, n may be one less: give n=N")
    how = "logits=FUNCTION of a and b, or its state_dict() to read its weights alone"
    must = "its forward must take a and b, or rows of tokens a, b, =, and return their logits"
    raise InputError(f"{name}: {must}{f' ({fault})' * bool(fault)}; give {how}")


def heads_of(module: nn.Module, models: Mapping[int, Model]) -> int | None:
    """Return the number of heads of the first model that has the logits of a module's own forward;
    None where none has them, or the forward cannot be called."""
    try:
        a, b, theirs = next(Outside(None, module, next(iter(models.values())).n).blocks())
    except InputError:
        return None
    return next((h for h, x in models.items() if same(x(a, b).numpy(), theirs)), None)


def same(ours: np.ndarray, theirs: np.ndarray) -> bool:
    """Whether logits are the same but for rounding, and for a number added to all of a pair."""
    ours, theirs = (x - x.mean(axis=1, keepdims=True) for x in (ours, theirs))
    return bool(np.abs(ours - theirs).max() <= ROUNDING * np.abs(theirs).max())


def in_its_place(module: nn.Module, n: int | None, task: Any, why: InputError) -> Outside:
    """Return the logits of a module whose weights cannot be read; why: what was wrong with them."""
    reason = str(why).partition(";")[0]
    try:
        network = Outside(None, module, n, task)
    except InputError as error:
        raise (why if str(error) in str(why) else InputError(f"{reason}; {error}")) from None
    note = f"Its weights were not read ({reason}): its own logits of {network.n} answers are "
    notes = (*network.source.notes, f"{note}measured.")
    network.source = replace(network.source, name=type(module).__name__, notes=notes)
    return network


def checked(module: nn.Module, model: Model, read_as: str) -> "Model | Outside":
    """Compare the model that was read from the weights of a module with its forward, on all pairs.
    Return the model or, where it has other logits, the module's own, with its embedding; the notes
    of the source say which. read_as: what the weights were read as."""
    source = model.source or Source(type(module).__name__, "")
    if type(module).forward is nn.Module.forward:
        note = f"Its weights were read as {read_as}, unchecked: it has no forward."
        model.source = replace(source, notes=(*source.notes, note))
        return model
    network, agrees, moved = Outside(model.W_E, module, model.n), True, 0
    network.task = model.task
    for a, b, theirs in network.blocks():
        ours = model(a, b).numpy()
        moved += int((answers(ours) != answers(theirs)).sum())
        agrees = agrees and same(ours, theirs)
    if agrees:
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
    if isinstance(values, Path | str):
        values = read(Path(values), name)
    try:
        x = values.detach().cpu() if isinstance(values, torch.Tensor) else np.asarray(values)
        if "complex" in str(x.dtype):
            raise TypeError
        numbers = (x.float().numpy() if isinstance(x, Tensor) else x).astype(np.float32)
    except (TypeError, ValueError):
        kind = type(values).__name__
        raise InputError(f"{name}: a {kind}, must be an array of real numbers") from None
    if numbers.ndim < 2 or not numbers.size:
        raise InputError(f"{name} is {numbers.shape}: must have two axes, none empty")
    return numbers


def read(path: Path, name: str) -> np.ndarray:
    """Return the array in a file of NumPy or .csv. Raises InputError where there is none."""
    try:
        if path.suffix == ".csv":
            return np.loadtxt(regular_file(path, LARGEST), delimiter=",", ndmin=2)
        values = np.load(opened(regular_file(path, LARGEST).read_bytes(), LARGEST))
        if not isinstance(values, np.ndarray):
            raise ValueError("an archive, as torch.save and numpy.savez write it")
        return values
    except OSError as error:
        raise InputError(
            f"{name}: {path}: {error.strerror or 'not a file of numpy.save'}"
        ) from None
    except (ValueError, EOFError):
        how = f'numpy.save("{name}.npy", {name}.numpy())'
        raise InputError(f"{name}: {path}: must be numbers of numpy.save or .csv: {how}") from None
