"""Every measure and every verdict of criteria-2.md, on one model.

Each number has an id (`decide.CRITERIA` for those with a level). NaN: without a value.
"""

from collections.abc import Iterable, Mapping
from math import isnan, nan

import numpy as np

from strata import results, store
from strata.inputs import InputError
from strata.monoid import prime_powers
from strata.patch.patching import Passed, passed
from strata.patch.projections import keys
from strata.results import Row
from strata.statistics import folds
from strata.task import primes
from studies.mechanism.code import (
    decide,
    decoding,
    families,
    gates,
    interaction,
    norms,
    proof,
    votes,
)
from studies.mechanism.code import dictionary as functions
from studies.mechanism.code.decoding import Last
from studies.mechanism.code.gates import Code
from studies.mechanism.code.moves import moves
from studies.mechanism.code.profile import Profile, profile
from studies.mechanism.code.records import Label
from studies.params import MechanismSettings as Settings

KINDS = "primes apart", "gated", "mixed"
REPLACED = "right answers with embedding, neurons and last layer replaced at once"
Values = dict[str, float]


def beside(id: str, sentence: str, unit: str, values: Mapping[str, float | int]) -> list[Row]:
    """Numbers without a level."""
    return [Row("", id, sentence, name, unit, float(x)) for name, x in values.items()]


def of_votes(y: Profile, settings: Settings) -> tuple[Values, list[Row]]:
    """Statement 0."""
    columns, rng = votes.remainders(len(y.y)), np.random.default_rng(settings.seed)
    left = votes.left_out(y, columns)
    free = [*prime_powers(len(y.y))] == primes(len(y.y))
    values = {
        "votes-share": votes.share(y),
        "votes-right": y.right(functions.explained(y, columns)),
        "votes-classes": left.median,
        "votes-permuted": votes.control(y, settings.draws, rng),
    }
    others = {
        "right answers": left.right,
        "every product right": float(left.right == 1) if left.right == left.right else nan,
        "determined": left.determined,
        "favoured": votes.favoured(y),
        "classes explain": y.share(votes.sorted_first(y)[1]) if free else nan,
    }
    return values, beside("votes", decide.STATEMENTS["votes"], "share", others)


def fits(y: Profile, use: Code, settings: Settings) -> Values:
    """What of statement 1 mean logits alone say."""
    n = len(y.y)
    return {
        "code-right": y.right(functions.explained(y, use.functions)),
        "code-rest": use.rest(y),
        "code-products": gates.held_out(use, y, folds(n, settings.seed, settings.folds), settings),
        "code-classes": gates.held_out(use, y, functions.by_class(n), settings),
        "code-count": float(use.functions.shape[1] - 1),
    }


def of_code(pairs: Passed, y: Profile, use: Code, settings: Settings) -> tuple[Values, list[Row]]:
    """Statement 1."""
    rng, chosen = np.random.default_rng(settings.seed), [*use.gates]
    own, n = use.functions, pairs.n
    drawn = [gates.others(use, rng) for _ in range(settings.draws)] if chosen else []
    permuted = [own[rng.permutation(n)] for _ in range(settings.draws)]
    within, across = moves(pairs, own)
    values = fits(y, use, settings) | {
        "code-within": within.share,
        "code-across": across.share,
        "code-permuted": np.mean([y.right(functions.explained(y, x)) for x in permuted]).item(),
        "code-others": max((use.explains(y, x) for x in drawn), default=nan),
    }
    sentence = decide.STATEMENTS["code"]
    rows = beside("code", sentence, "share", {"gates explain": use.explains(y, chosen)})
    left = {"left out within": within.left_out, "left out across": across.left_out}
    rows += beside("code", sentence, "count", left)
    return values, rows + beside(
        "gate", "a character that another prime switches off", "prime",
        {labelled(x.label): x.p for x in chosen},
    )  # fmt: skip


def labelled(label: Label) -> str:
    """A character by its primes, with valuation where it is not 0, and frequencies.

    >>> from studies.mechanism.code.records import Part
    >>> labelled((Part(5, 0, (2,)), Part(11, 0, (3,))))
    'χ 5:2 11:3'
    """
    parts = [f"{x.p}{f'^{x.v}' * bool(x.v)}:{','.join(map(str, x.k))}" for x in label]
    return " ".join(("χ", *parts))


def of_neurons(pairs: Passed, use: Code, settings: Settings) -> tuple[Values, list[Row]]:
    """Statement 2."""
    rng, several = np.random.default_rng(settings.seed), use.several
    every = families.families(pairs.n, several)

    def right(labels: list[families.Labels]) -> tuple[float, families.Replaced]:
        found = families.replaced(pairs, labels)
        return pairs.right(pairs.logits(pairs.after(found.hidden))), found

    orders = [rng.permutation(pairs.n) for _ in range(settings.permuted)]
    accuracy, found = right(every)
    values = {
        "neurons-right": accuracy,
        "neurons-variance": found.variance,
        "neurons-permuted": max(right([x[order] for x in every])[0] for order in orders),
    }
    names = [f"mod {Q}" for Q in prime_powers(pairs.n)] + [labelled(x) for x in several.labels]
    counts = np.bincount(found.family + 1, minlength=len(names) + 1)[1:]
    numbers = dict(zip(names, counts.tolist(), strict=True))
    return values, beside("neurons", decide.STATEMENTS["neurons"], "count", numbers)


