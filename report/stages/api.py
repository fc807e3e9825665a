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
LINK = re.compile(r'<a href="#([^"]+)">(.*?)</a>')
STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
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
    pdoc.render.env.globals["bar"] = site.BAR
    pdoc.pdoc("strata", *(f"!strata.{name}" for name in HIDDEN), output_directory=out)
    styles: dict[str, None] = {}
    for path in sorted(out.rglob("*.html")):
        text = "".join(f"{line.rstrip()}\n" for line in path.read_text("utf-8").splitlines())
        text = NOISE.sub("", text)
        text = text.replace('<a class="headerlink"', '<a class="headerlink" aria-label="Link here"')
        text = text.replace("<h5>Inherited Members</h5>", "<p><b>Inherited Members</b></p>")
        # A name that a docstring of another library has is no place here.
        places = {*re.findall(r'id="([^"]+)"', text)}
        text = LINK.sub(lambda m, here=places: m[0] if m[1] in here else m[2], text)
        # Every page has the same styles: they are kept once.
        styles |= dict.fromkeys(STYLE.findall(text))
        root = "../" * (len(path.relative_to(out).parts) - 1)
        link = f'<link rel="stylesheet" href="{root}pdoc.css">\n</head>'
        store.write_text(path, STYLE.sub("", text).replace("</head>", link))
    store.write_text(out / "pdoc.css", "\n".join(styles))


if __name__ == "__main__":
    command(main)
