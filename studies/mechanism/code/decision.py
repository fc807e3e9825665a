"""What the logits of a run say of strata and primes: criteria-primes.md, sections 1 and 4."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from sympy.ntheory import primefactors

from strata.results import CONFIRMED, UNDECIDED, UNTESTED, over_runs
from studies.mechanism.code import gating
from studies.mechanism.code.records import Logits, LogitsAtKey, SharedCharacter
from studies.params import LevelsParams

Verdict = Literal["primes", "strata", "between", "disagree", "neither"]
Side = Literal["primes", "strata", "between"]
OPPOSITE: dict[str, Side] = {"primes": "strata", "strata": "primes"}


class Votes(NamedTuple):
    """What decides L, and the measures beside it; None where a run has no such number."""

    gating: float | None  # the median over the characters of C that count
    balanced: float | None
    delta: float  # R²(C) − R²(S) of held-out products
    delta_plus: float  # R²(C+) − R²(S)
    described: tuple[str, ...]  # the descriptions that describe the run
    tau: float | None
    cost: float | None
    mixing: bool  # a mixed key frequency, or more R² with mixed characters
    L: Verdict = "between"
    against: tuple[str, ...] = ()  # secondary measures that speak against L


def decides(n: int) -> bool:
    """Whether the accounts differ at all: they are one where n is a power of a prime."""
    return len(primefactors(n)) > 1


def counted(logits: Logits, smallest: float) -> list[SharedCharacter]:
    """The characters of one prime that count in γ."""
    return gating.counted((x for x in logits.found.characters if len(x.parts) == 1), smallest)


def side(x: float | None, strata: float, primes: float) -> Side:
    """Which account a number agrees with, by two levels."""
    if x is None or strata < x < primes:
        return "between"
    return "primes" if x >= primes else "strata"


def described(at: LogitsAtKey, levels: LevelsParams) -> tuple[str, ...]:
    """The descriptions whose R² of held-out products is a large enough share of the ceiling; none
    where too many frequencies are key."""
    if at.key > levels.key_share * at.of:
        return ()
    least = levels.described * at.held_out_ceiling
    return tuple(name for name in ("S", "C", "C+") if at.held_out[name] >= least)


def votes(logits: Logits, levels: LevelsParams) -> Votes:
    """All of a run."""
    at, r2 = logits.found, logits.found.held_out
    ratios = [x.gating for x in counted(logits, levels.smallest)]
    found = Votes(
        gating=float(np.median(ratios)) if ratios else None,
        balanced=at.balanced,
        delta=r2["C"] - r2["S"],
        delta_plus=r2["C+"] - r2["S"],
        described=described(at, levels),
        tau=at.tau,
        cost=at.cost,
        mixing=at.mixed > 0 or r2["C+"] - r2["C"] >= levels.mixing,
    )
    return judged(found, levels)


def judged(found: Votes, levels: LevelsParams) -> Votes:
    """The measures with the verdict that follows from them, and what speaks against it."""
    found = found._replace(L=verdict(found, levels))
    return found._replace(against=against(found, levels))


def verdict(measured: Votes, levels: LevelsParams) -> Verdict:
    """L, the verdict on the logits. Gating agrees with an account if both of its measures do."""
    if not measured.described:
        return "neither"
    by: Side = side(measured.gating, levels.strata, levels.primes)
    if side(measured.balanced, levels.strata, levels.primes) != by:
        by = "between"
    if side(measured.delta, -levels.delta, levels.delta) == OPPOSITE.get(by):
        return "disagree"
    needed = {"primes": {"C", "C+"}, "strata": {"S"}, "between": set[str]()}[by]
    return by if needed & {*measured.described} else "between"


def against(measured: Votes, levels: LevelsParams) -> tuple[str, ...]:
    """The secondary measures that speak against L."""
    if measured.L not in OPPOSITE:
        return ()
    other, primes = OPPOSITE[measured.L], measured.L == "primes"
    by_tau = side(measured.tau, levels.tau_strata, levels.tau_primes)
    speaks = {
        "τ": by_tau == other,
        "cost": primes and measured.cost is not None and measured.cost >= levels.cost_strata,
        "C+": side(measured.delta_plus, -levels.delta, levels.delta) == other,
    }
    return tuple(name for name, so in speaks.items() if so)


def called(verdicts: Sequence[str], fewest: int) -> str:
    """What a modulus is called from the verdicts of its generalising runs, of which there must be
    enough. The limit of the share is one-sided, of 95 %.

    >>> called(["primes"] * 9 + ["between"], 5), called(["primes"] * 9 + ["strata"], 5)
    ('primes', 'undecided')
    >>> called(["strata"] * 4, 5)
    'not tested'
    """
    if len(verdicts) < fewest:
        return UNTESTED
    for name in ("primes", "strata", "neither"):
        clear = OPPOSITE.get(name) not in verdicts
        if clear and over_runs(verdicts.count(name), len(verdicts), 0.9) == CONFIRMED:
            return name
    return UNDECIDED
