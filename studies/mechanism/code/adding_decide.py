"""Decide what the measures of statements 6 to 10 say of networks together: criteria-3.md."""

from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd

from strata.results import CONFIRMED, FAILS, HOLDS, REFUTED
from strata.tables.statements import Statements, Tally, tally
from studies.mechanism.code.decide import Criterion, verdict_over
from studies.mechanism.code.models import CONTROLS, FRESH, Models
from studies.params import AddingParams

NEW, TOGETHER = "new", "fresh and new"
STATEMENTS = {
    "hole": "with attention at its mean votes fall as |cos(kδ/2)|, and attention makes them flat",
    "attention": "each head scores an operand by zeros and at most two characters",
    "adding": "each neuron is a ReLU of a sum and of what attention adds, in characters of one "
    "prime, or one of several, and zeros",
    "formulas": "scores, neurons and what they write can be replaced by these formulas at once",
    "identified": "between any two remainders each prime prefers each for its own product",
}
RIVAL = "rival"
SAID = Statements(
    {
        "hole": "with attention at its mean opposite angles do not add; as it is, they do",
        "attention": "each head looks at zeros and at most two angles",
        "adding": "a neuron reads the sum of both operands, and their difference as attention "
        "weighs it",
        "formulas": "formulas can replace attention, what neurons read and what they write",
        "identified": "of any two remainders each prime prefers the one that the product leaves",
        RIVAL: "rival: a neuron reads any function of one operand plus any of the other",
    }
)
# The id of a criterion begins with that of its statement.
CRITERIA = {
    id: Criterion(id.partition("-")[0], *words)
    for id, words in {
        "hole-correlation": ("correlation", "index", "votes at mean attention with |cos(kδ/2)|"),
        "hole-variation": ("ratio", "index", "variation with attention over that at its mean"),
        "attention-right": ("right", "accuracy", "right answers, scores replaced"),
        "attention-back": ("back", "share", "skill that comes back with them"),
        "attention-permuted": ("back_permuted", "share", "control: the same, residues permuted"),
        "adding-right": ("right", "accuracy", "right answers, pre-activations replaced"),
        "adding-permuted": ("permuted", "accuracy", "control: the same, residues permuted"),
        "formulas-right": ("right", "accuracy", "right answers, all replaced at once"),
        "formulas-exchanged": ("exchanged", "accuracy", "control: what neurons write exchanged"),
        "identified-preference": ("preference", "share", "remainders that prefer their own"),
    }.items()
}


class Planted(NamedTuple):
    """What the criteria ask of a planted model: on which statements it must hold, and must not."""

    must: tuple[str, ...]
    must_not: tuple[str, ...] = ()
    no_value: tuple[str, ...] = ()


FOUR, CONSTANT = ("hole", "attention", "adding", "formulas"), ("hole", "attention")
BOTH = ("adding", "formulas")
PLANTED = {
    "second adder": Planted(FOUR),
    "by hand": Planted(BOTH, (), CONSTANT),
    "by hand, gated": Planted(BOTH, (), CONSTANT),
    "by hand, mixed": Planted(BOTH, (), CONSTANT),
    "renamed": Planted((), FOUR),
    **{control: Planted((), FOUR) for control in CONTROLS},
    "random functions": Planted((), ("adding",)),
    "classes first": Planted(("adding",), ("formulas",), CONSTANT),
}


def comes_out(planted: str, id: str, verdict: str) -> bool:
    """Whether a planted model has the verdict on a statement that the criteria ask for."""
    asks = PLANTED[planted]
    return not (
        (id in asks.must and verdict != HOLDS)
        or (id in asks.must_not and verdict == HOLDS)
        or (id in asks.no_value and verdict)
    )


def decides(id: str) -> str:
    """Return the group of networks that a statement is decided over."""
    return NEW if id == "identified" else TOGETHER


def grouped(networks: Models, params: AddingParams) -> Models:
    """Return the models with the new networks as a kind of their own."""
    return networks._replace(kind=networks.kind.mask(networks.kind.index.isin(params.new), NEW))


def in_group(networks: Models, group: str) -> pd.Series:
    """Return which models are of a group."""
    return networks.kind.isin((FRESH, NEW) if group == TOGETHER else (group,))


def counting(networks: Models, group: str, params: AddingParams) -> pd.Series:
    """Return which models of a group generalise."""
    return in_group(networks, group) & (networks.accuracy >= params.accuracy)


def stands(networks: Models, some: pd.Series, params: AddingParams) -> Tally:
    """Count in how many of these networks, where attention carries skill, the rival of statement 8
    stands: answers about as many pairs as a statement must to hold."""
    carry = some & (networks.numbers("attention", "carries skill") == 1)
    right = networks.numbers("adding", RIVAL)[carry] >= params.measures.levels.right[0]
    return tally(HOLDS if x else FAILS for x in right)


def awaited(networks: Models, id: str, fresh: Iterable[str], params: AddingParams) -> str:
    """Return why nothing can be decided yet: all networks that decide must be there, and enough of
    them generalise and have a value; empty where these are."""
    planned = {*params.new} if decides(id) == NEW else {*fresh, *params.new}
    there = len(planned & {*networks.kind.index})
    if there < len(planned):
        return f"no verdict: {there} of {len(planned)} networks"
    verdicts = networks.verdict(id)[counting(networks, decides(id), params)]
    least = params.fewest_new if decides(id) == NEW else params.fewest
    return f"no verdict before {least}" if (verdicts != "").sum() < least else ""


def over_networks(networks: Models, id: str, holding: Iterable[str], params: AddingParams) -> str:
    """Decide a statement over the networks that decide. It is not confirmed if it holds for a model
    of which it must not, which are named; statement 8 is not, either, where its rival is not
    refuted."""
    some = counting(networks, decides(id), params)
    verdict = verdict_over(networks.verdict(id)[some], holding)
    if verdict == CONFIRMED and id == "adding":
        rival = stands(networks, some, params)
        if rival.verdict != REFUTED:
            return f"not confirmed: the rival stands in {rival.holds}"
    return verdict
