"""What is learnt: a finite commutative monoid, its pair table, its classes and its split.

A ``Task`` is asked for all of them. Where a function takes n, an integer stands for (Z_n, ·), which
has the paper's coordinates.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Int

from strata.inputs import InputError

if TYPE_CHECKING:
    import torch

    from strata.commutative import Class, Factors
    from strata.monoid import JClass

    AnyClass = JClass | Class
else:
    AnyClass = Any  # the modules of both load sympy, whose import takes half a second

TRAIN, VALIDATION, HELD_BACK = "train", "validation", "held_back"
MULTIPLICATION = "multiplication"
KNOWN = (
    "multiplication, units, {zeros: [5, 11]} (the primes that may divide, or p1, p2, … for the "
    "first, the second, … of n), {table: FILE}, or a product of pieces such as Z7 x C5 x chain3"
)


def operation(a: Any, b: Any, n: "Task | int") -> Any:
    """The right answer to a and b, tokens of a task: integers, or arrays or tensors of them."""
    return n.product(a, b) if isinstance(n, Task) else a * b % n


class Task:
    """A commutative monoid from its table. Its elements are the tokens 0 … order − 1.

    ``modulus`` is n where the elements are residues modulo n, else None; ``said`` what settings say
    of the task.
    """

    modulus: int | None = None

    def __init__(self, said: Any, name: str, table: Int[np.ndarray, "order order"]):
        self.said, self.name, self.table, self.order = said, name, table, len(table)

    def __str__(self) -> str:
        return self.name

    def product(self, a: Any, b: Any) -> Any:
        """ab."""
        return self.table[a, b]

    @cached_property
    def classes(self) -> tuple[AnyClass, ...]:
        """The classes by ascending label; that of the units is 1."""
        from strata import commutative  # needs sympy, whose import takes half a second

        return commutative.classes(self.table)

    @cached_property
    def direct(self) -> "Factors":
        """The direct factors of the table."""
        from strata import commutative

        return commutative.factors(self.table)

    @property
    def factors(self) -> dict[int, Int[np.ndarray, " order"]]:
        """What each direct factor shows of every element, by numbers from 1; none where they are
        not unique."""
        return dict(enumerate(self.direct.labels, 1)) if self.direct.unique else {}

    def modulo(self, q: int) -> Int[np.ndarray, " order"]:
        """What is shown of each element modulo q, or by the factor q. Raises InputError."""
        if q not in self.factors:
            known = ", ".join(map(str, self.factors)) or "none, as they are not unique"
            raise InputError(f"q = {q}: must be one of the direct factors of {self}: {known}")
        return self.factors[q]

    @cached_property
    def labels(self) -> Int[np.ndarray, " order"]:
        """The label of the class of each element."""
        found = np.empty(self.order, dtype=np.int64)
        for J in self.classes:
            found[J.elements] = J.d
        return found

    @cached_property
    def position(self) -> Int[np.ndarray, " order"]:
        """For each element its index in the elements, and so the coordinates, of its class."""
        found = np.empty(self.order, dtype=np.int64)
        for J in self.classes:
            found[J.elements] = np.arange(len(J))
        return found

    @cached_property
    def algebraic_order(self) -> Int[np.ndarray, " order"]:
        """All elements, class after class, each class in its algebraic order."""
        return np.concatenate([J.elements for J in self.classes])

    @cached_property
    def regular(self) -> Bool[np.ndarray, " order"]:
        """Whether the class of each element is a group."""
        return np.isin(self.labels, [J.d for J in self.classes if J.regular])

    def jclass(self, d: int) -> AnyClass:
        """The class with that label. Raises ValueError where there is none."""
        for J in self.classes:
            if J.d == d:
                return J
        known = ", ".join(str(J.d) for J in self.classes)
        raise ValueError(f"d = {d}: must be one of the classes of {self}: {known}")


class Residues(Task):
    """The residues whose common primes with n are all in ``zeros``, under multiplication mod n: all
    of Z_n where these are all primes of n, the units where there are none.

    They are numbered 0, 1, … in ascending order: ``residues`` of tokens, ``tokens`` of residues.
    Each class is a whole class of Z_n, with its label d and its coordinates.
    """

    modulus: int

    def __init__(self, n: int, outside: Sequence[int] = ()):
        """``outside``: the primes of n that may not divide."""
        every = np.arange(n)
        inside = np.gcd(every, math.prod(outside)) == 1
        self.residues, self.tokens = every[inside], np.cumsum(inside) - 1
        self.modulus, self.order = n, len(self.residues)
        self.said, self.name = MULTIPLICATION, f"(Z_{n}, ·)"
        if outside:
            self.said = {"zeros": list(self.zeros)}
            zeros = ", ".join(map(str, self.zeros))
            self.name += f" with zeros of {zeros} alone" if zeros else " without zeros"

    @property
    def zeros(self) -> tuple[int, ...]:
        """The primes of n that divide some element, ascending."""
        return tuple(p for p in primes(self.modulus) if not (self.residues % p).all())

    def product(self, a: Any, b: Any) -> Any:
        if self.order == self.modulus:
            return operation(a, b, self.modulus)
        return self.tokens[operation(self.residues[a], self.residues[b], self.modulus)]

    @cached_property
    def table(self) -> Int[np.ndarray, "order order"]:  # pyright: ignore[reportIncompatibleVariableOverride]
        every = np.arange(self.order)
        return self.product(every[:, None], every)

    @cached_property
    def classes(self) -> tuple[AnyClass, ...]:
        from strata import monoid

        if self.order == self.modulus:
            return monoid.classes(self.modulus)
        inside = {*np.gcd(self.residues, self.modulus).tolist()}
        return tuple(
            monoid.Renumbered(J.n, J.d, self.tokens)
            for J in monoid.classes(self.modulus)
            if J.d in inside
        )

    def modulo(self, q: int) -> Int[np.ndarray, " order"]:
        if q < 1 or self.modulus % q:
            raise InputError(f"q = {q}: must be a divisor of n = {self.modulus}")
        return self.residues % q

    @property
    def factors(self) -> dict[int, Int[np.ndarray, " order"]]:
        """What the residue modulo each prime power of n, the key, shows of every element."""
        from strata.monoid import prime_powers

        return {
            q: np.unique(self.residues % q, return_inverse=True)[1]
            for q in prime_powers(self.modulus)
        }


def primes(n: int) -> list[int]:
    """The primes of n, ascending."""
    from sympy.ntheory import primefactors

    return primefactors(n)


@cache
def _residues(n: int) -> Residues:
    return Residues(n)


def task_of(n: Task | int) -> Task:
    """The task that is meant: of an integer (Z_n, ·)."""
    return n if isinstance(n, Task) else _residues(n)


def named(said: Any, n: int) -> Task:
    """The task that settings name, of a run of modulus n. Raises InputError where the name is none,
    or it does not fit n."""
    if said == MULTIPLICATION:
        return task_of(n)
    kind, values = understood(said)
    if kind == "zeros":
        known = primes(n)
        ranks = {f"p{i}": p for i, p in enumerate(known, 1)} | dict(zip(known, known, strict=True))
        for x in values:
            if x not in ranks:
                must = f"must be primes of {n}, or their ranks: {', '.join(map(str, ranks))}"
                raise InputError(f"task.zeros = {x!r:.20}: {must}")
        inside = {ranks[x] for x in values}
        return Residues(n, outside) if (outside := [*{*known} - inside]) else task_of(n)
    if len(values) != n:
        raise InputError(f"task: its table has {len(values)} elements, a run of it n{len(values)}")
    return Task(said, said if isinstance(said, str) else "a table", values)


def understood(said: Any) -> tuple[str, Any]:
    """What settings say of a task, taken apart: the primes that may divide, or a table. Raises
    InputError for what is none."""
    if said == "units":
        return "zeros", []
    if isinstance(said, str):
        from strata import commutative  # needs sympy, whose import takes half a second

        return "table", commutative.named(said)
    kind, values = next(iter(said.items()), ("", 0)) if isinstance(said, dict) else ("", 0)
    if kind not in ("zeros", "table") or not isinstance(values, list) or len(said) > 1:
        raise InputError(f"task = {said!r:.60}: must be {KNOWN}")
    if kind == "zeros" and all(isinstance(x, int | str) for x in values):
        return kind, values
    from strata import commutative

    try:
        table = [[*map(int, row.replace(",", " ").split())] for row in values]
    except (AttributeError, ValueError):
        table = []
    return kind, commutative.checked(table, "task.table")


def pair_table(n: Task | int) -> dict[str, Int[np.ndarray, " pairs"]]:
    """All order² ordered pairs, a-major (row a·order + b): a, b, c = ab, and the label of the class
    of each; in Z_n that is gcd(·, n), and n of 0."""
    task = task_of(n)
    a, b = np.divmod(np.arange(task.order**2), task.order)
    table = {"a": a, "b": b, "c": task.product(a, b)}
    return table | {f"class_{name}": task.labels[values] for name, values in table.items()}


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
