"""The embedding of all runs under the two accounts, and the literature's measures.

docs/strata-or-primes.md, section 2, defines them. What the decision rests on stands in the tables
of ``accounts``; here are its controls and what is beside it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from strata.statistics import t_interval
from strata.tables.headline import Table
from studies.mechanism.code.decision import FEWEST, called
from studies.mechanism.code.embedding_levels import Choice, Measured, by_kind, varied, verdicts
from studies.mechanism.code.records import Embedding
from studies.mechanism.code.study import conclusion

Numbers = dict[str, float | None]
SMALLEST = 3  # elements of a class: one frequency has no distribution
# What is shown over the runs of a modulus, with its unit.
OVER_RUNS = {
    "within": ("within, predicted answer", "share"),
    "within_exchanged": ("within, exchange", "share"),
    "crossing": ("crossing, predicted answer", "share"),
    "crossing_exchanged": ("crossing, exchange", "share"),
    "kept": ("kept", "share"),
    "effects_share": ("share of W_E in main effects", "share"),
    "keep_skill": ("keep, skill", "share"),
    "keep_permuted": ("keep, permuted residues, highest", "share"),
    "keep_components": ("keep, as many principal components", "share"),
    "overlap": ("overlap of these with main effects", "share"),
    "remove_skill": ("remove, skill", "share"),
    "remove_shrunk": ("nothing removed, shrunk", "share"),
    "remove_permuted": ("remove, permuted residues, least", "share"),
    "one_own": ("one removed, skill modulo it, most", "share"),
    "one_others": ("one removed, skill modulo others, least", "share"),
    "symmetricity": ("gradient symmetricity", "index"),
    "irrelevance": ("distance irrelevance", "index"),
    "simple_share": ("simple neurons, share of variance", "share"),
    "simple_skill": ("simple neurons, skill", "share"),
    "power_share": ("functions of a mod one Q, share of variance", "share"),
    "power_skill": ("functions of a mod one Q, skill", "share"),
    "sum_share": ("g(a) + g′(b), share of variance", "share"),
    "sum_skill": ("g(a) + g′(b), skill", "share"),
    "cosets": ("approximate cosets", "share"),
    "cosets_second": ("approximate cosets, second-best", "share"),
    "gini": ("Gini of spectra", "index"),
}


def changes(run: Embedding) -> Numbers:
    """Transported changes and their controls, and the simple exchange."""
    found: Numbers = {}
    for name, change in (("within", run.within), ("crossing", run.crossing)):
        if change:
            found |= {
                name: change.success,
                f"{name}_least": change.least,
                f"{name}_control": max(change.chance, change.random),
                f"{name}_exchanged": change.exchanged,
            }
    return found


def keep_remove(run: Embedding) -> Numbers:
    """Keep and remove with every control, and one f_Q removed: the worst prime power on the worse
    of two scales."""
    effects = run.main_effects
    if effects is None:
        return {}
    left = [
        (q == Q, skill)
        for Q, one in effects.remove_one.items()
        for scale in (one.modulo, one.modulo_zero)
        for q, skill in scale.items()
        if skill is not None
    ]
    return {
        "effects_share": effects.share,
        "kept": effects.keep.kept,
        "keep_skill": effects.keep.skill,
        "keep_permuted": effects.keep_permuted.skill.high,
        "keep_components": effects.keep_components.skill,
        "overlap": effects.overlap,
        "remove_skill": effects.remove.skill,
        "remove_shrunk": effects.remove_shrunk.skill,
        "remove_permuted": effects.remove_permuted.skill.low,
        "one_own": max((x for own, x in left if own), default=None),
        "one_others": min((x for own, x in left if not own), default=None),
    }


def literature(run: Embedding) -> Numbers:
    """The literature's measures; those of classes as means over the classes that have them."""
    neurons, classes = run.neurons, run.classes
    if neurons is None:
        return {}
    return {
        "symmetricity": _mean(x.symmetricity for x in classes),
        "irrelevance": _mean(x.irrelevance for x in classes),
        "simple_share": neurons.simple.share,
        "simple_skill": neurons.simple.skill,
        "power_share": neurons.one_power.share,
        "power_skill": neurons.one_power.skill,
        "sum_share": neurons.additive.share,
        "sum_skill": neurons.additive.skill,
        "cosets": neurons.cosets,
        "cosets_second": neurons.cosets_second,
        "gini": _mean(x.gini for x in classes if x.size >= SMALLEST),
    }


def _mean(values: Iterable[float | None]) -> float | None:
    known = [x for x in values if x is not None]
    return float(np.mean(known)) if known else None