def of_decoding(last: Last, settings: Settings) -> tuple[Values, list[Row]]:
    """Statement 3, and its rivals."""
    rng, rho = np.random.default_rng(settings.seed), last.lengths
    read = last.read(last.x @ last.least)
    equal = decoding.equal(last)
    permuted = [decoding.least_loss(last, rng.permutation(rho)) for _ in range(settings.permuted)]
    labels = [rng.permutation(last.pairs.n) for _ in range(settings.permuted)]
    of_others = [last.read(last.x @ decoding.least_loss(last, rho, x)).share for x in labels]
    left = [1 - last.read(last.x @ x).share for x in (equal, *permuted)]
    vary = rho.std() >= decoding.VARY * rho.mean()
    values = {
        "decoding-share": read.share,
        "decoding-bias": read.bias if last.bias >= decoding.VARY else nan,
        "decoding-right": last.right(last.least),
        "decoding-equal": (1 - read.share) / left[0] if vary else nan,
        "decoding-lengths": (1 - read.share) / float(np.mean(left[1:])) if vary else nan,
        "decoding-permuted": float(np.mean(of_others)),
    }
    rivals = {name: last.read(x).share for name, x in decoding.rivals(last, equal).items()}
    others = {"bias": last.bias, "bias of the least loss": decoding.bias_of_least_loss(last)}
    others |= {"cosine with class means": decoding.cosine(last)}
    return values, [
        *beside("rival", "another last layer: share of the mean logits", "share", rivals),
        *beside("decoding", decide.STATEMENTS["decoding"], "share", others),
    ]


def of_interaction(
    weights: store.Arrays, last: Last, use: Code, many: float, settings: Settings
) -> tuple[Values, list[Row]]:
    """Statement 4, and the kind of network; and, beside all levels, how many answers are right with
    its embedding, neurons and last layer replaced as statements 4, 2 and 3 have them, at once."""
    n, rng = last.pairs.n, np.random.default_rng(settings.seed)
    key = keys(weights["W_E"][:n], n, settings.key_threshold / 2)
    span = interaction.span(n, key, gates=True)
    drawn = [span[rng.permutation(n)] for _ in range(settings.permuted)]
    mixed, left = bool(use.several.labels), nan
    if many > settings.many and not mixed:
        without = interaction.projected(weights, n, interaction.span(n, key, gates=False))
        left = (1 - votes.share(profile(without))) / many
    own = interaction.projected(weights, n, span)
    permuted = [interaction.projected(weights, n, x).accuracy for x in drawn]
    hidden = families.replaced(own, families.families(n, use.several)).hidden
    every = own.right(own.after(hidden) @ (last.directions @ last.least))
    values = {
        "interaction-right": own.accuracy,
        "interaction-count": float(span.shape[1]),
        "interaction-gates": left,
        "interaction-permuted": max(permuted),
    }
    kind = KINDS[0] if many <= settings.many else KINDS[2] if mixed else KINDS[1]
    return values, [
        Row("", "kind", "how primes interact", verdict=kind),
        *beside("replaced", REPLACED, "accuracy", {"right": every}),
    ]


def of_norms(pairs: Passed) -> list[Row]:
    """The size of a transformer beside that of the network written by hand."""
    if not norms.comparable(pairs):
        return []
    found = norms.beside_by_hand(pairs)
    return beside("by-hand", "beside the network written by hand", "number", found)


def measure(weights: store.Arrays, n: int, settings: Settings) -> list[Row]:
    """All rows of a model. Raises InputError where its weights are not finite."""
    if not all(np.isfinite(x).all() for x in weights.values()):
        raise InputError("these weights are not finite: nothing to measure")
    pairs, key = passed(weights, n), keys(weights["W_E"][:n], n, settings.key_threshold)
    y = profile(pairs)
    last, use = Last(pairs, y), gates.code(y, key, settings)
    voted = of_votes(y, settings)
    many = 1 - voted[0]["votes-share"]
    parts = [
        voted,
        of_code(pairs, y, use, settings),
        of_neurons(pairs, use, settings),
        of_decoding(last, settings),
        of_interaction(weights, last, use, many, settings),
    ]
    values = {id: x for found, _ in parts for id, x in found.items()}
    whole = {
        "right": pairs.accuracy,
        "proven": float(pairs.count @ (proof.all_margins(pairs).margin > 0)) / n**2,
    }
    rows = beside("whole", "all pairs", "accuracy", whole)
    rows += beside("whole", "all pairs", "share", {
        "ceiling": y.energy(y.y) / y.squares, "many": many})  # fmt: skip
    rows += [row for _, own in parts for row in own]
    return decide.judged(values, settings.levels) + rows + of_norms(pairs)


def write(out: str, name: str, rows: Iterable[Row]) -> None:
    """Write those that have a verdict or a number, as of this run."""
    known = [row for row in rows if row.verdict or not (row.value is None or isnan(row.value))]
    results.write_rows(out, [row._replace(run=name) for row in known])
