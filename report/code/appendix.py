"""The appendix: two pages for the paper, one for each study, and the contents."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from report.code.sections import Section
from report.code.site import TEMPLATES, render, script
from report.code.words import Target, Text, plain, read_page
from strata.monoid import classes
from strata.run import Run

Others = Mapping[str, Mapping[str, Text]]  # tutorials and docs by folder and name


class Page(NamedTuple):
    """One page: its file, its heading, what it says first, and its sections in their order."""

    file: str
    title: str
    text: Markup
    sections: Sequence[Section]


def make_pages(by_folder: Mapping[str, Sequence[Section]], target: Target) -> list[Page]:
    """Return the pages of these sections, which are keyed by the folder of their pipeline. The page
    of a study begins with its README."""
    pages = []
    for folder, sections in by_folder.items():
        if folder == ".":
            for kind, name in (("figures", "Figures"), ("tables", "Tables")):
                chosen = [x for x in sections if bool(x.notebook) == (kind == "figures")]
                pages.append(Page(f"{kind}.html", f"{name} of the paper", Markup(), chosen))
        else:
            text = read_page(Path(folder, "README.md"), target)
            pages.append(Page(f"{Path(folder).name}.html", *text, sections))
    return pages


def render_pages(pages: Sequence[Page], run: Run) -> Iterator[tuple[str, str]]:
    """Yield every page as HTML with its file."""
    shared = {"pages": pages, "headline": str(run), "caption": run.caption}
    for current in pages:
        yield f"appendix/{current.file}", render("part.html", "../", current=current, **shared)
    yield "appendix/index.html", render("appendix.html", "../", **shared)


def index(pages: Sequence[Page], others: Others, run: Run, names: Sequence[str]) -> str:
    """Return what the search looks through: place, heading and text of each section, each study's
    README, each term of the glossary, each run of these names and each class of the headline; of
    tutorials and docs their titles and words."""
    sections = [s for page in pages for s in page.sections]
    entries = [[s.place, f"{s.label} {s.title}".strip(), section_words(s)] for s in sections]
    entries += [[f"appendix/{x.file}#top", x.title, plain(x.text)] for x in pages if x.text]
    terms = vars(TEMPLATES.get_template("terms.html").module)["GLOSSARY"]
    entries += [[f"glossary.html#{x.replace(' ', '-')}", x, text] for x, text in terms.items()]
    for folder, texts in others.items():
        entries += [[f"{folder}/{name}.html", x.title, plain(x.html)] for name, x in texts.items()]
    entries += [[f"cards/{x}.html", x, f"Run of modulus {Run.parse(x).n}: its card"] for x in names]
    for J in classes(run.n):
        text = f"Residues that share {J.d} with {run.n}: {', '.join(map(str, sorted(J.elements)))}"
        entries += [[f"appendix/figures.html#top?a={J.elements[0]}", f"Class J{J.d}", text]]
    return script("words", entries)


def section_words(section: Section) -> str:
    """Return the words of a section: its text, and the caption and headings of a table or the
    description of a figure."""
    if section.notebook:
        return f"{plain(section.text)} {section.alt}"
    return " ".join([plain(section.text), section.cells["caption"], *section.cells["headings"]])
