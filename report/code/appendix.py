"""The appendix: two pages for the paper, one for each study, and the contents."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from report.code.sections import Section
from report.code.site import TEMPLATES, rendered, script
from report.code.words import Target, Text, page, plain
from strata.monoid import classes
from strata.run import Run

Others = Mapping[str, Mapping[str, Text]]  # tutorials and docs by folder and name


class Page(NamedTuple):
    """One page: its file, its heading, what it says first, and its sections in their order."""

    file: str
    title: str
    text: Markup
    sections: Sequence[Section]


def pages(by_folder: Mapping[str, Sequence[Section]], target: Target) -> list[Page]:
    """The pages of these sections, by the folder of their pipeline; a study's begins with its
    README."""
    made = []
    for folder, sections in by_folder.items():
        if folder == ".":
            for kind, name in (("figures", "Figures"), ("tables", "Tables")):
                shown = [x for x in sections if bool(x.notebook) == (kind == "figures")]
                made.append(Page(f"{kind}.html", f"{name} of the paper", Markup(), shown))
        else:
            name, readme = Path(folder).name, Path(folder, "README.md")
            known = readme.is_file()
            text = page(readme, target) if known else Text(name.capitalize(), Markup())
            made.append(Page(f"{name}.html", *text, sections))
    return made


def written(made: Sequence[Page], run: Run, others: Others) -> Iterator[tuple[str, str]]:
    """Every page by its file; the contents name the other pages too."""
    shared = {"pages": made, "headline": str(run), "caption": run.caption}
    for own in made:
        yield f"appendix/{own.file}", rendered("part.html", "../", own=own, **shared)
    yield "appendix/index.html", rendered("appendix.html", "../", others=others, **shared)


def index(made: Sequence[Page], others: Others, run: Run, names: Sequence[str]) -> str:
    """What the search looks through: place, heading and text of each section, each part of a
    study's README, each term of the glossary, each run of these names and each class of the
    headline; of the other pages title and words."""
    entries = [[s.place, f"{s.label} {s.title}".strip(), said(s)] for p in made for s in p.sections]
    for own in made:
        # Before the first heading of second order; then by threes: place, heading, words.
        first, *parts = re.split(r'<h2 id="([^"]+)">(.*?)</h2>', own.text)
        said_of = [("top", own.title, first), *zip(*[iter(parts)] * 3, strict=True)]
        entries += [
            [f"appendix/{own.file}#{place}", f"{own.title}: {plain(title)}", plain(text)]
            for place, title, text in said_of if text
        ]  # fmt: skip
    terms = vars(TEMPLATES.get_template("terms.html").module)["GLOSSARY"]
    entries += [[f"glossary.html#{x.replace(' ', '-')}", x, text] for x, text in terms.items()]
    for folder, pages in others.items():
        entries += [[f"{folder}/{name}.html", x.title, plain(x.html)] for name, x in pages.items()]
    entries += [[f"cards/{x}.html", x, f"Run of modulus {Run.parse(x).n}: its card"] for x in names]
    for J in classes(run.n):
        text = f"Residues that share {J.d} with {run.n}: {', '.join(map(str, sorted(J.elements)))}"
        entries += [[f"appendix/figures.html#top?a={J.elements[0]}", f"Class J{J.d}", text]]
    return script("words", entries)


def said(s: Section) -> str:
    """The words of a section: of a table its caption and headings, of a figure what is seen."""
    own = [s.seen.alt] if s.notebook else [s.cells["caption"], *s.cells["headings"]]
    return " ".join([plain(s.text), *own])
