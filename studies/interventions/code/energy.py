"""Keep and remove of key characters against other ones of the same dimension and the same energy.

Key characters are chosen for their energy, so other ones hold little of it. Here one of the two is
scaled to the energy of the other, class by class and draw by draw; beside them the components of
most energy, whatever their characters. Definitions and criteria: criteria.md, section 1.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

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
from strata.patch.scores import Scores, draw_range, ranges, scores, short
from studies.interventions.code.keep_remove import concerned, scopes
from studies.interventions.code.records import EqualEnergy

Factors = dict[int, float]  # by the d of a class
ROUNDING = 1e-6  # √ of the share of energy that is none, in float32


class Spaces(NamedTuple):
    """Spans of some classes at one site: key characters, draws of other ones, top components; and
    for each draw √(energy in the other / energy in the key characters)."""

    key: Spans
    other: Sequence[Spans]
    top: Spans
    ratio: Sequence[Factors]

    def of(self, chosen: Sequence[int]) -> "Spaces":
        """Those of some of the classes."""
        key, top, *others = (
            {d: spans[d] for d in chosen} for spans in (self.key, self.top, *self.other)
        )
        return Spaces(key, others, top, self.ratio)


def equal_energy(subject: Subject, controls: Controls) -> list[EqualEnergy]:
    """At each site, for all classes that have as many other characters as key ones, with energy in
    them, and for each alone. The draws are those of *other* in
    the controls."""
    n = subject.rig.n
    key, other = key_spans(n, subject.masks), [x["other"] for x in controls]
    enough = [d for d in key if 0 < dimension(key[d]) == dimension(other[0][d])]
    records = []
    for site in SITES:
        x = _shown(site, subject)
        ratio = [_ratio(x, {d: key[d] for d in enough}, draw, n) for draw in other]
        of = [d for d in enough if min(s[d] for s in ratio) > ROUNDING]
        top = {d: top_components(x[JClass(n, d).elements], dimension(key[d])) for d in of}
        spaces = Spaces(key, other, top, ratio)
        for scope in scopes(subject.masks):
            chosen = of if scope is None else [d for d in of if d == scope]
            if chosen:
                records.append(_record(site, scope, subject, spaces.of(chosen)))
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


def _ratio(x: Float[np.ndarray, "n width"], key: Spans, other: Spans, n: int) -> Factors:
    """√(E_other / E_key) of each class."""
    rows = {d: x[JClass(n, d).elements] for d in key}
    return {
        d: float(np.linalg.norm(other[d] @ own) / max(np.linalg.norm(key[d] @ own), 1e-30))
        for d, own in rows.items()
    }


def _record(site: Site, scope: int | None, subject: Subject, x: Spaces) -> EqualEnergy:
    own = concerned(site, subject.rig, x.key)
    size = sum(map(dimension, x.key.values()))
    return EqualEnergy(
        site=site,
        d=scope,
        classes=tuple(x.key),
        dimension=size,
        ratio=draw_range(short(s[d]) for s in x.ratio for d in x.key),
        overlap=short(sum(np.vdot(P, x.top[d]) for d, P in x.key.items()) / size),
        base=scores(subject.rig, subject.rig.base, own),
        **_outcomes(site, subject, x, own),
    )


def _outcomes(site: Site, subject: Subject, x: Spaces, own: np.ndarray) -> dict[str, Any]:
    """What is left after each change, by field of ``EqualEnergy``."""
    rig, table, one = subject.rig, table_at(site, subject), dict.fromkeys(x.key, 1.0)

    def after(action: Action, spans: Spans, factors: Factors) -> Scores:
        made = changed(table, action, spans, factors, rig.n)
        outcome = with_table(site, subject, action, made, reached(site, rig, spans, own))
        return scores(rig, outcome, own)

    draws = [*zip(x.other, x.ratio, strict=True)]
    return {
        "keep_key": after("keep", x.key, one),
        "keep_key_weak": ranges([after("keep", x.key, s) for s in x.ratio]),
        "keep_other": ranges([after("keep", other, one) for other in x.other]),
        "keep_other_strong": ranges([after("keep", o, inverse(s)) for o, s in draws]),
        "keep_top": after("keep", x.top, one),
        "remove_key": after("remove", x.key, negative(one)),
        "remove_key_weak": ranges([after("remove", x.key, negative(s)) for s in x.ratio]),
        "add_other_strong": ranges([after("remove", o, inverse(s)) for o, s in draws]),
        "remove_top": after("remove", x.top, negative(one)),
    }


def inverse(factors: Factors) -> Factors:
    """1/s; 0 where s is 0, and there is nothing to scale."""
    return {d: 1 / s if s else 0.0 for d, s in factors.items()}


def negative(factors: Factors) -> Factors:
    """−s."""
    return {d: -s for d, s in factors.items()}


def changed(
    table: Float[np.ndarray, "n width"], action: Action, spans: Spans, factors: Factors, n: int
) -> Float[np.ndarray, "n width"]:
    """Class by class the mean row (keep) or the table (remove), plus a factor times the part of the
    table in a span. Rows of a class without a span stay as they are."""
    made = table.copy()
    for d, P in spans.items():
        rows = JClass(n, d).elements
        own = table[rows].astype(np.float64)
        stays = own.mean(axis=0) if action == "keep" else own
        made[rows] = stays + factors[d] * (P @ own)
    return made
