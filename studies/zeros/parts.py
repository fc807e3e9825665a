"""Parts of Z_n, and all automorphisms of a monoid: for the tests."""

from collections.abc import Iterator
from itertools import product

import numpy as np

from strata.task import Residues, named


def part(n: int, zeros: tuple[int, ...]) -> Residues:
    task = named({"zeros": [*zeros]}, n)
    assert isinstance(task, Residues)
    return task


def automorphisms(table: np.ndarray) -> Iterator[np.ndarray]:
    """All of them, by the images of a generating set."""
    order = len(table)
    generators, span = [], {int(np.flatnonzero((table == np.arange(order)).all(axis=1))[0])}
    (unit,) = span
    for x in sorted(range(order), key=lambda x: -len({*table[x].tolist()})):
        if x not in span:
            generators.append(x)
            while (more := {int(table[a, b]) for a in span for b in [*generators, *span]}) - span:
                span |= more
    kind = [(len({*table[x].tolist()}), powers(table, x)) for x in range(order)]
    alike = [[y for y in range(order) if kind[y] == kind[x]] for x in generators]
    for images in product(*alike):
        found, todo = {unit: unit}, [unit]
        while todo:
            x = todo.pop()
            for g, image in zip(generators, images, strict=True):
                y, led = int(table[x, g]), int(table[found[x], image])
                if y not in found:
                    todo.append(y)
                if found.setdefault(y, led) != led:
                    todo, found = [], {}
                    break
        if len({*found.values()}) == order:
            f = np.array([found[x] for x in range(order)])
            assert (f[table] == table[np.ix_(f, f)]).all()
            yield f


def powers(table: np.ndarray, element: int) -> int:
    """How many powers an element has."""
    known, y = set(), element
    while y not in known:
        known.add(y)
        y = int(table[y, element])
    return len(known)
