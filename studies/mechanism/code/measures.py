"""Every measure and every verdict of criteria-2.md, on one model.

Each number has an id (`decide.CRITERIA` for those with a level). NaN: without a value.
"""

from collections.abc import Iterable, Mapping
from math import isnan, nan

import numpy as np

from strata import results, store
from strata.inputs import InputError
from strata.monoid import prime_powers
from strata.patch.patching import ForwardPass, forward_pass
from strata.patch.projections import key_masks
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
from studies.mechanism.code.decoding import LastLayer
from studies.mechanism.code.gates import Code
from studies.mechanism.code.moves import moves
from studies.mechanism.code.profile import Profile, profile
from studies.mechanism.code.records import Label
from studies.params import MechanismSettings as Settings

KINDS = "primes apart", "gated", "mixed"
REPLACED = "right answers with embedding, neurons and last layer replaced at once"
Values = dict[str, float]
Measured = tuple[Values, list[Row]]  # numbers with a level, and rows without


def unlevelled(id: str, sentence: str, unit: str, values: Mapping[str, float | int]) -> list[Row]:
    """Return a row for each number that has no level."""
    return [Row("", id, sentence, name, unit, float(x)) for name, x in values.items()]


def measure_votes(y: Profile, settings: Settings) -> Measured:
    """Measure statement 0."""
    columns, rng = votes.remainders(len(y.y)), np.random.default_rng(settings.seed)
    unseen = votes.predict_left_out(y, columns)
    square_free = [*prime_powers(len(y.y))] == primes(len(y.y))
    values = {
        "votes-share": votes.share(y),
        "votes-right": y.right(functions.prediction(y, columns)),
        "votes-classes": unseen.median,
        "votes-permuted": votes.control(y, settings.draws, rng),
    }
    numbers = {
        "right answers": unseen.right,
        "every product right": float(unseen.right == 1) if unseen.right == unseen.right else nan,
        "determined": unseen.determined,
        "classes explain": y.share(votes.classes_first(y)[1]) if square_free else nan,
    }
    return values, unlevelled("votes", decide.STATEMENTS["votes"], "share", numbers)


def measure_fits(y: Profile, phi: Code, settings: Settings) -> Values:
    """Measure what mean logits alone say of statement 1."""
    n = len(y.y)
    products = folds(n, settings.seed, settings.folds)
    return {
        "code-right": y.right(functions.prediction(y, phi.functions)),
        "code-rest": phi.share_beyond_zeros(y),
        "code-products": gates.held_out_share(phi, y, products, settings),
        "code-classes": gates.held_out_share(phi, y, functions.by_class(n), settings),
        "code-count": float(phi.functions.shape[1] - 1),
    }


def measure_code(pairs: ForwardPass, y: Profile, phi: Code, settings: Settings) -> Measured:
    """Measure statement 1."""
    rng, chosen = np.random.default_rng(settings.seed), [*phi.gates]
    design, n = phi.functions, pairs.n
    drawn = [gates.random_gates(phi, rng) for _ in range(settings.draws)] if chosen else []
    permuted = [design[rng.permutation(n)] for _ in range(settings.draws)]
    within, across = moves(pairs, design)
    values = measure_fits(y, phi, settings) | {
        "code-within": within.share,
        "code-across": across.share,
        "code-permuted": np.mean([y.right(functions.prediction(y, x)) for x in permuted]).item(),
        "code-others": max((phi.explains(y, x) for x in drawn), default=nan),
    }
    sentence = decide.STATEMENTS["code"]
    rows = unlevelled("code", sentence, "share", {"gates explain": phi.explains(y, chosen)})
    counts = {"left out within": within.left_out, "left out across": across.left_out}
    rows += unlevelled("code", sentence, "count", counts)
    return values, rows + unlevelled(
        "gate", "a character that another prime switches off", "prime",
        {label_text(x.label): x.p for x in chosen},
    )  # fmt: skip


