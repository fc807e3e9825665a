"""What all pages share: the templates of site/, the bar, colours of figures, data for scripts."""

import json
import re
from typing import Any

import jinja2
from markupsafe import Markup

from strata.plots import base, palette

# The scripts of a page without panels, in the order in which they need one another.
PLAIN = ("core", "draw", "search", "page")
BAR = (
    ("Contents", "appendix/index.html"),
    ("Docs", "docs/index.html"),
    ("Models", "cards/index.html"),
    ("Tutorials", "tutorials/first-look.html"),
    ("Reference", "api/index.html"),
)
LOOK = {"colors": palette.CLASSES, "grey": base.GREY}
LOOK |= {name: base.ramp(name) for name in ("viridis", "magma")}


def render(template: str, root: str, **values: Any) -> str:
    """Render a template of site/; ``root`` is the way from the page to the folder of the report."""
    shared = {"root": root, "active": "", "look": LOOK, "bar": BAR, "scripts": PLAIN}
    shared |= {"palette": Markup(palette.css())}
    return TEMPLATES.get_template(template).render(shared | values)


def render_notebook(page: str, root: str, active: str = "") -> str:
    """Render the page of an executed notebook in the style of the report; ``active`` is its entry
    in the bar."""
    parts = re.search(r"<title>(.*?)</title>\s*<style>(.*?)</style>.*<body>(.*)</body>", page, re.S)
    assert parts
    title, style, body = map(Markup, parts.groups())
    colours = Markup("\n").join(x for x in style.splitlines() if ".highlight" in x)
    # A frame of pandas has empty headings and a border.
    plain = str(body).replace("<th></th>", "<td></td>").replace('<table border="1" ', "<table ")
    return render("doc.html", root, active=active, title=title, text=Markup(plain), colours=colours)


def script(name: str, data: Any) -> str:
    """Return a script that hands data to the report's function of that name: a page opened from
    disk may load scripts alone."""
    text = json.dumps(data, sort_keys=True, allow_nan=False, separators=(",", ":"))
    return f"strata.{name}({text});\n"


def percent(share: float | None) -> str:
    r"""Format a share as a percentage with one decimal; 100 % means every one, and 0 % none.

    >>> percent(0.98765), percent(0.3), percent(0.99996), percent(1.0), percent(None)
    ('98.8\xa0%', '30.0\xa0%', '> 99.9\xa0%', '100\xa0%', '–')
    >>> percent(0.00469), percent(0.0001), percent(0.0), percent(-0.0708)
    ('0.5\xa0%', '< 0.1\xa0%', '0\xa0%', '−7.1\xa0%')
    """
    if share is None:
        return "–"
    if share in (0, 1):
        return f"{100 * share:.0f}\xa0%"
    if 0 < share < 0.0005:
        return "< 0.1\xa0%"
    text = f"{100 * share:.1f}\xa0%".replace("-", "−")
    return "> 99.9\xa0%" if share < 1 and text == "100.0\xa0%" else text


def span(shares: list[float]) -> str:
    r"""Return the least and the largest of some shares as percentages.

    >>> span([0.507, 0.789]), span([0.5])
    ('50.7 to 78.9\xa0%', '50.0\xa0%')
    """
    low, high = percent(min(shares)), percent(max(shares))
    return low if low == high else " to ".join([low.removesuffix("\xa0%"), high])


# The templates of site/, as every page is made of them.
TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader("report/site"),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
TEMPLATES.policies["json.dumps_kwargs"] = {"sort_keys": True, "separators": (",", ":")}
TEMPLATES.filters |= {"percent": percent, "thousands": "{:,}".format, "span": span}
