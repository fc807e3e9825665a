"""Fill README.md and docs/ with the tables that they show, each from the file its markers name.

A block begins with ``<!-- tables/axes.md -->``, or with ``<!-- tables/axes.md: class | axis -->``
for some columns of the table and a link to its CSV, and ends with ``<!-- end -->``. With --check
nothing is written: exit code 1 where a block differs from its file.
"""

import re
import sys
from pathlib import Path

from strata.pipeline import files

BLOCK = re.compile(
    r"(<!-- (\S+\.md)(?:: ([^\n]+))? -->\n)(?:(?!<!-- \S+\.md).)*?(<!-- end -->)", re.DOTALL
)


def content(name: str, page: Path) -> str:
    """A file's text, with its links as the page needs them: from the working tree where git tracks
    it, else as its dvc.lock names it."""
    stages = files.locked().values()
    outs = {out["path"]: out["md5"] for stage in stages for out in stage.get("outs", ())}
    md5 = outs.get(name)
    path = Path("remote/files/md5", md5[:2], md5[2:]) if md5 else Path(name)
    text = path.read_text(encoding="utf-8").strip()
    return text.replace("](../", "](") if page.parent == Path() else text


def chosen(text: str, headings: list[str]) -> str:
    """The columns of a Markdown table with these headings, in this order, under its caption.

    Exit code 1 where the table lacks one of them."""
    caption, _, table = text.partition("\n\n|")
    rows = [row.strip("|").split("|") for row in table.splitlines()]
    places = {cell.strip(): i for i, cell in enumerate(rows[0])}
    if missing := [x for x in headings if x not in places]:
        sys.exit(f"{caption!r} has no column {missing[0]!r}: it has {', '.join(places)}")
    cut = ["|".join(["", *(row[places[x]] for x in headings), ""]) for row in rows]
    return f"{caption}\n\n" + "\n".join(cut)


def block(name: str, columns: str | None, page: Path) -> str:
    """What stands between the markers: a file, or columns of a table and a link to all of them."""
    text = content(name, page)
    if columns is None:
        return text
    table = Path(name).with_suffix(".csv").as_posix()
    link = table if page.parent == Path() else f"../{table}"
    return f"{chosen(text, columns.split(' | '))}\n\nAll columns: [{table}]({link})"


def filled(text: str, page: Path) -> str:
    """The text of a page with every block as its file has it."""
    return BLOCK.sub(lambda x: f"{x[1]}{block(x[2], x[3], page)}\n{x[4]}", text)


def main() -> None:
    for page in [Path("README.md"), *sorted(Path("docs").glob("*.md"))]:
        old = page.read_text(encoding="utf-8")
        new = filled(old, page)
        if "--check" not in sys.argv:
            page.write_text(new, encoding="utf-8")
        elif new != old:
            sys.exit(f"{page}: a table is not as its file has it: run `python scripts/readme.py`")


if __name__ == "__main__":
    main()
