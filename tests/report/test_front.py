"""The front page of the report: the live drawing of the network against the library."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
import shipped
import small
import torch
from reading import PICTURE, RUN

import strata
from report.code import front, hero, run_data
from strata import monoid, store
from strata.api import by_hand
from strata.api.model import Model, model_of
from strata.patch import ablations, projections, specificity
from strata.run import Run

N, PAIRS = 165, 300
# ---- the network in the page -----------------------------------------------------------------


def apply_change(model: Model, name: str) -> Model:
    """Return the library's model with the same change."""
    kind, _, which = name.partition("-")
    if kind == "axis":
        return model.without(prime=int(which))
    if kind == "class":
        return without_class(model, int(which))
    if kind == "head":
        return model.without(head=int(which))
    if kind == "keep":
        return model.keeping_key_characters()
    return model.without_key_characters() if kind == "remove" else model


def without_class(model: Model, d: int) -> Model:
    """Return the model without the directions of all key characters of J_d."""
    weights, n = model.weights(), model.n
    subject = ablations.subject(weights, n, projections.key_masks(weights["W_E"][:n], n, 0.5))
    rows = specificity.removed(subject, specificity.directions(subject, d))
    return model_of(model.run, weights | {"W_E": np.concatenate([rows, weights["W_E"][n:]])})


def test_every_change_in_the_page_is_that_of_the_library_over_many_pairs(site, reader):
    reader.open("index.html")
    names = [x["name"] for x in store.read_json(site.parent / "hero.json")["changes"]]
    assert names == ["none", "axis-3", "axis-5", "axis-11", "class-3",
                     *(f"head-{h}" for h in range(4)),
                     "keep", "remove"]  # fmt: skip
    a, b = np.random.default_rng(0).integers(N, size=(2, PAIRS))
    model = shipped.model(RUN)
    weights = model.weights()
    page_weights = run_data.with_page_numbers(run_data.rounded_model(weights), weights)
    rounded = model_of(Run(N, 1), page_weights)
    script = """const hero = JSON.parse(document.getElementById("hero-data").textContent);
        const [name, as, bs] = arguments, change = hero.changes.find(x => x.name === name);
        const W = strata.network.changed(strata.loaded(strata.headline), hero, change);
        return as.map((a, i) => strata.model.forward(W, a, bs[i]).logits)"""
    for name in names:
        logits = np.array(reader.js(script, name, a.tolist(), b.tolist()))
        with torch.no_grad():
            expected = apply_change(rounded, name)(a, b).numpy()
            exact = apply_change(model, name)(a, b).numpy()
        size = np.abs(exact).max()
        np.testing.assert_allclose(logits, expected, atol=1e-4 * size, err_msg=name)
        # What 8 bits a weight move, beside what the shipped weights say.
        gap = np.abs(logits - exact).max()
        assert gap < 0.02 * size, name
        top = np.sort(exact, axis=1)
        clear = top[:, -1] - top[:, -2] > 2 * gap
        assert (logits.argmax(1) == exact.argmax(1))[clear].all(), name
        assert clear.mean() > 0.5 or name == "remove", (name, clear.mean())


# ---- what the page is told -------------------------------------------------------------------


@pytest.mark.parametrize("n", [12, 15])
def test_the_costs_are_those_of_every_pair_one_by_one(n):
    weights = small.weights_of(Run(n, 1))
    page_data, model = hero.data(weights, n, 0.5), model_of(Run(n, 1), weights)
    assert page_data
    for change in page_data["changes"]:
        error = apply_change(model, change["name"]).answers() - np.outer(range(n), range(n))
        wrong = {q: (error % q != 0).mean() for q in (n, *monoid.prime_powers(n))}
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
        deviation = np.abs(means - means.mean(axis=1, keepdims=True)).max(axis=0)
        unit = np.gcd(np.arange(q), q) == 1
        assert units == pytest.approx(deviation[unit].max(), rel=1e-3)
        assert others == pytest.approx(deviation[~unit].max(), rel=1e-3)


# ---- what may be said ------------------------------------------------------------------------


