"""The front page of the report: the live drawing of the network against the library."""

import json
import re
from itertools import combinations

import numpy as np
import pytest
import shipped
import small
import torch
from reading import ROOT, RUN
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from report.code import claims, front, hero, run_data
from strata import monoid
from strata.api.model import Model, model_of
from strata.monoid import algebraic_order, classes
from strata.run import Run

N, PAIRS = 165, 300
# ---- the network in the page -----------------------------------------------------------------


@pytest.fixture(scope="module")
def model() -> Model:
    return shipped.model(RUN)


@pytest.fixture(scope="module")
def told(model) -> dict:
    """What the page is told of the changes; their cost over all pairs is tested elsewhere."""
    return hero.about(model.weights(), N, 0.5)


@pytest.fixture(scope="module")
def network(chrome, model, told, tmp_path_factory):
    """A page with nothing but the run and the network."""
    folder = tmp_path_factory.mktemp("network")
    algebra = [run_data.algebra(J) for J in classes(N)]
    run = {"run": RUN, "n": N, "classes": algebra}
    run |= {"order": algebraic_order(N).tolist()}
    run |= {"model": run_data.rounded_model(model.weights())}
    names = ("core", "model", "network")
    scripts = "".join(
        f"<script>{(ROOT / f'report/site/{x}.js').read_text()}</script>" for x in names
    )
    data = f"<script>const run = {json.dumps(run)}, hero = {json.dumps(told)}</script>"
    (folder / "index.html").write_text(f'<html data-headline="{RUN}">{scripts}{data}', "utf-8")
    chrome.get((folder / "index.html").as_uri())
    return chrome


def changed(model: Model, name: str) -> Model:
    """The library's model with the same change."""
    kind, _, which = name.partition("-")
    if kind == "axis":
        return model.without(prime=int(which))
    if kind == "head":
        return model.without(head=int(which))
    made = {"keep": model.keeping_key_characters, "remove": model.without_key_characters}
    return made[kind]() if kind in made else model


def test_every_change_in_the_page_is_that_of_the_library_over_many_pairs(network, model, told):
    names = [x["name"] for x in told["changes"]]
    assert names == ["none", "axis-3", "axis-5", "axis-11", *(f"head-{h}" for h in range(4)),
                     "keep", "remove"]  # fmt: skip
    a, b = np.random.default_rng(0).integers(N, size=(2, PAIRS))
    kept = model.weights()
    rounded = model_of(Run(N, 1), run_data.restored(run_data.rounded_model(kept), kept))
    script = """const [name, as, bs] = arguments, change = hero.changes.find(x => x.name === name);
        const W = strata.network.changed(run, hero, change);
        return as.map((a, i) => strata.model.forward(W, a, bs[i]).logits)"""
    for name in names:
        logits = np.array(network.execute_script(script, name, a.tolist(), b.tolist()))
        with torch.no_grad():
            same = changed(rounded, name)(a, b).numpy()
            true = changed(model, name)(a, b).numpy()
        size = np.abs(true).max()
        np.testing.assert_allclose(logits, same, atol=1e-4 * size, err_msg=name)
        # What 12 bits a weight move, beside what the shipped weights say.
        gap = np.abs(logits - true).max()
        assert gap < 0.01 * size, name
        top = np.sort(true, axis=1)
        clear = top[:, -1] - top[:, -2] > 2 * gap
        assert (logits.argmax(1) == true.argmax(1))[clear].all(), name
        assert clear.mean() > 0.8 or name == "remove", (name, clear.mean())


# ---- what the page is told -------------------------------------------------------------------


@pytest.mark.parametrize("n", [12, 15])
def test_the_costs_are_those_of_every_pair_one_by_one(n):
    weights = small.weights_of(Run(n, 1))
    found, model = hero.data(weights, n, 0.5), model_of(Run(n, 1), weights)
    assert found
    for change in found["changes"]:
        answers = changed(model, change["name"]).answers()
        alone = dict.fromkeys(hero.prime_powers(n), 0)
        for a in range(n):
            for b in range(n):
                off = [q for q in alone if (answers[a, b] - a * b) % q]
                if len(off) == 1:
                    alone[off[0]] += 1
        assert change["wrong"]["all"] == pytest.approx(
            (answers != np.outer(range(n), range(n)) % n).mean()
        )
        assert change["wrong"]["alone"] == pytest.approx({q: x / n**2 for q, x in alone.items()})


