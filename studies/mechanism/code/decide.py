"""What the measures of a run say of each statement, and what runs say together: criteria-2.md."""

from collections.abc import Sequence
from typing import NamedTuple

from strata.results import FAILS, HOLDS, UNDECIDED, Row, by_levels, over_runs
from strata.statistics import share_interval
from studies.params import MechanismLevels

STATEMENTS = {
    "votes": "each prime votes by the remainder of the product, and the votes are added",
    "code": "the logits are functions of a few zeros, angles and gates of the product",
    "neurons": "each neuron knows one prime, or one character of several, and which primes divide",
    "decoding": "the last layer does what the loss asks, given its lengths",
    "interaction": "primes interact in the embedding, by gates or characters of several",
}
BY_HAND = "a network that is written down from these, not trained, answers every pair"


class Criterion(NamedTuple):
    """A number that a statement rests on: the kind of its levels, its unit, and what it is."""

    statement: str
    levels: str
    unit: str
    sentence: str


# The id of a criterion begins with that of its statement.
CRITERIA = {
    id: Criterion(id.partition("-")[0], *of)
    for id, of in {
        "votes-share": ("share", "share", "explained by votes, of the mean logits"),
        "votes-right": ("spared", "accuracy", "right answers of the votes"),
        "votes-classes": ("share", "share", "left-out classes predicted by the others (median R²)"),
        "votes-permuted": ("control", "accuracy", "control: left-out classes, residues permuted"),
        "code-right": ("spared", "accuracy", "right answers of zeros, angles and gates"),
        "code-rest": ("share", "share", "explained, of what zeros alone leave"),
        "code-products": ("share", "share", "of that, held-out products"),
        "code-classes": ("share", "share", "of that, held-out classes"),
        "code-within": ("spared", "accuracy", "one prime of the product moved within a class"),
        "code-across": ("spared", "accuracy", "one prime of the product moved across a zero"),
        "code-count": ("functions", "count", "functions of the product"),
        "code-permuted": ("control", "accuracy", "control: the same, products permuted"),
        "code-others": ("control", "share", "control: gates of others, of what votes leave"),
        "neurons-right": ("spared", "accuracy", "right answers, all neurons replaced"),
        "neurons-variance": ("share", "share", "variance of all neurons"),
        "neurons-permuted": ("control", "accuracy", "control: residues permuted"),
        "decoding-share": ("law", "share", "explained by least loss, of the mean logits"),
        "decoding-bias": ("share", "share", "explained by least loss, of their bias"),
        "decoding-right": ("spared", "accuracy", "right answers of the least loss"),
        "decoding-equal": ("ratio", "ratio", "unexplained, over that of equal lengths"),
        "decoding-lengths": ("ratio", "ratio", "unexplained, over that of permuted lengths"),
        "decoding-permuted": ("control", "share", "control: the same, products permuted"),
        "interaction-right": ("spared", "accuracy", "right answers, embedding projected"),
        "interaction-count": ("span", "count", "functions that it is projected on"),
        "interaction-gates": ("gates", "ratio", "interaction left without gates in it"),
        "interaction-permuted": ("control", "accuracy", "control: the same, residues permuted"),
    }.items()
}


def judged(values: dict[str, float], levels: MechanismLevels) -> list[Row]:
    """A row for each criterion, by these numbers, with its verdict; and one for each statement,
    which holds if all of its numbers do and does not if any does not. Numbers without a value are
    left out; a statement without any has no verdict."""
    rows = []
    for id, (_, kind, unit, sentence) in CRITERIA.items():
        verdict = by_levels(values[id], *getattr(levels, kind))
        rows.append(Row("", id, sentence, unit=unit, value=values[id], verdict=verdict))
    whole = []
    for id, sentence in STATEMENTS.items():
        own = {row.verdict for row in rows if CRITERIA[row.id].statement == id}
        verdict = next((x for x in (FAILS, UNDECIDED, HOLDS) if x in own), "")
        whole.append(Row("", id, sentence, verdict=verdict))
    return [*whole, *rows]


class Tally(NamedTuple):
    """How many runs a statement holds for, does not, and is undecided for; the 95 % interval of
    Clopper and Pearson of the share for which it holds; and the verdict of them together."""

    holds: int
    fails: int
    undecided: int
    low: float
    high: float
    verdict: str


def tally(verdicts: Sequence[str]) -> Tally:
    """The runs together; those without a verdict are left out.

    >>> tally(["holds"] * 20 + ["undecided"] * 8).verdict, tally(["holds"] * 8 + [FAILS] * 20)[-1]
    ('confirmed', 'refuted')
    """
    holds, fails, undecided = (list(verdicts).count(x) for x in (HOLDS, FAILS, UNDECIDED))
    known = holds + fails + undecided
    interval = share_interval(holds, known)
    return Tally(holds, fails, undecided, *interval, over_runs(holds, known))
