"""What all pages of the report share: the templates of site/, the bar, the colours of figures."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2

from strata.plots import base

# The scripts of a page without panels, in the order in which they need one another.
PLAIN = ("core", "search", "page")
# The entries of the bar; all but the first are made by stages of their own.
BAR = (
    ("Appendix", "appendix/index.html"),
    ("Models", "cards/index.html"),
    ("Reference", "api/index.html"),
)
LOOK = {"colors": base.COLORS, "grey": base.GREY, "red": base.RED}
LOOK |= {name: base.ramp(name) for name in ("viridis", "magma")}


Bar = Sequence[tuple[str, str]]


def bar(report: Path) -> Bar:
    """The entries whose pages are in the report's folder."""
    return [entry for entry in BAR if entry == BAR[0] or (report / entry[1]).is_file()]


def environment() -> Any:
    """The templates of site/, as every page is made of them."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader("report/site"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def rendered(template: str, root: str, here: str = "", **values: Any) -> str:
    """A page of site/: ``root`` is its way to the folder of the report, ``here`` its entry."""
    shared = {"root": root, "here": here, "look": LOOK}
    return environment().get_template(template).render(shared | values)