def cuts_of(modulo: list[dict]) -> list:
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
    assert front.splits_by_primes(cuts_of(modulo), spared) is says


# ---- the page in the browser -----------------------------------------------------------------

DRAWN = "return document.documentElement.dataset.drawn"
OVER = """return [...document.querySelectorAll('main *')].filter(
    x => x.getBoundingClientRect().right > innerWidth + 1 && !x.closest('pre, .scroll')
    ).map(x => x.outerHTML.slice(0, 80))"""
SCREENS = ("votes", "steps", "embedding", "break", "hand")


def make_change(reader, name: str) -> str:
    """Make a change on the bars, and return what the page then says of the pair."""
    reader.js("document.querySelector(`.change[data-change=${arguments[0]}]`).click()", name)
    reader.until(f"{DRAWN}.endsWith(arguments[0])", name)
    return reader.one("#verdict").text


def open_screen(reader, name, drawn):
    """Open the front page at a screen, and wait until this is drawn there."""
    reader.open("index.html")
    reader.js(f"document.getElementById('{name}').scrollIntoView({{behavior: 'instant'}})")
    reader.until(f"return document.querySelector('#{name}-picture {drawn}') !== null")


def test_every_screen_is_drawn_and_fits(reader):
    for width, dark in ((320, True), (768, False), (1920, True)):
        reader.open("index.html", width, dark)
        for name in SCREENS:
            scroll = "document.getElementById(arguments[0]).scrollIntoView({behavior: 'instant'})"
            drawn = "document.querySelector(`#${arguments[0]}-picture`).dataset.drawn !== undefined"
            reader.until(f"{scroll}; return {drawn}", name)
            assert reader.every(f"#{name}-picture svg, #{name}-picture button"), name
        assert reader.js(OVER) == [], width
        assert reader.js("return document.querySelectorAll('svg:not([aria-label])').length") == 0


def test_the_pair_shown_first_goes_wrong_modulo_the_prime_that_is_cut_out(reader):
    reader.open("index.html")
    a, b = hero.PAIR
    assert reader.js(DRAWN) == f"{a} {b} none"
    assert f"only {a * b % N} " in reader.one("#done").text
    for i, p in enumerate((3, 5, 11)):
        verdict = make_change(reader, f"axis-{p}")
        assert f"{a * b % N} ✓ uncut" in verdict and verdict.count("✗") == 1
        marks = [reader.one(f"#dials [data-q='{q}'] em").text for q in (3, 5, 11)]
        assert ["✗" in x for x in marks] == [i == j for j in range(3)]
        assert reader.one("#cost").text.count("as by guessing") == 1
        assert f"wrong modulo {p}, right" in reader.one("#done").text
    for name in ("none", "keep"):
        verdict = make_change(reader, name)
        assert verdict.count("✓") == 3 and str(a * b % N) in verdict
        assert reader.one("#cost").text.count("0 %, by guessing") == (3 if name == "keep" else 0)


# ---- votes, and what is written by hand ------------------------------------------------------


def test_the_page_adds_the_votes_that_the_study_fits(site, reader):
    [net, _] = store.read_json(site.parent / PICTURE)
    open_screen(reader, "votes", ".added svg")
    for a, b, left_out, muted in ((13, 28, "", ()), (15, 7, "", (11,)), (15, 7, "out", ()),
                              (0, 4, "", (3, 5)), (13, 28, "out", (5,))):  # fmt: skip
        q, d = a * b % N, math.gcd(a * b, N)
        fit = net["fits"][str(d) if left_out else "all"]
        votes = zip((3, 5, 11), fit, strict=True)
        total = np.sum([g[q % p] for p, g in votes if p not in muted], axis=0)
        state = {"a": a, "b": b, "left": left_out, "mute": ".".join(map(str, muted))}
        reader.js("strata.set(arguments[0])", state)
        largest = np.flatnonzero(total > total.max() - 0.1)  # the page has a byte for a number
        labels = [f"Votes added: most for {c}" for c in largest]
        label = "document.querySelector('.added svg').ariaLabel"
        reader.until(f"return arguments[0].includes({label})", labels)


