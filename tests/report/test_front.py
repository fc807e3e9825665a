"""The front page of the report: the live drawing of the network against the pipeline."""

import gzip
import json
import re
import shutil
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import shipped
import small
import torch
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from ops import files, provenance, verify
from report.code import epochs, front, hero, rules, run_data, verdicts
from report.code import network as network_still
from report.code.facts import Facts, Missing, held, said
from report.code.sections import SECTIONS
from report.code.steps import STEPS
from strata import monoid, store
from strata.api.model import Model, model_of
from strata.monoid import algebraic_order, classes
from strata.run import Run, read_yaml
from studies.dynamics.code import grokking
from studies.mechanism.code.main_effects import prime_powers

ROOT = Path(__file__).parents[2]
RUN = Run(165, 1)
PAIRS = 1000
EPOCHS = [0, 25000]
# ---- the network in the page -----------------------------------------------------------------


@pytest.fixture(scope="module")
def model() -> Model:
    return shipped.model(str(RUN))


@pytest.fixture(scope="module")
def told(model) -> dict:
    """What the page is told of the changes; their cost over all pairs is tested elsewhere."""
    return hero.about(model.weights(), RUN.n, 0.5)


@pytest.fixture(scope="module")
def network(chrome, model, told, tmp_path_factory):
    """A page with nothing but the run and the network."""
    folder = tmp_path_factory.mktemp("network")
    algebra = [run_data.algebra(J) for J in classes(RUN.n)]
    run = {"run": str(RUN), "n": RUN.n, "classes": algebra}
    run |= {"order": algebraic_order(RUN.n).tolist()}
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


def test_every_change_in_the_page_is_that_of_the_library_over_1000_pairs(network, model, told):
    names = [x["name"] for x in told["changes"]]
    assert names == ["none", "axis-3", "axis-5", "axis-11", *(f"head-{h}" for h in range(4)),
                     "keep", "remove"]  # fmt: skip
    a, b = np.random.default_rng(0).integers(RUN.n, size=(2, PAIRS))
    kept = model.weights()
    rounded = model_of(RUN, run_data.restored(run_data.rounded_model(kept), kept))
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
        alone = dict.fromkeys(prime_powers(n), 0)
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


# ---- sentences and verdicts ------------------------------------------------------------------


def facts(**tables: list[dict]) -> Facts:
    return Facts(15, tables, lambda name: pd.DataFrame(tables[name]))


def test_a_claim_without_its_table_is_not_tested_and_a_sentence_is_left_out():
    assert {claim.judged(facts())[0] for claim in verdicts.CLAIMS} == {rules.UNTESTED}
    told = [said(step.sentences, facts()) for step in STEPS]
    assert all(len(step.sentences) == 3 for step in STEPS)
    assert len(told[0]) == 3 and not any(told[4:])


@pytest.mark.parametrize(("passes", "verdict"), [("8 of 10", "holds"), ("2 of 10", "rejected")])
def test_a_verdict_follows_the_table(passes, verdict):
    row = {"section": "routing", "test": "all heads route by class, share of lost skill"}
    counts = {
        "n15": passes,
        "n35": passes,
        "n113": "10 of 10",
        "mlp n15": "1 of 1",
        "n12": "1 of 1",
    }
    found = facts(**{"evidence-moduli": [row | counts]})
    [claim] = [x for x in verdicts.CLAIMS if x.title == "Attention routes by class"]
    said_verdict, ours, runs = claim.judged(found)
    # Of a prime, of the MLP alone and of a modulus with a square nothing is counted.
    assert said_verdict.startswith(verdict) and runs == "20 runs"
    assert f"{2 * int(passes[0])} of 20" in ours


def beside(faster: str, equal: str, *others: str) -> Facts:
    """What the study of MLP-only models says of being faster, and of accuracy for each modulus."""
    rows = [{"statement": "generalise faster", "n": None, "counted": "n = 15: 8 earlier, 2 later"}]
    rows[0] |= {"said": faster, "seeds": None}
    for n, what in enumerate((equal, *others), 15):
        rows.append({"statement": "perform equally well", "n": n, "seeds": 5, "said": what})
    return facts(**{"mlp-seeds": rows})


