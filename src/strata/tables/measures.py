"""What one run adds to each table over seeds: its values, and what each is about."""

from collections.abc import Iterator
from typing import Any

from strata.measure.accuracy import Epochs
from strata.measure.metrics import Metrics

Value = float | int | None
# What a row is about, its unit, its value in one run
Measure = tuple[dict[str, Any], str, Value]


def by_pairs(epochs: Epochs) -> dict[str, int | None]:
    """The epochs of an accuracy by the pairs that it is over."""
    return {
        "train": epochs.train,
        "validation": epochs.validation,
        "mirror_free": epochs.mirror_free,
    }


def of_classes(run: Metrics) -> Iterator[Measure]:
    """Key energy and atomic energy, each beside what even energy has there, and character fit.

    Of each class with more than one element.
    """
    for c in (c for c in run.classes if c.size > 1):
        fit = c.character_fit
        values = {
            "FVE": c.fve,
            "FVE, uniform": c.fve_uniform,
            "atomic share": c.atomic_share,
            "atomic, uniform": c.atomic_uniform,
            "R²": fit.r2 if fit else None,
            "R², all prompts": fit.r2_all if fit else None,
            "R², product and candidate": fit.r2_product if fit else None,
        }
        for name, value in values.items():
            yield {"n": run.n, "d": c.d, "measure": name}, "share", value


def of_heads(run: Metrics) -> Iterator[Measure]:
    """Rank, block score and its baseline for each head."""
    for head in run.heads:
        values = (
            ("rank of OV", "ratio", head.ov.components),
            ("block score", "share", head.block_score),
            ("block score, shuffled", "share", head.block_score_shuffled.mean),
            ("attention of ‘=’ to itself", "share", head.self_attention.mean),
        )
        for name, unit, value in values:
            yield {"n": run.n, "head": head.head, "measure": name}, unit, value


def of_directions(run: Metrics) -> Iterator[Measure]:
    """Aligned directions of each class, on the side that a head reads and on that it writes, each
    beside those of as many random residues.

    Of each class with more than one element: the others have no direction.
    """
    for head in run.heads:
        for d in (c.d for c in run.classes if c.size > 1):
            found = head.alignment[d]
            values = {
                "read": found.read_above,
                "read, by random residues": found.read_random,
                "written": found.write_above,
                "written, by random residues": found.write_random,
            }
            for name, value in values.items():
                yield {"n": run.n, "d": d, "head": head.head, "measure": name}, "ratio", value


def of_neurons(run: Metrics) -> Iterator[Measure]:
    """What the neurons of the MLP follow, and how many follow which prime power of n most."""
    found = run.neurons
    if found and len(found.modulo) > 1:
        yield {"n": run.n, "measure": "classes of a and b"}, "share", found.classes
        one = "a and b modulo one prime power"
        yield {"n": run.n, "measure": one}, "share", found.one_power
        for q in found.modulo:
            yield {"n": run.n, "measure": f"neurons with {q}"}, "ratio", found.neurons[q]


def of_generalisation(run: Metrics) -> Iterator[Measure]:
    """When each accuracy came to its level, first and to stay, and the accuracy in the end."""
    about = {"n": run.n, "architecture": run.architecture}
    for when, epochs in {"first epoch": run.first_099, "epoch to stay": run.epoch_099}.items():
        for name, epoch in by_pairs(epochs).items():
            measure = f"{when}, {name.replace('_', '-')}"
            yield about | {"measure": measure}, "count", epoch
    yield about | {"measure": "accuracy on all pairs"}, "share", run.accuracy.all
