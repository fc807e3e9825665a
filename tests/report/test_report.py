"""The appendix of a tiny project, made through DVC, read as files and in a real browser."""

import hashlib
import math
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote
from urllib.request import urlopen

import numpy as np
import pandas as pd
import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait
from selenium_axe_python.axe import Axe
from tiny import Described, Project, pipeline, prepared

from ops import files, provenance
from report.code import claims, epochs, run_data
from report.code import page as report
from report.code.section import PARTS
from report.code.sections import SECTIONS
from strata import monoid, store
from strata.measure import fourier
from strata.measure.activations import blocks
from strata.run import InputError
from studies.dynamics.code import grokking
from studies.interventions.code import plots as interventions

ROOT = Path(__file__).parents[2]
RUN, MLP, TORSOR = "n6-s1", "mlp-n6-s1", "n12-s1"
RUNS = [RUN, TORSOR, MLP, "${variant}n${n}-s${seed}"]
# All that have an interactive panel; no checkpoint of a tiny run is measured.
VIEWED = {section.name for section in SECTIONS if section.view} - {"progress-measures"}
FILE = {section.name: PARTS[section.part] for section in SECTIONS}
FIGURES = {"fig01-hierarchy"}
FIGURES |= {f"{made_from}-figures" for made_from in ("weights", "metrics", "interventions")}


def with_runs(whole: Described) -> Described:
    """The pipeline over three runs: two moduli, one of them not square-free, and the MLP alone."""
    for name, stage in whole["pipelines/runs/dvc.yaml"]["stages"].items():
        listed = {"foreach": {"runs": {"runs": RUNS}}} if name == "check" else {}
        stage |= listed or {"matrix": {"run": RUNS}}
    return whole


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Project:
    """A project with three runs, made once."""
    folder = tmp_path_factory.mktemp("report") / "project"
    made = prepared(folder, with_runs(pipeline(FIGURES)))
    made.dvc("repro")
    return made


@pytest.fixture(scope="module")
def site(project) -> Path:
    return project.folder / "report"


class Page(HTMLParser):
    """Links, ids and text of a page."""

    def __init__(self, text: str):
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.ids += [values["id"] or ""] if "id" in values else []
        self.links += [values[key] or "" for key in ("href", "src") if key in values]


@pytest.fixture(scope="module")
def pages(site) -> dict[Path, Page]:
    """The front page, the appendix and the pages of docs/."""
    paths = [site / "index.html", *sorted((site / "appendix").glob("*.html"))]
    paths += sorted((site / "docs").glob("*.html"))
    return {path: Page(path.read_text("utf-8")) for path in paths}


def test_every_link_leads_to_a_file_beside_the_page_or_to_a_place_on_it(site, pages):
    for path, page in pages.items():
        assert len(set(page.ids)) == len(page.ids)
        for link in {x for x in page.links if not x.startswith(("https:", "data:,"))}:
            file, _, place = link.partition("#")
            target = (path.parent / file).resolve() if file else path
            assert target.is_file(), (path, link)
            assert not place or place in pages[target].ids, (path, link)
    lock = files.locked(site.parent)
    outs = [out["path"] for stage in lock.values() for out in stage["outs"]]
    made = {Path(out).stem for out in outs if out.startswith(report.SHOWN)}
    present = made & {section.name for section in SECTIONS}
    assert present > VIEWED
    for name in present:
        assert name in pages[site / "appendix" / FILE[name]].ids


def test_every_md5_on_the_page_is_that_of_dvc_lock(project, site):
    lock = files.locked(project.folder)
    known = {x["path"]: x["md5"] for s in lock.values() for x in (*s["outs"], *s.get("deps", ()))}
    text = "".join(path.read_text("utf-8") for path in (site / "appendix").glob("*.html"))
    found = re.findall(r"<li>(?:<a [^>]*>)?([\w./-]+)(?:</a>)? <code>([0-9a-f]{32})</code>", text)
    assert len(found) > 4 * len(FIGURES)
    assert all(known[path] == md5 for path, md5 in found)
    for run in (RUN, MLP, TORSOR):
        shown = provenance.scripted((site / "runs" / f"{run}.js").read_text())
        assert all(known[path] == md5 for path, md5 in shown["files"].items())


