"""How far two files of the same kind are apart: numbers and pictures within a tolerance, the rest
to the letter.

For files that another kind of machine made: sums come in another order there, and their last bits
differ.
"""

import io
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image
from safetensors.numpy import load

from strata.train.environment import Environment

RELATIVE, ABSOLUTE = 1e-3, 1e-6  # of a number
LAST_PLACE = 1.01  # or so many units of the last place that a text gives
COLOUR = 2.0  # mean distance of two pictures' colours, of 255
NUMBER = re.compile(r"[-−+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")  # not in the cells of a CSV


def reasons(environment: Environment) -> list[str]:
    """Return why analyses may round differently on this machine than where they were made. There
    is no reason on x86-64 Linux with AVX2 and FMA."""
    if environment.platform != "Linux x86_64":
        return [f"this is {environment.platform}, not Linux x86_64"]
    lacks = {"avx2", "fma3"} - set(environment.instructions or ())
    return [f"the processor lacks {x.upper()}" for x in sorted(lacks)]


def difference(one: bytes, two: bytes, name: str) -> str:
    """Describe how two files of that name differ, in a few words, or return nothing. Of the
    formats of a figure the PNG alone is compared."""
    suffix = Path(name).suffix
    if suffix in {".pdf", ".svg", ".html"}:
        return ""
    try:
        if suffix == ".png":
            return _pictures(one, two)
        if suffix == ".parquet":
            return _arrays(_columns(one), _columns(two))
        if suffix == ".safetensors":
            return _arrays(load(one), load(two))
        return _texts(one.decode(), two.decode(), suffix in {".md", ".tex"})
    except Exception as error:  # a file that cannot be read is not alike, whatever its reader says
        return f"not to be compared: {' '.join(str(error).split())[:80]}"


def _texts(one: str, two: str, thousands: bool) -> str:
    """Compare texts: numbers within the tolerance, all other words exactly."""
    one, two = (THOUSANDS.sub("", x) if thousands else x for x in (one, two))
    # The padding and the rules of a table are as wide as the numbers in it.
    words = ([re.sub(r"\s|[-:]{2,}", "", x) for x in NUMBER.split(text)] for text in (one, two))
    if next(words) != next(words):
        return "other words"
    numbers = zip(NUMBER.findall(one), NUMBER.findall(two), strict=True)
    return next((f"{b}, shipped {a}" for a, b in numbers if not _near(a, b)), "")


def _near(a: str, b: str) -> bool:
    if a == b:  # digits of an md5 may read as an infinite number
        return True
    x, y = (float(t.replace("−", "-")) for t in (a, b))
    digits = len(a.partition(".")[2]) if "e" not in a.lower() else 12
    last = LAST_PLACE * 10.0**-digits if digits else 0.0
    return abs(x - y) <= max(RELATIVE * abs(x), ABSOLUTE, last)


def _pictures(one: bytes, two: bytes) -> str:
    a, b = (np.asarray(Image.open(io.BytesIO(x)).convert("RGB"), float) for x in (one, two))
    if a.shape != b.shape:
        return f"{b.shape[1]} × {b.shape[0]} pixels, shipped {a.shape[1]} × {a.shape[0]}"
    apart = float(np.abs(a - b).mean())
    return "" if apart <= COLOUR else f"another picture, {apart:.1f} of 255 apart"


def _columns(content: bytes) -> dict[str, np.ndarray]:
    table = pq.read_table(pa.BufferReader(content))
    columns = {name: np.asarray(table[name].combine_chunks()) for name in table.column_names}
    lists = {name for name, x in columns.items() if len(x) and isinstance(x[0], np.ndarray)}
    return {name: np.stack(list(x)) if name in lists else x for name, x in columns.items()}


def _arrays(one: dict[str, np.ndarray], two: dict[str, np.ndarray]) -> str:
    if list(one) != list(two):
        return "other columns"
    for name, a in one.items():
        b = two[name]
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{name} is {b.dtype} {b.shape}, shipped {a.dtype} {a.shape}"
        exact = not np.issubdtype(a.dtype, np.floating)
        scale = 0.0 if exact or not a.size else float(np.nanmax(np.abs(a), initial=0.0))
        same = (a == b) if exact else np.isclose(a, b, RELATIVE, RELATIVE * scale, True)
        if not same.all():
            return f"{name} differs in {int((~same).sum()):,} of {same.size:,} values"
    return ""
