"""Fill the pages of the repository with the tables, numbers and pictures that they show.

A table stands between ``<!-- tables/axes.md -->``, or ``<!-- tables/axes.md: class | axis -->`` for
some of its columns and a link to its CSV, and ``<!-- end -->``. A number in a sentence is plain
prose: docs/numbers.yaml has, for each page, words as they stand in it once, with each number in
braces, ``explain {99.7 %}``, and the cell of each number. ``tables/axes.md[J₁ | 3 | no axis]`` is
below the last of these headings in the one row that has the other cells; ``params.yaml[train.lr]``
is a parameter. A picture is the figure of its name. A file is one that a stage of a lock wrote, of
parameters, or a table of benchmarks; what is of a deleted study stays as it is.

With --check nothing is written: exit code 1, with page, words and right number, where a page is not
as its files have it. ``checked`` yields the same for other programs: for each page its faults and
the files that it cites.

Pages are CONTRIBUTING, docs/ and each README.md. No pages are criteria, which stay as they were
written on their day, CHANGELOG, which has its numbers from then, and what benchmarks/ writes.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from os.path import normpath, relpath
from pathlib import Path
from typing import Any, NamedTuple

from ruamel.yaml import YAML

from ops import files, packs, shipped
from ops.git import git
from ops.provenance import md5
from strata import store
from strata.inputs import InputError
from strata.run import command, read_yaml

NUMBERS = Path("docs/numbers.yaml")
PAGES = re.compile(r"CONTRIBUTING\.md|docs/[^/]+\.md|(.*/)?README\.md")
FILES = re.compile(r"(studies/)?params\.yaml|benchmarks/[\w-]+\.md")  # beside what stages wrote
BLOCK = re.compile(
    r"(<!-- (\S+\.md)(?:: ([^\n]+))? -->\n)(?:(?!<!-- \S+\.md).)*?(<!-- end -->)", re.DOTALL
)
PICTURE = re.compile(r"!\[[^\]]*\]\(([^)\s:]+)\)")
BRACES = re.compile(r"[{}]")
Entry = dict[str, Any]  # of docs/numbers.yaml: words, and from which cells their numbers are


class PageCheck(NamedTuple):
    """A page, what is wrong with it or its pictures, a line each, and the files that it cites, as
    paths from the top: outputs of stages, parameters and tables of benchmarks."""

    page: Path
    faults: list[str]
    files: set[str]


def pages(tracked: Iterable[str] | None = None) -> list[Path]:
    """Return each page, from the top, of these files or of what git tracks."""
    names = git("ls-files", "-z").split("\0") if tracked is None else tracked
    return sorted(Path(x) for x in names if PAGES.fullmatch(x))


@cache
def outs() -> shipped.Outs:
    """Return what all locks name, read once."""
    return shipped.Outs(files.locked_stages())


@cache
def stores() -> list[Path]:
    """Return where what stages wrote may be: caches and remotes."""
    return [where for project in files.projects() for where in packs.stores(project)]


@cache
def read(name: str) -> str:
    """Return the text of a file that a stage wrote, as its lock has it, or of a table of
    benchmarks. Raises InputError for other files."""
    if FILES.fullmatch(name):
        return Path(name).read_text("utf-8").strip()
    return shipped.content(output(name).md5, stores()).decode().strip()


def output(name: str) -> shipped.Out:
    """Return the file of that path that a stage wrote. Raises InputError where none did."""
    parts = (part for out in outs().at(name) for part in shipped.parts(out, stores()))
    for part in parts:
        if part.path == name:
            return part
    raise InputError(f"{name}: no stage writes it")


def is_of_deleted_study(name: str) -> bool:
    """Tell whether a file is of a study whose folder is not here."""
    parts = Path(name).parts
    return parts[0] == "studies" and len(parts) > 2 and not Path(*parts[:2]).is_dir()


def rows(text: str) -> list[list[str]]:
    """Return the cells of a Markdown table, its headings first; empty ones are left as they are."""
    lines = (line.strip("|") for line in text.splitlines() if re.match(r"\|(?!:?-)", line))
    return [[cell.strip() for cell in line.split("|")] for line in lines]


def column(headings: list[str], heading: str) -> int:
    """Return where a table has a column. Raises InputError where it has none."""
    if heading not in headings:
        raise InputError(f"no column {heading!r}: there are {', '.join(headings)}")
    return headings.index(heading)


def choose_columns(text: str, headings: list[str]) -> str:
    """Return a Markdown table with only the columns that have these headings, in this order; what
    is no row of it stays. Raises InputError where it lacks one of them."""
    places = [column(rows(text)[0], heading) for heading in headings]

    def cut(line: re.Match[str]) -> str:
        row = line[1].split("|")
        return "|".join(["", *(row[i] for i in places), ""])

    return re.sub(r"^\|(.*)\|$", cut, text, flags=re.MULTILINE)


def cell(text: str, keys: list[str], heading: str) -> str:
    """Return a cell of the one row that has all these cells. Raises InputError unless there is
    one."""
    headings, *below = rows(text)
    same = [row for row in below if {*keys} <= {*row}]
    if len(same) != 1:
        raise InputError(f"{len(same)} rows have {' | '.join(keys)}, must be one")
    return same[0][column(headings, heading)]


def block(name: str, columns: str | None, page: Path) -> str:
    """Return what stands between two comments: a file, with its links as the page needs them, or
    columns of a table and a link to all of them."""
    text = read(name)
    if columns is None:
        return text.replace("](../", "](") if page.parent == Path() else text
    path = Path(name)
    of_stage = "tables" in path.parts
    whole = path.with_suffix(".csv") if of_stage else path
    link = Path(relpath("gallery" / whole if of_stage else whole, page.parent)).as_posix()
    return (
        f"{choose_columns(text, columns.split(' | '))}\n\nAll columns: [{whole.as_posix()}]({link})"
    )


def read_numbers() -> dict[str, list[Entry]]:
    """Return what docs/numbers.yaml has for each page. Raises InputError where it is not as it must
    be."""
    if not NUMBERS.is_file():
        return {}
    read_yaml(NUMBERS)  # which refuses in one line what is no YAML
    numbers = YAML().load(NUMBERS)
    for entry in (x for entries in numbers.values() for x in entries):
        if {*entry} != {"words", "from"} or not all(isinstance(x, str) for x in entry["from"]):
            need = "`words` and `from`, and a cell stands in quotes where it has a colon"
            raise InputError(f"{NUMBERS}: each entry of a page must have {need}: {dict(entry)}")
    return numbers


def number(address: str) -> str:
    """Return the cell of a table, or the value of a parameter, at an address. Raises InputError
    where nothing is there."""
    name, _, inside = address.removesuffix("]").partition("[")
    if name.endswith(".md"):
        *keys, heading = inside.split(" | ")
        return cell(read(name), keys, heading)
    value: Any = read_yaml(name)
    try:
        for key in inside.split("."):
            value = value[key]
    except (KeyError, TypeError):
        raise InputError(f"{name}: has no {inside}") from None
    return f"{value:,}" if isinstance(value, int) else str(value)


def correct(text: str, entry: Entry) -> tuple[str, str]:
    """Return the text of a page with the right numbers in the words of an entry, and these words.
    Raises InputError unless they are there once, with the entry's numbers or the right ones."""
    old = BRACES.split(entry["words"])  # what stands at odd places is a number
    if len(old) != 2 * len(entry["from"]) + 1:
        raise InputError(f"{entry['words']!r}: must have a number in braces for each cell")
    new = [*old]
    new[1::2] = map(number, entry["from"])
    either = [
        f"({pattern_of_words(x)}|{pattern_of_words(y)})" for x, y in zip(old, new, strict=True)
    ]
    places = [*re.finditer(rf"(?<![\w.]){''.join(either)}(?!\w|\.\d)", text)]
    right = "".join(f"{{{x}}}" if i % 2 else x for i, x in enumerate(new))
    if len(places) != 1:
        raise InputError(f"{BRACES.sub('', right)!r}: must be there once, is {len(places)} times")
    [place] = places
    parts = zip(place.groups(), new, strict=True)
    mended = (x if x.split() == y.split() else y for x, y in parts)  # with its line breaks
    return text[: place.start()] + "".join(mended) + text[place.end() :], right