def test_a_file_beside_the_page_is_the_one_it_is_a_copy_of(project, site):
    copies = [path for path in (site / "files").rglob("*.*") if path.is_file()]
    assert len(copies) > 3 * len(FIGURES)
    for path in copies:
        origin = project.folder / path.relative_to(site / "files")
        assert hashlib.md5(path.read_bytes()).digest() == hashlib.md5(origin.read_bytes()).digest()


def test_made_again_it_has_the_same_bytes(project):
    before = project.outputs()
    assert any(name.startswith("report/site/") for name in before)
    project.dvc("repro", "--force", "--single-item", f"page@{MLP}", "report")
    assert project.outputs() == before


def test_it_is_served_on_this_machine_with_the_commit_in_its_address(project):
    shutil.copytree(ROOT / "ops", project.folder / "ops", dirs_exist_ok=True)
    command = [sys.executable, "ops/scripts/report.py", ""]
    with subprocess.Popen(command, cwd=project.folder, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout
            address = server.stdout.readline().split()[0]
            assert re.fullmatch(
                r"http://127\.0\.0\.1:\d+/(\?commit=[0-9a-f]{40}(-dirty)?)?", address
            )
            with urlopen(address) as answer:
                assert answer.read() == (project.folder / "report" / "index.html").read_bytes()
        finally:
            server.terminate()


def test_a_site_script_is_short_and_loads_nothing_from_elsewhere(site):
    for path in (site / "site").iterdir():
        text = path.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")  # a name
        if path.name not in {"runs.js", "words.js"}:
            assert len(text.splitlines()) <= 250
            assert "http:" not in text and "https:" not in text and "fetch(" not in text


def test_every_claim_stands_under_a_section_of_its_own():
    others = [s.claims for s in SECTIONS if s.claims and s.name != "claims"]
    lock = files.locked(ROOT)
    [md5] = [x["md5"] for x in lock["tables"]["outs"] if x["path"] == "tables/claims.csv"]
    path = ROOT / "remote" / "files" / "md5" / md5[:2] / md5[2:]
    for claim in pd.read_csv(path)["claim"]:
        assert sum(bool(re.search(pattern, claim)) for pattern in others) == 1, claim


@pytest.mark.parametrize(
    ("paper", "ours", "relation", "gap", "said"),
    [
        (0.95, 0.95, "=", "0.0", claims.SAME),
        (4, 5, "=", "+1", "differs by +1"),
        (0.2, 0.1, "<", "−10.0", claims.HOLDS),
        (0.2, 0.3, "<", "+10.0", "differs: out of the bound"),
        (0.2, 0.3, ">", "+10.0", claims.HOLDS),
        (math.nan, 0.3, "", "—", ""),
    ],
)
def test_the_verdict_says_whether_ours_is_the_papers(paper, ours, relation, gap, said):
    record = {"paper": paper, "ours": ours, "relation": relation, "unit": "count"}
    assert claims.verdict(record, gap) == said


def test_a_key_that_dvc_yaml_names_and_params_yaml_lacks_is_named():
    with pytest.raises(InputError, match=r"params.yaml: tables.x: is missing"):
        provenance.value({"tables": {}}, "tables.x")


def test_prose_sets_an_index_low_but_not_in_code():
    assert "<sub>d</sub>" in report.prose("of each J_d")
    assert "<code>W_E</code>" in report.prose("the matrix `W_E`")


# ---- in the browser --------------------------------------------------------------------------


class Reader:
    """The page in the browser, as someone reads it."""

    def __init__(self, chrome: webdriver.Chrome, site: Path):
        self.chrome, self.site = chrome, site

    def open(self, hash: str = "", width: int = 1280, dark: bool = False) -> "Reader":
        self.chrome.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500},
        )
        media = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [media]})
        self.chrome.get("about:blank")
        # Of more than fifty steps Chrome forgets some.
        self.chrome.execute_cdp_cmd("Page.resetNavigationHistory", {})
        name = re.split("[?]", hash.partition("#")[2])[0]
        page = self.site / "appendix" / FILE.get(name, FILE["fig03-attn-scores"])
        self.chrome.get(f"{page.as_uri()}{hash}")
        self.until("return document.documentElement.dataset.run")
        return self

    def js(self, script: str, *values: object):
        return self.chrome.execute_script(script, *values)

    def until(self, script: str, *values: object):
        return WebDriverWait(self.chrome, 120).until(lambda _: self.js(script, *values))

    def see(self, name: str, run: str = RUN) -> str:
        """Scroll to a section, wait until its panel shows that run; what it says of it."""
        # Again and again: what is drawn above it meanwhile can push it out of sight.
        box = "document.querySelector(`#${arguments[0]} .view`)"
        scroll = f"{box}.scrollIntoView({{behavior: 'instant', block: 'center'}})"
        self.until(f"{scroll}; return {box}.dataset.drawn === arguments[1]", name, run)
        return self.chrome.find_element(By.CSS_SELECTOR, f"#{name} .readout").text

    def choose(self, selector: str, value: str) -> None:
        Select(self.chrome.find_element(By.CSS_SELECTOR, selector)).select_by_value(value)

    def errors(self) -> list[str]:
        log = self.chrome.get_log("browser")  # pyright: ignore
        return [entry["message"] for entry in log if entry["level"] == "SEVERE"]


