"""Every measure and every verdict of criteria.md, on one model.

The verdict on a statement is 1 where it holds, 0 where it does not, 0.5 where it is undecided; so
is that on a number, whose unit stands before it. NaN: nothing could be measured. Descriptions by
few numbers have several rows of one name, in order.
"""

from collections.abc import Mapping
from math import isnan, nan

import numpy as np

from strata import store
from strata.inputs import InputError
from strata.patch.projections import Masks, keys
from strata.statistics import folds
from studies.mechanism.code import anova, codewords, decide, gating, neurons, proof, residual
from studies.mechanism.code import dictionary as functions
from studies.mechanism.code.decide import Row
from studies.mechanism.code.dictionary import Dictionary
from studies.mechanism.code.pairs import Pairs, Profile, all_pairs, profile
from studies.mechanism.code.records import Label
from studies.params import MechanismSettings as Settings


def table(of: str, unit: str, values: Mapping[str, float | int]) -> list[Row]:
    """A row for each of some numbers of one kind."""
    return [Row(of, name, unit, float(x)) for name, x in values.items()]


def of_logits(of: Pairs, y: Profile) -> list[Row]:
    """The network itself, and the parts of its logits."""
    return [
        *table("logits", "accuracy", {"all pairs": of.changed(of.residual)}),
        *table("logits", "share", {"ceiling": y.error(0 * y.y) / y.squares}),
        *table("parts", "share", anova.shares(anova.energies(y.y))),
    ]


def of_product(y: Profile, key: Masks, use: Dictionary, settings: Settings) -> list[Row]:
    """What the functions of the product explain."""
    n, rng = len(y.y), np.random.default_rng(settings.seed)
    fold = folds(n, settings.seed, settings.folds)
    drawn = [functions.other_characters(key, n, rng) for _ in range(settings.draws)]
    explained = functions.explained(y, use.design)
    others = [functions.rest(y, functions.dictionary(n, x)) for x in drawn]
    shares = {
        "all": y.share(explained),
        "zeros": y.share(functions.explained(y, use.zeros)),
        "rest": functions.rest(y, use),
        "rest of held-out products": functions.rest(y, use, fold),
        "rest of held-out classes": functions.rest(y, use, functions.by_class(n)),
        "rest of other characters": max(others),
    }
    return [
        *table("product side", "count", {"functions": use.count, "characters": use.characters}),
        *table("product side", "accuracy", {"right answers": y.right(explained)}),
        *table("product side", "share", shares),
    ]


def of_decoding(y: Profile, use: Dictionary, M: np.ndarray, settings: Settings) -> list[Row]:
    """The nearest code of the dictionary, what follows from it, its controls, and the candidate's
    own excess."""
    values, rng = use.values, np.random.default_rng(settings.seed)
    predicted, fold = codewords.predicted(values, M), folds(len(y.y), settings.seed, settings.folds)
    alone = codewords.nearest(y, values, codewords.one_prime(use))
    shares = {
        "all": y.share(predicted),
        "held-out products": y.share(codewords.held_out(y, values, fold), fold >= 0),
        "permuted candidates": codewords.permuted(y, values, settings.draws, rng),
        "no entries between primes": y.share(codewords.predicted(values, alone)),
    }
    parts = anova.parts(y.y), anova.parts(predicted)
    for title, true, told in zip(anova.KINDS[:3], *parts, strict=False):  # of many it has none
        total = y.energy(true)
        some = total > 1e-9 * y.energy(y.y)
        shares[f"predicted {title}"] = 1 - y.energy(true - told) / total if some else nan
    line = residual.excess(y)
    return [
        *table("nearest code", "accuracy", {"right answers": y.right(predicted)}),
        *table("nearest code", "share", shares),
        *table("bias", "ratio", {"slope on own excess": line.slope}),
        *table("bias", "share", {"line in own excess": line.share}),
    ]


def of_gates(y: Profile, key: Masks, use: Dictionary, settings: Settings) -> list[Row]:
    """Gated characters, the nearest code with them, and each character's own gating."""
    n, rng, name = len(y.y), np.random.default_rng(settings.seed), "gated characters"
    chosen = functions.gates(y, key, settings.levels.answers, settings.gates)
    wider, plain = use + functions.gated(n, chosen), functions.many_explained(y, use)
    drawn = [functions.other_gates(n, key, chosen, rng) for _ in range(settings.draws)]
    others = [functions.many_explained(y, use + functions.gated(n, x)) - plain for x in drawn]
    shares = {
        "of all characters": len({x.label for x in chosen}) / max(use.characters, 1),
        "explained": functions.many_explained(y, wider) - plain,
        "by others": max(others),
    }
    right = y.right(functions.explained(y, wider.design))
    rows = [
        *table(name, "count", {"added": len(chosen)}),
        *table(name, "share", shares),
        *table(name, "accuracy", {"right answers": right}),
        *[Row(labelled(x.label), "gated by", "prime", x.p) for x in chosen],
    ]
    shared = gating.shared(y.y, functions.of_key(n, key), y.squares)
    for x in gating.counted(shared, settings.smallest):
        rows.append(Row(labelled(x.parts), "own gating", "ratio", x.gating))
        rows.append(Row(labelled(x.parts), "explained", "share", x.explained))
    return rows


