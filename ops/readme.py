"""Fill README.md, docs/ and the pages of studies with the tables that they show, each from the file
that its markers name, from the top.

A block begins with ``<!-- tables/axes.md -->``, or with ``<!-- tables/axes.md: class | axis -->``
for some columns of the table and a link to its CSV, and ends with ``<!-- end -->``. With --check
nothing is written: exit code 1 where a block differs from its file.
"""

import re
import sys
from functools import cache
from os.path import relpath
from pathlib import Path

from ops import files, shipped

BLOCK = re.compile(
    r"(<!-- (\S+\.md)(?:: ([^\n]+))? -->\n)(?:(?!<!-- \S+\.md).)*?(<!-- end -->)", re.DOTALL
)


@cache
def outs() -> shipped.Outs:
    """What all locks name, read once."""
    return shipped.Outs(files.locked())


def content(name: str, page: Path) -> str:
    """A file's text, with its links as the page needs them: from the working tree where git tracks
    it, else as its dvc.lock names it."""
    kept = [part for out in outs().at(name) for part in shipped.parts(out)]
    found = [part.md5 for part in kept if part.path == name]
    text = shipped.content(found[0]).decode() if found else Path(name).read_text(encoding="utf-8")
    text = text.strip()
    return text.replace("](../", "](") if page.parent == Path() else text


def chosen(text: str, headings: list[str]) -> str:
    """A Markdown table with only the columns that have these headings, in this order; what is no
    row of it stays. Exit code 1 where the table lacks one of them."""
    lines = text.splitlines()
    cells = [line.strip("|").split("|") for line in lines]
    header = next(row for row, line in zip(cells, lines, strict=True) if line.startswith("|"))
    places = {cell.strip(): i for i, cell in enumerate(header)}
    for heading in headings:
        if heading not in places:
            sys.exit(f"{lines[0]!r} has no column {heading!r}: it has {', '.join(places)}")
    cut = ["|".join(["", *(row[places[x]] for x in headings), ""]) if line.startswith("|") else line
           for row, line in zip(cells, lines, strict=True)]  # fmt: skip
    return "\n".join(cut)


def block(name: str, columns: str | None, page: Path) -> str:
    """What stands between the markers: a file, or columns of a table and a link to all of them."""
    text = content(name, page)
    if columns is None:
        return text
    path = Path(name)
    whole = path.with_suffix(".csv") if "tables" in path.parts else path
    link = Path(relpath(whole, page.parent)).as_posix()
    return f"{chosen(text, columns.split(' | '))}\n\nAll columns: [{whole.as_posix()}]({link})"


def filled(text: str, page: Path) -> str:
    """The text of a page with every block as its file has it."""
    return BLOCK.sub(lambda x: f"{x[1]}{block(x[2], x[3], page)}\n{x[4]}", text)


def main() -> None:
    pages = sorted([*Path("docs").glob("*.md"), *Path("studies").glob("*/README.md")])
    for page in [Path("README.md"), *pages]:
        old = page.read_text(encoding="utf-8")
        new = filled(old, page)
        if "--check" not in sys.argv:
            page.write_text(new, encoding="utf-8")
        elif new != old:
            sys.exit(f"{page}: a table is not as its file has it: run `python -m ops.readme`")


if __name__ == "__main__":
    main()
