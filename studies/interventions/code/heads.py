"""What attention heads are needed for, as tables over runs: criteria.md, section 4."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binom

from strata.results import Row as Result
from strata.statistics import t_interval
from strata.tables.table import RUNS, SEED, Column, N, Table, of
from studies.interventions.code import head_criteria
from studies.interventions.code.head_criteria import SCALES, Needed, Route
from studies.interventions.code.records import Interventions
from studies.params import CriteriaLevels

Row = dict[str, Any]
Left = dict[int, dict[int, float]]  # by head, by prime power: skill without the head


def tables(
    runs: Sequence[Interventions], levels: CriteriaLevels, confidence: float
) -> tuple[Table, Table, Table]:
    """What patterns bring back, what each head is needed for, how likely that is."""
    brought = "Skill that a mean pattern loses and patterns by blocks bring back, over runs."
    divided = "Heads that are divided two and two between the two largest prime powers of n."
    needed = "The prime powers that heads are needed for."
    return (
        Table("routing-runs", brought, routes(runs, levels, confidence), ROUTES),
        Table("heads-primes", needed, primes(runs, levels), PRIMES),
        Table("heads-chance", divided, chance(runs, levels), CHANCE),
    )


SCALE = {
    "right class": ("", "", "prime power: heads"),
    "always 0": ("_zero", ", 0 = always 0", "where skill 0 is to answer 0"),
}
PRIMES = N | SEED | {
    "own_least": Column("skill modulo it without a head, least", "share"),
    "own_most": Column("most", "share"),
    "others_least": Column("skill modulo another, least", "share"),
}  # fmt: skip
for suffix, words, needed_for in SCALE.values():
    PRIMES |= {
        f"needed{suffix}": Column(needed_for, align="l"),
        f"put{suffix}": Column(f"with a margin{words}", align="l"),
        f"alone{suffix}": Column(
            f"heads alone{words}", of(f"alone{suffix}", f"alone_of{suffix}"), "l"
        ),
        f"group{suffix}": Column(
            f"as a group{words}", of(f"group{suffix}", f"group_of{suffix}"), "l"
        ),
    }


def primes(runs: Sequence[Interventions], levels: CriteriaLevels) -> pd.DataFrame:
    """Which heads each prime power of n loses most by: the one modulo which least skill is left
    without the head. With the least and the most skill then left modulo that prime power, and the
    least modulo any other. Of runs whose n has more than one prime.

    Skill modulo q is (right − chance) / (1 − chance). Shares of right answers can't be compared
    between primes, so chance decides: it is that of an answer in the right class, as everywhere in
    criteria.md. ``needed_zero`` is what comes out where it is that of always answering
    0, the commonest residue of a product. A model that has lost a prime and kept the classes is at
    0 on the first scale, on the second at 1/2 modulo 3 and 1/10 modulo 11.

    ``put`` is the same with a margin to the next prime power; ``alone`` counts the heads without
    which that one alone is lost, ``group`` the prime powers that are lost alone without all of
    their heads.
    """
    rows = []
    for run in sorted(runs, key=lambda run: (-run.n, run.seed)):
        found = {name: head_criteria.needed(run, scale, levels) for name, scale in SCALES.items()}
        known, zero = found["right class"], found["always 0"]
        if known and zero:
            own = {"n": run.n, "seed": run.seed} | _least(known.left)
            own |= {"needed_zero": in_words(_own(zero.left))}
            for scale, of_scale in (("right class", known), ("always 0", zero)):
                own |= _specific(run, of_scale, scale, levels)
            rows.append(own)
    names = ["n", "seed", "needed", "own_least", "own_most", "others_least", "needed_zero"]
    counts = ("put", "alone", "alone_of", "group", "group_of")
    names += [f"{x}{suffix}" for suffix in ("", "_zero") for x in counts]
    return pd.DataFrame(rows, columns=names)


def _least(left: Left) -> Row:
    own = _own(left)
    at = [skill[own[head]] for head, skill in left.items()]
    others = [x for head, skill in left.items() for q, x in skill.items() if q != own[head]]
    least = {"own_least": min(at), "own_most": max(at), "others_least": min(others, default=None)}
    return {"needed": in_words(own)} | least


def _specific(run: Interventions, found: Needed, scale: str, levels: CriteriaLevels) -> Row:
    """The heads with a margin, and how many of them, and of the prime powers, are specific."""
    section, suffix = f"heads and primes, 0 = {scale}", SCALE[scale][0]
    judged = [x for x in head_criteria.judge(run, levels) if x.section == section]
    row: Row = {f"put{suffix}": in_words(found.put)}
    for name, x in zip(("alone", "group"), judged, strict=True):
        row |= {f"{name}{suffix}": x.held, f"{name}_of{suffix}": x.cases}
    return row


def _own(left: Left) -> dict[int, int]:
    """The prime power modulo which least skill is left without a head, for each head."""
    return {head: min(skill, key=lambda q: skill[q]) for head, skill in left.items()}


def in_words(put: Mapping[int, int | None]) -> str:
    """The heads of each prime power, from the prime power of each head.

    >>> in_words({0: 5, 1: 3, 2: 5, 3: None}), in_words({0: None})
    ('3: 1; 5: 0, 2', 'none')
    """
    powers = sorted({q for q in put.values() if q is not None})
    heads = {q: [str(h) for h in put if put[h] == q] for q in powers}
    return "; ".join(f"{q}: {', '.join(names)}" for q, names in heads.items()) or "none"


CHANCE = N | RUNS | {
    "powers": Column("prime powers", align="l"),
    "rule": Column("rule", align="l"),
    "divided": Column("divided 2 and 2", "count"),
    "split_chance": Column("chance", "share"),
    "p_binomial": Column("p", "p"),
}  # fmt: skip


def chance(runs: Sequence[Interventions], levels: CriteriaLevels) -> pd.DataFrame:
    """In how many runs of a modulus four heads are divided two and two between its two largest
    prime powers, how likely that is for heads put to prime powers at random, and the binomial
    probability of so many runs or more; for the least skill, and with a margin.

    >>> float(split_chance(2)), round(float(split_chance(3)), 3)
    (0.375, 0.074)
    """
    rows = []
    for n in sorted({run.n for run in runs}, reverse=True):
        needed = [head_criteria.needed(x, SCALES["right class"], levels) for x in runs if x.n == n]
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


def results(name: str, run: Interventions, levels: CriteriaLevels) -> Iterator[Result]:
    """What other studies read: the prime power that each head is put to with a margin, 0 for none,
    by what skill 0 is; and, of four heads, whether they are divided two and two, and how likely
    that is."""
    for scale, of_scale in SCALES.items():
        found = head_criteria.needed(run, of_scale, levels)
        if not found:
            continue
        for head, q in found.put.items():
            yield Result(name, f"head {head}", f"put to, 0 = {scale}", "count", q or 0)
        powers = sorted(next(iter(found.left.values())))
        if scale == "right class" and len(found.left) == 4:
            yield Result(name, "", "divided", "truth", _two_two(found.put, powers[-2:]))
            yield Result(name, "", "divided by chance", "share", split_chance(len(powers)))


GAINS = {
    "over_shuffled_mean": Column("classes − shuffled", "share"),
    "over_shuffled_low": Column("from", "share"),
    "over_shuffled_high": Column("to", "share"),
    "over_residues_mean": Column("classes − residues", "share"),
    "over_residues_low": Column("residues, from", "share"),
    "over_residues_high": Column("residues, to", "share"),
}
ROUTES = N | RUNS | {
    "heads": Column("heads", align="l"),
    "used": Column("pattern used", "count"),
    "lost_mean": Column("skill lost, mean", "share"),
    "class_yes": Column("by class", "count"),
    "class_part": Column("by class, in part", "count"),
    "residue_yes": Column("by residues", "count"),
    "residue_part": Column("by residues, in part", "count"),
    **GAINS,
}  # fmt: skip


def routes(
    runs: Sequence[Interventions], levels: CriteriaLevels, confidence: float
) -> pd.DataFrame:
    """For each modulus, head 0 and all heads: in how many runs the pattern is used, how many route
    by class and by residues, and the intervals of what classes bring back more than shuffled ones,
    and than the residues modulo the best prime power; paired, over the runs that use it."""
    rows = []
    for n in dict.fromkeys(run.n for run in runs):
        own = [run for run in runs if run.n == n]
        for name, zero in (("head 0", True), ("all heads", False)):
            every = [
                head_criteria.routes(run, (0,) if zero else head_criteria.every_head(run), levels)
                for run in own
            ]
            rows.append({"n": n, "heads": name, "runs": len(own)} | _over(every, confidence))
    names = ["n", "heads", "runs", "used", "lost_mean", "class_yes", "class_part", "residue_yes"]
    return pd.DataFrame(rows, columns=[*names, "residue_part", *GAINS])


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
