"""The front page: the dials, screens, the paper's claims, citation.

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
CLEAN = 0.05  # of what a cut makes wrong, so much may be wrong modulo another prime


def page(
    made: Sequence[Page], run: Run, results: Results, hero: Json | None, cff: Mapping[str, Any]
) -> str:
    """The front page over these pages of the appendix, for the headline run; ``hero`` is what
    ``hero.data`` wrote of it, ``cff`` what CITATION.cff holds."""
    judged, said = verdicts.judged(results), numbers.found(results)
    broken = cuts(hero) if hero else []
    return rendered(
        "front.html",
        "",
        headline=str(run),
        run=run,
        mechanisms={x["run"]: x for x in results.tables.get("mechanism-runs", ())},
        hero=hero,
        cuts=broken,
        by_primes=by_primes(broken, said["spared"]),
        numbers=said,
        verdicts=judged,
        tally={x: sum(v["verdict"] == x for v in judged.values()) for x in verdicts.VERDICTS},
        sections={key: s for own in made for s in own.sections for key in (s.id, s.label) if key},
        pages={x.file for x in made},
        cff=cff,
    )


def cuts(hero: Json) -> list[Json]:
    """The cuts of a prime's directions: how many these are, what goes wrong and where, and what
    guessing would do."""
    made = []
    for cut in hero["changes"]:
        if cut["kind"] == "axis":
            q = next(q for q in hero["chance"] if int(q) % cut["prime"] == 0)
            own, chance = cut["wrong"]["modulo"][q], hero["chance"][q]
            others = {k: v for k, v in cut["wrong"]["modulo"].items() if k != q}
            made.append({
                "q": q, "directions": cut["directions"], "own": own, "chance": chance,
                "most": max(others.values(), default=0.0),
            })  # fmt: skip
    return made


def by_primes(broken: Sequence[Json], runs: tuple[int, int] | None) -> bool:
    """Whether the title may say that the problem is split by primes: in the headline run a cut
    breaks its own prime and hardly another, and in most runs it spares what does not need it."""
    own = [x["own"] > 0 and x["most"] <= CLEAN * x["own"] for x in broken]
    spared, of = runs or (0, 1)
    return len(own) > 1 and all(own) and 2 * spared > of
