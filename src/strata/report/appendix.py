"""The appendix: a page for each part of the report, with its figures and tables; the contents."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from strata.report.claims import Claim
from strata.report.section import PARTS
from strata.report.site import rendered
from strata.run import Run

Json = dict[str, Any]
HERE = "appendix/index.html"


@dataclass(frozen=True)
class Part:
    """One page: its file, its heading, and its sections in their order."""

    file: str
    title: str
    sections: list[Json]


def parts(shown: Sequence[Json]) -> list[Part]:
    """The pages that these sections make."""
    own = groupby(shown, lambda s: s["part"])
    return [Part(PARTS[title], title, list(sections)) for title, sections in own]


def pages(
    shown: Sequence[Json], carried: Collection[str], run: Run, bar: Sequence[tuple[str, str]]
) -> dict[str, str]:
    """Every page by the name of its file, with links to the files that the report carries along."""
    found = parts(shown)
    rows: list[Claim] = next((s["claims"] for s in shown if s["name"] == "claims"), [])
    shared = {
        "pages": found,
        "headline": str(run),
        "caption": run.caption,
        "carried": carried,
        "bar": bar,
    }
    shared |= {"columns": list(rows[0].cells) if rows else []}
    own = {
        page.file: rendered("part.html", "../", HERE, part=page.title, own=page.sections, **shared)
        for page in found
    }
    return own | {"index.html": rendered("appendix.html", "../", HERE, **shared)}