def pattern_of_words(words: str) -> str:
    """Return a pattern of words, between which lines may break."""
    return r"\s+".join(map(re.escape, re.split(r"\s+", words)))


@contextmanager
def note_faults(faults: list[str]) -> Iterator[None]:
    """Add what cannot be read or found to the faults of a page, and go on."""
    try:
        yield
    except (InputError, OSError) as fault:
        faults.append(str(fault))


def correct_page(page: Path, entries: list[Entry]) -> tuple[str, list[str]]:
    """Return the text of a page as its files have it, and what was wrong with it. The words of
    entries are mended as well."""
    text, faults = page.read_text("utf-8"), []
    for x in (x for x in BLOCK.finditer(text) if not is_of_deleted_study(x[2])):
        with note_faults(faults):
            right = f"{x[1]}{block(x[2], x[3], page)}\n{x[4]}"
            faults += [f"{x[2]}: its table is another"] * (x[0] != right)
            text = text.replace(x[0], right)
    for entry in (x for x in entries if not any(map(is_of_deleted_study, x["from"]))):
        with note_faults(faults):
            new, right = correct(text, entry)
            if new != text:
                old = BRACES.sub("", entry["words"])
                faults.append(f"{old!r}: must be {BRACES.sub('', right)!r}")
            text, entry["words"] = new, right
    return text, faults


