"""Fill the pages of the repository with the tables and numbers that they show, each from the file
that its marker names, from the top.

A table begins with ``<!-- tables/axes.md -->``, or with ``<!-- tables/axes.md: class | axis -->``
for some of its columns and a link to its CSV. A number in a sentence begins with
``<!-- tables/axes.md[J₁ | 3 | no axis] -->``, the cell below the last of these headings in the one
row that has the other cells, or ``<!-- params.yaml[train.lr] -->``. Both end with ``<!-- end -->``.
A marker may go on with words that must stand directly before or after its number, so that no other
number can be put in its place: ``<!-- tables/axes.md[J₁ | no axis]: of the units -->``. A file is
one that a stage of a lock wrote, of parameters, or a table of benchmarks.

With --check nothing is written: exit code 1 where a page differs from its files, has a numeral that
no file fills, or shows a picture that no stage of its study drew.

Pages are CONTRIBUTING, docs/ and every README.md. No page are criteria, which stay as they were
written on their day, CHANGELOG, which has its numbers from then, and what benchmarks/ writes.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from html import unescape
from html.parser import HTMLParser
from os.path import normpath, relpath
from pathlib import Path

import mistune

from ops import files, packs, shipped
from ops.git import git
from ops.provenance import md5
from strata import store
from strata.inputs import InputError, few
from strata.run import command, read_yaml

PAGES = re.compile(r"CONTRIBUTING\.md|docs/[^/]+\.md|(.*/)?README\.md")
# What a host would show in the place of pages, or beside them.
HOST = r"(?i:\.(github|gitlab|gitea|forgejo)/|(.*/)?readme(\.(?!py$)\w+)?$)"
INSTEAD = re.compile(rf"(?!([^.].*/)?README\.md$){HOST}")
FILES = re.compile(r"(studies/)?params\.yaml|benchmarks/[\w-]+\.md")  # beside what stages wrote
BLOCK = re.compile(
    r"(<!-- (\S+\.md)(?:: ([^\n]+))? -->\n)(?:(?!<!-- \S+\.md).)*?(<!-- end -->)", re.DOTALL
)
CELL = re.compile(
    r"(<!-- (\S+\.(?:md|yaml))\[([^\]\n]+)\](?:: ([^\n]+?))? -->)[^\n]*?(<!-- end -->)"
)
TABLE = re.compile(r"^\|.*\n?", re.MULTILINE)
CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"<!--(?!-?>).*?-->|</?(?:details|summary)>", re.DOTALL)
DRAWN = re.compile(r"```\s*(?:mermaid|math|geojson|topojson|stl)|`[\d\W_]+`$")  # code, yet shown
LINK = re.compile(r"\]\([^)\s]+\)")
# What would make another number of one: a sign or a word before its marker, a factor after it.
SIGNED = re.compile(r"(?:[-−–+±~≈<>≤≥×·/^]|\b(?:minus|no|not|half|twice|times))\s*$")
SCALED = re.compile(r"\s*(?:[×·^‰/]|(?:hundred|thousand|million|billion|times|per cent)\b)")
# Digits that are no result: names of models, tables, figures, sections, seeds, heads; words with a
# letter in them; primes as what one computes modulo; days and years; versions of programs; how sure
# an interval is; the place in a list.
ROW = r"\d+(?:(?:,| and| to| or) \d+)*"
NAMES = re.compile(
    rf"(?:Tables?|Figures?|[Ss]ections?|[Ss]eeds?|[Hh]eads?|[Mm]odulo|mod)\s?{ROW}|§[\d.]+"
    r"|n = \d+(?: = \d+(?: · \d+)*)?|arXiv:[\d.]+"
    r"|(?:Python|pyarrow|TransformerLens|OpenBLAS)[\s≥]+\d[\d.]*"
    r"(?: (?:and|to) [\d.]+)?"
    r"|[\w./·+-]*[^\W\d][\w./·+-]*|\b(?:19|20)\d\d(?:-\d\d-\d\d)?\b|95 % (?=intervals?)"
    r"|^\s*\d+\. ",
    re.MULTILINE,
)


def pages(tracked: Iterable[str] | None = None) -> list[Path]:
    """Every page, from the top, of these files or of what git tracks."""
    names = git("ls-files", "-z").split("\0") if tracked is None else tracked
    return sorted(Path(x) for x in names if PAGES.fullmatch(x))


@cache
def outs() -> shipped.Outs:
    """What all locks name, read once."""
    return shipped.Outs(files.locked())


@cache
def stores() -> list[Path]:
    """Where what stages wrote may be: caches and remotes."""
    return [where for project in files.projects() for where in packs.stores(project)]


def written(name: str) -> str | None:
    """The md5 of a file that a stage wrote, as its lock has it; None where no stage did."""
    parts = (part for out in outs().at(name) for part in shipped.parts(out, stores()))
    return next((part.md5 for part in parts if part.path == name), None)


@cache
def read(name: str) -> str:
    """The text of a file that a stage wrote, or of a table of benchmarks."""
    found = written(name)
    data = shipped.content(found, stores()) if found else Path(name).read_bytes()
    return data.decode().strip()


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


def known(name: str) -> bool:
    """Whether a page may have its numbers from a file."""
    return bool(FILES.fullmatch(name)) or written(name) is not None


def filled(text: str, page: Path) -> str:
    """The text of a page with every table and number as its file has it; those of a file that no
    stage wrote, as of a study that was deleted, stay as they are."""
    text = BLOCK.sub(
        lambda x: f"{x[1]}{block(x[2], x[3], page)}\n{x[4]}" if known(x[2]) else x[0], text
    )
    return CELL.sub(lambda x: f"{x[1]}{number(x[2], x[3])}{x[5]}" if known(x[2]) else x[0], text)


def unknown(text: str) -> list[str]:
    """The files in the markers of a page that no stage wrote."""
    found = [x[2] for pattern in (BLOCK, CELL) for x in pattern.finditer(text)]
    return sorted(x for x in {*found} if not known(x))


def typed(text: str, named: bool = False) -> list[str]:
    """The numerals of a page that no marker fills and that are no names, with what is around; and
    what stands at a marker and makes another number of it, or is not what it names. ``named``: each
    marker must have words."""
    found = []
    for x in CELL.finditer(text):
        before, after = " ".join(text[: x.start()].split()), " ".join(text[x.end() :].split())
        beside = before.endswith(x[4]) or after.startswith(x[4]) if x[4] else not named
        if not beside or SIGNED.search(before) or SCALED.match(after):
            found.append(f"{before[-30:]} [{x[3]}] {after[:12]}")
    for pattern in (BLOCK, CELL, COMMENT):
        text = pattern.sub("", text)
    text = CODE.sub(lambda x: x[0] if DRAWN.match(x[0]) else "", text)
    text = NAMES.sub(lambda x: re.sub(r"\d", "_", x[0]), unescape(LINK.sub("]", text)))
    text = re.sub(rf"\b(?:{'|'.join(moduli())})\b", "_", text)
    bare = re.finditer(r"[\d¼-¾⅐-ↈ][\d.,]*", text)
    return found + [" ".join(text[max(0, x.start() - 30) : x.end() + 12].split()) for x in bare]


@cache
def moduli() -> tuple[str, ...]:
    """Those of the runs in the locks."""
    runs = map(files.run_of, files.locked())
    return tuple(sorted({str(run.n) for run in runs if run}))


class Shown(HTMLParser):
    """The pictures of a page by their addresses; of what else would show one, its name."""

    def __init__(self, text: str):
        super().__init__()
        self.addresses: list[str] = []
        self.feed(str(mistune.create_markdown(escape=False)(text)))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = dict(attrs)
        if tag == "img" and {*own} <= {"src", "alt", "title"}:
            self.addresses.append(own.get("src") or "")
        elif tag in OTHER:
            self.addresses.append(f"<{tag}>")


OTHER = {"img", "picture", "source", "svg", "video", "iframe", "object", "embed", "style", "link"}


def pictures(page: Path) -> Iterator[tuple[Path, str]]:
    """Each picture that a page shows, and the md5 of the figure that it must be: that of its name
    among the paper's and those of the study of the page, or where the page is of none, of the
    picture; empty where there is none."""
    for address in Shown(page.read_text(encoding="utf-8")).addresses:
        path = Path(normpath(page.parent / address))
        study = next((x.parent for x in (page, path) if x.parts[0] == "studies"), Path())
        own = (study.as_posix(), "figures")
        drawn = [out for out in outs() if any(Path(out.path).is_relative_to(x) for x in own)]
        made = {x.path: x.md5 for out in drawn for x in shipped.parts(out, stores())}
        same = [md5 for name, md5 in made.items() if Path(name).name == path.name]
        yield path, made.get(path.as_posix(), same[0] if len({*same}) == 1 else "")


def faults(tracked: Iterable[str] | None = None) -> Iterator[tuple[Path, str, list[str]]]:
    """Each page and picture; in what it is not as its files have it, empty for nothing; and what of
    its markers no stage wrote."""
    for page in pages(tracked):
        old = page.read_text(encoding="utf-8")
        try:
            said = "" if filled(old, page) == old else "it is not as its files have it"
        except (InputError, OSError) as fault:
            said = str(fault)
        if bare := typed(old, page == Path("README.md")):
            said = said or f"of these the file, or what it is of, is not known: {few(bare)}"
        yield page, said, unknown(old)
        for path, made in pictures(page):
            same = made and path.is_file() and md5(path) == made
            yield path, "" if same else f"{page} shows it: no stage of its study drew it", []


def words(text: str) -> int:
    """Those of a page outside of tables, code and markers."""
    for pattern in (CODE, TABLE, COMMENT):
        text = pattern.sub("", text)
    return len(LINK.sub("]", text).split())


def main() -> None:
    if "--check" in sys.argv:
        for path, fault, _ in faults():
            if fault:
                raise InputError(f"{path}: {fault}: run `python -m ops.readme`")
        return
    for project in files.projects():
        packs.unpack(project)
    for page in pages():
        store.write_text(page, filled(page.read_text(encoding="utf-8"), page))
        for path, made in pictures(page):
            if made:
                store.write_bytes(path, shipped.content(made, stores()))


if __name__ == "__main__":
    command(main)
