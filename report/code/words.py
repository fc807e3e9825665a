"""Markdown as pages of the report: those of docs/, the READMEs of studies, the words of notebooks
and tables."""

import re
from collections.abc import Callable
from os.path import normpath
from pathlib import Path
from typing import NamedTuple

import mistune
from markupsafe import Markup
from mistune.plugins.table import table
from mistune.toc import add_toc_hook

Target = Callable[[str], str | None]  # where a file of the repository is in the report, if it is


class Text(NamedTuple):
    """A piece of Markdown: its title and itself as HTML."""

    title: str
    html: Markup


class Renderer(mistune.HTMLRenderer):
    """HTML whose links lead to what the report has; of the others the words stay."""

    def __init__(self, folder: str, target: Target):
        super().__init__(escape=False)
        self.folder, self.target = folder, target

    def link(self, text: str, url: str, title: str | None = None) -> str:
        """A link from a page in ``folder``."""
        place = url if url.startswith(("https:", "#")) else self._place(url)
        return super().link(text, place, title) if place else text

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """A picture, or what is seen there where the report does not have it."""
        place = self._place(url)
        return super().image(text, place, title) if place else text

    def _place(self, url: str) -> str | None:
        path, sharp, name = url.partition("#")
        found = self.target(normpath(f"{self.folder}/{path}"))
        return found and f"{found}{sharp}{name}"


def page(path: Path, target: Target) -> Text:
    """A file of Markdown; headings have the ids that links name."""
    return text(path.read_text("utf-8"), path.parent.as_posix(), target)


def text(source: str, folder: str, target: Target) -> Text:
    """Markdown of a folder; its first heading is the title."""
    html, state = dialect(Renderer(folder, target)).parse(source)
    titles = [plain(text) for _, _, text in state.env["toc_items"]]
    return Text(titles[0] if titles else "", Markup(html))


def prose(source: str) -> Markup:
    """A few paragraphs whose links lead nowhere.

    >>> prose("of each *W_OV*, the matrix `W_E`")
    Markup('<p>of each <em>W<sub>OV</sub></em>, the matrix <code>W_E</code></p>\\n')
    """
    return text(source.strip(), "", lambda _: None).html


def dialect(renderer: mistune.HTMLRenderer) -> mistune.Markdown:
    """Markdown with tables, which scroll where they are wide, and with J_d, W_E and the like, whose
    index is set low."""
    found = mistune.Markdown(renderer, plugins=[table])
    renderer.register(
        "table", lambda _, rows: f'<div class="scroll"><table>\n{rows}</table></div>\n'
    )
    found.inline.register("index", r"\b[JWCZk]_\w+", _index, before="link")
    renderer.register("index", lambda _, text: "{}<sub>{}</sub>".format(*text.split("_", 1)))
    add_toc_hook(found, max_level=4, heading_id=lambda token, _: slug(token["text"]))
    return found


def _index(_: mistune.InlineParser, found: re.Match[str], state: mistune.InlineState) -> int:
    state.append_token({"type": "index", "raw": found[0]})
    return found.end()


def slug(heading: str) -> str:
    """The id of a heading, as links to it have it.

    >>> slug("Tables 2 and 3: `W_E`")
    'tables-2-and-3-w_e'
    """
    kept = "".join(c for c in heading.lower() if c.isalnum() or c in "_ -")
    return kept.strip().replace(" ", "-")


def plain(html: str) -> str:
    """The text of a piece of HTML, in one line.

    >>> plain("<p>W<sub>E</sub>  &amp;\\nmore</p>")
    'WE & more'
    """
    return " ".join(Markup(html).striptags().split())
