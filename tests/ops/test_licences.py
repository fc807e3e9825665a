"""What is shipped from others is named in NOTICE, and the text of each licence is there."""

import re
from pathlib import Path

import pytest

from ops.shipped import REMOTES

ROOT = Path(__file__).parents[2]
NOTICE = (ROOT / "NOTICE").read_text("utf-8")
ROW = re.compile(r"^\| (.+?) \| .+? \| (\S.*?) \|$", re.MULTILINE)
LICENCES = {
    part: licences.split(", ")
    for parts, licences in ROW.findall(NOTICE)
    for part in parts.split(", ")
    if parts != "part"
}
FONT = re.compile(rb"/FontName /[A-Z]{6}\+(\w+)")
PDFS = [
    path
    for remote in REMOTES
    for path in sorted((ROOT / remote / "files").rglob("*"))
    if path.is_file() and path.read_bytes()[:5] == b"%PDF-"
]


def test_every_licence_named_has_its_text():
    texts = {path.stem: path.read_text("utf-8") for path in (ROOT / "LICENSES").glob("*.txt")}
    assert {name for names in LICENCES.values() for name in names} == set(texts)


@pytest.mark.skipif(not PDFS, reason="this checkout has no remote")
def test_every_font_of_a_shipped_figure_is_named():
    fonts = {name.decode() for path in PDFS for name in FONT.findall(path.read_bytes())}
    assert fonts
    for name in fonts:
        assert any(name.startswith(part.split()[0]) for part in LICENCES), name
