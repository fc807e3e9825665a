"""The appendix in a real browser: panels that compute, choices in the address, search, print."""

import re
from urllib.parse import quote

import numpy as np
import pytest
from reading import FIGURES, MLP, RUN, TORSOR, data_of, weights_of
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium_axe_python.axe import Axe

from report.code import run_data
from strata import monoid
from strata.measure.activations import blocks

MAP, PCA, SPECTRA = "fig03-attn-scores", "fig10-embed-pca", "fig09-class-spectra"
VIEWED = sorted(FIGURES - {"fig14-attn-seeds"})
WAVES = "appendix/waves.html"
TERMS = "glossary.html"
WIDE = """return [...document.querySelectorAll('main *')].filter(
    x => x.offsetHeight && x.getBoundingClientRect().right > innerWidth + 1).length"""


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_every_panel_is_drawn_without_overflow(width, dark, reader):
    for page, names in (("", VIEWED), (WAVES, ["logits", "progress-order"])):
        for name in names:
            reader.open(f"{page}#{name}", width, dark)
            assert reader.see(name)
            assert reader.every(".plot svg path, .plot canvas")
            across = "const x = document.documentElement; return x.scrollWidth - x.clientWidth"
            assert reader.js(across) == 0
            ink = reader.js("return getComputedStyle(document.querySelector('.plot text')).fill")
            assert (int(re.findall(r"\d+", ink)[0]) > 128) == dark


@pytest.mark.parametrize("run", [MLP, TORSOR])
def test_the_model_in_the_page_computes_what_the_model_computes(run, site, reader):
    reader.open(f"#top?run={run}")
    n, weights = data_of(site, run)["n"], weights_of(site, run)
    rounded = run_data.with_page_numbers(run_data.rounded_model(weights), weights)
    [(_, _, forward)] = list(blocks(rounded, n))
    script = """return strata.load(arguments[0]).then(run => { const all = [...Array(run.n).keys()];
        return all.map(a => all.map(b => strata.model.logits(run, a, b))); })"""
    logits = np.array(reader.js(script, run)).reshape(n * n, n)
    np.testing.assert_allclose(logits, forward.logits, atol=1e-4)
    order = monoid.algebraic_order(n)
    maps = """return strata.load(arguments[0]).then(run => [
        run.model.scores.map((_, h) => strata.model.attention(run, h).map(x => [...x])),
        run.model.largest.map((_, j) => strata.model.neuron(run, j).map(x => [...x]))])"""
    attention, neurons = reader.js(maps, run)
    mlp = forward.mlp.reshape(n, n, -1)[order][:, order]
    np.testing.assert_allclose(np.moveaxis(neurons, 0, 2), mlp, atol=1e-4)
    to_a = forward.attention[..., 0].reshape(n, n, -1)[order][:, order]
    assert len(attention) == to_a.shape[2]
    for h, to_a_of_head in enumerate(attention):
        np.testing.assert_allclose(to_a_of_head, to_a[:, :, h], atol=1e-5)


def test_the_chosen_run_is_drawn_and_kept_in_the_address(reader):
    reader.open("")
    options = reader.js("return [...document.querySelectorAll('#run option')].map(x => x.value)")
    assert options == [TORSOR, RUN, MLP]
    reader.see(MAP)
    reader.choose(f"#{MAP} select", "2")
    reader.choose("#run", TORSOR)
    reader.see(MAP, TORSOR)
    assert f"run={TORSOR}" in reader.chrome.current_url and "head=2" in reader.chrome.current_url
    reader.open(reader.js("return location.hash"))
    reader.see(MAP, TORSOR)
    assert reader.js("return document.getElementById('run').value") == TORSOR
    assert reader.one(f"#{MAP} select").get_attribute("value") == "2"
    reader.choose("#run", MLP)
    assert "no attention" in reader.see(MAP, MLP)


CODE = quote("<img src=x onerror=ran=1>")


def test_no_address_runs_code_or_keeps_the_page_from_showing_the_headline(reader):
    for values in (f"run={CODE}&class={CODE}&find={CODE}", "run=../../x&a=1e9&head=77", "run=%E0%"):
        reader.open(f"#{MAP}?{values}")
        reader.see(MAP)
        assert reader.js("return typeof ran") == "undefined" and not reader.every("[onerror]")


def test_a_chosen_cell_sets_a_and_b_and_every_panel_marks_them(reader):
    a, b = (int(x) for x in monoid.algebraic_order(165)[[2, 1]])
    reader.open(f"#{MAP}")
    reader.see(MAP)
    plot = reader.one(f"#{MAP} .plot")
    plot.send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_RIGHT, Keys.ENTER)
    reader.until("return location.hash.includes('b=')")
    assert f"a={a}&b={b}" in reader.chrome.current_url
    for name in (MAP, SPECTRA, PCA, "fig11-neurons"):
        reader.see(name)
        assert any("a" in x for x in reader.marks(name)), name
    reader.js("document.querySelector('.contents a[href=\"waves.html\"]').click()")
    reader.until("return document.documentElement.dataset.run")
    reader.see("logits")
    assert f"a={a}&b={b}" in reader.chrome.current_url and reader.marks("logits")


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_axe_finds_nothing_above_minor(width, dark, reader):
    others = ("cards/index.html", f"cards/{RUN}.html", "docs/one.html", TERMS)
    for page in ("index.html", f"appendix/figures.html#{MAP}", WAVES, *others):
        reader.open(page, width, dark)
        axe = Axe(reader.chrome)
        axe.inject()
        results = axe.run(options={"preload": 0})  # it may not read a style sheet from disk
        faults = [x for x in results["violations"] if x["impact"] != "minor"]
        assert faults == [], axe.report(faults)
        assert len(results["passes"]) > 10  # it has looked


def test_without_scripts_pages_are_pictures_and_text(reader):
    reader.open("")
    reader.cdp("Emulation.setScriptExecutionDisabled", value=True)
    reader.chrome.get((reader.site / WAVES).as_uri())
    for section in reader.every("main > section"):
        contents = section.find_elements(By.CSS_SELECTOR, "img, table")
        assert any(x.size["height"] > 20 for x in contents)
    assert not any(x.is_displayed() for x in reader.every(".scripted"))
    reader.chrome.get((reader.site / "index.html").as_uri())
    stills = reader.every("noscript img")
    assert stills and all(x.is_displayed() for x in stills)


def test_on_paper_nothing_is_folded_or_clipped(reader):
    for page in ("index.html", WAVES):
        reader.open(page, 690)
        reader.cdp("Emulation.setEmulatedMedia", media="print")
        reader.js("dispatchEvent(new Event('beforeprint'))")
        assert reader.js(WIDE) == 0 and not reader.every("details.fold:not([open])")
