"""The appendix: a page for each part of the report, with its figures and tables; the contents."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from markupsafe import Markup

from ops import provenance
from report.code import highlights
from report.code.claims import Claim
from report.code.page import frame
from report.code.section import PARTS
from report.code.site import PLAIN, Bar, rendered
from strata.run import Run

Json = dict[str, Any]
# The scripts of a page with panels, in the order in which they need one another.
PANELS = ("core", "search", "model", "through", "theme", "chart", "maps", "spectra", "pca")
PANELS += ("training", "element", "panels", "runs", "page", "main")
HERE = "appendix/index.html"
HEADINGS = "<h1.*?</h1>", "<h[23].*?</h[23]>"


@dataclass(frozen=True)
class Part:
    """One page: its file, its heading, and its sections in their order."""

    file: str
    title: str
    sections: list[Json]

    def html(self, **shared: Any) -> str:
        """The page; one without an interactive panel loads no run."""
        scripts = PANELS if any(s["view"] for s in self.sections) else PLAIN
        own = {"part": self.title, "own": self.sections, "scripts": scripts}
        return rendered("part.html", "../", HERE, **own, **shared)


def parts(shown: Sequence[Json]) -> list[Part]:
    """The pages that these sections make."""
    own = groupby(shown, lambda s: s["part"])
    return [Part(PARTS[title], title, list(sections)) for title, sections in own]


def pages(shown: Sequence[Json], carried: Collection[str], run: Run, bar: Bar) -> dict[str, str]:
    """Every page by the name of its file, with links to the files that the report carries along."""
    found = parts(shown)
    rows: list[Claim] = next((s["claims"] for s in shown if s["name"] == "claims"), [])
    shared = {"pages": found, "headline": str(run), "caption": run.caption, "carried": carried}
    shared |= {"bar": bar, "columns": list(rows[0].cells) if rows else []}
    own = {page.file: page.html(**shared) for page in found}
    beyond = highlights.lines({s["name"] for s in shown}, lambda x: frame(x).to_dict("records"))
    place = {
        s["name"]: (f"{page.file}#{s['name']}", s["title"]) for page in found for s in page.sections
    }
    told = [(*place[name], text) for name, text in beyond]
    index = rendered("appendix.html", "../", HERE, beyond=told, scripts=PLAIN, **shared)
    return own | {"index.html": index}


def words(shown: Sequence[Json], docs: Mapping[str, str]) -> str:
    """What the search looks through: page, name, heading and text of each section, and of the
    pages of docs/ title and headings."""
    sections = [
        [f"appendix/{PARTS[s['part']]}", s["name"], f"{s['label']} {s['title']}".strip(), said(s)]
        for s in shown
    ]
    pages = [
        [f"docs/{name}", "", *(plain(" · ".join(re.findall(h, html))) for h in HEADINGS)]
        for name, html in docs.items()
    ]
    return provenance.script("words", sections + pages)


def said(s: Json) -> str:
    """The words of a section, and of a table its caption and headings."""
    own = [s["table"] and s["caption"], *(s["table"]["headings"] if s["table"] else [s["alt"]])]
    return " ".join([plain(s["text"]), *filter(None, own)])


def plain(html: str) -> str:
    """The text of a piece of HTML, in one line.

    >>> plain("<p>W<sub>E</sub>  &amp;\\nmore</p>")
    'WE & more'
    """
    return " ".join(Markup(html).striptags().split())
