"""Which operation a network computes, told by its answers to all pairs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Int
from sympy.ntheory import divisors, primefactors

from strata import commutative
from strata.api.model import MLP, Transformer
from strata.commutative import PIECES
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
    own = {f"C{task.order}": f"a + b mod {task.order}", f"chain{task.order}": "min(a, b)"}
    other = f"ab mod {task.order}" if task.modulus == task.order else f"ab in {task}"
    return own.get(str(task.said), other)


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
    yield from known_tasks(answers)


def other_tokens(answers: Answers, table: Answers) -> Iterator[Operation]:
    """The sum and the product with tokens shifted or in descending order, and the task with two
    tokens exchanged, those that are wrong most often, or the answers for one another."""
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
    i, j = sorted(np.argsort((table != answers).sum(axis=0) + (table != answers).sum(axis=1))[-2:])
    x = every.copy()
    x[[i, j]] = j, i
    for what, answer in (("tokens", x), ("operands", every)):
        yield Operation(f"the task with {what} {i} and {j} exchanged", answer[table[np.ix_(x, x)]])


def known_tasks(answers: Answers) -> Iterator[Operation]:
    """Other tasks of n elements that settings can name: residues modulo a larger number without
    those that some of its primes divide, units with an absorbing element, products of pieces."""
    n = len(answers)
    for m in range(n + 1, 6 * n):  # of 2 · 3 · 5 · 7 · 11 a fifth is coprime to all five
        primes = primefactors(m)
        for chosen in range(1, 2 ** len(primes)):
            outside = [p for i, p in enumerate(primes) if chosen >> i & 1]
            if n * np.prod(outside) == m * np.prod([p - 1 for p in outside]):
                other = Residues(m, outside)
                said = "units" if outside == primes else f"'{{zeros: {[*other.zeros]}}}'"
                yield Operation(f"ab in {other}", other.table, f"{said} --n {m}")
        if (n - 1) * np.prod(primes) == m * np.prod([p - 1 for p in primes]):
            yield Operation(f"ab in U{m}^0", commutative.named(f"U{m}^0"), f"U{m}^0")
    for names in products(np.arange(n), answers, np.ones_like(answers, bool)):
        if len(names) > 1:
            name = " x ".join(names)
            yield Operation(f"ab in {name}", commutative.named(name), name)
    yield Operation(f"a + b, {n - 1} at most", PIECES["sums"](n), f"sums{n}")


def products(tokens: np.ndarray, answers: Answers, right: np.ndarray) -> Iterator[list[str]]:
    """Products of pieces that most answers are, of those that are right so far: the first piece
    decides a number // q, the others the rest."""
    n = int(tokens.max()) + 1
    for p in [*divisors(n)][1:]:
        q = n // p
        own = np.ix_(tokens // q, tokens // q)
        for kind in ("Z", "C", "sums", *["chain"] * (p > 2)):  # whose order is their number
            still = right & (PIECES[kind](p)[own] == answers // q)
            if still.mean() >= KNOWN:
                rest = products(tokens % q, answers % q, still) if q > 1 else [[]]
                yield from ([f"{kind}{p}", *names] for names in rest)


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
        if found and x.name == found[0].answers:
            continue
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
