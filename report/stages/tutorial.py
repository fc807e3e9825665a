"""A tutorial: report/notebooks/NAME.ipynb executed, as a page of the report.

In: the name, and what the notebook loads. Out: the page.
"""

from pathlib import Path

from report.code.site import render_notebook
from strata import notebook, store
from strata.run import command

BAR_ENTRY = "tutorials/first-look.html"


def main(name: str, page: str) -> None:
    template = Path("report", "notebooks", f"{name}.ipynb")
    [html] = notebook.pages([(template, {})])
    store.write_text(page, render_notebook(html, "../", BAR_ENTRY))


if __name__ == "__main__":
    command(main)