def labelled(label: Label) -> str:
    """A character by its primes, with valuation where it is not 0, and frequencies.

    >>> from studies.mechanism.code.records import Part
    >>> labelled((Part(5, 0, (2,)), Part(11, 0, (3,))))
    'χ 5:2 11:3'
    """
    parts = [f"{x.p}{f'^{x.v}' * bool(x.v)}:{','.join(map(str, x.k))}" for x in label]
    return " ".join(("χ", *parts))


def of_residual(
    of: Pairs, y: Profile, use: Dictionary, M: np.ndarray | None, settings: Settings
) -> list[Row]:
    """Interventions at the last residual stream and at the unembedding."""
    rng, x = np.random.default_rng(settings.seed), residual.stream(of, use)
    right, shares = residual.kept(x, settings.draws, rng)
    rows = table("residual stream", "accuracy", right) + table("residual stream", "share", shares)
    for where, found in residual.moves(x, rng).items():
        tried, hits = found.tried or nan, {"hits": found.hits, "random": found.random}
        rows += table(f"moves {where}", "accuracy", {k: v / tried for k, v in hits.items()})
        counts = {"tried": found.tried, "left out": found.left_out}
        rows += table(f"moves {where}", "count", counts)
    if M is not None:
        rows += table("unembedding", "accuracy", residual.edited(x, y, M, use.values))
    return rows


def of_neurons(of: Pairs, found: neurons.Neurons, settings: Settings) -> list[Row]:
    """Neurons by prime; the next prime power is none where there is one alone."""
    own, several = found.own, len(found.powers) > 1
    after, rng = (own + 1) % len(found.powers), np.random.default_rng(settings.seed)
    relabelled = neurons.relabelled(of, found, settings.relabelled, rng)
    shares = {
        "own prime power": found.share(own),
        "next prime power": found.share(after) if several else nan,
        "relabelled": relabelled if several else nan,
        "sum": found.additive,
    }
    hidden = {
        "replaced": neurons.replaced(of, own),
        "no interaction": neurons.replaced(of, own, neurons.no_interaction),
        "one frequency": neurons.one_frequency(of, found),
    }
    if several:
        hidden["next prime power"] = neurons.replaced(of, after)
    rows = table("neurons", "share", shares)
    for name, activations in hidden.items():
        logits = of.logits(of.after(activations))
        loss, margin = of.loss_and_margin(logits)
        rows += [Row("neurons", name, "accuracy", of.right(logits))]
        rows += [Row("neurons", name, "loss", loss), Row("neurons", name, "margin", margin)]
    for i, Q in enumerate(found.powers):
        rows += table(f"neurons mod {Q}", "count", {"neurons": int((own == i).sum())})
    return rows


def of_proof(of: Pairs, found: neurons.Neurons, settings: Settings) -> list[Row]:
    """The proof, by rank, and one from residues modulo one prime power for each neuron."""
    proved = proof.prove(of, settings.proven)
    centre = neurons.replaced(of, found.own)
    from_residues = proof.prove(of, settings.proven, centre, most=0)
    r = len(proved.proven) - 1 if isnan(proved.rank) else int(proved.rank)
    counts = {
        "rank": proved.rank,
        "rank for all": proved.rank_all,
        "multiply-adds": proof.multiply_adds(of, r),
        "multiply-adds of all logits": proof.all_logits(of),
    }
    return [
        *table("proof", "count", counts),
        *table("proof", "accuracy", {"right": proved.right}),
        *table("proof", "logit", {"rounding": proved.rounding}),
        *[Row(f"proof of rank {r}", "proven", "accuracy", x) for r, x in enumerate(proved.proven)],
        *table("proof from residues", "accuracy", {"proven": from_residues.proven[0]}),
    ]


def few_numbers(
    y: Profile, key: Masks, use: Dictionary, M: np.ndarray, settings: Settings
) -> list[Row]:
    """Descriptions of the logits by ever more numbers."""
    rows, ranks = [], range(1, settings.ranks + 1)
    for name, numbers, x in codewords.few_numbers(y, key, use, M, settings.terms, ranks):
        of = f"few numbers: {name}"
        rows += [Row(of, "numbers", "count", float(numbers)), Row(of, "all", "share", y.share(x))]
        rows += [Row(of, "right answers", "accuracy", y.right(x))]
    return rows


def measure(weights: store.Arrays, n: int, settings: Settings) -> list[Row]:
    """All rows of a model. Raises InputError where its weights are not finite."""
    if not all(np.isfinite(x).all() for x in weights.values()):
        raise InputError("these weights are not finite: nothing to measure")
    of, key = all_pairs(weights, n), keys(weights["W_E"][:n], n, settings.key_threshold)
    y, use = profile(of), functions.dictionary(n, key)
    rows, M = of_logits(of, y) + of_product(y, key, use, settings), None
    if use.count < settings.levels.functions[1]:
        M = codewords.nearest(y, use.values)
        rows += of_decoding(y, use, M, settings) + few_numbers(y, key, use, M, settings)
    rows += of_gates(y, key, use, settings) + of_residual(of, y, use, M, settings)
    found = neurons.measured(of)
    rows += of_neurons(of, found, settings) + of_proof(of, found, settings)
    return rows + decide.verdicts(rows, settings.levels)
