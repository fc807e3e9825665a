"""The front page: the network at work, six steps, the paper's claims, glossary and citation.

Its sentences are those of ``steps`` and ``verdicts``, with numbers from tables; site/front.html is
its template.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from report.code import rules, verdicts
from report.code.appendix import parts
from report.code.cards import percent
from report.code.facts import Facts, Missing, said
from report.code.glossary import GLOSSARY, anchor, explained
from report.code.site import Bar, rendered
from report.code.steps import STEPS
from strata.monoid import classes
from strata.run import Run

Json = dict[str, Any]
SCRIPTS = ("core", "model", "draw", "network", "hero", "through", "steps")
SIGNS = {
    rules.HOLDS: "is-holds",
    rules.DIFFERS: "is-differs",
    rules.REJECTED: "is-rejected",
    rules.UNSHOWN: "is-unshown",
    rules.UNTESTED: "is-untested",
}


def page(
    shown: Sequence[Json],
    run: Run,
    bar: Bar,
    told: Json | None,
    cff: Mapping[str, Any],
) -> str:
    """The front page over these sections, for the headline run; ``told`` is what ``hero.data``
    wrote of it, ``cff`` what CITATION.cff holds."""
    facts = Facts(run.n, [s["name"] for s in shown])
    sections = {
        s["name"]: s | {"href": f"appendix/{part.file}#{s['name']}"}
        for part in parts(shown)
        for s in part.sections
    }
    values: Json = {"headline": str(run), "run": run, "bar": bar}
    values |= {"hero": told and drawn(told, run.n), "groups": told and groups(told)}
    values |= {"steps": [step(x, facts, sections) for x in STEPS], "runs": gatings(facts)}
    values |= claims(facts, sections) | cited(cff)
    terms = [(term, anchor(term), explained(text)) for term, text in GLOSSARY.items()]
    return rendered("front.html", "", glossary=terms, scripts=SCRIPTS, **values)


def claims(facts: Facts, sections: Mapping[str, Json]) -> Json:
    """The cards of the claims, and how many have each verdict."""
    cards = [card(x, facts, sections) for x in verdicts.CLAIMS]
    counts = [(x.capitalize(), sum(c["verdict"] == x for c in cards)) for x in SIGNS]
    return {"cards": cards, "tally": [(x, count) for x, count in counts if count]}


def cited(cff: Mapping[str, Any]) -> Json:
    """The paper, its authors, and how to cite it."""
    [paper] = cff["references"]
    authors = ", ".join(f"{x['given-names']} {x['family-names']}" for x in paper["authors"])
    return {"paper": paper, "authors": authors, "bibtex": bibtex(paper)}


def drawn(told: Json, n: int) -> Json:
    """What the page's script draws from: ``hero.data``, the classes, and each cost in words."""
    own = [{"d": J.d, "elements": J.elements.tolist()} for J in classes(n)]
    costs = {x["name"]: cost(x, n) for x in told["changes"]}
    return told | {"n": n, "classes": own, "costs": costs}


def groups(told: Json) -> list[tuple[str, list[Json]]]:
    """The changes as the page offers them, by kind."""
    names = {"axis": "cut out the axis of a prime", "head": "ablate a head"}
    found = [("change nothing", [told["changes"][0] | {"label": "as trained"}])]
    for kind, title in names.items():
        own = [x for x in told["changes"] if x["kind"] == kind]
        if own:
            found.append((title, [x | {"label": label(x)} for x in own]))
    own = [x for x in told["changes"] if x["kind"] in ("keep", "remove")]
    return [*found, ("embedding", [x | {"label": label(x)} for x in own])] if own else found


def label(change: Json) -> str:
    """A change in a word or two."""
    match change["kind"]:
        case "axis":
            return str(change["prime"])
        case "head":
            return str(change["head"])
        case "keep":
            return "key characters alone"
        case "remove":
            return "all but key characters"
    return "as trained"


def cost(change: Json, n: int) -> str:
    """What a change costs over all pairs, in a sentence.

    >>> wrong = {"all": 0.4, "modulo": {"3": 0.4, "5": 0.1}, "alone": {"3": 0.3, "5": 0.0}}
    >>> cost({"wrong": wrong}, 15)
    'Over all 225 pairs: 40 % wrong; 30 % modulo 3 alone, 10 % modulo several.'
    """
    wrong, pairs = change["wrong"], f"Over all {n * n:,} pairs"
    if not wrong["all"]:
        return f"{pairs}: none is wrong."
    if len(wrong["alone"]) < 2:
        return f"{pairs}: {percent(wrong['all'])} wrong."
    alone = {q: x for q, x in wrong["alone"].items() if x > 0}
    rest = wrong["all"] - sum(alone.values())
    found = [
        f"{percent(x)} modulo {q} alone" for q, x in sorted(alone.items(), key=lambda x: -x[1])
    ]
    found += [f"{percent(rest)} modulo several"] * (rest > 1e-9)
    if len(found) == 1:
        return f"{pairs}: {percent(wrong['all'])} wrong, all of them {found[0].split(' % ')[-1]}."
    return f"{pairs}: {percent(wrong['all'])} wrong; {', '.join(found)}."


def step(own: Any, facts: Facts, sections: Mapping[str, Json]) -> Json:
    """A step with its sentences, its figure and links to its evidence."""
    links = [sections[name] for name in own.evidence if name in sections]
    sentences = [explained(x) for x in said(own.sentences, facts)]
    found = {"view": own.view, "title": own.title, "sentences": sentences, "links": links}
    found |= {"method": doc(own.method)}
    return found | {"figure": sections.get(own.figure)}


def card(claim: verdicts.Claim, facts: Facts, sections: Mapping[str, Json]) -> Json:
    """A claim with its verdict, in words and as a sign."""
    verdict, ours, runs = claim.judged(facts)
    found = {"claim": claim, "verdict": verdict, "sign": SIGNS[verdict]}
    found |= {"ours": explained(ours), "runs": runs, "method": doc(claim.method)}
    return found | {"figure": sections.get(claim.figure)}


def doc(place: str) -> str:
    """The address of a place in docs/.

    >>> doc("results#table-2"), doc("differences")
    ('docs/results.html#table-2', 'docs/differences.html')
    """
    name, sharp, at = place.partition("#")
    return f"docs/{name}.html{sharp}{at}"


def gatings(facts: Facts) -> list[Json]:
    """Gating and R² of both accounts, run by run; none where there is no such table."""
    names = ("run", "n", "gating", "r2_S", "r2_C", "ceiling")
    try:
        return [{name: row[name] for name in names} for row in facts.accounts()]
    except Missing:
        return []


def bibtex(paper: Mapping[str, Any]) -> str:
    """The paper as BibTeX, from CITATION.cff."""
    names = [f"{x['family-names']}, {x['given-names']}" for x in paper["authors"]]
    lines = {
        "title": f"{{{paper['title']}}}",
        "author": " and ".join(names),
        "year": str(paper["year"]),
        "url": paper["repository-code"],
    }
    key = f"{paper['authors'][0]['family-names'].lower()}{paper['year']}multiplication"
    body = ",\n".join(f"  {name} = {{{text}}}" for name, text in lines.items())
    return f"@article{{{key},\n{body}\n}}"
