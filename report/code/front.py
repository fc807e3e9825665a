"""The front page: the dials, six screens, the paper's claims, citation.

Its words are those of site/front.html and site/screens.html, with the numbers of ``numbers``; what
they say of the headline run follows from its costs.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from report.code import numbers, verdicts
from report.code.appendix import Page
from report.code.numbers import Results
from report.code.site import rendered
from strata.run import Run

Json = dict[str, Any]
SCRIPTS = ("core", "draw", "search", "model", "theme", "network", "through", "dials")
SCRIPTS += ("front", "screens", "inside")
OPTIONAL = ("url", "repository-code", "date-released")  # of CITATION.cff
CLEAN = 0.05  # of what a cut makes wrong, so much may be wrong modulo another prime


def page(
    made: Sequence[Page], run: Run, results: Results, hero: Json | None, cff: Mapping[str, Any]
) -> str:
    """The front page over these pages of the appendix, for the headline run; ``hero`` is what
    ``hero.data`` wrote of it, ``cff`` what CITATION.cff holds."""
    judged = verdicts.judged(results)
    tally = [(x, sum(v["verdict"] == x for v in judged.values())) for x in verdicts.VERDICTS]
    [paper] = cff["references"]
    said = numbers.found(results)
    return rendered(
        "front.html",
        "",
        scripts=SCRIPTS,
        headline=str(run),
        run=run,
        hero=hero,
        cuts=cuts(hero) if hero else [],
        by_primes=bool(hero) and by_primes(hero, said),
        numbers=said,
        data=hero and hero | {"gating": said["accounts"] and gating(said["accounts"])},
        verdicts=judged,
        tally=tally,
        sections=sections(made),
        pages={x.file for x in made},
        cff=dict.fromkeys(OPTIONAL, "") | {**cff},
        paper=paper,
        authors=", ".join(f"{x['given-names']} {x['family-names']}" for x in paper["authors"]),
    )


def sections(made: Sequence[Page]) -> dict[str, Json]:
    """What is linked to, by label and by name: address, words, and of a figure its image."""
    found = {}
    for own in made:
        for s in own.sections:
            link: Json = {"href": f"appendix/{own.file}#{s.id}", "title": s.title}
            link |= {"said": s.label or ("figure" if s.notebook else "table")}
            link |= {"image": s.notebook and f"{s.path}.png"}
            link |= {"size": s.size if s.notebook else None}
            found |= {s.id: link} | ({s.label: link} if s.label else {})
    return found


def cuts(hero: Json) -> list[Json]:
    """The cuts of a prime's directions: how many these are, what goes wrong and where, and what
    guessing would do."""
    found = []
    for x in hero["changes"]:
        if x["kind"] == "axis":
            q = next(q for q in hero["chance"] if int(q) % x["prime"] == 0)
            own, chance = x["wrong"]["modulo"][q], hero["chance"][q]
            others = {k: v for k, v in x["wrong"]["modulo"].items() if k != q}
            found.append({
                "name": x["name"], "q": q, "directions": x["directions"], "own": own,
                "chance": chance, "others": [*others], "most": max(others.values(), default=0.0),
                "guesses": abs(own - chance) < CLEAN * chance,
            })  # fmt: skip
    return found


def by_primes(hero: Json, said: Json) -> bool:
    """Whether the title may say that the problem is split by primes: in the headline run a cut
    breaks its own prime and hardly another, and in most runs it spares what does not need it."""
    own = [x["own"] > 0 and x["most"] <= CLEAN * x["own"] for x in cuts(hero)]
    met, runs = said["cuts"]["spared"] if said["cuts"] else (0, 1)
    return len(own) > 1 and all(own) and 2 * met > runs


def gating(accounts: Json) -> list[Json]:
    """Each run as a dot, controls last, two digits of its gating."""
    every = [*accounts["runs"], *accounts["controls"]]
    return [x | {"gating": round(x["gating"], 2)} for x in every]
