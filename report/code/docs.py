"""The pages of docs/, carried along with the report so that it links to what it cites."""

import re
from collections.abc import Collection
from pathlib import Path

import mistune
from markupsafe import Markup
from mistune.toc import add_toc_hook

from report.code.site import PLAIN, Bar, rendered
from strata import store

FOLDER = Path("docs")


def names() -> list[str]:
    """The pages there are, such as ``dynamics``."""
    return sorted(path.stem for path in FOLDER.glob("*.md"))


def pages(carried: Collection[str], bar: Bar) -> dict[str, str]:
    """Every page by the name of its file; ``carried``: what the report has under files/."""
    known, found = names(), {}
    for name in known:
        text = store.read_bytes(FOLDER / f"{name}.md").decode()
        html = linked(_html(text), known, carried)
        title = re.search(r"^# (.+)$", text, re.MULTILINE)
        own = {"title": title[1] if title else name, "text": Markup(html), "scripts": PLAIN}
        found[f"{name}.html"] = rendered("doc.html", "../", bar=bar, **own)
    return found


def _html(text: str) -> str:
    """Markdown as HTML; headings have the ids that links name."""
    markdown = mistune.create_markdown(escape=False, plugins=["table", "strikethrough"])
    add_toc_hook(markdown, max_level=4, heading_id=lambda token, _: slug(token["text"]))
    html = str(markdown(re.sub(r"<!--.*?-->\n?", "", text)))
    return re.sub("<table>.*?</table>", r'<div class="scroll">\g<0></div>', html, flags=re.DOTALL)


def slug(heading: str) -> str:
    """The id of a heading, as links to it have it.

    >>> slug("Tables 2 and 3: `W_E`")
    'tables-2-and-3-w_e'
    """
    return re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-")


def linked(html: str, known: Collection[str], carried: Collection[str]) -> str:
    """The page with links to what is in the report's folder; of the others the words stay.

    >>> linked('<a href="a.md#b">x</a>, <a href="../c.py">y</a>', ["a"], [])
    '<a href="a.html#b">x</a>, y'
    """

    def anchor(found: re.Match[str]) -> str:
        path, words = target(found[1], known, carried), found[2]
        return f'<a href="{path}">{words}</a>' if path else words

    def image(found: re.Match[str]) -> str:
        path = f"figures/{found[1]}"
        return f'<img src="../files/{path}"' if path in carried else "<img"

    html = re.sub(r'<a href="([^"]+)">(.*?)</a>', anchor, html, flags=re.DOTALL)
    return re.sub(r'<img src="([\w-]+\.png)"', image, html)


def target(link: str, known: Collection[str], carried: Collection[str]) -> str | None:
    """Where a link of docs/ leads in the report; None where it has no such file."""
    page, _, place = link.partition("#")
    if link.startswith(("https:", "#")):
        return link
    if page.removesuffix(".md") in known:
        return page.removesuffix(".md") + ".html" + (f"#{place}" if place else "")
    path = page.removeprefix("../")
    return f"../files/{path}" if path in carried else None