def test_another_network_on_the_boards_leaves_the_dials_and_the_pair_as_they_were(reader):
    open_screen(reader, "votes", ".added svg")
    before = [reader.js("return document.getElementById(arguments[0]).value", x) for x in "ab"]
    reader.js("document.querySelector('#votes [data-set*=mlp]').click()")
    reader.until("return !document.getElementById('elsewhere').hidden")
    told = reader.js("return document.getElementById('elsewhere').textContent")
    assert f"These dials show {RUN}, modulo {N}" in told and "below show mlp-n6-s1" in told
    assert [
        reader.js("return document.getElementById(arguments[0]).value", x) for x in "ab"
    ] == before
    reader.until("return document.getElementById('left').textContent !== ''")
    reader.js("document.querySelector('#elsewhere button').click()")
    reader.until("return document.getElementById('elsewhere').hidden")


@pytest.mark.parametrize("pair", [hero.PAIR, (13, 28), (8, 3), (22, 7)])
def test_twice_as_far_as_the_sum_of_two_hands_is_the_hand_of_the_product(reader, pair):
    open_screen(reader, "steps", ".steps svg")
    reader.js("strata.set({a: arguments[0], b: arguments[1]})", *pair)
    a, b = pair
    reader.until(f"{DRAWN} === arguments[0]", f"{a} {b} none")
    script = """return [2, 3].map(i => document.querySelector(
        `.steps li:nth-child(${i}) .made path:last-child`
        )?.getAttribute('transform').match(/rotate.(.*)[)]/)[1])"""
    total, product = reader.js(script)
    turns = {r: turn for r, (ring, turn) in enumerate(hero.circle(11)["places"]) if ring}
    if not (a % 11 and b % 11):
        assert total is None and product is None
        return
    assert float(product) == pytest.approx(360 * turns[a * b % 11])
    if total:  # opposite hands have no sum
        assert (2 * float(total) - float(product) + 1) % 360 == pytest.approx(1, abs=1e-6)
    opposite = abs(turns[a % 11] - turns[b % 11]) == 0.5
    assert (total is None) == opposite
    chords = reader.js(
        """return [...document.querySelectorAll(".steps .chord")].map(x =>
        (([x0, y0, x1, y1]) => [x1 - x0, y1 - y0])(x.getAttribute("d").match(/[-.0-9]+/g)))"""
    )
    assert len(chords) == (2 if opposite else 0)
    if opposite:  # the difference is parallel to the line from 1 to the product
        assert np.linalg.det(chords) == pytest.approx(0, abs=1e-3)


def test_what_is_written_by_hand_has_the_logits_of_the_library(reader):
    open_screen(reader, "hand", ".written svg")
    assert reader.one("#hand .right b").text == "100 %"
    a, b = np.random.default_rng(0).integers(N, size=(2, 40))
    settings = {"phases": 7, "double": by_hand.adder().read[2, 0], "gate": 1, "waves": 2}
    script = (
        "return arguments[1].map((a, i) => [...strata.byHand(arguments[0], a, arguments[2][i])])"
    )
    logits = np.array(reader.js(script, settings, a.tolist(), b.tolist()))
    with torch.no_grad():
        expected = strata.by_hand(N)(a, b).numpy()
    np.testing.assert_allclose(by_hand.MARGIN * logits, expected, atol=1e-3)
    reader.js("document.querySelector('#hand [data-set*=phases]').click()")
    reader.until("return document.querySelector('#hand .right b').textContent !== '100\u00a0%'")


def test_little_is_loaded_before_the_network(site):
    loaded = re.findall(r'src="(site/[^"]*)"', (site / "index.html").read_text("utf-8"))
    sizes = [(site / "site" / Path(x).name).stat().st_size for x in loaded]
    sizes += [(site / x).stat().st_size for x in ("index.html", "site/style.css", "site/front.css")]
    assert loaded and sum(sizes) < 150_000
    assert sum(sizes) + (site / f"runs/{RUN}.js").stat().st_size < 460_000
