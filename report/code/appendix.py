"""The appendix: two pages for the paper, one for each study, and the contents."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from report.code.sections import Section
from report.code.site import PLAIN, environment, rendered, script
from report.code.words import Target, Text, page, plain
from strata.run import Run

# The scripts of a page with panels, in the order in which they need one another.
PANELS = ("core", "draw", "search", "model", "through", "theme", "chart", "maps", "spectra", "pca")
PANELS += ("training", "element", "panels", "runs", "page", "main")
HERE = "appendix/index.html"
Others = Mapping[str, Mapping[str, Text]]  # tutorials and docs by folder and name


@dataclass(frozen=True)
class Page:
    """One page: its file, its heading, what it says first, and its sections in their order."""

    file: str
    title: str
    text: Markup
    sections: Sequence[Section]


def pages(found: Mapping[str, Sequence[Section]], target: Target) -> list[Page]:
    """The pages of these sections, by the folder of their pipeline; a study's begins with its
    README."""
    made = []
    for folder, own in found.items():
        if folder == ".":
            figures = [x for x in own if x.notebook]
            tables = [x for x in own if not x.notebook]
            made.append(Page("figures.html", "Figures of the paper", Markup(), figures))
            made.append(Page("tables.html", "Tables of the paper", Markup(), tables))
            continue
        name, readme = Path(folder).name, Path(folder, "README.md")
        text = page(readme, target) if readme.is_file() else None
        title = text.title if text else name.capitalize()
        made.append(Page(f"{name}.html", title, text.html if text else Markup(), own))
    return made


def written(made: Sequence[Page], run: Run, others: Others) -> Iterator[tuple[str, str]]:
    """Every page by its file; the contents name the other pages too."""
    shared = {"pages": made, "headline": str(run), "caption": run.caption}
    for own in made:
        # One without a panel loads no run.
        scripts = PANELS if any(s.view for s in own.sections) else PLAIN
        yield (
            f"appendix/{own.file}",
            rendered("part.html", "../", HERE, own=own, scripts=scripts, **shared),
        )
    yield HERE, rendered("appendix.html", "../", HERE, scripts=PLAIN, others=others, **shared)


def index(made: Sequence[Page], others: Others) -> str:
    """What the search looks through: page, name, heading and text of each section and each term of
    the glossary; of the other pages title and words."""
    found = [
        [f"appendix/{p.file}", s.id, f"{s.label} {s.title}".strip(), said(s)]
        for p in made
        for s in p.sections
    ]
    terms = vars(environment().get_template("terms.html").module)["GLOSSARY"]
    found += [["glossary.html", x.replace(" ", "-"), x, text] for x, text in terms.items()]
    for folder, own in others.items():
        found += [[f"{folder}/{name}.html", "", x.title, plain(x.html)] for name, x in own.items()]
    return script("words", found)


def said(s: Section) -> str:
    """The words of a section: of a table its caption and headings, of a figure what is seen."""
    own = [s.seen.alt] if s.notebook else [s.cells["caption"], *s.cells["headings"]]
    return " ".join([plain(s.text), *own])
