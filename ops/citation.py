"""What CITATION.cff says of the software and of the paper, in the formats of other archives.

CodeMeta 3.0 (https://w3id.org/codemeta/3.0) and Zenodo's .zenodo.json
(https://developers.zenodo.org/#representation). An archive that finds .zenodo.json reads nothing of
CITATION.cff.
"""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

Cff = Mapping[str, Any]  # what CITATION.cff holds


def codemeta(cff: Cff) -> str:
    """codemeta.json."""
    said = {
        "@context": "https://w3id.org/codemeta/3.0",
        "type": "SoftwareSourceCode",
        "name": cff["title"],
        "description": cff["abstract"],
        "version": cff["version"],
        "license": f"https://spdx.org/licenses/{cff['license']}",
        "keywords": cff["keywords"],
        "programmingLanguage": "Python",
        "author": [_author(x) for x in cff["authors"]],
        "referencePublication": [_paper(x) for x in cff["references"]],
    }
    return json.dumps(said, indent=2) + "\n"


def zenodo(cff: Cff) -> str:
    """.zenodo.json: the software's own authors are its creators, the paper is a reference."""
    said = {
        "upload_type": "software",
        "title": cff["title"],
        "description": cff["abstract"],
        "version": cff["version"],
        "license": cff["license"].lower(),
        "keywords": cff["keywords"],
        "creators": [{"name": _name(x)} for x in cff["authors"]],
        "references": [reference(x) for x in cff["references"]],
        "related_identifiers": [
            {
                "identifier": x["repository-code"],
                "relation": "isDerivedFrom",
                "resource_type": "software",
            }
            for x in cff["references"]
        ],
    }
    return json.dumps(said, indent=2) + "\n"


def entities(authors: list[Mapping[str, str]]) -> list[dict[str, Any]]:
    """Authors as linked data: objects with an @id and an @type."""
    return [_linked(_author(x)) for x in authors]


def papers(cff: Cff) -> list[dict[str, Any]]:
    """The papers as linked data, their authors in them. None has a DOI: the address of its code
    stands for it."""
    return [_linked(_paper(x)) | {"@id": x["repository-code"]} for x in cff["references"]]


def _linked(said: Any) -> Any:
    """The same with names for what has a type, equal ones for equal things."""
    if isinstance(said, list):
        return [_linked(x) for x in said]
    if not isinstance(said, Mapping):
        return said
    rest = {key: _linked(value) for key, value in said.items() if key != "type"}
    name = rest.get("name") or f"{rest['givenName']} {rest['familyName']}"
    return {"@id": f"#{quote(name)}", "@type": said["type"], "name": name, **rest}


def reference(paper: Mapping[str, Any]) -> str:
    """A paper in one line: authors, year, title."""
    return f"{', '.join(map(_name, paper['authors']))} ({paper['year']}). {paper['title']}."


def _name(author: Mapping[str, str]) -> str:
    """A person with the family name first; others by their name."""
    if "name" in author:
        return author["name"]
    return f"{author['family-names']}, {author['given-names']}"


def _author(author: Mapping[str, str]) -> dict[str, Any]:
    if "name" in author:
        return {"type": "Organization", "name": author["name"]}
    said = {"givenName": author["given-names"], "familyName": author["family-names"]}
    works = author.get("affiliation")
    place = {"affiliation": {"type": "Organization", "name": works}} if works else {}
    return {"type": "Person", **said, **place}


def _paper(paper: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "ScholarlyArticle",
        "name": paper["title"],
        "datePublished": str(paper["year"]),
        "author": [_author(x) for x in paper["authors"]],
    }
