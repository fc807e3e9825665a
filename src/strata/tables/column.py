"""How a column of a table is shown."""

from typing import NamedTuple


class Column(NamedTuple):
    """Heading, style, alignment, and what stands for a missing value."""

    heading: str
    style: str
    align: str = "r"
    missing: str = "—"
