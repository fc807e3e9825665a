"""The browser in which the pages of the report are tested, and the report over a small project."""

import shutil
from pathlib import Path

import pytest
from reading import RUN, Reader, project
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from tiny import once

from report.stages import hero, inputs, pages, runs
from strata import store

CHROMIUM, DRIVER = (
    shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
)  # fmt: skip
FLAGS = ["headless=new", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run"]
FLAGS += ["disable-background-networking", "disable-component-update", "disable-sync"]
FLAGS += ["disable-dev-shm-usage", "enable-unsafe-swiftshader"]


@pytest.fixture(scope="session")
def chrome(tmp_path_factory):
    if not (CHROMIUM and DRIVER):
        pytest.skip("chromium or chromedriver is missing: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=Service(DRIVER))
    browser.set_script_timeout(120)
    yield browser
    browser.quit()


def build(folder: Path) -> None:
    """Build the report over the project with its own stages."""
    folder.mkdir()
    project(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        inputs.main("inputs.json", "words.json")
        runs.main("inputs.json", "runs.json", "curves.json", "html/runs", "html/cards")
        hero.main(RUN, f"data/train/{RUN}/weights.safetensors", "hero.json")
        pages.main("inputs.json", "hero.json", "curves.json", "verdicts.md", "html")
    for page in ("api/index.html", "tutorials/first-look.html"):
        store.write_text(folder / "html" / page, "<p>made by a stage of its own</p>")


@pytest.fixture(scope="session")
def site(together) -> Path:
    """Return the report, built once for all processes."""
    return once(together / "report", build) / "html"


@pytest.fixture
def reader(chrome, site):
    page_reader = Reader(chrome, site)
    page_reader.errors()
    yield page_reader
    page_reader.cdp("Emulation.setScriptExecutionDisabled", value=False)
    assert page_reader.errors() == []
