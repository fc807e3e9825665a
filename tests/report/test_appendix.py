"""The appendix in a real browser: panels that compute, choices in the address, search, print."""

import math
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
from strata.measure import fourier
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
    n, kept = data_of(site, run)["n"], weights_of(site, run)
    rounded = run_data.restored(run_data.rounded_model(kept), kept)
    [(_, _, found)] = list(blocks(rounded, n))
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
def test_the_page_knows_class_coordinates_and_local_inverse_of_every_element(run, site, reader):
    reader.open(f"#top?run={run}")
    script = """const { classAt, coordinates, sharp } = strata.model;
        return strata.load(arguments[0]).then(run => [...Array(run.n).keys()].map(
            a => [classAt(run, a).d, coordinates(run, a), sharp(run, a)]))"""
    n = data_of(site, run)["n"]
    for a, (d, coordinates, sharp) in enumerate(reader.js(script, run)):
        J = monoid.jclass(math.gcd(a, n), n)
        assert d == J.d
        assert coordinates == J.coordinates[monoid.position(n)[a]].tolist()
        assert sharp == (monoid.sharp(a, n) if J.regular else None)


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


CODE = quote("<img src=x onerror=ran=1><script>ran=1</script>")
KEYS = ("run", "a", "b", "head", "neuron", "class", "target", "axes", "curve", "beside", "find")
KEYS += ("turn", "colour", "head2", "neuron2", "checkpoint", "measure")
ADDRESSES = {
    "code in every choice": f"#{MAP}?" + "&".join(f"{key}={CODE}" for key in KEYS),
    "code as a section": f"#{CODE}",
    "a path as a run": f"#{MAP}?run=../../x&a=1e9&b=-1",
    "none that there is": f"#{MAP}?run=n999-s1&head=77&a=5000",
    "no valid escape": "#%?run=%E0%A4%A&head=%",
    "another scheme": "#javascript:ran=1",
}


@pytest.mark.parametrize("address", ADDRESSES.values(), ids=ADDRESSES)
def test_no_address_runs_code_or_keeps_the_page_from_showing_the_headline(address, reader):
    reader.open(address)
    reader.see(MAP)
    assert reader.js("return typeof ran") == "undefined" and not reader.every("[onerror]")
    scripts = reader.js("return [...document.scripts].map(x => x.getAttribute('src'))")
    assert f"../runs/{RUN}.js" in scripts and not [x for x in scripts if x.count("..") > 1]


def test_an_element_and_a_product_are_found_by_keyboard(site, reader):
    reader.open(f"#top?run={TORSOR}")
    reader.one("body").send_keys("/")
    field = reader.chrome.switch_to.active_element
    found = "return document.getElementById('found').textContent.includes(arguments[0])"
    field.send_keys("9", Keys.ENTER)
    reader.until(found, "gcd(9, 12) = 3")
    field.send_keys(Keys.BACKSPACE, "5 x 7", Keys.ENTER)
    reader.until(found, "5 · 7 = 11")
    [(a, b, run)] = list(blocks(weights_of(site, TORSOR), 12))
    [row] = np.flatnonzero((a == 5) & (b == 7))
    assert f"the model says\n{int(run.logits[row].argmax())}," in reader.one("#found").text
    field.send_keys(Keys.ESCAPE)
    reader.until("return document.getElementById('found').hidden")


def test_words_are_found_on_every_page(reader):
    reader.open("")
    reader.one("#element").send_keys("logits", Keys.ENTER)
    reader.until("return document.querySelector('#found a') !== null")
    found = reader.js("return [...document.querySelectorAll('#found a')].map(x => x.href)")
    assert any(x.endswith("waves.html#logits") for x in found)
    for text, said in (("zero divisor", "glossary.html#zero-divisor"), ("nosuchword", "Nothing")):
        reader.chrome.get(f"{(reader.site / TERMS).as_uri()}?find={text}")
        reader.until(f"return document.querySelector('#found')?.innerHTML.includes('{said}')")
    reader.chrome.get(f"{(reader.site / 'docs' / 'one.html').as_uri()}?find=part")
    reader.until("return document.querySelector('#found a') !== null")


