"""README and docs: short, with narrow tables, and links that lead somewhere."""

import re
from pathlib import Path

import pytest

from ops import files

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/*.md"))]
every_page = pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
CODE = {".py", ".yaml", ".ipynb"}
TABLES = ROOT / "tables"  # DVC brings them: a clone of git alone has none


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


@every_page
def test_every_link_leads_to_a_file_of_the_repository(page):
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", prose(page))
    paths = {(page.parent / link).resolve() for link in links if "://" not in link}
    assert [x for x in paths if not x.exists() and not x.is_relative_to(TABLES)] == []


@every_page
def test_no_table_has_more_than_eight_columns(page):
    rules = [x for x in prose(page).splitlines() if re.fullmatch(r"\|[\s:|-]+\|", x)]
    assert [x for x in rules if x.count("|") > 9] == []


def test_the_readme_is_read_in_one_sitting():
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 120


def test_the_page_of_the_pipeline_names_every_stage():
    text = (ROOT / "docs/pipeline.md").read_text("utf-8")
    names = {*re.findall(r"[\w-]+", text)}
    assert [stage for stage in files.stages(ROOT) if stage not in names] == []


def test_contributing_names_modules_that_exist():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    rows = re.findall(r"^\| (?:`(\w+)/`|core) \|[^|]+\| ([\w, ]+) \|$", text, flags=re.MULTILINE)
    assert len(rows) == 12
    named = [ROOT / "src/strata" / wing / x for wing, names in rows for x in names.split(", ")]
    assert [x for x in named if not x.with_suffix(".py").is_file() and not x.is_dir()] == []


def test_pages_that_code_names_exist():
    folders = ("src", "stages", "ops", "benchmarks", "pipelines", "notebooks", "studies")
    folders += ("report/code", "report/stages", "report/notebooks")
    files = [x for name in folders for x in (ROOT / name).rglob("*.*") if x.suffix in CODE]
    named = {y for x in files for y in re.findall(r"docs/[\w-]+\.md", x.read_text("utf-8"))}
    assert len(named) > 3
    assert [x for x in named if not (ROOT / x).is_file()] == []