def figures(name: str) -> list[shipped.Out]:
    """Return the figures of this name that stages drew."""
    drawn = (out for out in outs() if "figures" in Path(out.path).parts)
    parts = (part for out in drawn for part in shipped.parts(out, stores()))
    return [part for part in parts if Path(part.path).name == name]


def pictures(page: Path) -> list[Path]:
    """Return the pictures that a page shows, from the top."""
    text = page.read_text("utf-8")
    return [Path(normpath(page.parent / x)) for x in PICTURE.findall(text)]


def check_pages(tracked: Iterable[str] | None = None) -> Iterator[PageCheck]:
    """Yield each page, of these files or of what git tracks, with its faults and the files that it
    cites; docs/numbers.yaml where it has a fault of its own."""
    names, numbers, faults = pages(tracked), dict[str, list[Entry]](), list[str]()
    with note_faults(faults):
        numbers = read_numbers()
    faults += [
        f"{x}: is no page" for x in numbers if Path(x) not in names and not is_of_deleted_study(x)
    ]
    if faults:
        yield PageCheck(NUMBERS, faults, set())
    for page in names:
        entries = numbers.get(str(page), [])
        text, faults = correct_page(page, entries)
        cited = {x[2] for x in BLOCK.finditer(text)}
        cited |= {x.partition("[")[0] for entry in entries for x in entry["from"]}
        for picture in pictures(page):
            with note_faults(faults):
                drawn = figures(picture.name)
                cited |= {x.path for x in drawn}
                by_hand = not drawn and picture.parts[0] != "studies"
                if not by_hand and md5(picture) not in {x.md5 for x in drawn}:
                    faults.append(f"{picture}: is no figure that a stage drew")
        yield PageCheck(page, faults, cited)


def fill() -> None:
    """Write pages, their words in docs/numbers.yaml, and their pictures, as their files are."""
    numbers = read_numbers()
    for page in pages():
        text, _ = correct_page(page, numbers.get(str(page), []))
        store.write_text(page, text)
        for path in pictures(page):
            for out in figures(path.name):
                store.write_bytes(path, shipped.content(out.md5, stores()))
    if numbers:
        yaml = YAML()
        yaml.width = 4096
        yaml.dump(numbers, NUMBERS)


def main() -> None:
    if "--check" not in sys.argv:
        for project in files.projects():
            packs.unpack(project)
        fill()
    faults = [f"{x.page}: {fault}" for x in check_pages() for fault in x.faults]
    if faults:
        sys.exit("\n".join([*faults, "`python -m ops.readme` puts in what its files have"]))


if __name__ == "__main__":
    command(main)