@pytest.mark.parametrize(
    ("faster", "equal", "verdict"),
    [
        ("holds", "holds", "holds"),
        ("not shown", "holds", "not shown"),
        ("the opposite", "holds", "differs"),
        ("holds", "worse", "differs"),
        ("not shown", "better", "differs"),
        ("holds", "not decided", "not shown"),
    ],
)
def test_the_claim_on_the_architecture_needs_both_its_halves(faster, equal, verdict):
    found, ours, runs = rules.architecture(beside(faster, equal, "not called: too few seeds"))
    assert found == verdict and runs == "5 pairs of runs"
    assert "8 earlier, 2 later" in ours and f"{int(equal == 'holds')} of 1" in ours


def test_the_claim_on_the_architecture_is_not_tested_without_a_modulus_of_all_seeds():
    with pytest.raises(Missing):
        rules.architecture(beside("not called: too few seeds", "not called: too few seeds"))


def test_every_verdict_has_a_class_of_its_own_that_the_style_gives_a_sign():
    style = (ROOT / "report" / "site" / "front.css").read_text("utf-8")
    assert len(set(front.SIGNS.values())) == len(front.SIGNS)
    for name in front.SIGNS.values():
        assert f".{name} .verdict {{" in style or f".{name} .verdict," in style
        assert f".{name} .verdict::before {{" in style


def test_a_number_of_the_paper_is_held_by_most_seeds():
    assert held({"verdict": "within the seeds"}) and held({"verdict": "holds in 9 of 10 seeds"})
    assert not held({"verdict": "above every seed"})
    assert not held({"verdict": "holds in 5 of 10 seeds"})


# ---- the page in the browser -----------------------------------------------------------------


def through_training(model: Model, folder: Path) -> str:
    """The script with the embedding at two checkpoints: random, and the run's own."""
    end = model.weights()["W_E"][: RUN.n]
    start = np.random.default_rng(0).normal(size=end.shape)
    axes, path = grokking.components(end), folder / "kept.parquet"
    both = zip(EPOCHS, (start, end), strict=True)
    grokking.write(path, {epoch: [*grokking.observe(x, axes)] for epoch, x in both})
    rows = [(epoch, "mirror_free_accuracy", "", 0.25) for epoch in EPOCHS]
    measured = pd.DataFrame(rows, columns=["epoch", "measure", "of", "value"])
    found = epochs.embedding(str(RUN), grokking.read(path), measured)
    return provenance.script("through", found)