@pytest.fixture
def reader(chrome, site):
    found = Reader(chrome, site)
    yield found
    assert found.errors() == []


def test_no_number_in_a_table_of_the_docs_is_broken_over_lines(reader, site):
    """On a phone, where tables are narrowest."""
    broken = """return [...document.querySelectorAll("td, th")].filter(cell => {
        if (!/^[\\d.,]+$/.test(cell.textContent.trim())) return false
        const range = document.createRange(); range.selectNodeContents(cell)
        return new Set([...range.getClientRects()].map(x => Math.round(x.top))).size > 1
    }).map(cell => cell.textContent)"""
    reader.open(width=390)
    for path in sorted((site / "docs").glob("*.html")):
        reader.chrome.get(path.as_uri())
        assert reader.js(broken) == [], path.name


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_every_section_shows_without_an_error_and_without_overflow(width, dark, reader):
    for name in sorted(VIEWED):
        reader.open(f"#{name}", width, dark)
        assert reader.see(name)
        assert reader.js("return document.querySelector('.plot svg path, .plot canvas') !== null")
        across = "const x = document.documentElement; return x.scrollWidth - x.clientWidth"
        assert reader.js(across) == 0
        ink = reader.js("return getComputedStyle(document.querySelector('.plot text')).fill")
        assert (int(re.findall(r"\d+", ink)[0]) > 128) == dark
        image = reader.chrome.find_element(By.CSS_SELECTOR, f"#{name} img")
        reader.js("arguments[0].scrollIntoView({behavior: 'instant'})", image)
        reader.until("return arguments[0].naturalWidth > 100", image)
        assert image.accessible_name not in reader.js("return document.body.innerText")


def weights(project: Project, run: str) -> dict[str, np.ndarray]:
    """The weights as the page of that run holds them."""
    kept = store.read_weights(project.folder / "data" / "train" / run / "weights.safetensors")
    return run_data.restored(run_data.rounded_model(kept), kept)


@pytest.mark.parametrize("run", [RUN, MLP, TORSOR])
def test_the_model_in_the_page_computes_what_the_model_computes(run, project, reader):
    reader.open(f"#top?run={run}")
    n = int(re.findall(r"n(\d+)", run)[0])
    [(_, _, found)] = list(blocks(weights(project, run), n))
    script = """return strata.load(arguments[0]).then(run => { const all = [...Array(run.n).keys()];
        return all.map(a => all.map(b => strata.model.logits(run, a, b))); })"""
    logits = np.array(reader.js(script, run)).reshape(n * n, n)
    np.testing.assert_allclose(logits, found.logits, atol=1e-4)
    order = monoid.algebraic_order(n)
    maps = """return strata.load(arguments[0]).then(run => [
        run.model.scores.map((_, h) => strata.model.attention(run, h).map(x => [...x])),
        run.model.largest.map((_, j) => strata.model.neuron(run, j).map(x => [...x]))])"""
    attention, neurons = reader.js(maps, run)
    mlp = found.mlp.reshape(n, n, -1)[order][:, order]
    np.testing.assert_allclose(np.moveaxis(neurons, 0, 2), mlp, atol=1e-4)
    to_a = found.attention[..., 0].reshape(n, n, -1)[order][:, order]
    assert len(attention) == to_a.shape[2]
    for h, own in enumerate(attention):
        np.testing.assert_allclose(own, to_a[:, :, h], atol=1e-5)


