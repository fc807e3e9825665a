"""Fill the pages of the repository with the tables and numbers that they show, each from the file
that its marker names, from the top; and count their words.

A table begins with ``<!-- tables/axes.md -->``, or with ``<!-- tables/axes.md: class | axis -->``
for some of its columns and a link to its CSV. A number in a sentence begins with
``<!-- tables/axes.md[J₁ | 3 | no axis] -->``, the cell below the last of these headings in the one
row that has the other cells, or ``<!-- params.yaml[train.lr] -->``. Both end with ``<!-- end -->``.
With --check nothing is written: exit code 1 where a page differs from its files, or a picture of a
page from the figure that a stage drew. With --words each page is printed with its words, outside of
tables, code and markers.

Pages are README, CONTRIBUTING, docs/ and the READMEs of folders. No page are criteria, which stay
as they were written on their day, CHANGELOG, which has its numbers from then, and what benchmarks/
writes.
"""

import re
import sys
from collections.abc import Iterator
from functools import cache
from os.path import relpath
from pathlib import Path

from ops import files, packs, provenance, shipped
from strata import store
from strata.inputs import InputError
from strata.run import command, read_yaml

PAGES = ("README.md", "CONTRIBUTING.md", "docs/*.md", "data/README.md", "figures/README.md")
PAGES += ("paper/README.md", "studies/*/README.md", "studies/*/*/README.md")
PICTURES = ("docs/*.png", "studies/*/*.png")  # copies of figures, by their names
BLOCK = re.compile(
    r"(<!-- (\S+\.md)(?:: ([^\n]+))? -->\n)(?:(?!<!-- \S+\.md).)*?(<!-- end -->)", re.DOTALL
)
CELL = re.compile(r"(<!-- (\S+\.(?:md|yaml))\[([^\]\n]+)\] -->)[^\n]*?(<!-- end -->)")
TABLE = re.compile(r"^\|.*\n?", re.MULTILINE)
CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->|</?(?:details|summary)>", re.DOTALL)
LINK = re.compile(r"\]\([^)\s]+\)")


def pages() -> list[Path]:
    """Every page, from the top."""
    return sorted(path for name in PAGES for path in Path().glob(name))


@cache
def outs() -> shipped.Outs:
    """What all locks name, read once."""
    return shipped.Outs(files.locked())


@cache
def read(name: str) -> str:
    """A file's text: from the working tree where git tracks it, else as its dvc.lock names it."""
    kept = [part for out in outs().at(name) for part in shipped.parts(out)]
    found = [part.md5 for part in kept if part.path == name]
    text = shipped.content(found[0]).decode() if found else Path(name).read_text(encoding="utf-8")
    return text.strip()


def cells(line: str) -> list[str]:
    """Those of a row of a Markdown table."""
    return [cell.strip() for cell in line.strip("|").split("|")]


def rows(text: str) -> list[list[str]]:
    """The cells of a Markdown table, its headings first; empty ones are left as they are."""
    return [cells(line) for line in text.splitlines() if re.match(r"\|(?!:?-)", line)]


def place(headings: list[str], heading: str) -> int:
    """Where a table has a column. Raises InputError where it has none."""
    if heading not in headings:
        raise InputError(f"no column {heading!r}: there are {', '.join(headings)}")
    return headings.index(heading)


def chosen(text: str, headings: list[str]) -> str:
    """A Markdown table with only the columns that have these headings, in this order; what is no
    row of it stays. Raises InputError where it lacks one of them."""
    lines = text.splitlines()
    places = [place(rows(text)[0], heading) for heading in headings]
    split = [line.strip("|").split("|") for line in lines]
    cut = ["|".join(["", *(row[i] for i in places), ""]) if line.startswith("|") else line
           for row, line in zip(split, lines, strict=True)]  # fmt: skip
    return "\n".join(cut)


def cell(text: str, keys: list[str], heading: str) -> str:
    """A cell of the one row that has all these cells. Raises InputError unless there is one."""
    headings, *below = rows(text)
    found = [row for row in below if {*keys} <= {*row}]
    if len(found) != 1:
        raise InputError(f"{len(found)} rows have {' | '.join(keys)}")
    return found[0][place(headings, heading)]


def block(name: str, columns: str | None, page: Path) -> str:
    """What stands between the markers: a file, with its links as the page needs them, or columns
    of a table and a link to all of them."""
    text = read(name)
    if columns is None:
        return text.replace("](../", "](") if page.parent == Path() else text
    path = Path(name)
    whole = path.with_suffix(".csv") if "tables" in path.parts else path
    link = Path(relpath(whole, page.parent)).as_posix()
    return f"{chosen(text, columns.split(' | '))}\n\nAll columns: [{whole.as_posix()}]({link})"


def number(name: str, address: str) -> str:
    """What stands in a sentence: a cell of a table, or a value of a file of parameters."""
    if name.endswith(".md"):
        *keys, heading = address.split(" | ")
        return cell(read(name), keys, heading)
    value = read_yaml(name)
    for key in address.split("."):
        value = value[key]
    return f"{value:,}" if isinstance(value, int) else str(value)


def gone(name: str) -> bool:
    """Whether a file is of a study that was deleted."""
    top, _, rest = name.partition("/")
    return top == "studies" and "/" in rest and not Path(top, rest.split("/")[0]).is_dir()


def filled(text: str, page: Path) -> str:
    """The text of a page with every table and number as its file has it; those of a study that was
    deleted stay as they are."""
    text = BLOCK.sub(
        lambda x: x[0] if gone(x[2]) else f"{x[1]}{block(x[2], x[3], page)}\n{x[4]}", text
    )
    return CELL.sub(lambda x: x[0] if gone(x[2]) else f"{x[1]}{number(x[2], x[3])}{x[4]}", text)


def pictures() -> Iterator[tuple[Path, str]]:
    """Each picture, and the md5 of the figure of its name; empty where no stage draws it."""
    drawn = [out for out in outs() if "figures" in Path(out.path).parts]
    made = {Path(x.path).name: x.md5 for out in drawn for x in shipped.parts(out)}
    for path in (path for name in PICTURES for path in sorted(Path().glob(name))):
        yield path, made.get(path.name, "")


def faults() -> Iterator[tuple[Path, str]]:
    """Each page and picture, and in what it is not as its files have it; empty for nothing."""
    for page in pages():
        old = page.read_text(encoding="utf-8")
        try:
            yield page, "" if filled(old, page) == old else "it is not as its files have it"
        except (InputError, OSError) as fault:
            yield page, str(fault)
    for path, md5 in pictures():
        same = provenance.md5(path) == md5
        yield path, "" if same else "it is not the figure that a stage drew"


def words(text: str) -> int:
    """Those of a page outside of tables, code and markers."""
    for pattern in (CODE, TABLE, COMMENT):
        text = pattern.sub("", text)
    return len(LINK.sub("]", text).split())


def main() -> None:
    if "--words" in sys.argv:
        for page in pages():
            print(f"{words(page.read_text(encoding='utf-8')):6,}  {page}")
        return
    if "--check" in sys.argv:
        for path, fault in faults():
            if fault:
                raise InputError(f"{path}: {fault}: run `python -m ops.readme`")
        return
    for project in files.projects():
        packs.unpack(project)
    for page in pages():
        store.write_text(page, filled(page.read_text(encoding="utf-8"), page))
    for path, md5 in pictures():
        if md5:
            store.write_bytes(path, shipped.content(md5))


if __name__ == "__main__":
    command(main)
