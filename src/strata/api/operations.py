"""Which operation a network computes, told by its answers to all pairs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Int
from sympy.ntheory import divisors, primefactors

from strata.api.model import MLP, Transformer
from strata.commutative import PIECES, times
from strata.inputs import InputError
from strata.task import MULTIPLICATION, Residues, Task

KNOWN = 0.5  # of the pairs: an operation that is right so often is what the network computes
SHOWN = 5
Answers = Int[np.ndarray, "n n"]
Either = Transformer | MLP


class Operation(NamedTuple):
    """What a reader calls it, the answer to each pair, and what settings call the task, if one."""

    name: str
    table: Answers
    task: str | None = None


def named(task: Task) -> str:
    """The task as an operation on a and b."""
    return f"ab mod {task.order}" if task.modulus == task.order else f"ab in {task}"


def operations(answers: Answers, task: Task) -> Iterator[Operation]:
    """The operations that answers are compared with; the first is the task itself."""
    n = len(answers)
    a, b = np.arange(n)[:, None], np.arange(n)
    yield Operation(named(task), task.table, "")
    if task.said != MULTIPLICATION:
        yield Operation(f"ab mod {n}", a * b % n, MULTIPLICATION)
    yield Operation(f"a + b mod {n}", (a + b) % n, f"C{n}")
    yield Operation(f"a − b mod {n}", (a - b) % n)
    yield Operation(f"b − a mod {n}", (b - a) % n)
    yield Operation("max(a, b)", np.maximum(a, b))
    yield Operation("min(a, b)", np.minimum(a, b), f"chain{n}")
    yield Operation("a", a + 0 * b)
    yield Operation("b", 0 * a + b)
    most = np.bincount(answers.ravel(), minlength=n).argmax()
    yield Operation(f"{most} for every pair", np.full((n, n), most))
    yield from other_tokens(answers, task.table)
    yield from known_tasks(n)


def other_tokens(answers: Answers, table: Answers) -> Iterator[Operation]:
    """The sum, the product, and the task with tokens that stand for other residues: shifted, in
    descending order, or with the answers exchanged for one another."""
    n = len(answers)
    every = np.arange(n)
    for k in range(n):
        for sign, name in ((1, f"t + {k}"), (-1, f"{k} − t")):
            if (sign, k) != (1, 0):
                x = (sign * every + k) % n
                product = sign * (np.outer(x, x) - k) % n
                yield Operation(f"ab mod {n}, where a token t stands for {name}", product)
        if k:
            yield Operation(f"a + b + {k} mod {n}", (np.add.outer(every, every) + k) % n)
    counts = np.bincount((table * n + answers).ravel(), minlength=n * n).reshape(n, n)
    own = counts.argmax(axis=1)
    if len({*own.tolist()}) == n and (own != every).any():
        moved = ", ".join(f"{q} for {own[q]}" for q in every[own != every][:3].tolist())
        yield Operation(f"the task with its answers exchanged ({moved} …)", own[table])


def known_tasks(n: int) -> Iterator[Operation]:
    """Other tasks of n elements that settings can name: residues modulo a larger number without
    those that some of its primes divide, and products of two pieces."""
    for m in range(n + 1, 6 * n):  # of 2 · 3 · 5 · 7 · 11 a fifth is coprime to all five
        primes = primefactors(m)
        for chosen in range(1, 2 ** len(primes)):
            outside = [p for i, p in enumerate(primes) if chosen >> i & 1]
            if n * np.prod(outside) == m * np.prod([p - 1 for p in outside]):
                other = Residues(m, outside)
                said = "units" if outside == primes else f"'{{zeros: {[*other.zeros]}}}'"
                yield Operation(f"ab in {other}", other.table, f"{said} --n {m}")
    kinds = [x for x in PIECES if x not in ("U", "gcd")]  # whose order is their number
    for p in map(int, [*divisors(n)][1:-1]):
        for one in kinds:
            for other in kinds:
                name = f"{one}{p} x {other}{n // p}"
                yield Operation(f"ab in {name}", times(PIECES[one](p), PIECES[other](n // p)), name)
    yield Operation(f"a + b, {n - 1} at most", PIECES["sums"](n), f"sums{n}")


class Tried(NamedTuple):
    """An operation that answers were compared with, the share of all pairs in which it gives the
    answer, and what settings call the task, if one."""

    answers: str
    right: float
    task: str | None


def compared(answers: Answers, task: Task, level: float) -> list[Tried]:
    """How many answers each operation gives: the task first, then, where it gives fewer than
    ``level``, the others that give most."""
    found = []
    for x in operations(answers, task):
        found.append(Tried(x.name, float((x.table == answers).mean()), x.task))
        if len(found) == 1 and found[0].right >= level:
            break
    return [*found[:1], *sorted(found[1:], key=lambda x: -x.right)[:SHOWN]]


def known(tried: Sequence[Tried], constant: float = 0.0) -> Tried | None:
    """The operation that most answers are, and more of them than ``constant``."""
    best = max(tried, key=lambda x: x.right)
    return best if best.right >= KNOWN and best.right > constant else None


def most_frequent(answers: Answers) -> float:
    """The share of the pairs that have the most frequent answer."""
    return float(np.bincount(answers.ravel()).max() / answers.size)


def fitting(models: Mapping[int, Either]) -> Either:
    """Of models by their number of heads the one whose answers an operation, that is no constant,
    gives most often; its source says so. Raises InputError where none has answers that are
    known."""
    answers = {h: x.answers() for h, x in models.items()}
    tried = {h: compared(x, models[h].task, 1.0) for h, x in answers.items()}
    found = {h: known(x, most_frequent(answers[h])) for h, x in tried.items()}
    shares = {h: max(x.right for x in tried[h]) for h in tried}
    said = ", ".join(f"{x:.1%} with {h}" for h, x in shares.items())
    best = max(shares, key=lambda h: shares[h] if found[h] else 0.0)
    model, own = models[best], found[best]
    if own is None or model.source is None:
        how = "is not in it, nor do its answers tell: an operation or a constant gives"
        raise InputError(f"how many heads it has {how} {said}: give n_heads (--heads)")
    note = f"{best} heads were taken, with which most answers are {own.answers}; an operation or a "
    note += f"constant gives {said}."
    model.source = replace(model.source, notes=(*model.source.notes, note))
    return model
