"""The front page: the network at work, six steps, the paper's claims, glossary and citation.

Its words are those of site/front.html, with the numbers of ``numbers``.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from report.code import claims, numbers
from report.code.appendix import Page
from report.code.numbers import Results
from report.code.site import percent, rendered
from strata.monoid import classes
from strata.run import Run

Json = dict[str, Any]
SCRIPTS = ("core", "model", "draw", "network", "hero", "through", "steps")
SIGNS = {
    claims.HOLDS: "is-holds",
    claims.DIFFERS: "is-differs",
    claims.REJECTED: "is-rejected",
    claims.UNSHOWN: "is-unshown",
    claims.UNTESTED: "is-untested",
}


def page(
    made: Sequence[Page], run: Run, results: Results, hero: Json | None, cff: Mapping[str, Any]
) -> str:
    """The front page over these pages of the appendix, for the headline run; ``hero`` is what
    ``hero.data`` wrote of it, ``cff`` what CITATION.cff holds."""
    verdicts = claims.judged(results)
    counts = [(x, sum(v["verdict"] == x for v in verdicts.values())) for x in SIGNS]
    [paper] = cff["references"]
    return rendered(
        "front.html",
        "",
        scripts=SCRIPTS,
        headline=str(run),
        run=run,
        hero=hero and drawn(hero, run.n),
        groups=hero and groups(hero),
        numbers=numbers.found(results),
        verdicts=verdicts,
        tally=[(x.capitalize(), count) for x, count in counts if count],
        signs=SIGNS,
        sections=sections(made),
        paper=paper,
        authors=", ".join(f"{x['given-names']} {x['family-names']}" for x in paper["authors"]),
    )


def sections(made: Sequence[Page]) -> dict[str, Json]:
    """What is linked to, by label and by name: address, words, and of a figure its image."""
    found = {}
    for own in made:
        for s in own.sections:
            link: Json = {"href": f"appendix/{own.file}#{s.name}", "said": s.label or s.title}
            link |= {"title": s.title, "image": s.notebook and f"{s.path}.png"}
            link |= {"size": s.size if s.notebook else None}
            found |= {s.name: link} | ({s.label: link} if s.label else {})
    return found


def drawn(hero: Json, n: int) -> Json:
    """What the page's script draws from: ``hero``, the classes, and each cost in words."""
    own = [{"d": J.d, "elements": J.elements.tolist()} for J in classes(n)]
    costs = {x["name"]: cost(x, n) for x in hero["changes"]}
    return hero | {"n": n, "classes": own, "costs": costs}


def groups(hero: Json) -> list[tuple[str, list[Json]]]:
    """The changes as the page offers them, by kind."""
    kinds = {
        "change nothing": ("none",),
        "cut out the axis of a prime": ("axis",),
        "ablate a head": ("head",),
        "embedding": ("keep", "remove"),
    }
    found = {
        title: [x | {"label": label(x)} for x in hero["changes"] if x["kind"] in own]
        for title, own in kinds.items()
    }
    return [(title, own) for title, own in found.items() if own]


def label(change: Json) -> str:
    """A change in a word or two."""
    words = {
        "none": "as trained",
        "keep": "key characters alone",
        "remove": "all but key characters",
    }
    return words.get(change["kind"]) or str(change.get("prime", change.get("head")))


def cost(change: Json, n: int) -> str:
    """What a change costs over all pairs, in a sentence.

    >>> wrong = {"all": 0.4, "modulo": {"3": 0.4, "5": 0.1}, "alone": {"3": 0.3, "5": 0.0}}
    >>> cost({"wrong": wrong}, 15)
    'Over all 225 pairs: 40 % wrong; 30 % modulo 3 alone, 10 % modulo several.'
    """
    wrong, pairs = change["wrong"], f"Over all {n * n:,} pairs"
    alone = {q: x for q, x in wrong["alone"].items() if x > 0}
    rest = wrong["all"] - sum(alone.values())
    found = [
        f"{percent(alone[q])} modulo {q} alone" for q in sorted(alone, key=lambda q: -alone[q])
    ]
    found += [f"{percent(rest)} modulo several"] * (rest > 1e-9)
    if not found:
        return f"{pairs}: none is wrong."
    return f"{pairs}: {percent(wrong['all'])} wrong; {', '.join(found)}."
