"""One source for who wrote what: CITATION.cff; other archives' files say the same."""

import json
import tomllib
from pathlib import Path

from ops import citation
from strata.run import read_yaml

ROOT = Path(__file__).parents[2]
CFF = read_yaml(ROOT / "CITATION.cff")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_the_files_of_other_archives_are_those_that_citation_cff_gives():
    """`python ops/scripts/citation.py` writes them."""
    assert (ROOT / "codemeta.json").read_text("utf-8") == citation.codemeta(CFF)
    assert (ROOT / ".zenodo.json").read_text("utf-8") == citation.zenodo(CFF)


def test_the_software_is_cited_as_the_package_names_itself():
    assert {"cff-version", "message", "title", "authors"} <= set(CFF)  # what CFF 1.2.0 requires
    assert (CFF["title"], CFF["version"]) == (PROJECT["name"], PROJECT["version"])
    assert CFF["license"] == PROJECT["license"]
    assert CFF["authors"] == PROJECT["authors"]


def test_authors_of_the_paper_are_authors_of_the_reference_alone():
    (paper,) = CFF["references"]
    family = [x["family-names"] for x in paper["authors"]]
    assert len(family) == 5 and not any("family-names" in x for x in CFF["authors"])
    found = json.loads(citation.codemeta(CFF))
    assert [x["familyName"] for x in found["referencePublication"][0]["author"]] == family
    assert [x["type"] for x in found["author"]] == ["Organization"]
    cited = json.loads(citation.zenodo(CFF))
    assert [x["name"] for x in cited["creators"]] == [PROJECT["authors"][0]["name"]]
    line = cited["references"][0]
    assert all(name in line for name in family) and paper["title"] in line
