"""A tutorial: report/notebooks/NAME.ipynb executed, as a page of the report.

In: the name, and what the notebook loads. Out: the page.
"""

from pathlib import Path

from report.code.site import render_notebook
from strata import notebook, store
from strata.inputs import InputError
from strata.run import command

BAR_ENTRY = "tutorials/first-look.html"


def main(name: str, page: str) -> None:
    template = Path("report", "notebooks", f"{name}.ipynb")
    if not template.is_file():
        raise InputError(f"{template}: there is no such notebook")
    [html] = notebook.pages([(template, {})])
    store.write_text(page, render_notebook(html, "../", BAR_ENTRY))


if __name__ == "__main__":
    command(main)