def label_text(label: Label) -> str:
    """Write a character as text: its primes, with the valuation where it is not 0, and frequencies.

    >>> from studies.mechanism.code.records import Part
    >>> label_text((Part(5, 0, (2,)), Part(11, 0, (3,))))
    'χ 5:2 11:3'
    """
    parts = [f"{x.p}{f'^{x.v}' * bool(x.v)}:{','.join(map(str, x.k))}" for x in label]
    return " ".join(("χ", *parts))


def measure_neurons(pairs: ForwardPass, phi: Code, settings: Settings) -> Measured:
    """Measure statement 2."""
    rng, mixed = np.random.default_rng(settings.seed), phi.mixed
    family_labels = families.families(pairs.n, mixed)

    def right(labels: list[families.Labels]) -> tuple[float, families.Replaced]:
        replaced = families.replace_neurons(pairs, labels)
        return pairs.right(pairs.logits(pairs.after(replaced.hidden))), replaced

    orders = [rng.permutation(pairs.n) for _ in range(settings.permuted)]
    accuracy, replaced = right(family_labels)
    values = {
        "neurons-right": accuracy,
        "neurons-variance": replaced.variance,
        "neurons-permuted": max(right([x[order] for x in family_labels])[0] for order in orders),
    }
    names = [f"mod {Q}" for Q in prime_powers(pairs.n)] + [label_text(x) for x in mixed.labels]
    counts = np.bincount(replaced.family + 1, minlength=len(names) + 1)[1:]
    numbers = dict(zip(names, counts.tolist(), strict=True))
    sizes = {
        "numbers in tables": families.count_cells(family_labels, replaced.family),
        "weights": sum(x.size for x in pairs.weights.values()),
    }
    return values, [
        *unlevelled("neurons", decide.STATEMENTS["neurons"], "count", numbers),
        *unlevelled("neurons-size", "how large the neurons' tables are", "count", sizes),
    ]


def measure_decoding(last: LastLayer, settings: Settings) -> Measured:
    """Measure statement 3, and its rivals."""
    rng, rho = np.random.default_rng(settings.seed), last.lengths
    best = last.readout(last.x @ last.least)
    equal = decoding.equal_lengths(last)
    permuted = [decoding.least_loss(last, rng.permutation(rho)) for _ in range(settings.permuted)]
    labels = [rng.permutation(last.pairs.n) for _ in range(settings.permuted)]
    drawn_shares = [last.readout(last.x @ decoding.least_loss(last, rho, x)).share for x in labels]
    missed = [1 - last.readout(last.x @ x).share for x in (equal, *permuted)]
    lengths_vary = rho.std() >= decoding.VARY * rho.mean()
    values = {
        "decoding-share": best.share,
        "decoding-bias": best.bias if last.bias >= decoding.VARY else nan,
        "decoding-right": last.right(last.least),
        "decoding-equal": (1 - best.share) / missed[0] if lengths_vary else nan,
        "decoding-lengths": (1 - best.share) / float(np.mean(missed[1:])) if lengths_vary else nan,
        "decoding-permuted": float(np.mean(drawn_shares)),
    }
    rivals = {name: last.readout(x).share for name, x in decoding.rivals(last, equal).items()}
    numbers = {"bias": last.bias, "bias of the least loss": decoding.bias_of_least_loss(last)}
    numbers |= {"cosine with class means": decoding.cosine(last)}
    numbers |= {"cosine with least loss": decoding.cosine_with(last, last.least)}
    return values, [
        *unlevelled("rival", "another last layer: share of the mean logits", "share", rivals),
        *unlevelled("decoding", decide.STATEMENTS["decoding"], "share", numbers),
        *unlevelled("decoding", decide.STATEMENTS["decoding"], "index", {
            "loss over the least": decoding.loss_over_least(last)}),
    ]  # fmt: skip


