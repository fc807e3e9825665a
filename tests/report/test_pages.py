"""The pages of a small project, read as files: what is shown follows from the pipelines alone."""

from html.parser import HTMLParser
from pathlib import Path

import pytest
from reading import FIGURES, ROOT

from ops.provenance import md5
from report.code import sections, words
from report.stages import inputs, pages, runs
from strata import store
from strata.run import read_yaml


class Page(HTMLParser):
    """Links, ids and descriptions of images on a page."""

    def __init__(self, path: Path):
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.alts: list[str] = []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.ids += [values["id"] or ""] if "id" in values else []
        self.links += [values[key] or "" for key in ("href", "src") if key in values]
        self.alts += [values["alt"] or ""] if "alt" in values else []


@pytest.fixture(scope="module")
def html_pages(site) -> dict[Path, Page]:
    """Parse every page that templates make."""
    made_otherwise = {"api", "files", "tutorials"}
    return {x: Page(x) for x in site.rglob("*.html") if not made_otherwise & {*x.parts}}


def test_every_link_leads_to_a_file_of_the_report_or_to_a_place_on_it(site, html_pages):
    # Of the repository: the small project has two pages of docs/ and a study of its own.
    others = {site / "docs" / f"{x.stem}.html" for x in ROOT.glob("docs/*.*")}
    others |= {site / f"appendix/{x.parent.name}.html" for x in ROOT.glob("studies/*/README.md")}
    for path, page in html_pages.items():
        assert len(set(page.ids)) == len(page.ids)
        for link in {x for x in page.links if not x.startswith(("https:", "data:,"))}:
            file, _, place = link.partition("#")
            target = (path.parent / file).resolve() if file else path
            if target in others - {*html_pages}:
                continue
            assert target.is_file(), (path, link)
            assert not place or place in html_pages[target].ids, (path, link)


def test_figures_and_tables_are_found_in_the_pipelines(site, html_pages):
    assert {*FIGURES} <= {*html_pages[site / "appendix/figures.html"].ids}
    assert "key-freqs" in html_pages[site / "appendix/tables.html"].ids
    assert {"logits", "waves"} <= {*html_pages[site / "appendix/waves.html"].ids}
    shared = (site / "appendix/figures.html").read_text("utf-8")
    assert "Figure 14</a>" in shared and "over seeds, n = 113</h2>" in shared
    assert "Do waves stand?" in (site / "appendix/waves.html").read_text("utf-8")


def test_every_page_runs_no_scripts_but_those_of_the_report(html_pages):
    # Nor does a page load anything from elsewhere. In the reference the templates say so.
    templates = (ROOT / f"report/site/api/{x}" for x in ("module.html.jinja2", "forward.html"))
    for page in (*html_pages, *templates):
        policy = page.read_text("utf-8").partition('Security-Policy" content="')[2].split('"')[0]
        assert policy.startswith("default-src 'none'; script-src 'self'; "), page


def test_every_image_is_described_by_what_is_seen_there(site, html_pages):
    alts = html_pages[site / "appendix/figures.html"].alts
    assert len({*alts}) == len(FIGURES) and all("rises from 0 to 1" in x for x in alts)


def test_a_file_of_the_report_is_the_one_it_is_a_copy_of(site):
    copies = [path for path in (site / "files").rglob("*") if path.is_file()]
    pages = {path for path in copies if path.suffix == ".html"}
    assert len(pages) == len(FIGURES) + 2 and len(copies) == 4 * len(pages) + 2
    assert not any("base64" in path.read_text("utf-8") for path in pages)
    for path in {*copies} - pages:
        assert md5(path) == md5(site.parent / path.relative_to(site / "files"))


def test_what_each_study_says_makes_the_report_stale_when_it_changes():
    deps = read_yaml(ROOT / "report/dvc.yaml")["stages"]["inputs"]["deps"]
    for folder in (x.parent for x in ROOT.glob("studies/*/dvc.yaml")):
        names = {"dvc.lock"} | {x.name for x in folder.iterdir() if x.name in inputs.WORDS}
        assert {f"../studies/{folder.name}/{name}" for name in names} <= {*deps}


