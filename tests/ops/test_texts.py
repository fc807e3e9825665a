"""README and docs: short, with narrow tables, and links that lead somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/*.md"))]
PAGES += [*sorted(ROOT.glob("studies/*/*.md"))]
every_page = pytest.mark.parametrize(
    "page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES]
)
CODE = {".py", ".yaml", ".ipynb"}
# DVC brings these: a clone of git alone has none of them.
MADE = re.compile(r"(studies/\w+/)?(tables|figures|data)/|report/html/")


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


@every_page
def test_every_link_leads_to_a_file_of_the_repository(page):
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", prose(page))
    paths = {(page.parent / link).resolve() for link in links if "://" not in link}
    lost = [x.relative_to(ROOT).as_posix() for x in paths if not x.exists()]
    assert [x for x in lost if not MADE.match(x)] == []


@pytest.mark.parametrize("page", [x for x in PAGES if "studies" not in x.parts], ids=str)
def test_no_table_has_more_than_eight_columns(page):
    rules = [x for x in prose(page).splitlines() if re.fullmatch(r"\|[\s:|-]+\|", x)]
    assert [x for x in rules if x.count("|") > 9] == []


def test_the_readme_is_read_in_one_sitting():
    assert len(prose(ROOT / "README.md").split()) <= 1000


def test_contributing_maps_the_library_in_both_directions():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    packages = {path.parent.name for path in ROOT.glob("src/strata/*/__init__.py")}
    assert {*re.findall(r"^\| `(\w+)/` \|", text, flags=re.MULTILINE)} == {
        *packages,
        "ops",
        "report",
        "tests",
    }


def test_pages_that_code_names_exist():
    folders = ("src", "stages", "ops", "benchmarks", "notebooks", "studies")
    folders += ("report/code", "report/stages", "report/notebooks")
    files = [x for name in folders for x in (ROOT / name).rglob("*.*") if x.suffix in CODE]
    named = {y for x in files for y in re.findall(r"docs/[\w-]+\.md", x.read_text("utf-8"))}
    assert len(named) > 3
    assert [x for x in named if not (ROOT / x).is_file()] == []
