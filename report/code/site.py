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
    ("Models", "cards/index.html"),
    ("Tutorials", "tutorials/first-look.html"),
    ("Reference", "api/index.html"),
)
LOOK = {"colors": palette.CLASSES, "grey": base.GREY}
LOOK |= {name: base.ramp(name) for name in ("viridis", "magma")}


def rendered(template: str, root: str, **values: Any) -> str:
    """A page of site/: ``root`` is its way to the folder of the report."""
    shared = {"root": root, "here": "", "look": LOOK, "bar": BAR, "scripts": PLAIN}
    shared |= {"palette": Markup(palette.css())}
    return TEMPLATES.get_template(template).render(shared | values)


def dressed(page: str, root: str, here: str = "") -> str:
    """The page of an executed notebook in the clothes of the report; ``here`` is its entry in the
    bar."""
    parts = re.search(r"<title>(.*?)</title>\s*<style>(.*?)</style>.*<body>(.*)</body>", page, re.S)
    assert parts
    title, style, body = map(Markup, parts.groups())
    colours = Markup("\n").join(x for x in style.splitlines() if ".highlight" in x)
    # A frame of pandas has empty headings and a border.
    plain = str(body).replace("<th></th>", "<td></td>").replace('<table border="1" ', "<table ")
    return rendered("doc.html", root, here=here, title=title, text=Markup(plain), colours=colours)


def script(name: str, data: Any) -> str:
    """A script that hands data to the report's function of that name: a page opened from disk may
    load scripts alone."""
    text = json.dumps(data, sort_keys=True, allow_nan=False, separators=(",", ":"))
    return f"strata.{name}({text});\n"


def percent(share: float | None) -> str:
    r"""A share as a percentage of three digits, below one of one; 100 % means every one.

    >>> percent(0.98765), percent(0.3), percent(0.99996), percent(1.0), percent(None)
    ('98.8\xa0%', '30\xa0%', '> 99.9\xa0%', '100\xa0%', '–')
    >>> percent(0.00469), percent(0.0001), percent(0.0), percent(-0.0708)
    ('0.5\xa0%', '< 0.1\xa0%', '0\xa0%', '−7.08\xa0%')
    """
    if share is None:
        return "–"
    if 0 < share < 0.01:
        return "< 0.1\xa0%" if share < 0.0005 else f"{100 * share:.1f}\xa0%"
    text = f"{100 * share:.3g}\xa0%".replace("-", "−")
    return "> 99.9\xa0%" if share < 1 and text == "100\xa0%" else text


def span(shares: list[float]) -> str:
    r"""The least and the largest of some shares.

    >>> span([0.507, 0.789]), span([0.5])
    ('51 to 79\xa0%', '50\xa0%')
    """
    low, high = (f"{100 * x:.0f}" for x in (min(shares), max(shares)))
    return f"{low}\xa0%" if low == high else f"{low} to {high}\xa0%"


# The templates of site/, as every page is made of them.
TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader("report/site"),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
TEMPLATES.filters |= {"percent": percent, "thousands": "{:,}".format, "span": span}
