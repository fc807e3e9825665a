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

COMMENT = re.compile(r"\s*(?:<!--.*?-->\s*)+", re.S)
TAGS = re.compile(r"&lt;(/?(?:details|summary|sub|sup))&gt;")  # escaped
Target = Callable[[str], str | None]  # where a file of the repository is in the report, if it is


class Text(NamedTuple):
    """A piece of Markdown: its title and itself as HTML."""

    title: str
    html: Markup


class Renderer(mistune.HTMLRenderer):
    """HTML whose links lead to what the report has; of the others the words stay."""

    def __init__(self, folder: str, target: Target):
        super().__init__(escape=True)
        self.folder, self.target = folder, target

    def block_html(self, html: str) -> str:
        """Keep tags that fold or raise, drop comments, and escape all else."""
        return "" if COMMENT.fullmatch(html) else TAGS.sub(r"<\1>", mistune.escape(html))

    inline_html = block_html

    def link(self, text: str, url: str, title: str | None = None) -> str:
        """Write a link from a page in ``folder``, or its words alone where the report does not have
        the file."""
        place = url if url.startswith(("https:", "#")) else self._place(url)
        return super().link(text, place, title) if place else text

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """Write a picture, or the description of it where the report does not have the file."""
        place = self._place(url)
        return super().image(text, place, title) if place else text

    def _place(self, url: str) -> str | None:
        path, sharp, name = url.partition("#")
        place = self.target(normpath(f"{self.folder}/{path}"))
        return place and f"{place}{sharp}{name}"


def read_page(path: Path, target: Target) -> Text:
    """Read a file of Markdown; its headings have the ids that links name."""
    return text(path.read_text("utf-8"), path.parent.as_posix(), target)


def text(source: str, folder: str, target: Target) -> Text:
    """Convert Markdown of a folder to HTML; its first heading is the title."""
    html, state = make_parser(Renderer(folder, target)).parse(source)
    titles = [plain(text) for _, _, text in state.env["toc_items"]]
    return Text(titles[0] if titles else "", Markup(html))


def prose(source: str) -> Markup:
    """Convert a few paragraphs whose links lead nowhere.

    >>> prose("of each *W_OV*, the matrix `W_E`")
    Markup('<p>of each <em>W<sub>OV</sub></em>, the matrix <code>W_E</code></p>\\n')
    """
    return text(source.strip(), "", lambda _: None).html


def make_parser(renderer: mistune.HTMLRenderer) -> mistune.Markdown:
    """Return a parser of Markdown with tables, which scroll where they are wide, and with J_d, W_E
    and the like, whose index is set low."""
    markdown = mistune.Markdown(renderer, plugins=[table])
    renderer.register(
        "table", lambda _, rows: f'<div class="scroll"><table>\n{rows}</table></div>\n'
    )
    markdown.inline.register("index", r"\b[JWCZk]_\w+", _parse_index, before="link")
    renderer.register("index", lambda _, text: "{}<sub>{}</sub>".format(*text.split("_", 1)))
    add_toc_hook(markdown, max_level=4, heading_id=lambda token, _: slug(token["text"]))
    return markdown


def _parse_index(_: mistune.InlineParser, match: re.Match[str], state: mistune.InlineState) -> int:
    state.append_token({"type": "index", "raw": match[0]})
    return match.end()


def slug(heading: str) -> str:
    """Return the id of a heading, as links to the heading have it.

    >>> slug("Tables 2 and 3: `W_E`")
    'tables-2-and-3-w_e'
    """
    letters = "".join(c for c in heading.lower() if c.isalnum() or c in "_ -")
    return letters.strip().replace(" ", "-")


def plain(html: str) -> str:
    """Return the text of a piece of HTML, in one line.

    >>> plain("<p>W<sub>E</sub>  &amp;\\nmore</p>")
    'WE & more'
    """
    return " ".join(Markup(html).striptags().split())
