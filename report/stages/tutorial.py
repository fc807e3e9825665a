"""A tutorial: report/notebooks/NAME.ipynb executed, as a page of the report.

In: the name, and what the notebook loads. Out: the page.
"""

import re
from pathlib import Path

from markupsafe import Markup

from report.code.site import PLAIN, rendered
from strata import notebook, store
from strata.inputs import InputError
from strata.run import command

HERE = "tutorials/first-look.html"


def dressed(page: str) -> str:
    """A notebook's page in the clothes of the report."""
    parts = re.search(r"<title>(.*?)</title>\s*<style>(.*?)</style>.*<body>(.*)</body>", page, re.S)
    assert parts
    title, style, body = parts.groups()
    colours = "\n".join(x for x in style.splitlines() if ".highlight" in x)
    return rendered(
        "tutorial.html",
        "../",
        HERE,
        scripts=PLAIN,
        title=Markup(title),
        colours=Markup(colours),
        body=Markup(body),
    )


def main(name: str, page: str) -> None:
    template = Path("report", "notebooks", f"{name}.ipynb")
    if not template.is_file():
        raise InputError(f"{template}: no such notebook")
    [html] = notebook.pages([(template, {})])
    store.write_text(page, dressed(html))


if __name__ == "__main__":
    command(main)
