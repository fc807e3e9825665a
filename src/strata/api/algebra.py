"""Read what a network computes from the table of its answers: which laws hold in it, what it is in
any order of its tokens, and which operation with a name gives most of it.

``table[a, b]`` is the answer to (a, b). Laws and structure need no list of operations; names do.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from strata import commutative
from strata.api.model import MLP, Transformer
from strata.arithmetic import divisors, factorint, primefactors
from strata.commutative import PIECES
from strata.inputs import InputError, shortened
from strata.tables.format import SUPERSCRIPT, share
from strata.task import MULTIPLICATION, Residues, Task

# An operation that is right for this share of the pairs is what the network computes, if it is
# right more often than the best of as many operations is by chance in all but this share of cases.
IDENTIFIED = 0.5
BY_CHANCE = 0.01
EXCHANGED = 0.99  # from here on an operation with tokens or answers exchanged is named
STRUCTURE, NEAR = 0.9, 0.1  # of marks
SHOWN = 5
# Groups that do not commute and that the numbers of elements of each order decide.
GROUPS = {
    (12, (1, 1), (2, 3), (3, 8)): ", alternating: A4",
    (24, (1, 1), (2, 9), (3, 8), (4, 6)): ", symmetric: S4",
    (60, (1, 1), (2, 15), (3, 20), (5, 24)): ", alternating: A5",
    (120, (1, 1), (2, 25), (3, 20), (4, 30), (5, 24), (6, 20)): ", symmetric: S5",
}
UP_TO_ORDER = "up to the order of tokens"
TRIPLES = 10**6  # random ones are compared where there are more
LARGEST = 512  # tokens of a monoid that is split into direct factors
Answers = Int[np.ndarray, "n n"]
Either = Transformer | MLP


class Laws(NamedTuple):
    """``Laws`` are what holds in a table: the share of pairs of two tokens that commute, that of
    triples that associate and their number, the unit and the zero (None where there is none), how
    many tokens are idempotent, and whether ax = b and xa = b always have one solution."""

    commutative: float
    associative: float
    triples: int
    unit: int | None
    zero: int | None
    idempotents: int
    cancellative: bool

    @property
    def group(self) -> bool:
        """Whether the table is a group; of a large table as far as random triples say."""
        return self.associative == 1 and self.unit is not None and self.cancellative

    def __str__(self) -> str:
        unit, zero = ("no" if x is None else str(x) for x in (self.unit, self.zero))
        return (
            f"commutative on {share(self.commutative)} of pairs, associative on "
            f"{share(self.associative)} of {self.triples:,} triples; unit: {unit}, zero: {zero}, "
            f"idempotents: {self.idempotents}, group: {'yes' if self.group else 'no'}"
        )


def laws(table: Answers) -> Laws:
    """Return the laws that hold in a table. Associativity is that of all triples or, where they are
    more than 10^6, of as many random ones."""
    n, tokens = len(table), np.arange(len(table))
    random = n**3 > TRIPLES
    draws = np.random.default_rng(0).integers(n, size=(3, TRIPLES)) if random else None
    a, b, c = np.indices((n, n, n)).reshape(3, -1) if draws is None else draws
    row, column = tokens[None], tokens[:, None]
    units = (table == row).all(axis=1) & (table == column).all(axis=0)
    zeros = (table == column).all(axis=1) & (table == row).all(axis=0)
    solutions = np.sort(table, axis=1) == row, np.sort(table, axis=0) == column
    pairs = np.triu_indices(n, 1)
    return Laws(
        float((table == table.T)[pairs].mean()),
        float((table[table[a, b], c] == table[a, table[b, c]]).mean()),
        len(a),
        int(units.argmax()) if units.any() else None,
        int(zeros.argmax()) if zeros.any() else None,
        int((table[tokens, tokens] == tokens).sum()),
        all(x.all() for x in solutions),
    )


def structure(table: Answers, holding: Laws) -> str:
    """Say what an associative table with a unit is, in any order of its tokens: a group, or a
    monoid with its direct factors and classes. Empty for any other table."""
    n, lawful = len(table), holding.associative == 1 and holding.unit is not None
    if not lawful or n > commutative.LARGEST or any(commutative.not_associative(table)):
        return ""
    if holding.commutative < 1:
        if not holding.cancellative:
            return f"a monoid of {n} elements that does not commute"
        order = np.argsort(np.arange(n) != holding.unit, kind="stable")  # periods want the unit 0
        group = np.argsort(order)[table[np.ix_(order, order)]]
        periods = Counter((orders := commutative.periods(group)).tolist())
        counts = ", ".join(f"{x} of order {k}" for k, x in sorted(periods.items()))
        name = GROUPS.get((n, *sorted(periods.items()))) or extended_name(group, orders)
        return f"a group of {n} elements that does not commute{name} ({counts})"
    classes = commutative.classes(table)
    if holding.cancellative:
        cyclic = classes[0].periods.max() == n
        name = f": a + b mod {n}" if cyclic else f", {group_name(classes[0].orders)}"
        return f"an abelian group of {n} elements{name}, {UP_TO_ORDER}"
    sizes = sorted(Counter(map(len, classes)).items(), reverse=True)
    text = " + ".join(f"{count} × {size}" if count > 1 else str(size) for size, count in sizes)
    name = monoid_name(table) if n <= LARGEST else ""
    return f"a commutative monoid of {n} elements{name}, in {len(classes)} classes: {text}"


def extended_name(group: Answers, orders: np.ndarray) -> str:
    """Name a group with identity 0 that does not commute and has a cyclic half, with a comma before
    it: elements of order 2 alone outside of this half turn it round, and so do those of order 4
    alone. Empty for any other."""
    half = len(group) // 2
    if half not in orders:
        return ""
    cycle = commutative.powers(group, 0, int(np.argmax(orders == half)))
    outside = {*np.delete(orders, cycle).tolist()}
    dihedral = f", dihedral: D{half}" + " = S3" * (half == 3)
    dicyclic = ", quaternion: Q8" if half == 4 else f", dicyclic: Dic{half // 2}"
    return dihedral if outside == {2} else dicyclic if outside == {4} else ""


def nearly(table: Answers, holding: Laws) -> str:
    """Say what a table is that is not associative: near to a structure, where half of the triples
    associate, or a Latin square. Empty for any other table."""
    n = len(table)
    if IDENTIFIED <= holding.associative < 1 and n**3 <= TRIPLES:
        x, y, z = np.indices((n, n, n)).reshape(3, -1)  # x(yz) is a vote for (xy)z
        counts = np.zeros((n, n, n), np.int64)
        np.add.at(counts, (table[x, y], z, table[x, table[y, z]]), 1)
        nearest = counts.argmax(axis=2)
        if name := structure(nearest, laws(nearest)):
            near = f"in {share((nearest == table).mean())} of pairs those of {name}"
            return f"{near}; {share(holding.associative)} of triples associate"
    if holding.associative == 1 or not holding.cancellative:
        return ""
    idempotent = ", idempotent" * (holding.idempotents == n)
    quandle = ", self-distributive: a quandle" * (bool(idempotent) and distributes(table))
    commuting = f"commutative on {share(holding.commutative)} of pairs"
    return f"a Latin square (quasigroup){idempotent}{quandle}, {commuting}"


def distributes(table: Answers) -> bool:
    """Whether a(bc) = (ab)(ac) for all a, b, c, or (ab)c = (ac)(bc)."""
    return any(all((x[row[:, None], row] == row[x]).all() for row in x) for x in (table, table.T))


def group_name(orders: Iterable[int]) -> str:
    """Return a product of cyclic groups.

    >>> group_name((8, 2)), group_name((1,))
    ('C8 x C2', 'C1')
    """
    return " x ".join(f"C{q}" for q in orders)


def monoid_name(table: Answers) -> str:
    """Name a commutative monoid by its direct factors, with a colon or a comma before it; empty
    where one of them has no name."""
    parts = commutative.factors(table).labels
    names = sorted(factor_name(commutative.quotient(table, x)) for x in parts)
    residues = {f"Z{p**k}" for p, k in factorint(len(table)).items()}
    if {x.replace("chain2", "Z2") for x in names} == residues and len(names) == len(residues):
        return f": ab mod {len(table)}, {UP_TO_ORDER}"
    if names == [f"chain{len(table)}"]:
        return f": min or max, {UP_TO_ORDER}"
    if all(x.startswith("chain") for x in names):
        exponents = sorted(int(x.max()) for x in parts)
        powers = map("{}{}".format, "pqrstuvwxy", map(superscript, exponents))
        return f": gcd or lcm on the divisors of {''.join(powers)}, {UP_TO_ORDER}"
    return f", {' x '.join(names)}" if all(names) else ""


def factor_name(table: Answers) -> str:
    """Name a commutative monoid that is no product: a cyclic group, a chain, residues modulo a
    prime power, sums that are cut off, a group with a zero. Empty for any other."""
    n, classes = len(table), commutative.classes(table)
    tokens = np.arange(n)
    if len(classes) == 1:
        return group_name(classes[0].orders)
    if ((table == tokens) | (table == tokens[:, None])).all():
        return f"chain{n}"
    primes = factorint(n)
    if len(primes) == 1 and is_residues(table, *primes):
        return f"Z{n}"
    units = classes[0]
    if len(classes) == 2 and len(classes[1]) == 1:
        return f"({group_name(units.orders)})^0"
    powers = [generator := int(classes[1].elements[0])]
    while len(powers) < n:
        powers.append(int(table[powers[-1], generator]))
    return f"sums{n}" if len(units) == 1 and len({*powers}) == n - 1 else ""


def superscript(exponent: int) -> str:
    """Return an exponent as it stands after its base; nothing for 1."""
    return str(exponent).translate(SUPERSCRIPT) if exponent > 1 else ""


def is_residues(table: Answers, p: int) -> bool:
    """Whether a commutative monoid is that of the residues modulo a power of the prime p.

    If it is, its units u and a π that generates the non-units give every element as uπ^j, so that a
    map of the units decides the isomorphism. Where the units are cyclic, any map will do; those of
    a power of 2 are ⟨−1⟩ × ⟨5⟩, and every choice of the two generators is compared.
    """
    n, theirs = len(table), PIECES["Z"](len(table))
    ours, units = commutative.classes(table), commutative.classes(theirs)[0]
    if len(ours) < 2 or ours[0].orders != units.orders or len(units) != n - n // p:
        return False
    generator, period = int(ours[1].elements[0]), ours[0].periods
    candidates = [ours[0].elements]
    if p == 2 and len(units.orders) == 2:
        long, short = (ours[0].elements[period == q].tolist() for q in units.orders)
        cycles = [commutative.powers(table, int(ours[0].elements[0]), x) for x in long]
        candidates = [
            table[np.ix_(cycle, [cycle[0], x])].ravel() for cycle in cycles for x in short
        ]
    for candidate in candidates:
        image, ours_power, power = np.full(n, -1), candidate, units.elements
        while (image[ours_power] < 0).any():
            image[ours_power] = power
            ours_power, power = table[ours_power, generator], power * p % n
        mapped = image[table] == theirs[np.ix_(image, image)]
        if len({*image.tolist()}) == n and mapped.all():
            return True
    return False


class Match(NamedTuple):
    """A ``Match`` is an operation that answers were compared with: its name, the share of all pairs
    in which it gives the answer, what ``task`` calls it, if it is one, and the share above which
    it is no chance."""

    answers: str
    right: float
    task: str | None
    needed: float


class Operation(NamedTuple):
    """An ``Operation`` has its name, the answer to each pair, and what ``task`` calls it."""

    name: str
    table: Answers
    task: str | None = None


def operation_name(task: Task) -> str:
    """Return the name of the task as an operation on a and b."""
    names = {f"C{task.order}": f"a + b mod {task.order}", f"chain{task.order}": "min(a, b)"}
    if isinstance(task.setting, dict) and "table" in task.setting:
        return "those of the table"
    other = f"ab mod {task.order}" if task.modulus == task.order else f"ab in {task}"
    return names.get(str(task.setting), other)


def operations(answers: Answers, task: Task) -> Iterator[Operation]:
    """Yield the operations on numbers that answers are compared with; the first is the task."""
    n = len(answers)
    tokens = np.arange(n)
    a, b = tokens[:, None], tokens
    yield Operation(operation_name(task), task.table, "")
    if task.setting != MULTIPLICATION:
        yield Operation(f"ab mod {n}", a * b % n, MULTIPLICATION)
    yield Operation(f"a + b mod {n}", (a + b) % n, f"C{n}")
    yield Operation("min(a, b)", np.minimum(a, b), f"chain{n}")
    yield Operation(f"a + b, {n - 1} at most", PIECES["sums"](n), f"sums{n}")
    powers = [np.ones((n, 1), dtype=np.int64)]
    for _ in range(n - 1):
        powers.append(powers[-1] * a % n)
    zero, frequent = 0 * a * b, most_frequent(answers, n)
    for name, table in {
        "|a − b|": abs(a - b),
        "max(a, b)": np.maximum(a, b),
        "a": a + zero,
        "b": b + zero,
        f"{frequent} for every pair": zero + frequent,
        f"a² + b² mod {n}": (a * a + b * b) % n,
        f"a² + ab + b² mod {n}": (a * a + a * b + b * b) % n,
        f"a²b mod {n}": a * a * b % n,
        f"ab² mod {n}": a * b * b % n,
        f"a^b mod {n}": np.concatenate(powers, axis=1) % n,
        f"b^a mod {n}": np.concatenate(powers, axis=1).T % n,
        "(a + b) // 2": (a + b) // 2,
        "the bits that a and b share": a & b,
        "the bits of a or b": a | b,
        "the bits in which a and b differ": a ^ b,
        "gcd(a, b)": np.gcd(a, b),
        f"lcm(a, b) mod {n}": np.lcm(a, b) % n,
        "gcd(a, b), where a token t stands for t + 1": np.gcd(a + 1, b + 1) - 1,
    }.items():
        yield Operation(name, table)
    if primefactors(n) == [n]:
        yield Operation(f"a / b mod {n}, 0 for b = 0", a * powers[max(n - 2, 1)].T % n)
    wrong = (task.table != answers).sum()  # coefficients that are free fit a few answers by chance
    yield from (x for x in polynomials(answers) if 2 * (x.table != answers).sum() <= wrong)
    exchanged = other_tokens(answers, operation_name(task), task.table)
    yield from (x for x in exchanged if (x.table == answers).mean() >= EXCHANGED)
    yield from other_tasks(answers)


def most_frequent(values: np.ndarray, n: int) -> int:
    """Return the most frequent value modulo n."""
    return int(np.bincount(values.ravel() % n, minlength=n).argmax())


def polynomials(answers: Answers) -> Iterator[Operation]:
    """Yield hab + ia + jb + k modulo n with the coefficients that most differences of the answers
    have, and the same with h = 0."""
    n = len(answers)
    a, b = np.ogrid[:n, :n]
    for h in (0, most_frequent(np.diff(np.diff(answers, axis=0), axis=1), n)):
        remaining = answers - h * a * b
        i, j = (most_frequent(np.diff(remaining, axis=axis), n) for axis in (0, 1))
        k = most_frequent(remaining - i * a - j * b, n)
        if h or i or j:
            yield Operation(polynomial_name(n, h, i, j, k), (h * a * b + i * a + j * b + k) % n)


def polynomial_name(n: int, *coefficients: int) -> str:
    """Return the name of a polynomial in ab, a, b and 1, its coefficients from −n/2 to n/2.

    >>> polynomial_name(17, 2, 0, 16, 1), polynomial_name(17, 0, 16, 16, 0)
    ('2ab + 1 − b mod 17', '− a − b mod 17')
    """
    terms = zip(coefficients, ("ab", "a", "b", ""), strict=True)
    signed = [(x if 2 * x <= n else x - n, factor) for x, factor in terms if x]
    parts = []
    for x, factor in sorted(signed, key=lambda term: term[0] < 0):
        number = "" if factor and abs(x) == 1 else str(abs(x))
        parts.append(("− " if x < 0 else "+ ") + number + factor)
    return f"{' '.join(parts).removeprefix('+ ')} mod {n}"


def other_tokens(answers: Answers, name: str, table: Answers) -> Iterator[Operation]:
    """Yield an operation with two tokens exchanged, those that are wrong most often, or with its
    answers exchanged."""
    n = len(answers)
    tokens = np.arange(n)
    counts = np.bincount((table * n + answers).ravel(), minlength=n * n).reshape(n, n)
    usual = counts.argmax(axis=1)
    if len({*usual.tolist()}) == n and (usual != tokens).any():
        moved = [f"{q} for {usual[q]}" for q in tokens[usual != tokens].tolist()]
        yield Operation(f"{name} with its answers exchanged ({shortened(moved)})", usual[table])
    i, j = sorted(np.argsort((table != answers).sum(axis=0) + (table != answers).sum(axis=1))[-2:])
    x = tokens.copy()
    x[[i, j]] = j, i
    for kind, answer in (("tokens", x), ("operands", tokens)):
        yield Operation(f"{name} with {kind} {i} and {j} exchanged", answer[table[np.ix_(x, x)]])


def other_tasks(answers: Answers) -> Iterator[Operation]:
    """Yield other tasks of n elements that settings can name: residues modulo a larger number
    without those that some of its primes divide, units with an absorbing element, products of
    pieces."""
    n = len(answers)
    for m in range(n + 1, 6 * n):  # a fifth of the residues mod 2 · 3 · 5 · 7 · 11 are units
        primes = primefactors(m)
        for chosen in range(1, 2 ** len(primes)):
            outside = [p for i, p in enumerate(primes) if chosen >> i & 1]
            if n * np.prod(outside) == m * np.prod([p - 1 for p in outside]):
                other = Residues(m, outside)
                setting = "units" if outside == primes else f"'{{zeros: {[*other.zeros]}}}'"
                yield Operation(f"ab in {other}", other.table, f"{setting} --n {m}")
        if (n - 1) * np.prod(primes) == m * np.prod([p - 1 for p in primes]):
            yield Operation(f"ab in U{m}^0", commutative.parse_monoid(f"U{m}^0"), f"U{m}^0")
    for names in products(np.arange(n), answers, np.ones_like(answers, bool)):
        if len(names) > 1:
            name = " x ".join(names)
            yield Operation(f"ab in {name}", commutative.parse_monoid(name), name)


def products(tokens: np.ndarray, answers: Answers, right: np.ndarray) -> Iterator[list[str]]:
    """Yield products of pieces, as lists of names, that are right for half of the pairs or more,
    among those that are ``right`` so far. The first piece decides a number // q, the others decide
    the rest."""
    n = int(tokens.max()) + 1
    for p in [*divisors(n)][1:]:
        q = n // p
        leading = np.ix_(tokens // q, tokens // q)
        for kind in ("Z", "C", "sums", *["chain"] * (p > 2)):  # pieces whose order is their number
            remaining = right & (PIECES[kind](p)[leading] == answers // q)
            if remaining.mean() >= IDENTIFIED:
                endings = products(tokens % q, answers % q, remaining) if q > 1 else [[]]
                yield from ([f"{kind}{p}", *names] for names in endings)


@dataclass(frozen=True)
class Reading:
    """A ``Reading`` says what the answers to all pairs are: their laws, their structure, and the
    operations that give them in part. The task is what it is from the share ``level`` on; where the
    user ``stated`` it, the sentence names it whatever the answers are."""

    table: Answers
    task: Task
    level: float
    stated: bool = False

    @cached_property
    def laws(self) -> Laws:
        """Return the laws of the table."""
        return laws(self.table)

    @cached_property
    def structure(self) -> str:
        """Return what the table is in any order of its tokens, or nothing."""
        return structure(self.table, self.laws)

    @cached_property
    def compared(self) -> list[Match]:
        """Return the operations that were compared: the task and, where it gives less than the
        level, all others, the best ones first."""
        from scipy.stats import binom  # a second to import

        named, n = [*operations(self.table, self.task)], len(self.table)
        size, chance = n * n, BY_CHANCE / (len(named) + n**4)  # as many have coefficients
        frequency = np.bincount(self.table.ravel(), minlength=n) / size
        matches: dict[str, Match] = {}
        for x in named:
            by_chance = frequency @ np.bincount(x.table.ravel(), minlength=n)[:n] / size
            needed = (float(binom.isf(chance, size, min(by_chance, 1))) + 1) / size
            right = float((x.table == self.table).mean())
            match = Match(x.name, right, x.task, min(1, needed))
            matches.setdefault(x.name, match)
        first, *others = matches.values()
        return [first, *sorted(others, key=lambda x: -x.right)]

    @property
    def matches(self) -> list[Match]:
        """Return the task and, where it gives less than the level, the others that give most."""
        return self.compared[: 1 if self.compared[0].right >= self.level else 1 + SHOWN]

    @property
    def constant(self) -> float:
        """Return the share of the pairs that have the most frequent answer."""
        return float(np.bincount(self.table.ravel()).max() / self.table.size)

    @property
    def best(self) -> Match | None:
        """Return the operation that gives most answers, if they are all, or half of them and more
        than a constant and chance give; the task where several give as many. None where there is
        none."""
        best = max(self.compared, key=lambda x: x.right)
        enough = best.right >= max(IDENTIFIED, best.needed) and best.right > self.constant
        return best if enough or best.right == 1 else None

    @property
    def is_task(self) -> bool:
        """Whether the answers are those of the task, all of them or for the most part."""
        task = self.compared[0]
        return self.best == task and (task.right >= self.level or not self.structure)

    @property
    def mark(self) -> tuple[float, str]:
        """Return how well the answers are explained, and by what: the share that an operation
        gives, or STRUCTURE, as small tables have one by chance; 0 for neither and a constant."""
        if self.best and self.best.right > max(self.constant, STRUCTURE * bool(self.structure)):
            return self.best.right, self.best.answers
        return STRUCTURE * bool(self.structure), self.structure

    def sentence(self) -> str:
        """Say in one line what the answers are."""
        task = self.compared[0]
        task_text = f"{task.answers} in {share(task.right)} of pairs"
        if self.best == task and self.is_task:
            structured = isinstance(self.task.setting, dict) and bool(self.structure)
            return f"answers are {task_text}" + f": {self.structure}" * structured
        if self.stated:
            return f"answers are {task_text}; they are {self._without_task()}"
        near = task.right >= IDENTIFIED and self.constant < IDENTIFIED
        return f"answers are {self._without_task()}" + f"; {task_text}" * near

    def _without_task(self) -> str:
        """Say what the answers are, whatever the task is."""
        best = self.best
        if self.structure and (best is None or best.right < 1):
            return self.structure
        if best:
            return f"{best.answers} in {share(best.right)} of pairs"
        if self.constant >= IDENTIFIED:
            values, counts = np.unique(self.table, return_counts=True)
            occurring = f"{len(values)} answers occur: {shortened([*map(str, values)])}"
            most = f"{values[counts.argmax()]} in {share(self.constant)} of pairs"
            return f"{most}; {occurring}"
        if near := nearly(self.table, self.laws):
            return near
        nearest = max(self.compared, key=lambda x: x.right)
        if self.stated and nearest == self.compared[0]:
            return f"nearer to none of the other {len(self.compared) - 1} operations tried"
        text = (
            f"none of the {len(self.compared)} operations tried: the best, {nearest.answers}, "
            f"gives {share(nearest.right)} of them, too few for a name, which takes "
            f"{share(max(IDENTIFIED, nearest.needed))}"
        )
        if nearest.right >= nearest.needed and nearest.answers == f"ab mod {len(self.table)}":
            how = f'task="{MULTIPLICATION}" (--task {MULTIPLICATION})'
            text += f", but more than by chance: {how} measures it all the same"
        associating = f"{share(self.laws.associative)} of triples associate"
        by_chance = float(((np.bincount(self.table.ravel()) / self.table.size) ** 2).sum())
        return f"{text}; {associating}, {share(by_chance)} by chance"


def choose_heads(models: Mapping[int, Either], level: float = 1.0) -> Either:
    """Choose, among models by their number of heads, the one whose answers are explained best; its
    source says so. Raises InputError where nothing explains most answers, or several numbers of
    heads give different explanations that are as good."""
    readings = {h: Reading(x.answers(), x.task, level) for h, x in models.items()}
    marks = {h: x.mark for h, x in readings.items()}
    best = max(marks, key=lambda h: marks[h][0])
    near = {text: h for h, (x, text) in marks.items() if 0 < x >= marks[best][0] - NEAR}
    model, how = models[best], "how many heads it has is not in it, nor do its answers tell"
    most = {h: share(max(y.right for y in x.compared)) for h, x in readings.items()}
    percentages = ", ".join(f"{x} with {h}" for h, x in most.items())
    if len(near) != 1 or model.source is None:
        why = f"the best operation or constant gives {percentages}"
        if near:
            why = "; ".join(f"with {h} they are {text}" for text, h in near.items())
        raise InputError(f"{how}: {why}: give n_heads=H (--heads H)")
    taken = "1 head was taken: with it" if best == 1 else f"{best} heads were taken: with them"
    note = f"{taken} {readings[best].sentence()}. "
    note += f"The best operation or constant gives {percentages}."
    model.source = replace(model.source, notes=(*model.source.notes, note))
    return model