@pytest.mark.parametrize("width", [1280, 390])
def test_a_chosen_cell_sets_a_and_b_and_every_panel_marks_them(width, reader):
    a, b = (int(x) for x in monoid.algebraic_order(165)[[2, 1]])
    reader.open(f"#{MAP}", width)
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


def test_a_second_run_stands_beside_the_first_and_back_takes_it_away(reader):
    reader.open(f"#{MAP}?a=5&b=2&beside={TORSOR}")
    reader.see(MAP, f"{RUN} {TORSOR}")
    assert [x.text for x in reader.every(f"#{MAP} .of")] == [RUN, TORSOR]
    reader.choose("#beside", "")
    reader.see(MAP)
    assert "beside" not in reader.chrome.current_url and len(reader.every(f"#{MAP} .slot")) == 1
    reader.chrome.back()
    reader.see(MAP, f"{RUN} {TORSOR}")


def test_spectra_and_components_go_through_the_training(reader):
    for name in (SPECTRA, PCA):
        reader.open(f"#{name}")
        assert "Epoch" not in reader.see(name)
        reader.one(f"#{name} [name=checkpoint]").send_keys(Keys.HOME)
        said = f"document.querySelector('#{name} .readout').textContent"
        reader.until(f"return {said}.startsWith('Epoch 0, 25.0 % of mirror-free pairs right')")
    start = np.random.default_rng(0).normal(size=(165, 128)).astype(np.float32)
    then = """return strata.load(arguments[0]).then(run =>
        strata.at(run, 0).classes.map(K => [K.d, [...K.share]]))"""
    for d, share in reader.js(then, RUN):
        J = monoid.jclass(d, 165)
        if len(J) > 1:
            true = fourier.energy_share(start[J.elements], J.orders)[1:]
            np.testing.assert_allclose(share, true, atol=0.01)


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_axe_finds_nothing_above_minor(width, dark, reader):
    own = ("cards/index.html", f"cards/{RUN}.html", "docs/one.html", TERMS)
    for page in ("index.html", f"appendix/figures.html#{MAP}", WAVES, *own):
        reader.open(page, width, dark)
        axe = Axe(reader.chrome)
        axe.inject()
        found = axe.run(options={"preload": 0})  # it may not read a style sheet from disk
        faults = [x for x in found["violations"] if x["impact"] != "minor"]
        assert faults == [], axe.report(faults)
        assert len(found["passes"]) > 10  # it has looked


def test_the_contents_say_where_the_reader_is(reader):
    reader.open("#fig11-neurons")
    reader.see("fig11-neurons")
    here = "document.querySelector('.contents [aria-current=location]')"
    reader.until(f"return {here}?.hash === '#fig11-neurons'")


def test_without_scripts_pages_are_pictures_and_text(reader):
    reader.open("")
    reader.cdp("Emulation.setScriptExecutionDisabled", value=True)
    reader.chrome.get((reader.site / WAVES).as_uri())
    for section in reader.every("main > section"):
        shown = section.find_elements(By.CSS_SELECTOR, "img, table")
        assert any(x.size["height"] > 20 for x in shown)
    assert not any(x.is_displayed() for x in reader.every(".scripted"))


@pytest.mark.parametrize("page", ["", WAVES, "appendix/tables.html"])
def test_on_paper_nothing_is_folded_or_clipped(page, reader):
    reader.open(page, 690)
    reader.cdp("Emulation.setEmulatedMedia", media="print")
    reader.js("dispatchEvent(new Event('beforeprint'))")
    assert reader.js(WIDE) == 0 and not reader.every("details.fold:not([open])")
    assert reader.js("return document.querySelector('header').offsetHeight") == 0


def test_served_from_a_commit_it_names_that_commit(site, reader):
    commit = "0123456789abcdef0123456789abcdef01234567"
    reader.chrome.get(f"{(site / WAVES).as_uri()}?commit={commit}")
    reader.until("return document.documentElement.dataset.run")
    assert commit in reader.one("footer").text
