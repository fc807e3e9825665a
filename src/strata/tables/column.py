"""How a column of a table is shown."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class Column(NamedTuple):
    """Heading, style, alignment, what stands for a missing value, and whether a row cannot have
    one, so that a dash stands there."""

    heading: str
    style: str
    align: str = "r"
    missing: str = "—"
    impossible: Callable[[Mapping[Any, Any]], bool] = lambda row: False
