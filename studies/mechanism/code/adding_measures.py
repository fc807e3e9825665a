"""Every measure and every verdict of criteria-3.md, on one model.

Each number has an id (`adding_decide.CRITERIA` for those with a level). NaN: without a value.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import gcd, nan
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from strata.architecture import architecture_of
from strata.inputs import InputError
from strata.patch.patching import ForwardPass, forward_pass
from strata.results import Row
from strata.store import Arrays
from strata.task import Task
from studies.mechanism.code import (
    adding,
    decide,
    hole,
    outputs,
    residues,
    scores,
    symmetricity,
    votes,
)
from studies.mechanism.code import dictionary as functions
from studies.mechanism.code.adding import Functions, ResidueFunctions
from studies.mechanism.code.adding_decide import CRITERIA, STATEMENTS
from studies.mechanism.code.measures import Values, label_text, unlevelled
from studies.mechanism.code.profile import profile
from studies.mechanism.code.records import Label
from studies.mechanism.code.votes import permute_within_classes
from studies.params import AddingMeasures as Settings

Part = tuple[Values, list[Row]]


@dataclass(frozen=True)
class RandomFunctions(ResidueFunctions):
    """The same forms with random functions in the place of characters, as many: each of the
    residues modulo the primes of the character, and 0 where that is 0."""

    seed: int = 0

    def character(self, label: Label) -> Functions:
        """Draw as many functions as the character has waves."""
        Q = np.prod([gcd(self.n, part.p ** self.n.bit_length()) for part in label])
        seed = [self.seed, *(x for part in label for x in (part.p, part.v, *part.k))]
        count = residues.waves(self.n, label).shape[1]
        drawn = np.random.default_rng(seed).normal(size=(Q, count))
        on = np.abs(residues.values(self.n, label)) > 0.5
        return drawn[np.arange(self.n) % Q] * on[:, None]

    def square(self, label: Label) -> Functions:
        """Draw the functions of its square; none where that is 1."""
        square = residues.square_of(self.n, label)
        return self.character(square) if square else np.zeros((self.n, 0))


class Attending(NamedTuple):
    """A network, the same at mean attention, and how many pairs either answers."""

    whole: ForwardPass
    at_mean: ForwardPass
    right: float
    right_at_mean: float

    @property
    def carries(self) -> bool:
        """Whether attention carries skill."""
        return self.right - self.right_at_mean >= scores.CARRIES

    def back(self, right: float) -> float:
        """Return the part of the skill that comes back; NaN where attention carries none."""
        return scores.skill_back(right, self.right_at_mean, self.right)


def attending(pairs: ForwardPass) -> Attending:
    """Fix the attention of a network at its mean."""
    at_mean = scores.with_pattern(pairs, scores.mean_pattern(pairs))
    return Attending(pairs, at_mean, pairs.accuracy, at_mean.accuracy)


def of_hole(network: Attending, one: scores.Fit) -> Part:
    """Measure statement 6."""
    votes = hole.all_votes(network.whole, network.at_mean)
    counting = hole.votes_that_count(votes, one.labels)
    all_primes = hole.hole(counting)
    large = hole.hole([x for x in counting if x.p >= hole.LARGE])
    sentence = STATEMENTS["hole"]
    rows = unlevelled("hole", sentence, "count", {"characters": all_primes.count})
    for prefix, x in (("", all_primes), (f"from {hole.LARGE}: ", large)):
        rows += unlevelled("hole", sentence, "index", {
            f"{prefix}correlation": x.correlation,
            f"{prefix}variation at mean": x.variation_at_mean,
            f"{prefix}variation": x.variation,
        })  # fmt: skip
    for x in counting:
        for name, y in (("vote at mean", x.at_mean), ("vote", x.unchanged)):
            by_delta = {f"{x.p}:{x.k} {delta}": vote for delta, vote in enumerate(y.tolist())}
            rows += unlevelled(name, "by prime, frequency and difference of logarithms", "index",
                           by_delta)  # fmt: skip
    return {
        "hole-correlation": all_primes.correlation,
        "hole-variation": all_primes.variation / all_primes.variation_at_mean,
    }, rows


def of_attention(
    network: Attending,
    one: scores.Fit,
    two: scores.Fit,
    orders: list[Int[np.ndarray, " n"]],
) -> Part:
    """Measure statement 7; nothing with a level where attention carries no skill."""
    pairs = network.whole

    def right(fit: scores.Fit) -> float:
        pattern = scores.pattern_of(pairs, fit.scores)
        return scores.with_pattern(pairs, pattern).accuracy

    def permuted(order: Int[np.ndarray, " n"]) -> float:
        return network.back(right(scores.fit_pass(pairs, 2, order)))

    right_two = right(two)
    values = {
        "attention-right": right_two if network.carries else nan,
        "attention-back": network.back(right_two),
        "attention-permuted": max(map(permuted, orders)) if network.carries else nan,
    }
    partners = scores.partner_phases(pairs.n, one)
    sentence = STATEMENTS["attention"]
    rows = unlevelled("attention", sentence, "accuracy", {
        "at mean": network.right_at_mean, "A-one": right(one), "A-two": right_two})  # fmt: skip
    rows += unlevelled("attention", sentence, "truth", {"carries skill": network.carries})
    rows += unlevelled("attention", sentence, "index", {
        "partners": float(np.nanmedian(partners)) if np.isfinite(partners).any() else nan
    })  # fmt: skip
    heads = {
        " ".join((str(head), *map(label_text, labels))): share
        for head, (labels, share) in enumerate(zip(two.labels, two.share.tolist(), strict=True))
    }
    return values, rows + unlevelled("head", "what A-two explains of its score", "share", heads)


def of_adding(
    neurons: adding.Neurons,
    before: Float[np.ndarray, "rows d_mlp"],
    orders: list[Int[np.ndarray, " n"]],
    settings: Settings,
) -> Part:
    """Measure statement 8, its rival, and random functions in the place of characters."""
    pairs, n = neurons.pairs, neurons.pairs.n

    def right(use: ResidueFunctions) -> float:
        return adding.right(pairs, replace(neurons, use=use).form("B4"))

    random = [RandomFunctions(n, np.arange(n), settings.seed + i) for i in range(settings.draws)]
    sum_alone = replace(neurons, difference=neurons.difference[:, :0])
    forms: dict[str, Callable[[], np.ndarray]] = {
        "B0": lambda: neurons.form("B0"),
        "B1": lambda: neurons.form("B1"),
        "B2": lambda: neurons.form("B2"),
        "sum channel": lambda: sum_alone.form("B4"),
        "rival": lambda: adding.additive(pairs),
    }
    values = {
        "adding-right": adding.right(pairs, before),
        "adding-permuted": max(right(ResidueFunctions(n, order)) for order in orders),
    }
    rights = {name: adding.right(pairs, form()) for name, form in forms.items()}
    rights |= {"random functions": max(map(right, random))}
    return values, unlevelled("adding", STATEMENTS["adding"], "accuracy", rights)


def of_formulas(
    neurons: adding.Neurons,
    before: Float[np.ndarray, "rows d_mlp"],
    two: scores.Fit,
    settings: Settings,
) -> Part:
    """Measure statement 9, the phases of what neurons write, and the free numbers."""
    pairs, hidden = neurons.pairs, np.maximum(before, 0)
    written, rng = outputs.written(neurons, hidden), np.random.default_rng(settings.seed)

    def right(W_out: Float[np.ndarray, "d_mlp d_model"]) -> float:
        return pairs.right(adding.logits(pairs, hidden, W_out))

    drawn = [outputs.exchanged(neurons, written.W_out, rng) for _ in range(settings.draws)]
    values = {
        "formulas-right": right(written.W_out),
        "formulas-exchanged": max(map(right, drawn)),
    }
    sentence = STATEMENTS["formulas"]
    phases = {
        "doubling": outputs.doubling(neurons),
        "detected": outputs.doubling(neurons, hidden),
        "symmetricity": symmetricity.symmetricity(pairs, settings.seed),
    }
    return values, [
        *unlevelled("formulas", sentence, "count", free_numbers(neurons, two, written)),
        *unlevelled("formulas", sentence, "index", phases),
    ]


def free_numbers(
    neurons: adding.Neurons, two: scores.Fit, written: outputs.Written
) -> dict[str, int]:
    """Count the free numbers in all formulas, and the weights that these replace."""
    weights, stay = neurons.pairs.weights, {"W_U", "b_U"}
    return {
        "numbers": numbers_of(neurons, two) + written.numbers + len(weights["b_out"]),
        "weights": sum(x.size for name, x in weights.items() if name not in stay),
    }


def numbers_of(neurons: adding.Neurons, two: scores.Fit) -> int:
    """Count the free numbers in the formulas of scores and of pre-activations."""
    n = neurons.pairs.n
    heads = [
        functions.basis(np.hstack([functions.zeros(n), *(residues.waves(n, x) for x in labels)]))
        for labels in two.labels
    ]
    total = sum(x.shape[1] for x in heads)
    for members in neurons.by_family().values():
        family = neurons.family[members[0]]
        key = neurons.key_of(family)
        columns = adding.form_2(neurons.use, neurons.drawn, family, key)
        total += len(members) * int(np.linalg.matrix_rank(columns))
    return total


def without_attention(pairs: ForwardPass) -> list[Row]:
    """Return how flat the votes of a model without attention are, over its largest characters."""
    votes = hole.all_votes(pairs, pairs)
    least = hole.COUNTS * max((x.amplitude for x in votes), default=nan)
    flat = hole.hole([x for x in votes if x.amplitude >= least])
    return unlevelled("hole", STATEMENTS["hole"], "index", {"variation": flat.variation})


def measure(weights: Arrays, n: Task | int, settings: Settings) -> list[Row]:
    """Return all rows of a model. Raises InputError where its weights are not finite."""
    if not all(np.isfinite(x).all() for x in weights.values()):
        raise InputError("these weights are not finite: nothing to measure")
    pairs = forward_pass(weights, n)
    preferences = votes.preferences(profile(pairs))
    values = dict.fromkeys(CRITERIA, nan)
    values["identified-preference"] = float((preferences > 0).mean())
    rows = unlevelled("whole", "all pairs", "accuracy", {"right": pairs.accuracy})
    rows += unlevelled("identified", STATEMENTS["identified"], "index", {
        "least preference, logits": preferences.min()})  # fmt: skip
    if not architecture_of(weights).attends:
        rows += without_attention(pairs)
    elif pairs.n > 2:  # modulo 2 no character has an angle
        rng = np.random.default_rng(settings.seed)
        orders = [permute_within_classes(pairs.n, rng) for _ in range(settings.draws)]
        network = attending(pairs)
        one, two = scores.fit_pass(pairs, 1), scores.fit_pass(pairs, 2)
        neurons = adding.neurons(pairs, two, seed=settings.seed)
        before = neurons.form("B4")
        for numbers, more in (
            of_hole(network, one),
            of_attention(network, one, two, orders),
            of_adding(neurons, before, orders, settings),
            of_formulas(neurons, before, two, settings),
        ):
            values |= numbers
            rows += more
    return [*decide.judge(values, settings.levels, CRITERIA, STATEMENTS), *rows]