@pytest.mark.parametrize("run", [RUN, TORSOR])
def test_the_page_knows_class_coordinates_and_local_inverse_of_every_element(run, reader):
    reader.open(f"#top?run={run}")
    script = """const { classAt, coordinates, sharp } = strata.model;
        return strata.load(arguments[0]).then(run => [...Array(run.n).keys()].map(
            a => [classAt(run, a).d, coordinates(run, a), sharp(run, a)]))"""
    n = int(re.findall(r"n(\d+)", run)[0])
    for a, (d, coordinates, sharp) in enumerate(reader.js(script, run)):
        J = monoid.jclass(math.gcd(a, n), n)
        assert d == J.d
        assert coordinates == J.coordinates[monoid.position(n)[a]].tolist()
        assert sharp == (monoid.sharp(a, n) if J.regular else None)


def test_the_chosen_run_is_drawn_and_kept_in_the_address(reader):
    reader.open()
    options = reader.js("return [...document.querySelectorAll('#run option')].map(x => x.value)")
    assert options == [RUN, TORSOR, MLP]
    reader.see("fig03-attn-scores")
    reader.choose("#fig03-attn-scores select", "2")
    reader.choose("#run", TORSOR)
    assert reader.see("fig03-attn-scores", TORSOR)
    assert f"run={TORSOR}" in reader.chrome.current_url and "head=2" in reader.chrome.current_url
    reader.open(reader.js("return location.hash"))
    assert reader.js("return document.getElementById('run').value") == TORSOR
    reader.see("fig03-attn-scores", TORSOR)
    assert reader.js("return document.querySelector('#fig03-attn-scores select').value") == "2"
    reader.choose("#run", MLP)
    assert "no attention" in reader.see("fig03-attn-scores", MLP)
    reader.open(f"#fig05-training?run={MLP}")
    assert "of 3 runs" in reader.see("fig05-training", MLP)


@pytest.mark.parametrize("run", [RUN, MLP, TORSOR])
def test_what_a_removal_costs_is_what_the_interventions_say(run, project, reader):
    found = store.read_json(project.folder / "data" / "interventions" / f"{run}.json")
    record = found["specificity"][-1]
    code = ".".join(str(record[x]) for x in ("d", "axis") if record[x])
    before, after = (np.array(x["by_operands"]["accuracy"]) for x in (found["base"], record["all"]))
    reader.open(f"#specificity?run={run}&removed={code}")
    reader.see("specificity", run)
    z = reader.js("return document.querySelector('#specificity .plot').values")
    above = interventions.room_above_chance(found["n"], found["classes"], record["axis"])
    np.testing.assert_allclose(z, (before - after) / above, atol=1e-9)
    for kind, sign in (("accuracy", -1), ("loss", 1)):
        reader.open(f"#specificity?run={run}&removed={code}&damage={kind}")
        said = reader.see("specificity", run)
        z = reader.js("return document.querySelector('#specificity .plot').values")
        before, after = (x["by_operands"][kind] for x in (found["base"], record["all"]))
        np.testing.assert_allclose(z, sign * (np.array(after) - before), atol=1e-9)
    inside = record["regions"]["inside" if record["axis"] is None else "own"]
    assert record["axis"] or f"{100 * inside['accuracy']:.1f} %" in said


def test_an_address_with_no_such_run_head_or_element_shows_the_headline(reader):
    reader.open("#fig03-attn-scores?run=n999-s1&head=77&a=5000")
    reader.see("fig03-attn-scores")
    assert reader.js("return document.querySelector('#fig03-attn-scores select').value") == "0"
    assert reader.js("return document.getElementById('found').hidden")


CODE = quote("<img src=x onerror=ran=1><script>ran=1</script>")
KEYS = ("run", "a", "b", "head", "neuron", "removed", "damage", "class", "target", "axes", "curve")
KEYS += ("beside", "find", "turn", "colour", "head2", "neuron2", "checkpoint", "measure")
ADDRESSES = {
    "code in every choice": "#fig03-attn-scores?" + "&".join(f"{key}={CODE}" for key in KEYS),
    "code as a section": f"#{CODE}",
    "code as a commit": f"?commit={CODE}#fig03-attn-scores",
    "a path as a run": "#fig03-attn-scores?run=../../x&a=1e9&b=-1",
    "no valid escape": "#%?run=%E0%A4%A&head=%",
    "another scheme": "#javascript:ran=1",
}


