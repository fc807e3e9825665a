"""The front page."""

from collections.abc import Sequence
from typing import Any

from strata.report.site import Bar, rendered
from strata.run import Run


def page(shown: Sequence[dict[str, Any]], run: Run, bar: Bar) -> str:
    """The front page over these sections, for the headline run."""
    return rendered("front.html", "", headline=str(run), bar=bar)
