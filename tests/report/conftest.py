"""The browser in which the pages of the report are tested."""

import shutil

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

CHROMIUM, DRIVER = (
    shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
)  # fmt: skip
FLAGS = ["headless=new", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run"]
FLAGS += ["disable-background-networking", "disable-component-update", "disable-sync"]
FLAGS += ["disable-dev-shm-usage", "enable-unsafe-swiftshader"]


@pytest.fixture(scope="module")
def chrome(tmp_path_factory):
    if not (CHROMIUM and DRIVER):
        pytest.skip("no chromium and chromedriver here: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    found = webdriver.Chrome(options=options, service=Service(DRIVER))
    found.set_script_timeout(120)
    yield found
    found.quit()