def measure_interaction(
    weights: store.Arrays, last: LastLayer, phi: Code, left_by_votes: float, settings: Settings
) -> Measured:
    """Measure statement 4 and find the kind of network. One number has no level: how many answers
    are right when embedding, neurons and last layer are replaced at once, as statements 4, 2 and 3
    say."""
    n, rng = last.pairs.n, np.random.default_rng(settings.seed)
    key = key_masks(weights["W_E"][:n], n, settings.key_threshold / 2)
    span = interaction.span(n, key, gates=True)
    drawn = [span[rng.permutation(n)] for _ in range(settings.permuted)]
    mixed, left_alone = bool(phi.mixed.labels), nan
    if left_by_votes > settings.many:
        alone = interaction.span(n, key, gates=False, mixed=False)
        unmixed = interaction.project_embedding(weights, n, alone)
        left_alone = (1 - votes.share(profile(unmixed))) / left_by_votes
    projected = interaction.project_embedding(weights, n, span)
    permuted = [interaction.project_embedding(weights, n, x).accuracy for x in drawn]
    hidden = families.replace_neurons(projected, families.families(n, phi.mixed)).hidden
    right_replaced = projected.right(projected.after(hidden) @ (last.directions @ last.least))
    values = {
        "interaction-right": projected.accuracy,
        "interaction-count": float(span.shape[1]),
        "interaction-gates": nan if mixed else left_alone,
        "interaction-permuted": max(permuted),
    }
    kind = KINDS[0] if left_by_votes <= settings.many else KINDS[2] if mixed else KINDS[1]
    return values, [
        Row("", "kind", "how primes interact", verdict=kind),
        *unlevelled("interaction", decide.STATEMENTS["interaction"], "share", {
            "left by angles of one prime": left_alone}),
        *unlevelled("replaced", REPLACED, "accuracy", {"right": right_replaced}),
    ]  # fmt: skip


def measure_norms(pairs: ForwardPass) -> list[Row]:
    """Compare the size of a transformer with that of the network written by hand."""
    if not norms.comparable(pairs):
        return []
    sizes = norms.compare_by_hand(pairs)
    return unlevelled("by-hand", "beside the network written by hand", "number", sizes)


def measure(weights: store.Arrays, n: int, settings: Settings) -> list[Row]:
    """Return all rows of a model. Raises InputError where its weights are not finite."""
    if not all(np.isfinite(x).all() for x in weights.values()):
        raise InputError("these weights are not finite: nothing to measure")
    pairs, key = forward_pass(weights, n), key_masks(weights["W_E"][:n], n, settings.key_threshold)
    y = profile(pairs)
    last, phi = LastLayer(pairs, y), gates.code(y, key, settings)
    voted = measure_votes(y, settings)
    left_by_votes = 1 - voted[0]["votes-share"]
    parts = [
        voted,
        measure_code(pairs, y, phi, settings),
        measure_neurons(pairs, phi, settings),
        measure_decoding(last, settings),
        measure_interaction(weights, last, phi, left_by_votes, settings),
    ]
    values = {id: x for numbers, _ in parts for id, x in numbers.items()}
    accuracies = {
        "right": pairs.accuracy,
        "proven": float(pairs.count @ (proof.all_margins(pairs).margin > 0)) / n**2,
    }
    rows = unlevelled("whole", "all pairs", "accuracy", accuracies)
    rows += unlevelled("whole", "all pairs", "share", {
        "ceiling": y.energy(y.y) / y.squares, "many": left_by_votes})  # fmt: skip
    rows += [row for _, part_rows in parts for row in part_rows]
    return decide.judge(values, settings.levels) + rows + measure_norms(pairs)


def write(out: str, name: str, rows: Iterable[Row]) -> None:
    """Write the rows that have a verdict or a number, under the name of this run."""
    valued = [row for row in rows if row.verdict or not (row.value is None or isnan(row.value))]
    results.write_rows(out, [row._replace(run=name) for row in valued])
