"""What attention heads are needed for, as tables over runs: docs/interventions.md, section 4."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binom

from strata.statistics import t_interval
from studies.interventions.code import head_criteria
from studies.interventions.code.head_criteria import SCALES, Needed, Route
from studies.interventions.code.levels import LEVELS
from studies.interventions.code.records import Interventions

Row = dict[str, Any]
Left = dict[int, dict[int, float]]  # by head, by prime power: skill without the head


def primes(runs: Sequence[Interventions]) -> pd.DataFrame:
    """Which heads each prime power of n loses most by: the one modulo which least skill is left
    without the head. With the least and the most skill then left modulo that prime power, and the
    least modulo any other. Of runs whose n has more than one prime.

    Skill modulo q is (right − chance) / (1 − chance). Shares of right answers can't be compared
    between primes, so chance decides: it is that of an answer in the right class, as everywhere in
    docs/interventions.md. ``needed_zero`` is what comes out where it is that of always answering
    0, the commonest residue of a product. A model that has lost a prime and kept the classes is at
    0 on the first scale, on the second at 1/2 modulo 3 and 1/10 modulo 11.

    ``put`` is the same with a margin to the next prime power; ``alone`` counts the heads without
    which that one alone is lost, ``group`` the prime powers that are lost alone without all of
    their heads.
    """
    rows = []
    for run in sorted(runs, key=lambda run: (-run.n, run.seed)):
        found = {name: head_criteria.needed(run, scale, LEVELS) for name, scale in SCALES.items()}
        known, zero = found["right class"], found["always 0"]
        if known and zero:
            rows.append({"n": run.n, "seed": run.seed, **_least(known.left)}
                        | {"needed_zero": _needed(zero.left)}
                        | _specific(run, known, "right class", "")
                        | _specific(run, zero, "always 0", "_zero"))  # fmt: skip
    names = ["n", "seed", "needed", "own_least", "own_most", "others_least", "needed_zero"]
    names += [f"{x}{scale}" for scale in ("", "_zero") for x in ("put", "alone", "group")]
    return pd.DataFrame(rows, columns=names)


def _least(left: Left) -> Row:
    own = _own(left)
    at = [skill[own[head]] for head, skill in left.items()]
    others = [x for head, skill in left.items() for q, x in skill.items() if q != own[head]]
    least = {"own_least": min(at), "own_most": max(at), "others_least": min(others, default=None)}
    return {"needed": _needed(left)} | least


def _specific(run: Interventions, found: Needed, scale: str, suffix: str) -> Row:
    """The heads with a margin, and how many of them, and of the prime powers, are specific."""
    section = f"heads and primes, 0 = {scale}"
    judged = [x for x in head_criteria.judge(run, LEVELS) if x.section == section]
    alone, group = (f"{x.held} of {x.cases}" for x in judged)
    of = {q: [str(h) for h in found.put if found.put[h] == q] for q in found.groups}
    put = "; ".join(f"{q}: {', '.join(names)}" for q, names in of.items()) or "none"
    return {f"put{suffix}": put, f"alone{suffix}": alone, f"group{suffix}": group}


def _own(left: Left) -> dict[int, int]:
    """The prime power modulo which least skill is left without a head, for each head."""
    return {head: min(skill, key=lambda q: skill[q]) for head, skill in left.items()}


def _needed(left: Left) -> str:
    """The heads of each prime power, from the skill that each head leaves.

    >>> _needed({0: {3: 0.5, 5: 0.1}, 1: {3: 0.0, 5: 1.0}, 2: {3: 0.9, 5: 0.8}})
    '3: 1; 5: 0, 2'
    """
    own = _own(left)
    heads = {q: [str(h) for h in own if own[h] == q] for q in sorted(set(own.values()))}
    return "; ".join(f"{q}: {', '.join(names)}" for q, names in heads.items())


def chance(runs: Sequence[Interventions]) -> pd.DataFrame:
    """In how many runs of a modulus four heads are divided two and two between its two largest
    prime powers, how likely that is for heads put to prime powers at random, and the binomial
    probability of so many runs or more; for the least skill, and with a margin.

    >>> float(split_chance(2)), round(float(split_chance(3)), 3)
    (0.375, 0.074)
    """
    rows = []
    for n in sorted({run.n for run in runs}, reverse=True):
        needed = [head_criteria.needed(x, SCALES["right class"], LEVELS) for x in runs if x.n == n]
        known = [x for x in needed if x and len(x.left) == 4]
        if not known:
            continue
        powers = sorted(next(iter(known[0].left.values())))
        share = split_chance(len(powers))
        for rule, put in RULES.items():
            count = sum(_two_two(put(x), powers[-2:]) for x in known)
            p = float(binom.sf(count - 1, len(known), share))
            rows.append((n, ", ".join(map(str, powers)), rule, len(known), count, share, p))
    names = ["n", "powers", "rule", "runs", "divided", "split_chance", "p_binomial"]
    return pd.DataFrame(rows, columns=names)


RULES: dict[str, Callable[[Needed], dict[int, int | None]]] = {
    "least skill": lambda x: {**_own(x.left)},
    "with a margin": lambda x: x.put,
}


def split_chance(powers: int) -> float:
    """How often four heads put to prime powers at random are two and two of the last two."""
    return 6 / powers**4


def _two_two(put: dict[int, int | None], two: Sequence[int]) -> bool:
    return sorted(map(str, put.values())) == sorted(str(q) for q in [*two, *two])


def routes(runs: Sequence[Interventions], confidence: float) -> pd.DataFrame:
    """For each modulus, head 0 and all heads: in how many runs the pattern is used, how many route
    by class and by residues, and the intervals of what classes bring back more than shuffled ones,
    and than the residues modulo the best prime power; paired, over the runs that use it."""
    rows = []
    for n in dict.fromkeys(run.n for run in runs):
        own = [run for run in runs if run.n == n]
        for name, zero in (("head 0", True), ("all heads", False)):
            every = [_routes(run, zero) for run in own]
            rows.append({"n": n, "heads": name, "runs": len(own)} | _over(every, confidence))
    names = ["n", "heads", "runs", "used", "lost_mean", "class_yes", "class_part", "residue_yes"]
    return pd.DataFrame(rows, columns=[*names, "residue_part", *GAINS])


GAINS = [f"{x}_{y}" for x in ("over_shuffled", "over_residues") for y in ("mean", "low", "high")]


def _routes(run: Interventions, zero: bool) -> list[Route]:
    heads = (0,) if zero else head_criteria.every_head(run)
    return head_criteria.routes(run, heads, LEVELS)


def _over(every: Sequence[list[Route]], confidence: float) -> Row:
    used = [x for x in every if x and x[0].used]
    found: Row = {"used": len(used), "lost_mean": _mean([x[0].lost for x in every if x])}
    residues = [x[1:] for x in used]
    for answer, name in (("yes", "yes"), ("in part", "part")):
        found[f"class_{name}"] = sum(x[0].answer == answer for x in used)
        found[f"residue_{name}"] = sum(any(y.answer == answer for y in x) for x in residues)
    gains = {
        "over_shuffled": [x[0].share - x[0].shuffled for x in used],
        "over_residues": [x[0].share - max(y.share for y in x[1:]) for x in used if x[1:]],
    }
    for name, values in gains.items():
        low, high = t_interval(values, confidence) or (None, None)
        found |= {f"{name}_mean": _mean(values), f"{name}_low": low, f"{name}_high": high}
    return found


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None
