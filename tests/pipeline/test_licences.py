"""What is shipped from others is named in NOTICE, and the text of each licence is there."""

import re
from pathlib import Path

import pytest
from plotly.offline import get_plotlyjs

ROOT = Path(__file__).parents[2]
NOTICE = (ROOT / "NOTICE").read_text("utf-8")
ROW = re.compile(r"^\| (.+?) \| .+? \| (\S.*?) \|$", re.MULTILINE)
LICENCES = {
    part: licences.split(", ")
    for parts, licences in ROW.findall(NOTICE)
    for part in parts.split(", ")
    if parts != "part"
}
# How packages name themselves that do so in words.
WORDS = {"The buffer module from node.js": "buffer", "if an object is a Buffer": "is-buffer"}
LISTED = "/*! Bundled license information:"
FONT = re.compile(rb"/FontName /[A-Z]{6}\+(\w+)")
PDFS = [
    path
    for path in sorted((ROOT / "remote" / "files").rglob("*"))
    if path.is_file() and path.read_bytes()[:5] == b"%PDF-"
]


def banners(script: str) -> tuple[set[str], list[str]]:
    """The packages that a bundle lists with their licences, and comments that speak of one."""
    at = script.rindex(LISTED) if LISTED in script else len(script)
    found = re.findall(r"/\*[!*].*?\*/", script[:at], re.DOTALL)
    said = [x for x in found if re.search("licen[sc]e|copyright", x, re.IGNORECASE)]
    return set(re.findall(r"^([\w-]+)/\S+:$", script[at:], re.MULTILINE)), said


def test_every_licence_named_has_its_text():
    texts = {path.stem: path.read_text("utf-8") for path in (ROOT / "LICENSES").glob("*.txt")}
    assert {name for names in LICENCES.values() for name in names} == set(texts)
    assert "Permission is hereby granted, free of charge" in texts["MIT"]
    assert "Redistribution and use in source and binary forms" in texts["BSD-3-Clause"]


def test_every_part_of_plotly_that_names_itself_is_named():
    """The one script of the report that is not ours."""
    packages, said = banners(get_plotlyjs())
    assert len(packages) == 8 and len(said) == 7
    assert packages <= set(LICENCES)
    for text in said:
        called = {name for words, name in WORDS.items() if words in text}
        assert called or {name for name in LICENCES if name in text.lower().replace(" ", "-")}, text


def test_the_report_has_no_other_script():
    stage = (ROOT / "stages" / "report.py").read_text("utf-8")
    assert re.findall(r'"site" / "([\w.]+\.js)", (\w+)', stage) == [
        ("plotly.min.js", "get_plotlyjs"),
        ("runs.js", "page"),
    ]
    for path in (ROOT / "site").glob("*.js"):
        assert banners(path.read_text("utf-8")) == (set(), []), path


@pytest.mark.skipif(not PDFS, reason="this checkout has no remote")
def test_every_font_of_a_shipped_figure_is_named():
    fonts = {name.decode() for path in PDFS for name in FONT.findall(path.read_bytes())}
    assert fonts
    for name in fonts:
        assert any(name.startswith(part.split()[0]) for part in LICENCES), name
