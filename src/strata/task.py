"""Define what is learnt: a finite commutative monoid, its pair table, its classes and its split.

A ``Task`` holds the monoid. Where a function takes n, an integer stands for (Z_n, ·), which has the
paper's coordinates.
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
    AnyClass = Any

TRAIN, VALIDATION, HELD_BACK = "train", "validation", "held_back"
MULTIPLICATION = "multiplication"
ALLOWED = (
    "multiplication, units, {zeros: [5, 11]} (the primes that may divide, or p1, p2, … for the "
    "first, the second, … of n), {table: FILE}, or a product of pieces such as Z7 x C5 x chain3"
)


def operation(a: Any, b: Any, n: "Task | int") -> Any:
    """Return the right answer to a and b, which are tokens of a task: integers, or arrays or
    tensors of them."""
    return n.product(a, b) if isinstance(n, Task) else a * b % n


class Task:
    """A ``Task`` is a commutative monoid from its table. Its elements are the tokens 0 … order − 1.

    ``modulus`` is n where the elements are residues modulo n, else None. ``said`` is what settings
    say of the task.
    """

    modulus: int | None = None

    def __init__(self, setting: Any, name: str, table: Int[np.ndarray, "order order"]):
        self.setting, self.name, self.table, self.order = setting, name, table, len(table)

    def __str__(self) -> str:
        return self.name

    def product(self, a: Any, b: Any) -> Any:
        """Return ab."""
        return self.table[a, b]

    @cached_property
    def classes(self) -> tuple[AnyClass, ...]:
        """Return the classes by ascending label; the units are class 1."""
        from strata import commutative

        return commutative.classes(self.table)

    @cached_property
    def direct(self) -> "Factors":
        """Return the direct factors of the table."""
        from strata import commutative

        return commutative.factors(self.table)

    @property
    def factors(self) -> dict[int, Int[np.ndarray, " order"]]:
        """Return the label of every element in each direct factor, keyed by numbers from 1; nothing
        where the factors are not unique."""
        return dict(enumerate(self.direct.labels, 1)) if self.direct.unique else {}

    def modulo(self, q: int) -> Int[np.ndarray, " order"]:
        """Return the label of each element modulo q, or in the factor q. Raises InputError where
        there is no such factor."""
        if q not in self.factors:
            allowed = ", ".join(map(str, self.factors)) or "none, as they are not unique"
            raise InputError(f"q = {q}: must be one of the direct factors of {self}: {allowed}")
        return self.factors[q]

    @cached_property
    def labels(self) -> Int[np.ndarray, " order"]:
        """Return the label of the class of each element."""
        labels = np.empty(self.order, dtype=np.int64)
        for J in self.classes:
            labels[J.elements] = J.d
        return labels

    @cached_property
    def position(self) -> Int[np.ndarray, " order"]:
        """Return for each element its index in the elements, and coordinates, of its class."""
        places = np.empty(self.order, dtype=np.int64)
        for J in self.classes:
            places[J.elements] = np.arange(len(J))
        return places

    @cached_property
    def algebraic_order(self) -> Int[np.ndarray, " order"]:
        """Return all elements, class after class, each class in its algebraic order."""
        return np.concatenate([J.elements for J in self.classes])

    @cached_property
    def regular(self) -> Bool[np.ndarray, " order"]:
        """Return for each element whether its class is a group."""
        return np.isin(self.labels, [J.d for J in self.classes if J.regular])

    def jclass(self, d: int) -> AnyClass:
        """Return the class with that label. Raises ValueError where there is none."""
        for J in self.classes:
            if J.d == d:
                return J
        allowed = ", ".join(str(J.d) for J in self.classes)
        raise ValueError(f"d = {d}: must be one of the classes of {self}: {allowed}")


class Residues(Task):
    """``Residues`` are the residues whose common primes with n are all in ``zeros``, under
    multiplication mod n. They are all of Z_n where these are all primes of n, and the units where
    there are none.

    They are numbered 0, 1, … in ascending order: ``residues`` gives the residues of tokens,
    ``tokens`` the tokens of residues. Each class is a whole class of Z_n, with its label d and its
    coordinates.
    """

    modulus: int

    def __init__(self, n: int, outside: Sequence[int] = ()):
        """Keep the residues that none of the primes of n in ``outside`` divides."""
        residues = np.arange(n)
        inside = np.gcd(residues, math.prod(outside)) == 1
        self.residues, self.tokens = residues[inside], np.cumsum(inside) - 1
        self.modulus, self.order = n, len(self.residues)
        self.setting, self.name = MULTIPLICATION, f"(Z_{n}, ·)"
        if outside:
            self.setting = {"zeros": list(self.zeros)}
            zeros = ", ".join(map(str, self.zeros))
            self.name += f" with zeros of {zeros} alone" if zeros else " without zeros"

    @property
    def zeros(self) -> tuple[int, ...]:
        """Return the primes of n that divide some element, ascending."""
        return tuple(p for p in primes(self.modulus) if not (self.residues % p).all())

    def product(self, a: Any, b: Any) -> Any:
        if self.order == self.modulus:
            return operation(a, b, self.modulus)
        return self.tokens[operation(self.residues[a], self.residues[b], self.modulus)]

    @cached_property
    def table(self) -> Int[np.ndarray, "order order"]:  # pyright: ignore[reportIncompatibleVariableOverride]
        tokens = np.arange(self.order)
        return self.product(tokens[:, None], tokens)

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
        """Return for each prime power of n, the key, the label of every element by its residue
        modulo it."""
        from strata.monoid import prime_powers

        return {
            q: np.unique(self.residues % q, return_inverse=True)[1]
            for q in prime_powers(self.modulus)
        }


def primes(n: int) -> list[int]:
    """Return the primes of n, ascending."""
    from strata.arithmetic import primefactors

    return primefactors(n)


@cache
def _residues(n: int) -> Residues:
    return Residues(n)


def task_of(n: Task | int) -> Task:
    """Return the task that is meant, which is (Z_n, ·) for an integer n."""
    return n if isinstance(n, Task) else _residues(n)


def parse_task(setting: Any, n: int) -> Task:
    """Return the task that settings name, for a run of modulus n. Raises InputError where they name
    none, or it does not fit n."""
    if setting == MULTIPLICATION:
        return task_of(n)
    kind, values = parse_setting(setting)
    if kind == "zeros":
        divisors = primes(n)
        ranks = {f"p{i}": p for i, p in enumerate(divisors, 1)} | {p: p for p in divisors}
        for x in values:
            if x not in ranks:
                must = f"must be primes of {n}, or their ranks: {', '.join(map(str, ranks))}"
                raise InputError(f"task.zeros = {x!r:.20}: {must}")
        inside = {ranks[x] for x in values}
        outside = [*{*divisors} - inside]
        return Residues(n, outside) if outside else task_of(n)
    if len(values) != n:
        raise InputError(f"task: its table has {len(values)} elements, a run of it n{len(values)}")
    return Task(setting, setting if isinstance(setting, str) else "a table", values)


def parse_setting(setting: Any) -> tuple[str, Any]:
    """Parse what settings say of a task into a kind and its values: the primes that may divide, or
    a table. Raises InputError where they name no task."""
    if setting == "units":
        return "zeros", []
    if isinstance(setting, str):
        from strata import commutative

        return "table", commutative.parse_monoid(setting)
    kind, values = next(iter(setting.items()), ("", 0)) if isinstance(setting, dict) else ("", 0)
    if kind not in ("zeros", "table") or not isinstance(values, list) or len(setting) > 1:
        raise InputError(f"task = {setting!r:.60}: must be {ALLOWED}")
    if kind == "zeros" and all(isinstance(x, int | str) for x in values):
        return kind, values
    from strata import commutative

    try:
        table = [[*map(int, row.replace(",", " ").split())] for row in values]
    except (AttributeError, ValueError):
        table = []
    return kind, commutative.check_table(table, "task.table")


def pair_table(n: Task | int) -> dict[str, Int[np.ndarray, " pairs"]]:
    """Return all order² ordered pairs, a-major (row a·order + b): a, b, c = ab, and the label of
    the class of each. In Z_n that is gcd(·, n), and n for 0."""
    task = task_of(n)
    a, b = np.divmod(np.arange(task.order**2), task.order)
    table = {"a": a, "b": b, "c": task.product(a, b)}
    return table | {f"class_{name}": task.labels[values] for name, values in table.items()}


def permutation(n: int, seed: int) -> "torch.Tensor":
    """Return the order in which the n² pairs are dealt out: the first draw of torch's generator.

    The function seeds the global generator and leaves it where the initial weights continue, so
    call it inside ``torch.random.fork_rng``.
    """
    import torch  # here, so that analyses, which need names and labels alone, load no torch

    torch.manual_seed(seed)
    return torch.randperm(n * n)


def split(n: int, seed: int, train: float, validation: float) -> np.ndarray:
    """Return the split of each of the n² pairs. The first ⌊train·n²⌋ that are dealt train, the next
    ⌊validation·n²⌋ validate, and the rest is held back."""
    import torch

    with torch.random.fork_rng(devices=[]):
        dealt = permutation(n, seed).numpy()
    # Fractions are exact for the share as it is written; floats make 0.7 of 90² one pair short.
    sizes = [math.floor(Fraction(str(share)) * n * n) for share in (train, validation)]
    names = np.full(n * n, HELD_BACK, dtype=object)
    names[dealt[: sizes[0]]] = TRAIN
    names[dealt[sizes[0] : sum(sizes)]] = VALIDATION
    return names


def mirrored(split: np.ndarray, n: int) -> Bool[np.ndarray, " pairs"]:
    """Return for each pair (a, b) whether its mirror (b, a) is a training pair. A pair (a, a) is
    its own mirror."""
    return (split.reshape(n, n).T == TRAIN).reshape(-1)