@pytest.mark.parametrize("q", [3, 4, 5, 9, 11, 25])
def test_multiplication_by_a_generator_turns_every_ring(q):
    places = hero.circle(q)["places"]
    assert places[0] == [0, 0.0] and len({tuple(x) for x in places}) == q
    [(_, g)] = monoid.axes(q)
    for r in range(1, q):
        (ring, turn), (other, turned) = places[r], places[g * r % q]
        on_ring = sum(x[0] == ring for x in places)
        assert ring == other
        assert (turned - turn - 1 / on_ring + 0.5) % 1 == pytest.approx(0.5)


def test_a_diverged_network_has_nothing_to_draw():
    weights = {k: np.full_like(x, np.nan) for k, x in small.weights_of(Run(6, 1)).items()}
    assert hero.data(weights, 6, 0.5) is None


# ---- the page in the browser -----------------------------------------------------------------

DRAWN = "return document.documentElement.dataset.drawn"


def change(reader, name: str) -> str:
    """Make a change; what is said of the pair then."""
    reader.js("document.querySelector(`[name=change][value=${arguments[0]}]`).click()", name)
    reader.until(f"{DRAWN}.endsWith(arguments[0])", name)
    return reader.one("#verdict").text


@pytest.mark.parametrize(("width", "dark", "screens"), [(1280, False, 12), (390, True, 18)])
def test_it_fits_and_every_picture_is_drawn(width, dark, screens, reader):
    reader.open("index.html", width, dark)
    size = (
        "const x = document.documentElement; return [x.scrollWidth, x.clientWidth, x.scrollHeight]"
    )
    across, inner, height = reader.js(size)
    assert across == inner and height <= screens * 800
    for box in reader.chrome.find_elements(By.CSS_SELECTOR, ".picture, #circles, #logits"):
        assert box.find_elements(By.CSS_SELECTOR, "svg, table"), box.get_attribute("id")
    assert len(reader.chrome.find_elements(By.CSS_SELECTOR, ".card")) == len(claims.CLAIMS)
    assert reader.js("return document.querySelectorAll('svg:not([aria-label])').length") == 0


@pytest.mark.parametrize("width", [1280, 390])
def test_the_pair_shown_first_goes_wrong_modulo_the_prime_that_is_cut_out(width, reader):
    reader.open("index.html", width)
    a, b = hero.PAIR
    assert (
        f"{a} × {b} = {a * b % N}" in reader.one("#verdict").text
        and "right" in reader.one("#verdict").text
    )
    for p in (3, 5, 11):
        assert f"Off modulo {p} alone" in change(reader, f"axis-{p}")
        off = reader.chrome.find_elements(By.CSS_SELECTOR, "#circles .off")
        assert [f"modulo {p}" in x.text for x in off] == [True]
    for name in ("none", "keep"):
        assert "right" in change(reader, name) and "none is wrong" in reader.one("#cost").text


def test_a_pair_and_a_change_are_in_the_address_and_back_takes_them_back(reader):
    reader.open("index.html")
    first = reader.one("#verdict").text
    field = reader.one("#a")
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("33", Keys.ENTER)
    reader.until("return document.documentElement.dataset.drawn.startsWith('33 ')")
    assert f"33 × {hero.PAIR[1]}" in reader.one("#verdict").text
    change(reader, "axis-11")
    assert "a=33" in reader.chrome.current_url and "change=axis-11" in reader.chrome.current_url
    here = reader.js("return location.hash")
    reader.chrome.back()
    reader.until("return document.documentElement.dataset.drawn.endsWith('none')")
    reader.chrome.back()
    reader.until("return document.getElementById('a').value !== '33'")
    assert reader.one("#verdict").text == first
    reader.open(f"index.html{here}")
    assert reader.js(DRAWN) == f"33 {hero.PAIR[1]} axis-11"


def test_what_is_no_residue_is_refused_and_an_address_without_sense_shows_the_first_pair(reader):
    reader.open("index.html#top?a=165&b=x&change=no-such")
    a, b = hero.PAIR
    assert reader.js(DRAWN) == f"{a} {b} none"
    field = reader.one("#a")
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("165", Keys.TAB)
    assert "from 0 to 164" in reader.js("return document.getElementById('a').validationMessage")
    assert reader.js(DRAWN) == f"{a} {b} none"