@pytest.mark.parametrize("address", ADDRESSES.values(), ids=ADDRESSES)
def test_no_address_runs_code_or_keeps_the_page_from_showing(address, reader):
    reader.open(address)
    reader.see("fig03-attn-scores")
    assert reader.js("return [typeof ran, document.querySelectorAll('[onerror]').length]") == [
        "undefined",
        0,
    ]
    scripts = reader.js("return [...document.scripts].map(x => x.getAttribute('src'))")
    assert f"../runs/{RUN}.js" in scripts and not [x for x in scripts if x.count("..") > 1]


def test_an_element_and_a_product_are_found_by_keyboard(project, reader):
    reader.open(f"#top?run={TORSOR}")
    reader.chrome.find_element(By.TAG_NAME, "body").send_keys("/")
    field = reader.chrome.switch_to.active_element
    assert field.accessible_name == "Word, element or product"
    field.send_keys("9", Keys.ENTER)
    panel = reader.chrome.find_element(By.ID, "found")
    reader.until("return document.getElementById('found').textContent.includes('gcd(9, 12) = 3')")
    assert "9 · 9 = 9" in panel.text
    field.send_keys(Keys.BACKSPACE, "5 x 7", Keys.ENTER)
    reader.until("return document.getElementById('found').textContent.includes('5 · 7 = 11')")
    [(a, b, found)] = list(blocks(weights(project, TORSOR), 12))
    [row] = np.flatnonzero((a == 5) & (b == 7))
    assert f"the model says\n{int(found.logits[row].argmax())}," in panel.text
    field.send_keys(Keys.HOME, Keys.SHIFT, Keys.END)
    field.clear()
    field.send_keys("12", Keys.ENTER)
    assert "from 0 to 11" in reader.js(
        "return document.getElementById('element').validationMessage"
    )
    field.send_keys(Keys.ESCAPE)
    reader.until("return document.getElementById('found').hidden")


def test_everything_that_can_be_chosen_has_a_name_and_the_first_key_leads_past_the_bar(reader):
    for name in sorted(VIEWED):
        reader.open(f"#{name}")
        reader.see(name)
        css = "select, input, button, summary, .plot"
        fields = reader.chrome.find_elements(By.CSS_SELECTOR, css)
        assert len(fields) > 5
        assert all(field.accessible_name for field in fields if field.is_displayed())
    reader.open()
    reader.chrome.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    assert reader.chrome.switch_to.active_element.text == "To the content"


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_axe_finds_nothing_above_minor(width, dark, reader, site):
    reader.open("#fig03-attn-scores", width, dark)
    for page in ("index.html", "appendix/attention.html", "appendix/interventions.html"):
        reader.chrome.get((site / page).as_uri())
        reader.until("const { run, drawn } = document.documentElement.dataset; return run || drawn")
        axe = Axe(reader.chrome)
        axe.inject()
        found = axe.run(options={"preload": 0})  # it may not read a style sheet from disk
        faults = [x for x in found["violations"] if x["impact"] != "minor"]
        assert faults == [], axe.report(faults)
        assert len(found["passes"]) > 15  # it has looked


def pressed(reader: Reader, name: str, *keys: str) -> None:
    """Keys on the plot of a section."""
    plot = reader.chrome.find_element(By.CSS_SELECTOR, f"#{name} .plot")
    reader.js("arguments[0].focus()", plot)
    plot.send_keys(*keys)


def marks(reader: Reader, name: str) -> list[str]:
    """What a panel calls the places of a, b and ab."""
    script = (
        "return [...document.querySelectorAll(`#${arguments[0]} .here`)].map(x => x.textContent)"
    )
    return reader.js(script, name)


