"""A tutorial: report/notebooks/NAME.ipynb executed, as a page of the report.

In: the name, and what the notebook loads. Out: the page.
"""

from pathlib import Path

from strata import notebook, store
from strata.inputs import InputError
from strata.run import command


def main(name: str, page: str) -> None:
    template = Path("report", "notebooks", f"{name}.ipynb")
    if not template.is_file():
        raise InputError(f"{template}: no such notebook")
    [done] = notebook.executed([(template, {})])
    store.write_text(page, notebook.page(notebook.clean(done)))


if __name__ == "__main__":
    command(main)
