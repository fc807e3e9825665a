"""Keep and remove of key characters at each site, for each class, with controls.

Definitions and criteria: criteria.md, section 1.
"""

from collections.abc import Iterable, Iterator

import numpy as np
from jaxtyping import Bool

from strata.patch import projections
from strata.patch.ablations import SITES, Outcomes, Site, Subject, at_site, key_spans
from strata.patch.patching import Rig
from strata.patch.projections import Controls, Masks, Spans, Subspace
from strata.patch.scores import measures, ranges, scores
from studies.interventions.code.records import Control, KeepRemove


def concerned(site: Site, rig: Rig, chosen: Iterable[int] | None) -> Bool[np.ndarray, " rows"]:
    """The rows about which keep and remove of these classes say something: those with an operand
    in them at the embedding, elsewhere those with the product; all rows if None."""
    if chosen is None:
        return rig.every
    of = rig.operand_in if site == "embedding" else rig.product_in
    return np.any([of(d) for d in chosen], axis=0)


def scopes(masks: Masks) -> list[int | None]:
    """All classes at once, and each alone; nothing where no class has characters."""
    return [None, *masks] if masks else []


def keep_remove(subject: Subject, controls: Controls) -> list[KeepRemove]:
    """Keep and remove, for all classes at once and for each alone, with controls."""
    key = key_spans(subject.rig.n, subject.masks)
    return [
        record
        for site in SITES
        for d in scopes(subject.masks)
        for record in _records(site, d, subject, key, controls)
    ]


def _records(
    site: Site, d: int | None, subject: Subject, key: Spans, controls: Controls
) -> Iterator[KeepRemove]:
    """The two records of one site and one class, or of all classes."""
    rig, chosen = subject.rig, list(key) if d is None else [d]
    own = concerned(site, rig, None if d is None else [d])
    # What W_U says of the candidates in one class can change the answer to any pair.
    run_again = rig.every if site == "candidates" else own
    outcomes = at_site(site, subject, {i: key[i] for i in chosen}, run_again)
    room = any(0 < subject.masks[i].sum() < len(subject.masks[i]) - 1 for i in chosen)
    drawn: dict[Subspace, list[Outcomes]] = {
        name: [at_site(site, subject, {i: draw[name][i] for i in chosen}, own) for draw in controls]
        for name in (controls[0] if room else {})
    }

    def dimension(spans: Spans) -> int:
        return sum(projections.dimension(spans[i]) for i in chosen)

    for action, outcome in outcomes.items():
        yield KeepRemove(
            site=site,
            d=d,
            action=action,
            dimension=dimension(key),
            base=scores(rig, rig.base, own),
            own=scores(rig, outcome, own),
            all=measures(rig, outcome),
            controls={
                name: Control(
                    dimension=dimension(controls[0][name]),
                    own=ranges([scores(rig, x[action], own) for x in draws]),
                )
                for name, draws in drawn.items()
            },
        )
