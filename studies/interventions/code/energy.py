"""Keep and remove of key characters against other ones of the same dimension and the same energy.

Key characters are chosen for their energy, so other ones hold little of it. Here one of the two is
scaled to the energy of the other, class by class and draw by draw; beside them the components of
most energy, whatever their characters. Definitions and criteria: criteria.md, section 1.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from strata.monoid import JClass
from strata.patch.ablations import (
    SITES,
    Action,
    Site,
    Subject,
    key_spans,
    reached,
    table_at,
    with_table,
)
from strata.patch.projections import Controls, Spans, dimension
from strata.patch.scores import ScoreRanges, Scores, draw_range, ranges, scores, short
from studies.interventions.code.keep_remove import concerned, scopes
from studies.interventions.code.records import EqualEnergy

Factors = dict[int, float]  # by the d of a class
ROUNDING = 1e-6  # √ of the share of energy that is none, in float32


class Spaces(NamedTuple):
    """Spans of all classes at one site: key characters, draws of other ones, top components; and
    for each draw √(energy in the other / energy in the key characters)."""

    key: Spans
    other: Sequence[Spans]
    top: Spans
    ratio: Sequence[Factors]


def equal_energy(subject: Subject, controls: Controls) -> list[EqualEnergy]:
    """At each site, for all classes that have as many other characters as key ones, with energy in
    them, and for each alone. The draws are those of *other* in the controls."""
    n = subject.rig.n
    key, other = key_spans(n, subject.masks), [x["other"] for x in controls]
    enough = [d for d in key if 0 < dimension(key[d]) == dimension(other[0][d])]
    records = []
    for site in SITES:
        x = _shown(site, subject)
        rows = {d: x[JClass(n, d).elements] for d in enough}
        ratio = [{d: _ratio(rows[d], key[d], draw[d]) for d in enough} for draw in other]
        of = [d for d in enough if min(s[d] for s in ratio) > ROUNDING]
        top = {d: top_components(rows[d], dimension(key[d])) for d in of}
        for scope in scopes(subject.masks):
            chosen = of if scope is None else [d for d in of if d == scope]
            if chosen:
                spaces = Spaces(key, other, top, ratio)
                records.append(_record(site, scope, subject, chosen, spaces))
    return records


def _shown(site: Site, subject: Subject) -> Float[np.ndarray, "n width"]:
    """The table at a site; at the logits, which are kept as what is unembedded, themselves."""
    x, weights = table_at(site, subject).astype(np.float64), subject.rig.weights
    return x @ weights["W_U"] + weights["b_U"] if site == "logits" else x


def top_components(
    x: Float[np.ndarray, "size width"], count: int
) -> Float[np.ndarray, "size size"]:
    """The projection onto the first left singular vectors of a table less its mean row."""
    U, _, _ = np.linalg.svd(x - x.mean(axis=0), full_matrices=False)
    return U[:, :count] @ U[:, :count].T


def _ratio(x: Float[np.ndarray, "size width"], key: np.ndarray, other: np.ndarray) -> float:
    """√(E_other / E_key) of a class."""
    return float(np.linalg.norm(other @ x) / max(np.linalg.norm(key @ x), 1e-30))


def _record(
    site: Site, scope: int | None, subject: Subject, chosen: Sequence[int], spaces: Spaces
) -> EqualEnergy:
    """What is left after each change of the chosen classes, and what it is compared with."""
    rig, table, own = subject.rig, table_at(site, subject), concerned(site, subject.rig, chosen)
    size = sum(dimension(spaces.key[d]) for d in chosen)
    changes = reached(site, rig, chosen, own)

    def after(action: Action, spans: Spans, factor: Callable[[int], float]) -> Scores:
        """With the part of each class in its span times its factor."""
        made = changed(table, action, spans, {d: factor(d) for d in chosen}, rig.n)
        return scores(rig, with_table(site, subject, action, made, changes), own)

    def key_weak(action: Action, sign: int) -> ScoreRanges:
        return ranges([after(action, spaces.key, lambda d, s=s: sign * s[d]) for s in spaces.ratio])

    def other_strong(action: Action) -> ScoreRanges:
        draws = zip(spaces.other, spaces.ratio, strict=True)
        return ranges([after(action, other, lambda d, s=s: 1 / s[d]) for other, s in draws])

    return EqualEnergy(
        site=site,
        d=scope,
        classes=tuple(chosen),
        dimension=size,
        ratio=draw_range(short(s[d]) for s in spaces.ratio for d in chosen),
        overlap=short(sum(np.vdot(spaces.key[d], spaces.top[d]) for d in chosen) / size),
        base=scores(rig, rig.base, own),
        keep_key=after("keep", spaces.key, lambda d: 1.0),
        keep_key_weak=key_weak("keep", 1),
        keep_other=ranges([after("keep", other, lambda d: 1.0) for other in spaces.other]),
        keep_other_strong=other_strong("keep"),
        keep_top=after("keep", spaces.top, lambda d: 1.0),
        remove_key=after("remove", spaces.key, lambda d: -1.0),
        remove_key_weak=key_weak("remove", -1),
        add_other_strong=other_strong("remove"),
        remove_top=after("remove", spaces.top, lambda d: -1.0),
    )


def changed(
    table: Float[np.ndarray, "n width"], action: Action, spans: Spans, factors: Factors, n: int
) -> Float[np.ndarray, "n width"]:
    """Class by class the mean row (keep) or the table (remove), plus a factor times the part of the
    table in a span. Rows of a class without a factor stay as they are."""
    made = table.copy()
    for d, factor in factors.items():
        rows = JClass(n, d).elements
        own = table[rows].astype(np.float64)
        stays = own.mean(axis=0) if action == "keep" else own
        made[rows] = stays + factor * (spans[d] @ own)
    return made