def test_made_again_without_a_study_it_has_the_other_pages_as_they_were(
    site, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for name in ("dvc.yaml", "dvc.lock", "params.yaml", "CITATION.cff", "hero.json"):
        store.write_bytes(name, (site.parent / name).read_bytes())
    for name in ("data", "docs", "figures", "notebooks", "paper", "report", "tables"):
        Path(name).symlink_to(site.parent / name)
    inputs.main("inputs.json", "words.json")
    runs.main("inputs.json", "runs.json", "curves.json", "html/runs", "html/cards")
    pages.main("inputs.json", "hero.json", "curves.json", "verdicts.md", "html")
    assert not Path("html/appendix/waves.html").exists()
    for path in (*site.glob("runs/*"), *site.glob("cards/*"), *site.glob("files/figures/*")):
        assert Path("html", path.relative_to(site)).read_bytes() == path.read_bytes()


def test_a_run_that_diverged_has_a_front_page_without_a_network(site, tmp_path, monkeypatch):
    monkeypatch.chdir(site.parent)
    store.write_json(tmp_path / "hero.json", None)
    pages.main(
        "inputs.json", str(tmp_path / "hero.json"), "curves.json", "verdicts.md", "html-without"
    )
    assert "hero-data" not in Path("html-without/index.html").read_text("utf-8")


def test_a_link_leads_to_what_the_report_has_and_of_others_the_words_stay(tmp_path):
    path = tmp_path / "docs" / "one.md"
    store.write_text(path, "# One\n\n[a](b.md#c) [d](../e.py) ![f](../g.png) [h](#i)\n")
    links = {"docs/b.md": "b.html", "g.png": "files/g.png"}
    text = words.read_page(path, lambda x: links.get(str(Path(x).relative_to(tmp_path))))
    assert '<a href="b.html#c">a</a> d <img src="files/g.png"' in text.html
    assert '<a href="#i">h</a>' in text.html and text.title == "One"


def test_of_html_in_markdown_only_tags_that_fold_or_raise_remain():
    fold = "<details>\n<summary>s</summary>\n\n</details>\n"
    source = f"<!-- a -->\n# T\n\nx<sup>2</sup> <script>a()</script>\n\n{fold}"
    html = words.text(source, "", lambda _: None).html
    assert "x<sup>2</sup> &lt;script&gt;" in html and "<script" not in html and "<!--" not in html
    assert "<details>" in html and "<summary>s</summary>" in html and "</details>" in html


def test_a_picture_of_a_readme_is_the_figure_of_its_name_wherever_a_stage_draws_it():
    pictures = ("figures/a.png", "studies/x/figures/all/b.png", "studies/x/tables/c.png")
    target = pages.target("../", {x: f"files/{x}" for x in pictures})
    assert target("studies/x/a.png") == "../files/figures/a.png"
    assert target("studies/x/b.png") == "../files/studies/x/figures/all/b.png"
    assert target("studies/x/c.png") is None


def test_a_table_that_no_file_says_a_word_of_has_its_caption(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store.write_text("tables/new.csv", "n\n5\n")
    cells = {"caption": "New numbers.", "headings": ["n"], "rows": [["5"]], "align": ["r"]}
    store.write_json("tables/new.json", cells)
    store.write_text("params.yaml", "n: 5\n")
    stage = {"cmd": "make ${n}", "deps": [], "outs": ["tables/new.csv", "tables/new.json"]}
    store.write_json("dvc.yaml", {"stages": {"new": stage | {"params": ["n"]}}})
    [section] = sections.sections({})["."]
    assert (section.title, section.cells["rows"]) == ("New numbers.", [["5"]])
    assert (section.provenance.command, section.provenance.headline) == ("make 5", True)
