"""What the front page's live network needs beside a run's page: changes, readers, places, scales;
and votes of networks.

The page computes the network itself, from the weights of ``run_data.rounded_model``. A change of it
is one of studies/interventions/criteria.md; how often each makes the answer wrong is counted here,
over all pairs, with the run's own weights.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from report.code.run_data import digits, pack
from strata.api import by_hand
from strata.architecture import architecture_of
from strata.arithmetic import factorint
from strata.measure import activations
from strata.monoid import JClass, axis_primes, classes, frequencies, prime_powers
from strata.patch import ablations, projections, routing, specificity
from strata.patch.ablations import Subject
from strata.patch.patching import Outcome
from strata.patch.projections import Masks
from strata.store import Arrays

Json = dict[str, Any]
# Shown first, modulo n: of 165 a pair that turns on every dial, and that almost every change makes
# wrong modulo one prime alone.
PAIR = (107, 98)


def data(weights: Arrays, n: int, threshold: float) -> Json | None:
    """Return all that the front page draws of one run, None if the run diverged; ``threshold`` is
    that of its key frequencies."""
    if not all(np.isfinite(x).all() for x in weights.values()):
        return None
    subject = ablations.subject(weights, n, projections.key_masks(weights["W_E"][:n], n, threshold))
    heads = activations.n_heads(weights)
    return {
        "n": n,
        "pair": [x % n for x in PAIR],
        "width": weights["W_E"].shape[1],
        "powers": [circle(q) for q in prime_powers(n)],
        "scales": scales(weights, n),
        "chance": {q: chance(q) for q in prime_powers(n)},
        "classes": [{"d": J.d, "elements": J.elements.tolist()} for J in classes(n)],
        "readers": readers(weights),
        "changes": [x | cost(subject, x) for x in changes(subject.masks, n, heads)],
        "logits": first_logits(subject.rig.weights, n),
        "hand": hand(n),
    }


def hand(n: int) -> Json | None:
    """Return the constants of the network written by hand, None unless n is a product of several
    different primes."""
    primes = list(factorint(n))
    if np.prod(primes) < n or len(primes) < 2:
        return None
    characters, adder = by_hand.characters(n), by_hand.adder()
    A, shift = by_hand.factors(primes, characters)
    starts = np.cumsum([len(primes), *(by_hand.adder_of(x).parts for x in characters)])
    waves = {p: [x.frequencies[p] for x in characters if p in x.frequencies] for p in primes}
    first_wave = {p: A[k] for k, x in zip(starts, characters, strict=False) for p in x.frequencies}
    rows = [
        {"p": p, "waves": waves[p], "zero": z, "shift": s, "wave": first_wave.get(p, 0.0)}
        for p, z, s in zip(primes, A, shift, strict=False)
    ]
    return {
        "primes": rows,
        "phases": by_hand.PHASES,
        "double": adder.read[2, 0],
        "size": adder.write[0, 0],
    }


def first_logits(weights: Arrays, n: int) -> list[float | None]:
    """Return the logits of the pair that is shown first."""
    a, b = (np.array([x % n]) for x in PAIR)
    return digits(activations.forward(weights, a, b)[0][0])


def scales(weights: Arrays, n: int) -> dict[int, list[float | None]]:
    """Measure for each prime power how far the mean logit of the candidates with one residue gets
    from the mean over residues, over all pairs: [of units, of the others]. The dials are drawn on
    this scale."""
    largest = {q: [0.0, 0.0] for q in prime_powers(n)}
    for _, _, run in activations.blocks(weights, n):
        for q, pair in largest.items():
            mean = np.stack([run.logits[:, r::q].mean(axis=1) for r in range(q)], axis=1)
            deviation = np.abs(mean - mean.mean(axis=1, keepdims=True)).max(axis=0)
            unit = np.gcd(np.arange(q), q) == 1
            pair[0] = max(pair[0], float(deviation[unit].max()))
            pair[1] = max(pair[1], float(deviation[~unit].max()))
    return {q: digits(pair) for q, pair in largest.items()}


def chance(q: int) -> float:
    """Return the share of pairs that are wrong where the product modulo q is guessed among its
    units, and zeros are known.

    >>> round(chance(3), 4), round(chance(4), 4), round(chance(11), 4)
    (0.2222, 0.125, 0.7438)
    """
    units = sum(np.gcd(np.arange(q), q) == 1)
    return float((units / q) ** 2 * (1 - 1 / units))


def circle(q: int) -> Json:
    """Return where each residue modulo the prime power q is drawn: (ring, turn), where ring 0 is
    the centre.

    A class is a ring, in algebraic order, that of the powers of a generator where there is one:
    multiplication by a unit then turns the ring. 0 is the centre.

    >>> circle(5)["places"]
    [[0, 0.0], [1, 0.0], [1, 0.25], [1, 0.75], [1, 0.5]]
    """
    [(p, k)] = factorint(q).items()
    places = [[0, 0.0] for _ in range(q)]
    for J in (J for J in classes(q) if J.d < q):
        ring = k - factorint(J.d).get(p, 0)
        for i, r in enumerate(J.elements):
            places[r] = [ring, i / len(J)]
    return {"q": q, "prime": p, "rings": k, "places": places}


def readers(weights: Arrays) -> list[Json]:
    """Return for each head the row vector and the constant with which it scores the token at a
    position."""
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
    """Yield each change by name, with what the page needs to make it; the first changes nothing.

    The axis of a prime is that of the units, which have one for each prime that has any. For
    contrast, all directions of the largest class of zero divisors.
    """
    yield {"name": "none", "kind": "none"}
    units = JClass(n, 1)
    masks = {p: projections.atomic_key(units, keys[1], p) for p in axis_primes(units) if 1 in keys}
    for p, mask in sorted(masks.items()):
        if mask.any():
            change = {"name": f"axis-{p}", "kind": "axis", "prime": p, "d": 1}
            yield change | {"frequencies": frequencies(units.orders)[mask].tolist()}
    zero_divisors = [JClass(n, d) for d, mask in keys.items() if d > 1 and mask.any()]
    if zero_divisors:
        J = max(zero_divisors, key=len)
        change = {"name": f"class-{J.d}", "kind": "class", "d": J.d}
        yield change | {"frequencies": frequencies(J.orders)[keys[J.d]].tolist()}
    for h in range(heads):
        yield {"name": f"head-{h}", "kind": "head", "head": h}
    if keys:
        yield {"name": "keep", "kind": "keep"}
        yield {"name": "remove", "kind": "remove"}


def basis(subject: Subject, change: Json) -> np.ndarray:
    """Return the directions that a change cuts out."""
    return specificity.directions(subject, change["d"], change.get("prime"))


def apply_change(subject: Subject, change: Json) -> Outcome:
    """Return what the run answers with a change, by the code of the interventions."""
    match change["kind"]:
        case "axis" | "class":
            return specificity.run_without(subject, basis(subject, change))
        case "head":
            return routing.ablate_heads(subject, (change["head"],))
        case "keep" | "remove" as part:
            n = subject.rig.n
            spans = ablations.key_spans(n, subject.masks)
            rows = getattr(projections.split(subject.rows_of_W_E, spans, n), part)
            return ablations.with_embedding(subject.rig, rows)
    return subject.rig.base


def cost(subject: Subject, change: Json) -> Json:
    """Count how many directions a change cuts, None where it cuts none, and measure shares of all
    ordered pairs: wrong answers, wrong modulo each prime power of n."""
    rig = subject.rig
    error = apply_change(subject, change).answer - rig.label

    def share(rows: np.ndarray) -> float:
        return float(np.average(rows, weights=rig.count))

    modulo = {q: share(error % q != 0) for q in prime_powers(rig.n)}
    directions = len(basis(subject, change)) if "frequencies" in change else None
    return {"wrong": {"all": share(error != 0), "modulo": modulo}, "directions": directions}


def pack_votes(net: Json) -> Json:
    """Return one network of studies/mechanism/data/picture.json with its rows packed, a byte a
    number, and the circle of each of its primes."""

    def rows(x: list[Any]) -> Json:
        return pack(np.atleast_2d(x))

    fits = {d: [rows(g) for g in x] for d, x in net["fits"].items()}
    classes = {d: {k: rows(v) for k, v in x.items()} for d, x in net["classes"].items()}
    powers = [circle(q) for q in prime_powers(net["n"])]
    return net | {"fits": fits, "classes": classes, "powers": powers}