@pytest.mark.parametrize("width", [1280, 390])
def test_a_chosen_cell_sets_a_and_b_and_every_panel_marks_them(width, reader):
    order = monoid.algebraic_order(6).tolist()
    reader.open("#fig03-attn-scores", width)
    reader.see("fig03-attn-scores")
    pressed(
        reader, "fig03-attn-scores", Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_RIGHT, Keys.ENTER
    )
    a, b = order[1], order[1]
    reader.until("return location.hash.includes('b=')")
    assert f"a={a}&b={b}" in reader.chrome.current_url
    assert {"a", "b"} <= set(", ".join(marks(reader, "fig03-attn-scores")).split(", "))
    click = """const svg = document.querySelector('#fig03-attn-scores svg');
        const canvas = document.querySelector('#fig03-attn-scores canvas');
        const { left, top, width } = canvas.getBoundingClientRect();
        const [clientX, clientY] = [left + width * 5.5 / 6, top + width * 0.5 / 6];
        svg.dispatchEvent(new MouseEvent('click', { clientX, clientY, bubbles: true }))"""
    reader.js(click)
    a, b = order[0], order[5]
    assert f"a={a}&b={b}" in reader.chrome.current_url
    panel = "document.getElementById('found').offsetHeight"
    assert width > 500 or 0 < reader.js(f"return {panel} / innerHeight") <= 0.2
    b = a  # a unit: of the product 0 there are no characters to show
    for name in sorted(VIEWED - {"fig05-training"}):
        reader.open(f"#{name}?a={a}&b={b}", width)
        reader.see(name)
        assert marks(reader, name), name
    reader.open(f"#fig10-embed-pca?a={a}&b={b}", width)
    reader.see("fig10-embed-pca")
    reader.js("document.querySelector('.contents [href=\"neurons.html\"]').click()")
    reader.see("fig11-neurons")
    assert marks(reader, "fig11-neurons")


@pytest.mark.parametrize("width", [1280, 390])
def test_a_second_run_stands_beside_the_first_and_back_takes_it_away(width, reader):
    reader.open(f"#fig03-attn-scores?a=5&b=2&beside={TORSOR}", width)
    reader.see("fig03-attn-scores", f"{RUN} {TORSOR}")
    said = reader.js(
        "return [...document.querySelectorAll('#fig03-attn-scores .of')].map(x => x.textContent)"
    )
    assert said == [RUN, TORSOR]
    assert len(marks(reader, "fig03-attn-scores")) > 4
    reader.js("document.querySelectorAll('#fig03-attn-scores [name]')[1].focus()")
    Select(reader.chrome.find_element(By.NAME, "head2")).select_by_value("3")
    assert "head2=3" in reader.chrome.current_url
    assert reader.js("return document.querySelector('[name=head]').value") == "0"
    reader.choose("#beside", "")
    reader.see("fig03-attn-scores")
    assert "beside" not in reader.chrome.current_url
    assert len(reader.chrome.find_elements(By.CSS_SELECTOR, "#fig03-attn-scores .slot")) == 1
    reader.chrome.back()
    reader.see("fig03-attn-scores", f"{RUN} {TORSOR}")
    reader.chrome.back()
    reader.until("return document.querySelector('[name=head2]')?.value === '0'")


def test_cells_are_whole_pixels_and_points_of_three_components_are_all_there(reader):
    for width in (1280, 390):
        reader.open(f"#fig03-attn-scores?run={TORSOR}", width)
        reader.see("fig03-attn-scores", TORSOR)
        size = reader.js("const x = document.querySelector('canvas'); return [x.width, x.height]")
        assert size[0] == size[1] and size[0] % 12 == 0
    reader.open(f"#fig10-embed-pca?run={TORSOR}")
    reader.see("fig10-embed-pca", TORSOR)
    filled = "return document.querySelectorAll('#fig10-embed-pca .plot > svg path[stroke]').length"
    assert reader.js(filled) == 12
    before = reader.js("return document.querySelector('#fig10-embed-pca svg').innerHTML")
    reader.chrome.find_element(By.NAME, "turn").send_keys(Keys.ARROW_RIGHT)
    assert "turn=41" in reader.chrome.current_url
    assert reader.js("return document.querySelector('#fig10-embed-pca svg').innerHTML") != before


def test_the_logits_panel_follows_the_product_and_its_crosses_are_the_models(project, reader):
    reader.open(f"#logits?run={TORSOR}&a=5&b=7")
    said = reader.see("logits", TORSOR)
    assert "J₁ from" in said and "means lie closer to the fit" in said
    assert "ab = 11" in marks(reader, "logits")
    reader.open(f"#logits?run={TORSOR}&a=3&b=5")
    assert "J₃ from" in reader.see("logits", TORSOR)