def per_run(
    runs: Mapping[str, Embedding], numbers: Callable[[Embedding], Numbers], generalised: set[str]
) -> pd.DataFrame:
    """A row for each run, named by its key; a column is there if a run has the number."""
    rows = [
        {"run": name, "generalised": name in generalised} | numbers(run)
        for name, run in runs.items()
    ]
    return pd.DataFrame(rows)


def over_runs(runs: Sequence[Embedding], confidence: float) -> pd.DataFrame:
    """For each modulus that has several runs the mean of each number and Student's interval."""
    moduli = _moduli(runs)
    some = {n: [_numbers(x) for x in runs if x.n == n] for n in moduli}
    rows = [{"measure": "runs"} | {f"n{n}": str(len(some[n])) for n in moduli}]
    for name, (measure, unit) in OVER_RUNS.items():
        row = {"measure": measure}
        for n in moduli:
            values = [x for numbers in some[n] if (x := numbers.get(name)) is not None]
            row[f"n{n}"] = _interval(values, unit, confidence)
        rows.append(row)
    return pd.DataFrame(rows, columns=["measure", *(f"n{n}" for n in moduli)])


def _numbers(run: Embedding) -> Numbers:
    """All that is shown of a run; where n is a prime power, nothing but the literature's."""
    return (changes(run) | keep_remove(run) if run.crossing else {}) | literature(run)


def _interval(values: Sequence[float], unit: str, confidence: float) -> str:
    """Mean and interval in words; empty of fewer than two values.

    >>> _interval([0.5, 0.7], "index", 0.5), _interval([0.5, 0.7], "share", 0.5)
    ('0.60 (0.50 to 0.70)', '60.0 % (50.0 to 70.0)')
    """
    interval = t_interval(values, confidence)
    if interval is None:
        return ""
    scale, digits, sign = (100, 1, " %") if unit == "share" else (1, 2, "")
    mean, low, high = (f"{scale * x:.{digits}f}" for x in (float(np.mean(values)), *interval))
    return f"{mean}{sign} ({low} to {high})".replace("-", "−")


def _moduli(runs: Sequence[Embedding]) -> list[int]:
    """The moduli of more than one run, in the order of the runs."""
    every = [x.n for x in runs]
    return [n for n in dict.fromkeys(every) if every.count(n) > 1]


def thresholds(runs: Sequence[Measured], choice: Choice) -> pd.DataFrame:
    """What each modulus is called by its embedding, and what it would be with other levels, one
    changed at a time, and with all at one end of their ranges."""
    rows = []
    for kind, own in by_kind(runs).items():
        if len(own) < FEWEST:
            continue
        default, tried = verdicts(own, choice), [*varied(choice)]
        found = [(f"{level}: {conclusion(x)}", called(x) == called(default))
                 for level, other in tried for x in [verdicts(own, other)]]  # fmt: skip
        row = {"kind": kind, "conclusion": "embedding", "default": conclusion(default)}
        row |= {"tried": len(tried), "changed": "; ".join(x for x, same in found if not same)}
        rows.append(row)
    return pd.DataFrame(rows, columns=["kind", "conclusion", "default", "tried", "changed"])


CAPTIONS = {
    "embedding-changes": "Transported changes of the embedding: share with the predicted answer.",
    "embedding-keep": "Main effects of the embedding kept and removed, with controls: skills.",
    "literature-runs": "The literature's measures by run.",
    "embedding-seeds": "The embedding and the literature's measures over the transformers of a "
    "modulus that generalise: means, with {} % intervals.",
    "embedding-thresholds": "What each level changes in the verdicts on the embedding.",
}


def tables(
    runs: Sequence[Measured], negative: Mapping[str, Embedding], choice: Choice, confidence: float
) -> list[Table]:
    """All of them. ``negative``: the negative controls by name."""
    named = {x.embedding.run: x.embedding for x in runs} | dict(negative)
    composite = {name: x for name, x in named.items() if x.crossing}
    done = {x.embedding.run for x in runs if x.metrics.generalised}
    counted = [named[name] for name in done if named[name].architecture == "transformer"]
    frames = (
        per_run(composite, changes, done),
        per_run(composite, keep_remove, done),
        per_run(named, literature, done),
        over_runs(sorted(counted, key=lambda x: (-x.n, x.seed)), confidence),
        thresholds(runs, choice),
    )
    shown = zip(CAPTIONS.items(), frames, strict=True)
    percent = f"{100 * confidence:g}"
    return [Table(name, caption.format(percent), frame) for (name, caption), frame in shown]
