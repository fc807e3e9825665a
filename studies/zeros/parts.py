"""Parts of Z_n, and all automorphisms of a monoid: for the tests."""

from collections.abc import Iterator
from itertools import product

import numpy as np

from strata.task import Residues, parse_task


def part(n: int, zeros: tuple[int, ...]) -> Residues:
    task = parse_task({"zeros": [*zeros]}, n)
    assert isinstance(task, Residues)
    return task


def automorphisms(table: np.ndarray) -> Iterator[np.ndarray]:
    """Return all automorphisms, by the images of a generating set."""
    order = len(table)
    generators, span = [], {int(np.flatnonzero((table == np.arange(order)).all(axis=1))[0])}
    (unit,) = span
    for x in sorted(range(order), key=lambda x: -len({*table[x].tolist()})):
        if x not in span:
            generators.append(x)
            while (more := {int(table[a, b]) for a in span for b in [*generators, *span]}) - span:
                span |= more
    kind = [(len({*table[x].tolist()}), count_powers(table, x)) for x in range(order)]
    alike = [[y for y in range(order) if kind[y] == kind[x]] for x in generators]
    for images in product(*alike):
        image_of, todo = {unit: unit}, [unit]
        while todo:
            x = todo.pop()
            for g, image in zip(generators, images, strict=True):
                y, expected = int(table[x, g]), int(table[image_of[x], image])
                if y not in image_of:
                    todo.append(y)
                if image_of.setdefault(y, expected) != expected:
                    todo, image_of = [], {}
                    break
        if len({*image_of.values()}) == order:
            f = np.array([image_of[x] for x in range(order)])
            assert (f[table] == table[np.ix_(f, f)]).all()
            yield f


def count_powers(table: np.ndarray, element: int) -> int:
    """Count the powers that an element has."""
    reached, y = set(), element
    while y not in reached:
        reached.add(y)
        y = int(table[y, element])
    return len(reached)