@pytest.fixture(scope="module")
def site(model, tmp_path_factory):
    """The front page over the tables and the run that this repository ships."""
    folder, names = tmp_path_factory.mktemp("front"), {s.name for s in SECTIONS}
    outs = verify.outs(files.locked(ROOT))

    def copied(path: str) -> None:
        store.write_bytes(folder / path, verify.at(ROOT / "remote", outs[path].md5).read_bytes())

    for path in outs:
        if path.startswith("tables/") and path.endswith(".csv"):
            copied(path)
    copied(f"report/runs/{RUN}.js")
    (folder / "runs").symlink_to(folder / "report" / "runs")
    shutil.copytree(ROOT / "report" / "site", folder / "site")
    told = hero.data(model.weights(), RUN.n, 0.5)
    assert told
    told |= {"epochs": EPOCHS}
    store.write_text(folder / f"site/embedding-{RUN}.js", through_training(model, folder))
    network_still.save(network_still.still(told, RUN.n), folder / "share.png")
    still = {"width": 1200, "height": 630, "stem": "share"}
    shown = [
        {"name": s.name, "part": s.part, "label": s.label, "title": s.title or s.name} | still
        for s in SECTIONS
        if (s.table and f"tables/{s.name}.csv" in outs) or (s.name in names and not s.table)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        html = front.page(shown, RUN, [], told, read_yaml(ROOT / "CITATION.cff"))
    (folder / "index.html").write_text(html, "utf-8")
    return folder


class Reader:
    """The page in the browser, as someone reads it."""

    def __init__(self, chrome: webdriver.Chrome, site: Path):
        self.chrome, self.site = chrome, site

    def open(self, hash: str = "", width: int = 1280, dark: bool = False) -> "Reader":
        self.cdp(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=800, deviceScaleFactor=1, mobile=width < 500,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.cdp("Emulation.setEmulatedMedia", media="", features=[scheme])
        self.chrome.get("about:blank")
        self.chrome.get(f"{(self.site / 'index.html').as_uri()}{hash}")
        self.until("return document.documentElement.dataset.steps")
        return self

    def cdp(self, command: str, **values: object) -> dict:
        return self.chrome.execute_cdp_cmd(command, values)

    def js(self, script: str, *values: object):
        return self.chrome.execute_script(script, *values)

    def until(self, script: str, *values: object):
        return WebDriverWait(self.chrome, 120).until(lambda _: self.js(script, *values))

    def one(self, selector: str):
        return self.chrome.find_element(By.CSS_SELECTOR, selector)

    def said(self) -> str:
        return self.one("#verdict").text

    def drawn(self) -> str:
        return self.js("return document.documentElement.dataset.drawn")

    def change(self, name: str) -> str:
        self.js("document.querySelector(`[name=change][value=${arguments[0]}]`).click()", name)
        self.until("return document.documentElement.dataset.drawn.endsWith(arguments[0])", name)
        return self.said()


@pytest.fixture
def reader(chrome, site):
    found = Reader(chrome, site)
    chrome.get_log("browser")
    yield found
    found.cdp("Emulation.setScriptExecutionDisabled", value=False)
    errors = [x["message"] for x in chrome.get_log("browser") if x["level"] == "SEVERE"]
    assert errors == []


@pytest.mark.parametrize(("width", "dark", "screens"), [(1280, False, 12), (390, True, 18)])
def test_it_fits_and_every_picture_is_drawn(width, dark, screens, reader):
    reader.open(width=width, dark=dark)
    size = (
        "const x = document.documentElement; return [x.scrollWidth, x.clientWidth, x.scrollHeight]"
    )
    across, inner, height = reader.js(size)
    assert across == inner and height <= screens * 800
    for box in reader.chrome.find_elements(By.CSS_SELECTOR, ".picture, #circles, #logits"):
        assert box.find_elements(By.CSS_SELECTOR, "svg, table"), box.get_attribute("id")
    assert len(reader.chrome.find_elements(By.CSS_SELECTOR, ".card")) == len(verdicts.CLAIMS)
    assert reader.js("return document.querySelectorAll('svg:not([aria-label])').length") == 0


@pytest.mark.parametrize("width", [1280, 390])
def test_the_pair_shown_first_goes_wrong_modulo_the_prime_that_is_cut_out(width, reader):
    reader.open(width=width)
    a, b = hero.PAIR
    assert f"{a} × {b} = {a * b % RUN.n}" in reader.said() and "right" in reader.said()
    for p in (3, 5, 11):
        assert f"Off modulo {p} alone" in reader.change(f"axis-{p}")
        off = reader.chrome.find_elements(By.CSS_SELECTOR, "#circles .off")
        assert [f"modulo {p}" in x.text for x in off] == [True]
    for name in ("none", "keep"):
        assert "right" in reader.change(name) and "none is wrong" in reader.one("#cost").text


def test_a_pair_and_a_change_are_in_the_address_and_back_takes_them_back(reader):
    reader.open()
    first = reader.said()
    field = reader.one("#a")
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("33", Keys.ENTER)
    reader.until("return document.documentElement.dataset.drawn.startsWith('33 ')")
    assert f"33 × {hero.PAIR[1]}" in reader.said()
    reader.change("axis-11")
    assert "a=33" in reader.chrome.current_url and "change=axis-11" in reader.chrome.current_url
    here = reader.js("return location.hash")
    reader.chrome.back()
    reader.until("return document.documentElement.dataset.drawn.endsWith('none')")
    reader.chrome.back()
    reader.until("return document.getElementById('a').value !== '33'")
    assert reader.said() == first
    reader.open(here)
    assert reader.drawn() == f"33 {hero.PAIR[1]} axis-11"


def test_what_is_no_residue_is_refused_and_an_address_without_sense_shows_the_first_pair(reader):
    reader.open("#top?a=165&b=x&change=no-such")
    a, b = hero.PAIR
    assert reader.drawn() == f"{a} {b} none"
    field = reader.one("#a")
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("165", Keys.TAB)
    assert "from 0 to 164" in reader.js("return document.getElementById('a').validationMessage")
    assert reader.drawn() == f"{a} {b} none"


def test_a_residue_picked_in_a_step_is_marked_everywhere_by_click_and_by_key(reader):
    reader.open()
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
    reader.open(dark=dark)
    look = """return [...document.querySelectorAll('.card .verdict')].map(x => [x.textContent,
        getComputedStyle(x, '::before').content, getComputedStyle(x).backgroundColor])"""
    shown = reader.js(look)
    assert len(shown) == len(verdicts.CLAIMS) and {x for x, *_ in shown} <= set(front.SIGNS)
    signs = {verdict: (sign.strip('"'), back) for verdict, sign, back in shown}
    assert {signs[x][0] for x in signs} <= {"✓ ", "≠ ", "✗ ", "? ", "~ "} and len(signs) > 2
    assert signs[rules.HOLDS][1] != signs[rules.DIFFERS][1]
    assert "rgba(0, 0, 0, 0)" not in {back for _, back in signs.values()}


@pytest.mark.parametrize("width", [1280, 390])
def test_a_slider_shows_the_embedding_before_training_and_loads_it_when_asked(width, reader):
    reader.open(width=width)
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
    reader.open()
    for term in reader.chrome.find_elements(By.CSS_SELECTOR, ".step .term"):
        assert reader.js("return document.querySelector(arguments[0].hash) !== null", term)
    term = reader.one(".step .term")
    term.send_keys("")
    shown = reader.js("return getComputedStyle(document.activeElement, '::after').content")
    assert shown.strip('"') == term.get_attribute("data-tip")


def test_without_javascript_it_is_pictures_and_text(reader):
    reader.open()
    reader.cdp("Emulation.setScriptExecutionDisabled", value=True)
    reader.chrome.refresh()
    stills = reader.chrome.find_elements(By.CSS_SELECTOR, "noscript img")
    assert len(stills) == 1 + len(STEPS) and all(x.is_displayed() for x in stills)
    assert not reader.one("#factors").is_displayed()
    assert "wrong, all of them modulo 5 alone" in reader.one(".still figcaption").text


def test_in_print_nothing_is_wider_than_the_paper(reader):
    reader.open(width=720)
    reader.cdp("Emulation.setEmulatedMedia", media="print")
    reader.js("dispatchEvent(new Event('resize'))")
    wide = """return [...document.querySelectorAll('main *')].filter(
        x => x.getBoundingClientRect().right > innerWidth + 1 && !x.closest('pre')
        ).map(x => x.outerHTML.slice(0, 80))"""
    assert reader.js(wide) == []


def test_all_that_the_first_view_loads_is_400_kb_gzipped(site):
    html = (site / "index.html").read_text("utf-8")
    loaded = re.findall(r'(?:src|href)="(site/\w+\.(?:js|css))"', html)
    assert "site/hero.js" in loaded and not [x for x in loaded if "plotly" in x]
    paths = [site / x for x in (*loaded, "index.html", f"runs/{RUN}.js")]
    assert sum(len(gzip.compress(x.read_bytes())) for x in paths) <= 400_000
