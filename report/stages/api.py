"""The reference of the library as pages: what its docstrings and signatures say.

Out: a folder of HTML, a page for each module of the public face, the core, api, measure and patch.
"""

import pkgutil
import shutil
from pathlib import Path

import pdoc
import pdoc.render

import strata
from strata import store
from strata.run import command

HIDDEN = ("levels", "params", "plots", "render", "schema", "tables", "train")
HIDDEN += ("api.console", "api.summary")
TEMPLATES = Path("report", "site", "api")  # pdoc's, with a link back to the report


def face() -> None:
    """Show pdoc the public names, which strata loads at their first use, and then its modules."""
    modules = [x.name for x in pkgutil.iter_modules(strata.__path__) if x.name not in HIDDEN]
    names = sorted({*dir(strata)} - {*modules}, key=str.swapcase)
    for name in names:
        setattr(strata, name, getattr(strata, name))
    setattr(strata, "__all__", [*names, *modules])  # noqa: B010


def main(folder: str) -> None:
    out = Path(folder)
    face()
    shutil.rmtree(out, ignore_errors=True)
    # Its search has all words twice and is larger than the pages.
    pdoc.render.configure(
        docformat="markdown", show_source=False, math=False, search=False,
        template_directory=TEMPLATES,
    )  # fmt: skip
    pdoc.pdoc("strata", *(f"!strata.{name}" for name in HIDDEN), output_directory=out)
    for path in sorted(out.rglob("*.html")):
        text = "".join(f"{line.rstrip()}\n" for line in path.read_text("utf-8").splitlines())
        store.write_text(path, text)


if __name__ == "__main__":
    command(main)
