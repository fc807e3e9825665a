"""Multiplication modulo n as a task: the operation, the pair table, its labels and its split.

``operation`` is the one place where a·b mod n is written. Networks learn any other as well; what
rests on it asks first: ``commutative`` where a pair and its mirror count as one example, in the
table, the training and the mirror-free accuracy, and ``multiplication`` where classes and
characters of the monoid are measured or changed.
"""

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Int

from strata.inputs import InputError

if TYPE_CHECKING:
    import torch

TRAIN, VALIDATION, HELD_BACK = "train", "validation", "held_back"


def operation(a: Any, b: Any, n: int) -> Any:
    """The right answer to a and b, residues modulo n: integers, or arrays or tensors of them."""
    return a * b % n


def _table(n: int) -> Int[np.ndarray, "n n"]:
    return operation(*np.divmod(np.arange(n * n), n), n).reshape(n, n)


def commutative(n: int) -> None:
    """Raises InputError unless the operation gives a pair and its mirror the same answer."""
    table = _table(n)
    if (table != table.T).any():
        raise InputError(
            "task.operation: a and b do not commute, while the transformer reads both alike, and a "
            "pair and its mirror count as one example"
        )


def multiplication(n: int) -> None:
    """Raises InputError unless the operation is multiplication modulo n: 0 for b = 0, and a more
    for each one that b has more."""
    table = _table(n)
    steps = (np.diff(table, axis=1) - np.arange(n)[:, None]) % n
    if table[:, 0].any() or steps.any():
        raise InputError(
            "task.operation: is not multiplication modulo n, whose classes and characters this "
            "measures; a model of it can be trained and asked"
        )


def pair_table(n: int) -> dict[str, Int[np.ndarray, " pairs"]]:
    """All n² ordered pairs, a-major (row a·n + b): a, b, c = ab mod n, and each one's class gcd(·,
    n).

    gcd(0, n) = n, so residue 0 is the class n. Raises InputError where a and b do not commute.
    """
    commutative(n)
    a, b = np.divmod(np.arange(n * n), n)
    table = {"a": a, "b": b, "c": operation(a, b, n)}
    return table | {f"class_{name}": np.gcd(values, n) for name, values in table.items()}


def permutation(n: int, seed: int) -> "torch.Tensor":
    """The order in which the n² pairs are dealt out: the first draw of torch's generator.

    Seeds the global generator and leaves it where the initial weights continue; call it inside
    ``torch.random.fork_rng``.
    """
    import torch  # here, so that analyses, which need names and labels alone, load no torch

    torch.manual_seed(seed)
    return torch.randperm(n * n)


def split(n: int, seed: int, train: float, validation: float) -> np.ndarray:
    """The split of each of the n² pairs: the first ⌊train·n²⌋ dealt train, the next ⌊validation·n²⌋
    validate."""
    import torch

    with torch.random.fork_rng(devices=[]):
        dealt = permutation(n, seed).numpy()
    # Exact for the share as it is written: in floats, 0.7 of 90² is one pair short.
    sizes = [math.floor(Fraction(str(share)) * n * n) for share in (train, validation)]
    names = np.full(n * n, HELD_BACK, dtype=object)
    names[dealt[: sizes[0]]] = TRAIN
    names[dealt[sizes[0] : sum(sizes)]] = VALIDATION
    return names


def mirrored(split: np.ndarray, n: int) -> Bool[np.ndarray, " pairs"]:
    """Whether the mirror (b, a) of each pair (a, b) is a training pair. A pair (a, a) is its own
    mirror."""
    return (split.reshape(n, n).T == TRAIN).reshape(-1)
