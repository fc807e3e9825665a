"""The front page of the report: the live drawing of the network against the library."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
import shipped
import small
import torch
from reading import PICTURE, ROOT, RUN
from selenium.webdriver import ActionChains
from selenium.webdriver.common.keys import Keys

from report.code import front, hero, run_data, verdicts
from strata import monoid, store
from strata.api import by_hand
from strata.api.model import Model, model_of
from strata.monoid import algebraic_order, classes
from strata.patch import ablations, projections, specificity
from strata.run import Run

N, PAIRS = 165, 300
# ---- the network in the page -----------------------------------------------------------------


@pytest.fixture(scope="module")
def model() -> Model:
    return shipped.model(RUN)


@pytest.fixture(scope="module")
def told(model) -> dict:
    """What the page is told of the changes."""
    found = hero.data(model.weights(), N, 0.5)
    assert found
    return found


@pytest.fixture(scope="module")
def network(chrome, model, told, tmp_path_factory):
    """A page with nothing but the run and the network."""
    folder = tmp_path_factory.mktemp("network")
    masks = projections.keys(model.weights()["W_E"][:N], N, 0.5)
    known = {d: (np.flatnonzero(mask) - 1).tolist() for d, mask in masks.items()}
    algebra = [run_data.algebra(J) | {"key": known.get(J.d, [])} for J in classes(N)]
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
    if kind == "class":
        return without_class(model, int(which))
    if kind == "head":
        return model.without(head=int(which))
    made = {"keep": model.keeping_key_characters, "remove": model.without_key_characters}
    return made[kind]() if kind in made else model


def without_class(model: Model, d: int) -> Model:
    """The model without the directions of all key characters of J_d."""
    weights, n = model.weights(), model.n
    subject = ablations.subject(weights, n, projections.keys(weights["W_E"][:n], n, 0.5))
    rows = specificity.removed(subject, specificity.directions(subject, d))
    return model_of(model.run, weights | {"W_E": np.concatenate([rows, weights["W_E"][n:]])})


def test_every_change_in_the_page_is_that_of_the_library_over_many_pairs(network, model, told):
    names = [x["name"] for x in told["changes"]]
    assert names == ["none", "axis-3", "axis-5", "axis-11", "class-3",
                     *(f"head-{h}" for h in range(4)),
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
        # What 8 bits a weight move, beside what the shipped weights say.
        gap = np.abs(logits - true).max()
        assert gap < 0.02 * size, name
        top = np.sort(true, axis=1)
        clear = top[:, -1] - top[:, -2] > 2 * gap
        assert (logits.argmax(1) == true.argmax(1))[clear].all(), name
        assert clear.mean() > 0.5 or name == "remove", (name, clear.mean())


# ---- what the page is told -------------------------------------------------------------------


@pytest.mark.parametrize("n", [12, 15])
def test_the_costs_are_those_of_every_pair_one_by_one(n):
    weights = small.weights_of(Run(n, 1))
    found, model = hero.data(weights, n, 0.5), model_of(Run(n, 1), weights)
    assert found
    for change in found["changes"]:
        off = changed(model, change["name"]).answers() - np.outer(range(n), range(n))
        wrong = {q: (off % q != 0).mean() for q in (n, *monoid.prime_powers(n))}
        assert change["wrong"]["all"] == pytest.approx(wrong.pop(n))
        assert change["wrong"]["modulo"] == pytest.approx(wrong)


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


@pytest.mark.parametrize("n", [12, 15])
def test_a_dial_is_drawn_on_the_largest_score_of_all_pairs(n):
    weights = small.weights_of(Run(n, 1))
    logits = model_of(Run(n, 1), weights)(*np.divmod(np.arange(n * n), n)).detach().numpy()
    for q, (units, others) in hero.scales(weights, n).items():
        means = np.array([[row[r::q].mean() for r in range(q)] for row in logits])
        apart = np.abs(means - means.mean(axis=1, keepdims=True)).max(axis=0)
        unit = np.gcd(np.arange(q), q) == 1
        assert units == pytest.approx(apart[unit].max(), rel=1e-3)
        assert others == pytest.approx(apart[~unit].max(), rel=1e-3)


@pytest.mark.parametrize("q", [3, 4, 5, 11])
def test_chance_is_what_guessing_among_units_gets_wrong(q):
    units = [r for r in range(q) if np.gcd(r, q) == 1]
    wrong = [a in units and b in units and a * b % q != guess
             for a in range(q) for b in range(q) for guess in units]  # fmt: skip
    assert hero.chance(q) == pytest.approx(np.mean(wrong))


# ---- what may be said ------------------------------------------------------------------------


def told_of(modulo: list[dict]) -> list:
    changes = [{"name": f"axis-{p}", "kind": "axis", "prime": p, "directions": 1,
                "wrong": {"modulo": x}} for p, x in zip((3, 5), modulo, strict=True)]  # fmt: skip
    return front.cuts({"changes": changes, "chance": {3: 2 / 9, 5: 0.48}})


@pytest.mark.parametrize(
    ("modulo", "spared", "says"),
    [
        ([{3: 0.2, 5: 0.0}, {3: 0.0, 5: 0.5}], (3, 4), True),
        ([{3: 0.2, 5: 0.0}, {3: 0.0, 5: 0.5}], (1, 4), False),
        ([{3: 0.2, 5: 0.2}, {3: 0.0, 5: 0.5}], (4, 4), False),
        ([{3: 0.0, 5: 0.0}, {3: 0.0, 5: 0.5}], (4, 4), False),
    ],
)
def test_the_title_names_primes_where_cuts_break_one_each_and_spare_the_rest(modulo, spared, says):
    assert front.by_primes(told_of(modulo), spared) is says


# ---- the page in the browser -----------------------------------------------------------------

DRAWN = "return document.documentElement.dataset.drawn"
OVER = """return [...document.querySelectorAll('main *')].filter(
    x => x.getBoundingClientRect().right > innerWidth + 1 && !x.closest('pre, .scroll')
    ).map(x => x.outerHTML.slice(0, 80))"""
SCREENS = ("powers", "votes", "embedding", "break", "hand")


def cut(reader, name: str) -> str:
    """Make a change on the bars; what is said of the pair then."""
    reader.js("document.querySelector(`.change[data-change=${arguments[0]}]`).click()", name)
    reader.until(f"{DRAWN}.endsWith(arguments[0])", name)
    return reader.one("#verdict").text


def at_screen(reader, name, drawn):
    """The front page at a screen, when this is drawn there."""
    reader.open("index.html")
    reader.js(f"document.getElementById('{name}').scrollIntoView({{behavior: 'instant'}})")
    reader.until(f"return document.querySelector('#{name}-picture {drawn}') !== null")


def test_every_screen_is_drawn_and_fits(reader):
    for width, dark in ((320, True), (390, False), (768, True), (1280, False), (1920, True)):
        reader.open("index.html", width, dark)
        for name in SCREENS:
            scroll = "document.getElementById(arguments[0]).scrollIntoView({behavior: 'instant'})"
            drawn = "document.querySelector(`#${arguments[0]}-picture`).dataset.drawn !== undefined"
            reader.until(f"{scroll}; return {drawn}", name)
            assert reader.every(f"#{name}-picture svg, #{name}-picture button"), name
        assert reader.js(OVER) == [], width
        assert reader.js("return document.querySelectorAll('svg:not([aria-label])').length") == 0


@pytest.mark.parametrize("width", [1280, 390])
def test_the_pair_shown_first_goes_wrong_modulo_the_prime_that_is_cut_out(width, reader):
    reader.open("index.html", width)
    a, b = hero.PAIR
    assert reader.js(DRAWN) == f"{a} {b} none"
    assert f"only {a * b % N} " in reader.one("#done").text
    for i, p in enumerate((3, 5, 11)):
        said = cut(reader, f"axis-{p}")
        assert f"{a * b % N} ✓ uncut" in said and said.count("✗") == 1
        marks = [x.text for x in reader.every("#dials em")]
        assert ["✗" in x for x in marks] == [i == j for j in range(3)]
        assert reader.one("#cost").text.count("as by guessing") == 1
        assert f"wrong modulo {p}, right" in reader.one("#done").text
    for name in ("none", "keep"):
        said = cut(reader, name)
        assert said.count("✓") == 3 and str(a * b % N) in said
        assert reader.one("#cost").text.count("0 %, by guessing") == (3 if name == "keep" else 0)


def test_what_the_dials_show_are_the_means_of_the_logits_by_residue(reader, model):
    a, b = 41, 73
    reader.open(f"index.html#top?a={a}&b={b}&change=none")
    logits = model(np.array([a]), np.array([b]))[0].detach().numpy()
    most = hero.scales(model.weights(), N)[11][0]
    means = np.array([logits[r::11].mean() for r in range(11)])
    lengths = 0.5 + 0.5 * (means - means.mean()) / most
    radii = """return [...document.querySelectorAll('#dials figure:last-child path.petal')].map(
        x => { const [, u, v] = x.getAttribute('d').match(/L([0-9.]+) ([0-9.]+)/);
               return Math.hypot(u - 140, v - 140); })"""
    found = (np.array(reader.js(radii)) - 28) / 62
    np.testing.assert_allclose(found, lengths[1:], atol=0.02)


def test_a_handle_turns_by_key_and_by_hand_and_only_its_own_residue_changes(reader):
    reader.open("index.html#top?a=107&b=98&change=none")
    handle = reader.one("#dials figure:nth-child(3) .handle-a")
    reader.js("arguments[0].focus()", handle)
    ActionChains(reader.chrome).send_keys(Keys.ARROW_RIGHT).perform()
    reader.until(f"return !({DRAWN[7:]}).startsWith('107 ')")
    a = int(reader.js(DRAWN).split()[0])
    assert (a % 3, a % 5, a % 11) == (107 % 3, 107 % 5, 2 * 8 % 11)
    before = reader.js("return history.length")
    circle = reader.one("#dials figure:nth-child(3) .handle-a circle")
    ActionChains(reader.chrome).click_and_hold(circle).move_by_offset(-30, 40).move_by_offset(
        -40, 30).move_by_offset(-60, -20).release().perform()  # fmt: skip
    reader.until(f"return !({DRAWN[7:]}).startsWith('{a} ')")
    turned = int(reader.js(DRAWN).split()[0])
    assert (turned % 3, turned % 5) == (a % 3, a % 5) and turned % 11 != a % 11
    assert reader.js("return history.length") == before + 1  # one step for Back
    assert f"a={turned}" in reader.chrome.current_url


def test_a_pair_and_a_change_are_in_the_address_and_back_takes_them_back(reader):
    reader.open("index.html")
    field = reader.one("#a")
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("33", Keys.ENTER)
    reader.until(f"{DRAWN}.startsWith('33 ')")
    cut(reader, "axis-11")
    assert "a=33" in reader.chrome.current_url and "change=axis-11" in reader.chrome.current_url
    here = reader.js("return location.hash")
    reader.chrome.back()
    reader.until(f"{DRAWN}.endsWith('none')")
    reader.chrome.back()
    reader.until("return document.getElementById('a').value !== '33'")
    reader.open(f"index.html{here}")
    assert reader.js(DRAWN) == f"33 {hero.PAIR[1]} axis-11"


def test_what_is_typed_is_taken_modulo_n_and_what_is_no_number_is_refused(reader):
    reader.open("index.html#top?a=165&b=x&change=no-such")
    a, b = hero.PAIR
    assert reader.js(DRAWN) == f"{a} {b} none"
    for typed, pair in (("400", 70), ("-3", 162), ("2.7", 162)):
        field = reader.one("#a")
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(typed, Keys.TAB)
        reader.until(f"return {DRAWN[7:]} === '{pair} {b} none'")
        assert reader.js("return document.getElementById('a').value") == str(pair)
        assert reader.one("#reduced").text


# ---- votes, and what is written by hand ------------------------------------------------------


def test_the_page_adds_the_votes_that_the_study_fits(site, reader):
    [net, _] = store.read_json(site.parent / PICTURE)
    at_screen(reader, "votes", ".added svg")
    for a, b, left, muted in ((13, 28, "", ()), (15, 7, "", (11,)), (15, 7, "out", ()),
                              (0, 4, "", (3, 5)), (13, 28, "out", (5,))):  # fmt: skip
        q, d = a * b % N, math.gcd(a * b, N)
        fit = net["fits"][str(d) if left else "all"]
        votes = zip((3, 5, 11), fit, strict=True)
        total = np.sum([g[q % p] for p, g in votes if p not in muted], axis=0)
        state = {"a": a, "b": b, "left": left, "mute": ".".join(map(str, muted))}
        reader.js("strata.set(arguments[0])", state)
        near = np.flatnonzero(total > total.max() - 0.1)  # the page has a byte for a number
        said = [f"Votes added: most for {c}" for c in near]
        shown = "document.querySelector('.added svg').ariaLabel"
        reader.until(f"return arguments[0].includes({shown})", said)


def test_a_class_that_is_left_out_is_counted_as_in_the_study(site, reader):
    [net, _] = store.read_json(site.parent / PICTURE)
    votes = [*zip((3, 5, 11), net["fits"]["3"], strict=True)]
    products = [q for q in range(N) if math.gcd(q, N) == 3]
    added = {q: np.sum([g[q % p] for p, g in votes], axis=0) for q in products}
    right = [q for q in products if added[q].argmax() == q]
    reader.open("index.html#votes?a=3&b=1&left=out")
    reader.until(f"return document.getElementById('left').textContent.includes('{len(right)} of')")
    reader.js("document.querySelector('#votes [data-set*=left]').click()")  # words move it back
    reader.until("return !location.hash.includes('left')")
    reader.until("return document.getElementById('left').textContent === ''")


def test_what_is_written_by_hand_has_the_logits_of_the_library(reader):
    at_screen(reader, "hand", ".written svg")
    assert reader.one("#hand .right b").text == "100 %"
    a, b = np.random.default_rng(0).integers(N, size=(2, 40))
    usual = {"phases": 7, "double": by_hand.adder().read[2, 0], "gate": 1, "waves": 2}
    script = (
        "return arguments[1].map((a, i) => [...strata.byHand(arguments[0], a, arguments[2][i])])"
    )
    found = np.array(reader.js(script, usual, a.tolist(), b.tolist()))
    with torch.no_grad():
        true = by_hand.by_hand(N)(a, b).numpy()
    np.testing.assert_allclose(by_hand.MARGIN * found, true, atol=1e-3)
    reader.js("document.querySelector('#hand [data-set*=phases]').click()")
    reader.until("return document.querySelector('#hand .right b').textContent !== '100\u00a0%'")


def test_little_is_loaded_before_the_network(site):
    loaded = re.findall(r'src="(site/[^"]*)"', (site / "index.html").read_text("utf-8"))
    sizes = [(site / "site" / Path(x).name).stat().st_size for x in loaded]
    sizes += [(site / x).stat().st_size for x in ("index.html", "site/style.css", "site/front.css")]
    assert loaded and sum(sizes) < 150_000
    assert sum(sizes) + (site / f"runs/{RUN}.js").stat().st_size < 460_000


def test_the_slider_shows_the_embedding_before_training_and_loads_it_when_asked(reader):
    at_screen(reader, "embedding", ".maps svg")
    assert not reader.every("script[src*=embedding]")
    places = """return [...document.querySelectorAll('#embedding-picture .sorted g')].map(
        x => x.getAttribute('transform'))"""
    trained = reader.js(places)
    slider = reader.one("#embedding-picture input[type=range]")
    slider.send_keys(Keys.HOME)
    said = "document.querySelector('#embedding-picture .readout').textContent"
    reader.until(f"return {said}.startsWith('Epoch 0, 25.0 % of mirror-free')")
    assert reader.js(places) != trained and "checkpoint=0" in reader.chrome.current_url
    slider.send_keys(Keys.END)
    reader.until(f"return !{said}.includes('Epoch')")
    assert reader.js(places) == trained


def test_a_mark_is_ringed_on_both_maps_and_says_what_it_is(reader):
    at_screen(reader, "embedding", ".maps svg")
    reader.js("document.querySelector('#embedding-picture .three [data-c=\"12\"]').dispatchEvent("
              "new PointerEvent('pointerover', {bubbles: true}))")  # fmt: skip
    assert len(reader.every("#embedding-picture .ring[transform]")) == 2
    assert "12: in J₃" in reader.one("#embedding-picture .readout").text


@pytest.mark.parametrize("dark", [False, True])
def test_each_claim_shows_its_verdict_by_a_sign_and_a_colour(dark, reader):
    reader.open("index.html", dark=dark)
    look = """return [...document.querySelectorAll('#claims .verdict')].map(x => [x.textContent,
        getComputedStyle(x, '::before').content, getComputedStyle(x).borderColor])"""
    shown = reader.js(look)
    assert len(shown) == len(verdicts.CLAIMS) and {x for x, *_ in shown} <= set(verdicts.VERDICTS)
    signs = {verdict: (sign, colour) for verdict, sign, colour in shown}
    assert "none" not in {sign for sign, _ in signs.values()}
    assert all(x != y for x, y in zip(signs[verdicts.HOLDS], signs[verdicts.DIFFERS], strict=True))


def test_a_term_says_what_it_means_where_it_stands(reader):
    reader.open("index.html")
    term = reader.one(".screen .term")
    term.send_keys("")
    shown = reader.js("return getComputedStyle(document.activeElement, '::after').content")
    assert shown.strip('"') == term.get_attribute("data-tip")
    assert term.get_attribute("data-tip") in term.get_attribute("aria-label")


def test_without_scripts_it_is_pictures_and_text(reader):
    reader.open("index.html")
    reader.cdp("Emulation.setScriptExecutionDisabled", value=True)
    reader.chrome.refresh()
    stills = reader.every("noscript img")
    assert stills and all(x.is_displayed() for x in stills)
    assert not reader.one("#factors").is_displayed()
    assert "modulo 5 48 % wrong" in reader.one("noscript ul").text


def test_in_print_nothing_is_wider_than_the_paper(reader):
    reader.open("index.html", 720)
    reader.cdp("Emulation.setEmulatedMedia", media="print")
    reader.js("dispatchEvent(new Event('beforeprint'))")
    assert reader.js(OVER) == []
