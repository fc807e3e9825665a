"""The reference of the library as pages: what its docstrings and signatures say.

Out: a folder of HTML, a page for each module of the public face, the core, api, measure and patch.
"""

import pkgutil
import re
import shutil
from pathlib import Path

import pdoc
import pdoc.render

import strata
from report.code import site
from strata import store
from strata.run import command

HIDDEN = ("params", "plots", "tables", "train", "api.commands", "api.console")
# Of a class of pydantic: a default that there is not; of a function where it lies in memory.
NOISE = re.compile(r"\s*=\s*<span class=\"default_value\">PydanticUndefined</span>| at 0x[0-9a-f]+")
TEMPLATES = Path("report", "site", "api")  # pdoc's, with a link back to the report


def expose_public_names() -> None:
    """Show pdoc the public names, which strata loads at their first use, and then its modules."""
    modules = [x.name for x in pkgutil.iter_modules(strata.__path__) if x.name not in HIDDEN]
    names = sorted({*dir(strata)} - {*modules}, key=str.swapcase)
    for name in names:
        setattr(strata, name, getattr(strata, name))
    setattr(strata, "__all__", [*names, *modules])  # noqa: B010


def main(folder: str) -> None:
    out = Path(folder)
    expose_public_names()
    shutil.rmtree(out, ignore_errors=True)
    # Its search has all words twice and is larger than the pages.
    pdoc.render.configure(
        docformat="markdown", show_source=False, math=False, search=False,
        template_directory=TEMPLATES,
    )  # fmt: skip
    pdoc.render.env.globals["bar"] = site.BAR
    pdoc.pdoc("strata", *(f"!strata.{name}" for name in HIDDEN), output_directory=out)
    for path in out.rglob("*.html"):
        store.write_text(path, NOISE.sub("", path.read_text("utf-8")))
    forward = site.render("api/forward.html", "", page="strata.html")
    store.write_text(out / "index.html", forward)


if __name__ == "__main__":
    command(main)
