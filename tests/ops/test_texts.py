"""README, docs and the pages of studies: short, with narrow tables, links that lead somewhere, and
numbers from the files that stages wrote."""

import re
from pathlib import Path

import pytest

from ops import readme

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/*.md"))]
PAGES += [*sorted(ROOT.glob("studies/*/*.md"))]
FILLED = readme.pages()
every_filled = pytest.mark.parametrize("page", FILLED, ids=str)
# Its links lead to pages of its day, and stay as they were written.
DATED = "criteria-primes.md"
# What each number of README is of, by the cell of its table: the words beside it.
SPEAKS = {
    "votes | holds for": "This holds in",
    "all fresh runs | votes explain, of that": "**explain**",
    "all fresh runs | classes explain": "at its freest,",
    "all fresh runs | runs": "(medians,",
    "all fresh runs | every left-out answer right": "every one in",
    "replaced | fresh: median": "may see):",
    "replaced | fresh: worst": "right, worst",
    "all | a prime | runs": "(",
    "all | a prime | pairs that do not": "divides keep",
    "all | a prime | these, as many cut at random": "random ones:",
    "all | a class | pairs that do not": "outside keep",
    "all | a class | these, as many cut at random": "(random:",
    "165 | all-heads | skill lost, mean": "networks of 165:",
    "share-all-heads-classes | mean": "classes:",
    "shuffled-all-heads-classes | mean": "shuffled:",
    "share-all-heads-11 | mean": "modulo 11:",
    "apart | what is said": "primes mix:",
    "votes-share | fresh: worst": "at least",
    "votes-right | fresh: holds": "pairs in",
    "votes-classes | fresh: holds": "class in",
    "n = 165, fresh | every left-out answer right": "of 165 in",
    "n = 165, fresh | runs": "of",
    "n = 165, earlier | every left-out answer right": "earlier",
    "n = 165, earlier | runs": "of",
    "n = 143, fresh | every left-out answer right": "of 143 in",
    "n = 143, fresh | runs": "of",
    "n = 143, earlier | every left-out answer right": "earlier",
    "n = 143, earlier | runs": "of",
    "all fresh runs | primes apart: votes hold": "votes hold in",
    "all fresh runs | primes apart": "of",
    "all fresh runs | gated: votes hold": "primes apart,",
    "all fresh runs | gated": "of",
    "all fresh runs | mixed: votes hold": "(nearest to the paper),",
    "all fresh runs | mixed": "of",
    "n = 154, fresh | votes hold": "In",
    "n = 154, fresh | runs": "of",
    "n = 154, fresh | primes apart: votes hold": "hold:",
    "n = 154, fresh | mixed: votes hold": "apart,",
    "n = 154, fresh | gated": "not in",
    "n154-s1 | primes": "(earlier,",
}
CODE = {".py", ".yaml", ".ipynb"}
# DVC brings these: a clone of git alone has none of them.
MADE = re.compile(r"(studies/\w+/)?(tables|figures|data)/|report/html/")


def gone(name: str) -> bool:
    """Whether a file is of a study that was deleted."""
    top, _, rest = name.partition("/")
    return top == "studies" and "/" in rest and not (ROOT / top / rest.split("/")[0]).is_dir()


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", [x for x in PAGES if x.name != DATED], ids=str)
def test_every_link_leads_to_a_file_of_the_repository(page):
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", prose(page))
    paths = {(page.parent / link).resolve() for link in links if "://" not in link}
    lost = [x.relative_to(ROOT).as_posix() for x in paths if not x.exists()]
    assert [x for x in lost if not MADE.match(x) and not gone(x)] == []


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_commands_can_be_pasted_into_zsh(page):
    """Typed there, # begins no comment, and a word with [ or * is a pattern that must match."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    lines = [x for language, text in blocks if not language for x in text.splitlines()]
    bare = [re.sub(r"'[^']*'", "", x) for x in lines]
    assert [x for x in bare if re.search(r"(^|\s)#|[\[*?]", x)] == []


@pytest.mark.parametrize("page", [x for x in PAGES if "studies" not in x.parts], ids=str)
def test_no_table_has_more_than_eight_columns(page):
    rules = [x for x in prose(page).splitlines() if re.fullmatch(r"\|[\s:|-]+\|", x)]
    assert [x for x in rules if x.count("|") > 9] == []


def test_a_numeral_is_found_unless_a_table_fills_it_or_it_is_a_name():
    text = "Table 3 of n165-s1 (n = 154), modulo 3 and 5, seed 4: `x = 7`\n"
    filled = "[1](a2.md) <!-- a.md[b] -->8 %<!-- end --> of 143.\n<!-- b.md -->\n9\n<!-- end -->\n"
    assert readme.typed(text + filled.replace("[1]", "[a]")) == []
    assert len(readme.typed(text + "56 points, 3 of 10, 0.5\n")) == 4


@every_filled
def test_no_line_begins_with_the_marker_of_a_number(page):
    """Markdown would take the line for HTML."""
    assert re.findall(rf"^\s*{readme.CELL.pattern}", page.read_text("utf-8"), re.MULTILINE) == []


@every_filled
def test_a_number_of_a_row_with_an_id_is_found_by_it(page):
    """So a table's sentences may be reworded."""
    for x in readme.CELL.finditer(page.read_text("utf-8")):
        if x[2].endswith(".md") and readme.known(x[2]):
            headings, *below = readme.rows(readme.read(x[2]))
            keys = {*x[3].split(" | ")[:-1]}
            if "id" in headings:
                [row] = [row for row in below if keys <= {*row}]
                assert row[headings.index("id")] in keys, x[3]


def test_each_number_of_readme_is_that_of_which_its_sentence_speaks():
    text = (ROOT / "README.md").read_text("utf-8")
    assert {x[3]: x[4] for x in readme.CELL.finditer(text)} == SPEAKS
    one, other = re.findall(r"<!-- \S+\[share-all-heads-\w+ \| mean\][^>]*-->", text)
    swapped = text.replace(one, "\0").replace(other, one).replace("\0", other)
    assert readme.typed(text, named=True) == [] != readme.typed(swapped, named=True)


def test_a_page_is_read_in_one_sitting():
    counts = {page.as_posix(): readme.words(page.read_text("utf-8")) for page in FILLED}
    limits = dict.fromkeys(counts, 1200) | {"README.md": 700, "docs/operating.md": 2500}
    limits["docs/referee.md"] = 300
    assert {page: count for page, count in counts.items() if count > limits[page]} == {}


def test_contributing_maps_the_library_in_both_directions():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    packages = {path.parent.name for path in ROOT.glob("src/strata/*/__init__.py")}
    mapped = re.findall(r"^\| `(\w+)/` \|", text, flags=re.MULTILINE)
    assert {*mapped} == {*packages, "ops", "report", "tests"}


NAMED = r"\b(?:docs|studies/\w+)/[\w-]+\.md"


def test_pages_that_code_names_exist():
    folders = ("src", "stages", "ops", "benchmarks", "notebooks", "studies")
    folders += ("report/code", "report/stages", "report/notebooks")
    files = [x for name in folders for x in (ROOT / name).rglob("*.*") if x.suffix in CODE]
    named = {y for x in files for y in re.findall(NAMED, x.read_text("utf-8"))}
    assert len(named) > 3
    # Those of a study that is not here are gone with it.
    here = [x for x in named if not x.startswith("studies/") or (ROOT / x).parent.is_dir()]
    assert [x for x in here if not (ROOT / x).is_file()] == []