def test_a_residue_picked_in_a_step_is_marked_everywhere_by_click_and_by_key(reader):
    reader.open("index.html")
    reader.js("document.querySelector('#inverses-picture [data-c=\"12\"] rect').dispatchEvent("
              "new MouseEvent('click', {bubbles: true}))")  # fmt: skip
    reader.until("return document.documentElement.dataset.drawn.startsWith('12 ')")
    assert "12 shares 3 with 165" in reader.one("#inverses-picture .readout").text
    assert "a = 12 is in J₃" in reader.one("#classes-picture .readout").text
    reader.one("#inverses-picture svg").send_keys(Keys.ARROW_RIGHT)
    reader.until("return document.documentElement.dataset.drawn.startsWith('13 ')")
    assert reader.js("return document.activeElement.closest('.picture')?.id") == "inverses-picture"
    reader.js("document.querySelector('#pca-picture input[value=\"11\"]').click()")
    assert "residue modulo 11" in reader.one("#pca-picture .readout").text
    assert len(reader.chrome.find_elements(By.CSS_SELECTOR, "#pca-picture .cluster")) >= 8
    boxes = """const [by] = arguments, picture = document.querySelector("#pca-picture");
        picture.querySelector(`input[value="${by}"]`).click();
        return [...document.querySelectorAll("#pca-picture .cluster")].map(x => {
            const box = x.getBoundingClientRect();
            return [box.left, box.top, box.right, box.bottom];
        })"""
    for by in ("class", "3", "5", "11"):
        found = reader.js(boxes, by)
        for one, other in combinations(found, 2):
            apart = (one[i + 2] <= other[i] or other[i + 2] <= one[i] for i in (0, 1))
            assert any(apart), (by, found)


@pytest.mark.parametrize("dark", [False, True])
def test_each_card_shows_its_verdict_by_a_sign_and_a_colour(dark, reader):
    reader.open("index.html", dark=dark)
    look = """return [...document.querySelectorAll('.card .verdict')].map(x => [x.textContent,
        getComputedStyle(x, '::before').content, getComputedStyle(x).backgroundColor])"""
    shown = reader.js(look)
    assert len(shown) == len(claims.CLAIMS) and {x for x, *_ in shown} <= set(front.SIGNS)
    signs = {verdict: (sign.strip('"'), back) for verdict, sign, back in shown}
    assert {signs[x][0] for x in signs} <= {"✓ ", "≠ ", "? "} and len(signs) > 2
    assert signs[claims.HOLDS][1] != signs[claims.DIFFERS][1]
    assert "rgba(0, 0, 0, 0)" not in {back for _, back in signs.values()}


@pytest.mark.parametrize("width", [1280, 390])
def test_a_slider_shows_the_embedding_before_training_and_loads_it_when_asked(width, reader):
    reader.open("index.html", width)
    asked = "return document.querySelector('script[src*=embedding]') !== null"
    assert not reader.js(asked)
    trained = reader.one("#spectra-picture .readout").text
    slider = reader.one("#spectra-picture .epoch input")
    slider.send_keys(Keys.HOME)
    said = "document.querySelector(`#${arguments[0]}-picture .readout`).textContent"
    for name in ("spectra", "pca"):
        reader.until(f"return {said}.startsWith('Epoch 0, 25.0 % of mirror-free')", name)
    assert reader.js(asked) and "checkpoint=0" in reader.chrome.current_url
    held = [float(re.findall(r"hold ([\d.]+) %", x)[0]) for x in (
        trained, reader.one("#spectra-picture .readout").text)]  # fmt: skip
    assert held[0] > 90 > 20 > held[1]
    reader.one("#pca-picture .epoch input").send_keys(Keys.END)
    reader.until(f"return !{said}.includes('Epoch')", "spectra")
    assert reader.one("#spectra-picture .readout").text == trained


def test_a_term_says_what_it_means_where_it_stands(reader):
    reader.open("index.html")
    for term in reader.chrome.find_elements(By.CSS_SELECTOR, ".step .term"):
        assert reader.js("return document.querySelector(arguments[0].hash) !== null", term)
    term = reader.one(".step .term")
    term.send_keys("")
    shown = reader.js("return getComputedStyle(document.activeElement, '::after').content")
    assert shown.strip('"') == term.get_attribute("data-tip")


def test_without_javascript_it_is_pictures_and_text(reader):
    reader.open("index.html")
    reader.cdp("Emulation.setScriptExecutionDisabled", value=True)
    reader.chrome.refresh()
    stills = reader.chrome.find_elements(By.CSS_SELECTOR, "noscript img")
    assert len(stills) == 2 and all(x.is_displayed() for x in stills)
    assert not reader.one("#factors").is_displayed()
    assert "48 % wrong; 48 % modulo 5 alone" in reader.one("p.still").text


def test_in_print_nothing_is_wider_than_the_paper(reader):
    reader.open("index.html", 720)
    reader.cdp("Emulation.setEmulatedMedia", media="print")
    reader.js("dispatchEvent(new Event('resize'))")
    wide = """return [...document.querySelectorAll('main *')].filter(
        x => x.getBoundingClientRect().right > innerWidth + 1 && !x.closest('pre')
        ).map(x => x.outerHTML.slice(0, 80))"""
    assert reader.js(wide) == []
