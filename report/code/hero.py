"""What the live drawing of the network needs beside a run's page: changes, readers, places.

The page computes the network itself, from the weights of ``run_data.rounded_model``. A change of it
is one of studies/interventions/criteria.md; how often each makes the answer wrong is counted here,
over all pairs, with the run's own weights.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sympy.ntheory import factorint

from report.code.run_data import digits
from strata.architecture import architecture_of
from strata.measure import activations
from strata.monoid import JClass, axes, axis_primes, frequencies
from strata.patch import ablations, projections, routing, specificity
from strata.patch.ablations import Subject
from strata.patch.patching import Outcome
from strata.patch.projections import Masks
from strata.store import Arrays

Json = dict[str, Any]
# Shown first, modulo n: of 165 a pair that almost every change makes wrong modulo one prime alone.
PAIR = (13, 46)


def data(weights: Arrays, n: int, threshold: float) -> Json | None:
    """All of it, for one run, None if it diverged; ``threshold`` is that of its key frequencies."""
    if not all(np.isfinite(x).all() for x in weights.values()):
        return None
    found = about(weights, n, threshold)
    keys = projections.keys(weights["W_E"][:n], n, threshold)
    subject = ablations.subject(weights, n, keys)
    costs = [wrong(subject, outcome(subject, x)) for x in found["changes"]]
    pairs = zip(found["changes"], costs, strict=True)
    told = [change | {"wrong": cost} for change, cost in pairs]
    return found | {"changes": told}


def about(weights: Arrays, n: int, threshold: float) -> Json:
    """What the page computes with, without the costs."""
    keys = projections.keys(weights["W_E"][:n], n, threshold)
    return {
        "example": example(weights, [x % n for x in PAIR]),
        "numbers": sum(x.size for x in weights.values()),
        "powers": [circle(q) for q in prime_powers(n)],
        "keys": {d: chosen(JClass(n, d), mask) for d, mask in keys.items()},
        "readers": readers(weights),
        "changes": [*changes(keys, n, activations.n_heads(weights))],
    }


def example(weights: Arrays, pair: list[int]) -> Json:
    """The activations of one pair: what the page shows before the weights are there."""
    a, b = (np.array([x]) for x in pair)
    logits, mlp, pattern = activations.forward(weights, a, b)
    found = {"pair": pair, "logits": digits(logits[0]), "mlp": digits(mlp[0])}
    return found | {"attention": [digits(x) for x in pattern[0]]}


def circle(q: int) -> Json:
    """Where each residue modulo the prime power q is drawn: (ring, turn), ring 0 the centre.

    Those with one valuation share a ring, in the order of the powers of a generator where there is
    one: multiplication by a unit then turns the ring. 0 is the centre.

    >>> circle(5)["places"]
    [[0, 0.0], [1, 0.0], [1, 0.25], [1, 0.75], [1, 0.5]]
    """
    [(p, k)] = factorint(q).items()
    places = [[0, 0.0] for _ in range(q)]
    for v in range(k):
        units = ordered(p ** (k - v))
        for i, u in enumerate(units):
            places[p**v * u] = [k - v, i / len(units)]
    return {"q": q, "prime": p, "rings": k, "places": places}


def ordered(q: int) -> list[int]:
    """The units modulo a prime power: 1, g, g², …, or ascending where no g generates them.

    >>> ordered(5), ordered(8)
    ([1, 2, 4, 3], [1, 3, 5, 7])
    """
    known = axes(q)
    if len(known) > 1:
        return [x for x in range(q) if x % 2]
    order, g = known[0] if known else (1, 1)
    return [pow(g, i, q) for i in range(order)]


def prime_powers(n: int) -> list[int]:
    """Those whose product is n, primes ascending.

    >>> prime_powers(180)
    [4, 9, 5]
    """
    return [p**k for p, k in sorted(factorint(n).items())]


def chosen(J: JClass, mask: np.ndarray) -> list[list[int]]:
    """The frequencies of a mask."""
    return frequencies(J.orders)[mask].tolist()


def readers(weights: Arrays) -> list[Json]:
    """For each head, with which row vector and constant it scores what stands at a position."""
    if not architecture_of(weights).attends:
        return []
    query = np.matmul(weights["W_E"][-1], weights["W_Q"]) + weights["b_Q"]
    query = query / np.float32(query.shape[-1] ** 0.5)
    rows = np.einsum("hmd,hd->hm", weights["W_K"], query)
    constants = (weights["b_K"] * query).sum(axis=-1)
    return [
        {"weights": digits(row, 6), "constant": x}
        for row, x in zip(rows, digits(constants, 6), strict=True)
    ]


def changes(keys: Masks, n: int, heads: int) -> Iterator[Json]:
    """Each change by name, with what the page needs to make it; the first is none.

    The axis of a prime is that of the units, which have one for each prime that has any.
    """
    yield {"name": "none", "kind": "none"}
    units = JClass(n, 1)
    for p in sorted({*axis_primes(units)} if 1 in keys else ()):
        mask = projections.atomic_key(units, keys[1], p)
        if mask.any():
            found = {"name": f"axis-{p}", "kind": "axis", "prime": p}
            yield found | {"frequencies": chosen(units, mask)}
    for h in range(heads):
        yield {"name": f"head-{h}", "kind": "head", "head": h}
    if keys:
        yield {"name": "keep", "kind": "keep"}
        yield {"name": "remove", "kind": "remove"}


def outcome(subject: Subject, change: Json) -> Outcome:
    """What the run answers with a change, by the code of the interventions."""
    n = subject.rig.n
    match change["kind"]:
        case "axis":
            basis = specificity.directions(subject, 1, change["prime"])
            return specificity.without(subject, basis)
        case "head":
            return routing.ablated(subject, (change["head"],))
        case "keep" | "remove" as part:
            spans = ablations.key_spans(n, subject.masks)
            rows = getattr(projections.split(subject.rows_of_W_E, spans, n), part)
            return ablations.with_embedding(subject.rig, rows)
    return subject.rig.base


def wrong(subject: Subject, outcome: Outcome) -> Json:
    """Shares of all ordered pairs: wrong answers; wrong modulo each prime power of n, and modulo
    that one alone."""
    rig = subject.rig
    off = {q: (outcome.answer - rig.label) % q != 0 for q in prime_powers(rig.n)}
    several = np.sum([*off.values()], axis=0)

    def share(rows: np.ndarray) -> float:
        return float(np.average(rows, weights=rig.count))

    return {
        "all": share(several > 0),
        "modulo": {q: share(x) for q, x in off.items()},
        "alone": {q: share(x & (several == 1)) for q, x in off.items()},
    }
