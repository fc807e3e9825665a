"""What is measured of one run: criteria.md."""

import re
from collections.abc import Sequence
from pathlib import Path

from strata import store
from strata.inputs import InputError
from strata.measure.fourier import energy_share
from strata.monoid import frequencies
from strata.result import Result
from strata.run import Run
from strata.store import Arrays
from strata.task import Residues, Task, parse_task
from studies.params import ZerosSettings
from studies.zeros.code import mixing, votes
from studies.zeros.code.mixing import Energy, KeyCharacter, Pair

TWO, NONE, ONE, ALL = "two primes with zeros", "none", "one", "all"
ABSORBING, OTHER = "a zero that no prime owns", "other tasks"
GROUPS = (TWO, NONE, ONE, ALL, ABSORBING, OTHER)


class Measured(Result):
    """What is measured of one run."""

    run: str
    group: str
    modulus: int | None
    """None of other tasks."""
    zeros: tuple[int, ...]
    """The primes with zeros."""
    accuracy: float
    """Of all pairs."""
    pairs: tuple[Pair, ...] = ()
    """For each two primes; none of other tasks."""
    keys: tuple[KeyCharacter, ...] = ()
    votes: float | None = None
    """Of primes, inside classes; None where one element is no residue."""
    images: dict[str, float] | None = None
    """Of runs without zeros of a prime, for each two primes: the share of the images of the usual
    decomposition for which F of these two would hold."""
    factors: Energy | None = None
    """Of other tasks: the characters that feel both factors."""

    @property
    def F(self) -> float | None:
        """Return the energy of the characters that feel both primes with zeros, in even shares."""
        ratios = [x.over_even for x in self.pairs if x.zeros == 2]
        return ratios[0] if self.group == TWO else None

    @property
    def pure(self) -> int | None:
        """Count the key characters of the prime without zeros alone."""
        if self.group != TWO:
            return None
        return sum(len(x.primes) == 1 and x.primes[0] not in self.zeros for x in self.keys)


def measure(
    run: str, weights: Arrays, task: Task, accuracy: float, settings: ZerosSettings
) -> Measured:
    """Measure one run. Raise InputError for a task that the criteria do not name."""
    if isinstance(task, Residues):
        groups = {0: NONE, 1: ONE, 2: TWO, 3: ALL}
        group, residues = groups[len(task.zeros)], task
    elif isinstance(task.setting, str) and re.fullmatch(r"C\d+( x C\d+)*", task.setting):
        share = energy_share(weights["W_E"][: task.order], orders := sizes(task.setting))
        mixed = (frequencies(orders) != 0).all(axis=1)
        factors = Energy(**mixing.energy(share, mixed))
        return Measured(
            run=run, group=OTHER, modulus=None, zeros=(), accuracy=accuracy, factors=factors
        )
    else:
        group, residues = ABSORBING, without_absorbing(task, settings.absorbing)
    share, n = mixing.units_share(weights["W_E"], residues), residues.modulus
    images = fitted = None
    if residues is task:
        fitted = votes.inside_classes(votes.profile(weights, residues), residues)
    if not residues.zeros:
        shares = mixing.at_most(share, n, settings.holds)
        images = {f"{p}, {q}": x for (p, q), x in shares.items()}
    return Measured(
        run=run,
        group=group,
        modulus=n,
        zeros=residues.zeros,
        accuracy=accuracy,
        pairs=mixing.pairs(share, residues),
        keys=mixing.keys(share, n, settings.key_threshold),
        votes=fitted,
        images=images,
    )


def sizes(product: str) -> tuple[int, ...]:
    """Return the orders of a product of cyclic groups, whose elements are in lexicographic order.

    >>> sizes("C11 x C13")
    (11, 13)
    """
    return tuple(int(x.removeprefix("C")) for x in product.split(" x "))


def without_absorbing(task: Task, n: int) -> Residues:
    """Return the units of Z_n, where the task is these and, last, one element that absorbs all.
    Raise InputError where the task is another."""
    units = parse_task("units", n)
    assert isinstance(units, Residues)
    table, last = task.table, units.order
    same = task.order == last + 1 and (table[:-1, :-1] == units.table).all()
    if not same or (table[-1] != last).any():
        raise InputError(f"{task}: must be the units of {n} and one element that absorbs all")
    return units


def read(folder: Path | str, runs: Sequence[Run]) -> dict[Run, Measured]:
    """Return the measures of the runs that are trained."""
    paths = {run: Path(folder, f"{run}.json") for run in runs}
    return {run: store.read_model(x, Measured) for run, x in paths.items() if x.is_file()}


def read_all(folder: Path | str) -> dict[Run, Measured]:
    """Return the measures of all runs that have any."""
    return read(folder, [Run.parse(path.stem) for path in sorted(Path(folder).glob("*.json"))])