def test_the_slider_goes_through_the_checkpoints(reader):
    rows = [(e, "fve", of, e / 100) for e in (0, 10, 50) for of in ("J1", "J2")]
    frame = pd.DataFrame(rows, columns=["epoch", "measure", "of", "value"])
    shown = epochs.shown(RUN, frame)
    assert shown["epochs"] == [0, 10, 50]
    assert [x["of"] for x in shown["measures"]] == [{"J1": [0, 0.1, 0.5], "J2": [0, 0.1, 0.5]}]
    reader.open("#fig03-attn-scores")
    reader.see("fig03-attn-scores")
    add = """strata.checkpoints(arguments[0]);
        const box = document.querySelector('#fig03-attn-scores .view').cloneNode(true);
        box.dataset.view = 'epochs'; box.id = 'epochs';
        box.querySelector('.controls').replaceChildren();
        document.querySelector('#fig03-attn-scores .view').before(box);
        const view = strata.panel(box);
        return strata.load(arguments[0].run).then(run => {
            view.show([run]); strata.listen(() => view.draw()); })"""
    reader.js(add, shown)
    said = "return document.querySelector('#epochs .readout').textContent"
    reader.until(f"{said}.includes('epoch 50')")
    reader.chrome.find_element(By.CSS_SELECTOR, "#epochs [name=checkpoint]").send_keys(
        Keys.ARROW_LEFT
    )
    reader.until(f"{said}.includes('epoch 10: J₁ 10.0 %')")
    assert "checkpoint=1" in reader.chrome.current_url


def test_spectra_and_components_go_through_the_training(project, reader, tmp_path):
    end = weights(project, RUN)["W_E"][:6]
    start = np.random.default_rng(0).normal(size=end.shape).astype(np.float32)
    axes, path = grokking.components(end), tmp_path / "kept.parquet"
    grokking.write(path, {e: [*grokking.observe(x, axes)] for e, x in ((0, start), (40, end))})
    rows = [(epoch, "mirror_free_accuracy", "", 0.25) for epoch in (0, 40)]
    measured = pd.DataFrame(rows, columns=["epoch", "measure", "of", "value"])
    give = """strata.list(strata.runs().map(r => ({ ...r, checkpoints: [0, 40] })));
        strata.through(arguments[0]); strata.set({ checkpoint: 0 })"""
    for name in ("fig09-class-spectra", "fig10-embed-pca"):
        reader.open(f"#{name}")
        assert "Epoch" not in reader.see(name)
        reader.js(give, epochs.embedding(RUN, grokking.read(path), measured))
        said = f"document.querySelector('#{name} .readout').textContent"
        reader.until(f"return {said}.startsWith('Epoch 0, 25.0 % of mirror-free pairs right')")
        slider = reader.chrome.find_element(By.CSS_SELECTOR, f"#{name} [name=checkpoint]")
        slider.send_keys(Keys.ARROW_RIGHT)
        reader.until(f"return !{said}.includes('Epoch')")
        assert "checkpoint" not in reader.chrome.current_url
    then = """return strata.load(arguments[0]).then(run => { const then = strata.at(run, 0);
        return [then.classes.map(K => [K.d, [...K.share]]), then.pca.points]; })"""
    shares, points = reader.js(then, RUN)
    for d, share in shares:
        J = monoid.jclass(d, 6)
        if len(J) > 1:
            true = fourier.energy_share(start[J.elements], J.orders)[1:]
            np.testing.assert_allclose(share, true, atol=1e-3)
    scores = (start - start.mean(axis=0)) @ axes.T
    np.testing.assert_allclose(np.array(points)[:, : len(axes)], scores, atol=2e-3)


def test_words_are_found(reader):
    reader.open()
    field = reader.chrome.find_element(By.ID, "element")
    field.send_keys("attention", Keys.ENTER)
    reader.until("return document.querySelector('#found a') !== null")
    assert "find=attention" in reader.chrome.current_url
    found = reader.js("return [...document.querySelectorAll('#found a')].map(x => x.href)")
    assert any(x.endswith("attention.html#fig03-attn-scores") for x in found)
    reader.chrome.get(f"{(reader.site / 'appendix' / 'index.html').as_uri()}?find=class")
    reader.until("return document.querySelector('#found a') !== null")


