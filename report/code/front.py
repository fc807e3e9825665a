"""The front page: the dials, screens, the paper's claims, citation.

Its words are those of site/front.html and site/screens.html, with the numbers of ``numbers``; what
they say of the headline run follows from its costs.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from report.code import decide, numbers
from report.code.appendix import Page
from report.code.numbers import Results
from report.code.site import render
from strata.run import Run

Json = dict[str, Any]
CLEAN = 0.05  # of what a cut makes wrong, so much may be wrong modulo another prime


def page(
    pages: Sequence[Page], run: Run, results: Results, hero: Json | None, cff: Mapping[str, Any]
) -> str:
    """Render the front page for the headline run. It links to these pages of the appendix; ``hero``
    is what ``hero.data`` wrote of the run, ``cff`` what CITATION.cff holds."""
    claims, values = decide.claims(results), numbers.screen_numbers(results)
    broken = cuts(hero) if hero else []
    return render(
        "front.html",
        "",
        headline=str(run),
        run=run,
        mechanisms={x["run"]: x for x in results.tables.get("mechanism-runs", ())},
        hero=hero,
        cuts=broken,
        by_primes=splits_by_primes(broken, values["spared"]),
        numbers=values,
        verdicts=claims,
        tally={x: sum(v["verdict"] == x for v in claims.values()) for x in decide.VERDICTS},
        sections={key: s for x in pages for s in x.sections for key in (s.id, s.label) if key},
        pages={x.file for x in pages},
        cff=cff,
    )


def cuts(hero: Json) -> list[Json]:
    """Return the cuts of a prime's directions: how many directions there are, what goes wrong and
    where, and what guessing would get wrong."""
    cuts = []
    for cut in hero["changes"]:
        if cut["kind"] == "axis":
            q = next(q for q in hero["chance"] if int(q) % cut["prime"] == 0)
            wrong, chance = cut["wrong"]["modulo"][q], hero["chance"][q]
            others = {k: v for k, v in cut["wrong"]["modulo"].items() if k != q}
            cuts.append({
                "q": q, "directions": cut["directions"], "own": wrong, "chance": chance,
                "most": max(others.values(), default=0.0),
            })  # fmt: skip
    return cuts


def splits_by_primes(broken: Sequence[Json], counts: tuple[int, int] | None) -> bool:
    """Whether the title may say that the problem is split by primes: in the headline run a cut
    breaks its own prime and hardly another, and in most runs a cut spares the pairs that do not
    need the prime."""
    breaks_own = [x["own"] > 0 and x["most"] <= CLEAN * x["own"] for x in broken]
    spared, runs = counts or (0, 1)
    return len(breaks_own) > 1 and all(breaks_own) and 2 * spared > runs
