"""Pages show the tables, numbers and pictures of their files, and their links lead somewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from ops import gallery, readme
from ops.git import git
from strata.inputs import InputError

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / x for x in git("ls-files", "*.md").splitlines() if (ROOT / x).is_file()]
TRACKED = {*git("ls-files").splitlines()}
TABLE = "All.\n\n| n | of | share |\n|--:|:--|--:|\n| 4 | x | 1 % |\n| 4 | y | 2 % |\n"
PAGE = "Of these,\ny  has\n1 %, *x* has\n2 %, of 3,000."
OF_X = ["benchmarks/a.md[x | share]", "params.yaml[a.n]"]
ENTRIES = [
    {"words": "*x* has {2 %}, of {3,000}", "from": OF_X},
    {"words": "these, y has {1 %}", "from": ["benchmarks/a.md[4 | y | share]"]},
]


def forget() -> None:
    """Forget what was read of another folder."""
    for cached in (readme.outs, readme.stores, readme.read):
        cached.cache_clear()


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Write a repository with a table, a parameter, and a page whose numbers are out of date."""
    monkeypatch.chdir(tmp_path)
    for path, text in {"benchmarks/a.md": TABLE, "params.yaml": "a: {n: 4000}\n"}.items():
        Path(path).parent.mkdir(exist_ok=True)
        Path(path).write_text(text)
    Path("docs").mkdir()
    Path("docs/page.md").write_text(PAGE)
    YAML().dump({"docs/page.md": ENTRIES}, Path("docs/numbers.yaml"))
    subprocess.run(["git", "init", "--quiet"], check=True)
    subprocess.run(["git", "add", "--all"], check=True)
    forget()
    yield tmp_path
    forget()


def faults() -> list[str]:
    """Return what is wrong with the pages of the current folder."""
    return [f"{x.page}: {fault}" for x in readme.check_pages() for fault in x.faults]


def test_the_pages_show_the_tables_and_figures_that_stages_wrote(monkeypatch):
    monkeypatch.chdir(ROOT)
    assert faults() == []


def test_the_check_names_page_words_and_right_number_and_the_command_puts_it_in(
    project, monkeypatch
):
    monkeypatch.setattr(sys, "argv", ["readme", "--check"])
    with pytest.raises(SystemExit) as end:
        readme.main()
    errors = str(end.value.code)
    assert "docs/page.md: '*x* has 2 %, of 3,000': must be '*x* has 1 %, of 4,000'\n" in errors
    assert "docs/page.md: 'these, y has 1 %': must be 'these, y has 2 %'\n" in errors
    assert Path("docs/page.md").read_text() == PAGE
    monkeypatch.setattr(sys, "argv", ["readme"])
    readme.main()
    assert Path("docs/page.md").read_text() == "Of these,\ny  has\n2 %, *x* has\n1 %, of 4,000."
    words = [x["words"] for x in YAML().load(Path("docs/numbers.yaml"))["docs/page.md"]]
    assert words == ["*x* has {1 %}, of {4,000}", "these, y has {2 %}"]
    assert faults() == []


@pytest.mark.parametrize(
    ("page", "times"),
    [
        ("y has 1 %.", 0),
        (PAGE + PAGE, 2),
        (PAGE.replace("1 %", "11 %"), 0),
        ("these, y has 1 %.5", 0),
        ("xthese, y has 1 %", 0),
    ],
)
def test_words_that_are_not_there_once_are_named(page, times, project):
    fault = f"'these, y has 2 %': must be there once, is {times} times"
    with pytest.raises(InputError, match=fault):
        readme.correct(page, ENTRIES[1])


@pytest.mark.parametrize(
    ("address", "fault"),
    [
        ("benchmarks/a.md[4 | share]", "2 rows have 4"),
        ("benchmarks/a.md[x | shares]", "no column 'shares'"),
        ("params.yaml[a.m]", "params.yaml: has no a.m"),
        ("docs/page.md[x]", "docs/page.md: no stage writes it"),
    ],
)
def test_an_address_at_which_nothing_is_found_is_named(address, fault, project):
    with pytest.raises(InputError, match=re.escape(fault)):
        readme.number(address)


def test_a_page_takes_columns_of_a_table_by_their_headings():
    table = "All.\n\n| n | a, b | c |\n|--:|:--|:--|\n| 4 | x y | 1.0 |"
    selected = "All.\n\n| c | a, b |\n|:--|:--|\n| 1.0 | x y |"
    assert readme.choose_columns(table, ["c", "a, b"]) == selected
    with pytest.raises(InputError, match="no column 'a': there are n, a, b, c"):
        readme.choose_columns(table, ["a"])


def test_a_picture_that_nobody_drew_is_a_fault_in_a_study_alone(project):
    for page in ("docs/page.md", "studies/a/README.md"):
        (Path(page).parent).mkdir(parents=True, exist_ok=True)
        Path(page).write_text("![seen](by-hand.png)\n")
        Path(page).with_name("by-hand.png").write_text("")
    Path("docs/numbers.yaml").unlink()
    subprocess.run(["git", "add", "--all"], check=True)
    page = "studies/a/README.md"
    assert faults() == [f"{page}: studies/a/by-hand.png: is no figure that a stage drew"]


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_link_leads_to_a_file_that_git_has(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    prose = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", prose)
    paths = {os.path.relpath(page.parent / link, ROOT) for link in links if "://" not in link}
    folders = {str(folder) for name in TRACKED for folder in Path(name).parents}
    missing = paths - TRACKED - folders
    assert not [x for x in missing if not readme.is_of_deleted_study(x)]


def test_the_gallery_is_as_locks_and_pages_have_it_and_small(monkeypatch):
    monkeypatch.chdir(ROOT)
    assert gallery.faults() == []
    assert sum(x.stat().st_size for x in Path("gallery").rglob("*.*")) <= 1_500_000
