"""What the logits of a run say of strata and primes: criteria-primes.md, sections 1 and 4."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from sympy.ntheory import primefactors

from strata.statistics import lower_limit
from studies.mechanism.code.records import HeldOutProducts, Logits, LogitsAtKey, SharedCharacter
from studies.params import LevelsParams

Verdict = Literal["primes", "strata", "between", "disagree", "neither"]
Side = Literal["primes", "strata", "between"]
OPPOSITE: dict[str, Side] = {"primes": "strata", "strata": "primes"}


class Gating(NamedTuple):
    """The median of β_different / β_same over the characters that count, None without any."""

    median: float | None
    counted: int
    left_out: int


class Votes(NamedTuple):
    """What decides L, and the measures beside it."""

    gating: Gating
    gating_mixed: Gating  # of the characters that C+ has beside C
    balanced: float | None
    balanced_mixed: float | None
    ceiling: float  # of held-out products, as the R² below
    r2: dict[str, float]
    delta: float  # R²(C) − R²(S)
    delta_plus: float  # R²(C+) − R²(S)
    described: tuple[str, ...]  # the descriptions that describe the run
    tau: float | None
    cost: float | None
    mixing: bool  # a mixed key frequency, or more R² with mixed characters
    L: Verdict
    against: tuple[str, ...]  # secondary measures that speak against L


def decides(n: int) -> bool:
    """Whether the accounts differ at all: they are one where n is a power of a prime."""
    return len(primefactors(n)) > 1


def gating(characters: Sequence[SharedCharacter], smallest: float) -> Gating:
    """The gating over the characters that explain at least a share of what all of them explain by
    their parts of one class."""
    least = smallest * sum(x.explained for x in characters)
    ratios = [x.different / x.same for x in characters if x.same and x.explained >= least]
    median = float(np.median(ratios)) if ratios else None
    return Gating(median, len(ratios), len(characters) - len(ratios))


def side(x: float | None, strata: float, primes: float) -> Side:
    """Which account a number agrees with, by two levels."""
    if x is None or strata < x < primes:
        return "between"
    return "primes" if x >= primes else "strata"


def side_of(delta: float, levels: LevelsParams) -> Side:
    """Which account a difference of R² agrees with."""
    return side(delta, -levels.delta, levels.delta)


def described(at: LogitsAtKey, products: HeldOutProducts, levels: LevelsParams) -> tuple[str, ...]:
    """The descriptions whose R² of held-out products is a large enough share of the ceiling; none
    where too many frequencies are key."""
    if at.key > levels.key_share * at.of:
        return ()
    least = levels.described * products.ceiling
    return tuple(name for name in ("S", "C", "C+") if products.r2[name] >= least)


def tau(logits: Logits, at: LogitsAtKey) -> float | None:
    """Median over held-out classes of R²(C) / ceiling; None where n is a power of a prime."""
    shares = [x.r2 / x.ceiling for x in at.held_out if x.ceiling > 0]
    return float(np.median(shares)) if shares and decides(logits.n) else None


def cost(at: LogitsAtKey) -> float | None:
    """Mean cost of one set of coefficients over the classes that have a character."""
    costs = [x.cost for x in at.inside if x.cost is not None]
    return float(np.mean(costs)) if costs else None


def votes(logits: Logits, levels: LevelsParams) -> Votes:
    """All of a run, at the first key threshold and seed of the folds."""
    at = logits.found
    products = at.products
    single, several = ([x for x in at.characters if (len(x.parts) > 1) == y] for y in (False, True))
    r2 = products.r2
    found = Votes(
        gating=gating(single, levels.smallest),
        gating_mixed=gating(several, levels.smallest),
        balanced=at.balance.median,
        balanced_mixed=at.balance_mixed.median,
        ceiling=products.ceiling,
        r2={str(name): x for name, x in r2.items()},
        delta=r2["C"] - r2["S"],
        delta_plus=r2["C+"] - r2["S"],
        described=described(at, products, levels),
        tau=tau(logits, at),
        cost=cost(at),
        mixing=at.mixed > 0 or r2["C+"] - r2["C"] >= levels.mixing,
        L="between",
        against=(),
    )
    return judged(found, levels)


def sides_differ(found: Votes, levels: LevelsParams) -> bool:
    """Whether Δ and R²(C+) − R²(S) agree with different accounts."""
    return side_of(found.delta, levels) != side_of(found.delta_plus, levels)


def judged(found: Votes, levels: LevelsParams) -> Votes:
    """The measures with the verdict that follows from them, and what speaks against it."""
    found = found._replace(L=verdict(found, levels))
    return found._replace(against=against(found, levels))


def by_gating(found: Votes, levels: LevelsParams) -> Side:
    """What gating says: an account if both of its measures do."""
    one = side(found.gating.median, levels.strata, levels.primes)
    other = side(found.balanced, levels.strata, levels.primes)
    return one if one == other else "between"


def verdict(found: Votes, levels: LevelsParams) -> Verdict:
    """L, the verdict on the logits."""
    if not found.described:
        return "neither"
    by, delta = by_gating(found, levels), side_of(found.delta, levels)
    if delta == OPPOSITE.get(by):
        return "disagree"
    needed = {"primes": {"C", "C+"}, "strata": {"S"}, "between": set[str]()}[by]
    return by if needed & {*found.described} else "between"


def against(found: Votes, levels: LevelsParams) -> tuple[str, ...]:
    """The secondary measures that speak against L."""
    if found.L not in OPPOSITE:
        return ()
    other, primes = OPPOSITE[found.L], found.L == "primes"
    by_tau = side(found.tau, levels.tau_strata, levels.tau_primes)
    speaks = {
        "τ": by_tau == other,
        "cost": primes and found.cost is not None and found.cost >= levels.cost_strata,
        "C+": side_of(found.delta_plus, levels) == other,
    }
    return tuple(name for name, so in speaks.items() if so)


def called(verdicts: Sequence[str], fewest: int) -> str | None:
    """What a modulus is called from the verdicts of its generalising runs, of which there must be
    enough; None: not decided.

    >>> called(["primes"] * 9 + ["between"], 5), called(["primes"] * 9 + ["strata"], 5)
    ('primes', None)
    >>> called(["strata"] * 4, 5)
    """
    for name in ("primes", "strata", "neither"):
        held = verdicts.count(name)
        clear = OPPOSITE.get(name) not in verdicts and lower_limit(held, len(verdicts)) > 0.5
        if clear and len(verdicts) >= fewest:
            return name
    return None
