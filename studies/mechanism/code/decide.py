"""Decide what the measures of a run say of each statement, and what runs say together:
criteria-2.md."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from strata.results import CONFIRMED, FAILS, HOLDS, REFUTED, UNDECIDED, Row, by_levels
from strata.tables.statements import Statements, tally
from studies.mechanism.code.models import CONTROLS, FRESH, Models
from studies.params import AddingLevels, MechanismLevels, MechanismParams

STATEMENTS = {
    "votes": "each prime votes by the remainder of the product, and the votes are added",
    "code": "the logits are functions of a few zeros, angles and gates of the product",
    "neurons": "each neuron knows one prime, or one character of several, and which primes divide",
    "decoding": "the last layer does what the loss asks, given its lengths",
    "interaction": "primes interact in the embedding, by gates or characters of several",
}
# In words of pages, where the criteria speak of logits and characters.
SENTENCES = Statements(
    {
        "votes": "the mean logits of a product are a sum of votes, one for each prime, which "
        "depend on the product only modulo that prime",
        "code": "the outputs follow from a few zeros, angles and gates of the product",
        "neurons": "each neuron sees one prime, or one mixed angle, and which primes divide the "
        "numbers",
        "decoding": "given the rest of the network, each answer's column of the last layer points "
        "nearly where the loss is least among columns of its length",
        "interaction": "where primes interact, they do so in the embedding, by gates or by mixed "
        "angles",
        "by-hand": "a network that is written down from these, not trained, answers every pair",
    }
)


class Criterion(NamedTuple):
    """A number that a statement rests on: the kind of its levels, its unit, and what it is."""

    statement: str
    levels: str
    unit: str
    sentence: str


# The id of a criterion begins with that of its statement.
CRITERIA = {
    id: Criterion(id.partition("-")[0], *fields)
    for id, fields in {
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


def judge(
    values: dict[str, float],
    levels: MechanismLevels | AddingLevels,
    criteria: Mapping[str, Criterion] = CRITERIA,
    statements: Mapping[str, str] = STATEMENTS,
) -> list[Row]:
    """Return a row with a verdict for each statement, then for each criterion. A statement holds if
    all of its numbers do, and fails if one of them does. Numbers that are NaN do not count; a
    statement without any number has no verdict."""
    rows = []
    for id, (_, kind, unit, sentence) in criteria.items():
        verdict = by_levels(values[id], *getattr(levels, kind))
        rows.append(Row("", id, sentence, unit=unit, value=values[id], verdict=verdict))
    judged_statements = []
    for id, sentence in statements.items():
        verdicts = {row.verdict for row in rows if criteria[row.id].statement == id}
        verdict = next((x for x in (FAILS, UNDECIDED, HOLDS) if x in verdicts), "")
        judged_statements.append(Row("", id, sentence, verdict=verdict))
    return [*judged_statements, *rows]


def verdict_over(verdicts: Iterable[str], holding: Iterable[str]) -> str:
    """Decide a statement by its verdicts on the networks that decide. A statement that holds for
    models of which it must not, which are named, is not confirmed."""
    verdict, names = tally(verdicts).verdict, ", ".join(holding)
    return f"not confirmed: holds for {names}, too" if verdict == CONFIRMED and names else verdict


def verdict_over_fresh(networks: Models, id: str, params: MechanismParams) -> str:
    """Decide a statement over the fresh runs that generalise, of which there must be enough."""
    verdicts = networks.verdict(id)
    counting = (networks.kind == FRESH) & (networks.accuracy >= params.accuracy)
    if counting.sum() < params.fewest:
        return f"no verdict before {params.fewest}"
    return verdict_over(verdicts[counting], [x for x in CONTROLS if verdicts.get(x) == HOLDS])


def verdict_by_hand(margins: Sequence[float]) -> str:
    """Decide whether the networks written by hand answer every pair, from the least margin of each.
    These networks are all that exist, not a sample."""
    return CONFIRMED if min(margins) > 0 else REFUTED
