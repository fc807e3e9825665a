"""What one run adds to each table over seeds: its values, and what each is about."""

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]
Value = float | int | None
# What a row is about, its unit, its value in one run
Measure = tuple[dict[str, Any], str, Value]
ACCURACIES = ("train", "validation", "mirror_free")
EPOCHS = {"first epoch": "first_099", "epoch to stay": "epoch_099"}


def of_classes(run: Json) -> Iterator[Measure]:
    """Key energy and atomic energy, each beside what even energy has there, and character fit.

    Of each class with more than one element.
    """
    for c in run["classes"]:
        if c["size"] == 1:
            continue
        fit = c["readout"] or {}
        values = {"FVE": c["fve"], "FVE, uniform": c["fve_uniform"]}
        values |= {"atomic share": c["atomic_share"], "atomic, uniform": c["atomic_uniform"]}
        values |= {"R²": fit.get("r2"), "R², all prompts": fit.get("r2_all")}
        values |= {"R², product and candidate": fit.get("r2_product")}
        for name, value in values.items():
            yield {"n": run["n"], "d": c["d"], "measure": name}, "share", value


def of_heads(run: Json) -> Iterator[Measure]:
    """Rank, block score and its baseline for each head."""
    for head in run["heads"]:
        values = (
            ("rank of OV", "ratio", head["ov"]["components"]),
            ("block score", "share", head["block_score"]),
            ("block score, shuffled", "share", head["block_score_shuffled"]["mean"]),
            ("attention of ‘=’ to itself", "share", head["self_attention"]["mean"]),
        )
        for name, unit, value in values:
            yield {"n": run["n"], "head": head["head"], "measure": name}, unit, value


def of_directions(run: Json) -> Iterator[Measure]:
    """Aligned directions of each class, on the side that a head reads and on that it writes, each
    beside those of as many random residues.

    Of each class with more than one element: the others have no direction.
    """
    for head in run["heads"]:
        for d in (c["d"] for c in run["classes"] if c["size"] > 1):
            found = head["alignment"][str(d)]
            about = {"n": run["n"], "d": d, "head": head["head"]}
            for side, of in {"read": "read", "written": "write"}.items():
                yield about | {"measure": side}, "ratio", found[f"{of}_above"]
                beside = {"measure": f"{side}, by random residues"}
                yield about | beside, "ratio", found[f"{of}_random"]


def of_neurons(run: Json) -> Iterator[Measure]:
    """What the neurons of the MLP follow, and how many follow which prime power of n most."""
    found = run["neurons"]
    powers = found["modulo"] if found else {}
    if len(powers) > 1:
        yield {"n": run["n"], "measure": "classes of a and b"}, "share", found["classes"]
        one = "a and b modulo one prime power"
        yield {"n": run["n"], "measure": one}, "share", found["one_power"]
        for q in powers:
            about = {"n": run["n"], "measure": f"neurons with {q}"}
            yield about, "ratio", found["neurons"][q]


def of_generalisation(run: Json) -> Iterator[Measure]:
    """When each accuracy came to its level, first and to stay, and the accuracy in the end."""
    about = {"n": run["n"], "architecture": run["architecture"]}
    for when, key in EPOCHS.items():
        for name in ACCURACIES:
            measure = f"{when}, {name.replace('_', '-')}"
            yield about | {"measure": measure}, "count", run[key][name]
    yield about | {"measure": "accuracy on all pairs"}, "share", run["accuracy"]["all"]
