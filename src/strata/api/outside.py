"""A network of any shape, by its embedding and its logits alone."""

from collections.abc import Iterator
from math import isqrt
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from strata.api.model import Source
from strata.inputs import InputError
from strata.measure import all_pairs, neurons
from strata.measure.activations import BLOCK, answers
from strata.measure.all_pairs import AllPairs, Prompts
from strata.measure.character_fit import no_sums
from strata.store import Arrays
from strata.task import MULTIPLICATION, named


class Outside:
    """Embedding (n or more tokens, d) and logits of all n² pairs, a-major: an array of n or more
    columns, or a function of a and b, tensors of tokens, that gives it. What is beyond n is left
    out.

    n: where neither the pairs of an array nor the columns of a function say it. Raises InputError.
    """

    run, changed = None, ()

    def __init__(self, embedding: Any, logits: Any, n: int | None = None, task: Any = None):
        self.W_E, self._logits = array(embedding, "embedding"), logits
        if not callable(logits):
            found = array(logits, "logits")
            self._logits = found.reshape(-1, found.shape[-1])
        first = self._block(np.zeros(1, np.int64), np.zeros(1, np.int64))
        count = isqrt(len(self._logits)) if not callable(logits) else first.shape[1]
        self.n = count if n is None else n
        self.task = named(task or MULTIPLICATION, self.n)
        if first.shape[1] < self.n or (not callable(logits) and len(self._logits) != self.n**2):
            shape = "a function of a and b" if callable(logits) else self._logits.shape
            must = f"must have {self.n**2} rows and {self.n} columns or more"
            raise InputError(f"logits: {shape}, {first.shape[1]} columns: {must}, for n = {self.n}")
        if self.W_E.ndim != 2 or len(self.W_E) < self.n:
            must = f"must be ({self.n} or more, d), for n = {self.n}"
            raise InputError(f"embedding is {self.W_E.shape}: {must}")
        beyond = {"tokens": len(self.W_E) - self.n, "logits": first.shape[1] - self.n}
        notes = tuple(f"Left out, beyond n: {x} of the {k}." for k, x in beyond.items() if x)
        self.source = Source("embedding and logits", "a network of any shape", notes=notes)

    def weights(self) -> Arrays:
        """The embedding, float32."""
        return {"W_E": self.W_E}

    def _block(self, a: np.ndarray, b: np.ndarray) -> Float[np.ndarray, "pairs columns"]:
        if not callable(self._logits):
            return self._logits[a * isqrt(len(self._logits)) + b]
        with torch.no_grad():
            found = array(self._logits(torch.from_numpy(a), torch.from_numpy(b)), "logits")
        if found.ndim != 2 or len(found) != len(a):
            raise InputError(f"logits(a, b) is {found.shape}: must be ({len(a)}, n)")
        return found

    def blocks(self) -> Iterator[tuple[np.ndarray, np.ndarray, Float[np.ndarray, "pairs n"]]]:
        """a, b and the logits of block after block of all pairs."""
        for start in range(0, self.n**2, BLOCK):
            a, b = np.divmod(np.arange(start, min(start + BLOCK, self.n**2)), self.n)
            yield a, b, self._block(a, b)[:, : self.n]

    def over_all_pairs(self) -> AllPairs:
        """What the measures need of all pairs; it has no heads and no neurons."""
        task, prediction, finite, large = self.task, [], True, all_pairs.large(self.task)
        sums = {J.d: Prompts(*[no_sums(len(J))] * 2) for J in large}
        for a, b, logits in self.blocks():
            prediction.append(answers(logits))
            finite = finite and bool(np.isfinite(logits).all())
            for J in large if finite else ():
                more = all_pairs.of_class(task, J, a, b, logits)
                sums[J.d] = Prompts(*(x + y for x, y in zip(sums[J.d], more, strict=True)))
        none = neurons.Moments(neurons.labels(task), 0).explained()
        scores = np.zeros((len(self.W_E), 0), np.float32)
        return AllPairs(np.concatenate(prediction), scores, sums, none, finite)


def array(given: Any, name: str) -> np.ndarray:
    """Numbers as float32, of NumPy, torch or what NumPy reads. Raises InputError."""
    try:
        read = given.detach().cpu().float() if isinstance(given, torch.Tensor) else given
        found = np.asarray(read).astype(np.float32)
    except (TypeError, ValueError):
        raise InputError(f"{name}: a {type(given).__name__}, must be an array of numbers") from None
    if found.ndim < 2 or not found.size:
        raise InputError(f"{name} is {found.shape}: must have two axes, none empty")
    return found