def test_the_contents_say_where_the_reader_is(reader):
    reader.open("#specificity")
    reader.see("specificity")
    here = "document.querySelector('.contents [aria-current=location]')"
    reader.until(f"return {here}?.hash === '#specificity'")


def test_without_scripts_pages_are_pictures_and_text(reader):
    reader.open("#fig03-attn-scores")
    page = (reader.site / "appendix" / "interventions.html").as_uri()
    reader.chrome.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        reader.chrome.get(page)
        tall = "[...x.querySelectorAll('img, table')].filter(y => y.offsetHeight > 20).length"
        sizes = reader.js(
            f"return [...document.querySelectorAll('section')].map(x => [x.id, {tall}])"
        )
        assert len(sizes) > 5 and all(count for _, count in sizes), sizes
        shown = "return [...document.querySelectorAll('.scripted')].some(x => x.offsetHeight > 0)"
        assert not reader.js(shown)
    finally:
        reader.chrome.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_on_paper_nothing_is_folded_or_clipped(reader):
    for name in ("fig03-attn-scores", "specificity", "key-freqs"):
        reader.open(f"#{name}", 690)
        reader.chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        reader.js("dispatchEvent(new Event('beforeprint'))")
        over = "x.offsetHeight && x.getBoundingClientRect().right > innerWidth + 1"
        assert (
            reader.js(f"return [...document.querySelectorAll('main *')].filter(x => {over})") == []
        )
        assert reader.js("return document.querySelectorAll('details.fold:not([open])').length") == 0
        assert reader.js("return document.querySelector('header').offsetHeight") == 0
    reader.chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_a_run_whose_data_are_not_there_is_said_to_be_missing(reader, site):
    away = site / "runs" / f"{MLP}.js"
    kept = away.read_bytes()
    away.unlink()
    try:
        reader.open()
        reader.choose("#run", MLP)
        reader.until(
            "return document.body.textContent.includes("
            "'dvc repro pipelines/runs/dvc.yaml:page@mlp-n6-s1')"
        )
        assert len(reader.errors()) == 1  # the browser's own line about the file
    finally:
        away.write_bytes(kept)


def test_served_from_a_commit_it_names_that_commit(project, site, reader):
    commit = "0123456789abcdef0123456789abcdef01234567"
    reader.open()
    assert commit not in reader.js("return document.body.textContent")
    reader.chrome.get(f"{(site / 'appendix' / 'attention.html').as_uri()}?commit={commit}")
    reader.until("return document.documentElement.dataset.run")
    assert commit in reader.chrome.find_element(By.TAG_NAME, "footer").text


def test_every_figure_is_described_in_words_of_its_own(site):
    pages = [path.read_text("utf-8") for path in (site / "appendix").glob("*.html")]
    images = [x for page in pages for x in re.findall(r'src="[^"]+\.png"[^>]+alt="([^"]*)"', page)]
    titles = {section.title for section in SECTIONS}
    assert len(images) > 10 and len(set(images)) == len(images)
    assert all(len(alt) > 40 and alt not in titles for alt in images)


def test_a_figure_that_is_no_section_is_refused_by_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store.write_text("figures/new.png", "")
    stage = provenance.Stage("new", "python stages/figure.py new", (), (), ("figures/new.png",))
    with pytest.raises(InputError, match=r"^figures/new\.png: no section of .*sections\.py"):
        report.sections({"new": stage}, {})


def test_runs_are_listed_by_variant_modulus_and_seed(tmp_path):
    names = ["n12-s1", "d64-n6-s1", "mlp-n6-s1", "n6-s10", "n6-s2"]
    for name in names:
        shown = dict.fromkeys(("n", "seed", "architecture", "first_099", "epoch_099", "curve"))
        store.write_text(tmp_path / name, provenance.script("run", shown | {"run": name}))
    listed = provenance.scripted(report.runs(str(tmp_path / name) for name in names))
    wanted = ["n6-s2", "n6-s10", "n12-s1", "d64-n6-s1", "mlp-n6-s1"]
    assert [run["run"] for run in listed] == wanted
