"""How far two files of the same kind are apart: numbers and pictures within a tolerance, the rest
to the letter.

For files that another kind of machine made: sums come in another order there, and their last bits
differ.
"""

import io
import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from PIL import Image
from safetensors.numpy import load

from strata.train.environment import Environment

RELATIVE, ABSOLUTE = 1e-3, 1e-6  # of a number
LAST_PLACE = 1.01  # or so many units of the last place that a text gives
COLOUR = 2.0  # mean distance of two pictures' colours, of 255
NUMBER = re.compile(r"[-−+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")  # not in the cells of a CSV
PINNED = re.compile(r"(?m)^([\w.-]+)==([\w.]+)")  # a line of a lock
# What a page quotes of other files, which are held against one another themselves.
QUOTED = re.compile(r"data:image/[^\"')]+|\b[0-9a-f]{32}\b")


def reasons(here: Environment, project: Path) -> list[str]:
    """Why analyses may round otherwise here than where they were made; none on x86-64 Linux with
    AVX2 and FMA, and the project's packages at their versions in requirements.lock."""
    pinned = dict(PINNED.findall((project / "requirements.lock").read_text("utf-8")))
    described = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))["project"]
    other = []
    for needed in map(Requirement, described["dependencies"]):
        name, found = canonicalize_name(needed.name), version(needed.name).partition("+")[0]
        # torch has locks of its own, and one version in pyproject.toml.
        must = pinned.get(name, str(needed.specifier).removeprefix("=="))
        other += [f"{name} is {found}, not {must}"] if found != must else []
    if here.platform != "Linux x86_64":
        return [f"this is {here.platform}, not Linux x86_64", *other]
    lacks = {"avx2", "fma3"} - set(here.instructions or ())
    return [*(f"the processor lacks {x.upper()}" for x in sorted(lacks)), *other]


def difference(shipped: bytes, made: bytes, name: str) -> str:
    """What sets two files of that name apart, in a few words; empty where they are alike."""
    if shipped == made:
        return ""
    suffix = Path(name).suffix
    try:
        if suffix in {".json", ".csv", ".md", ".tex", ".html", ".js", ".txt"}:
            one, two = (x.decode() for x in (shipped, made))
            if suffix in {".html", ".js"}:
                one, two = (QUOTED.sub("", x) for x in (one, two))
            if suffix in {".md", ".tex", ".html"}:
                one, two = (THOUSANDS.sub("", x) for x in (one, two))
            return _texts(one, two)
        if suffix == ".png":
            return _pictures(shipped, made)
        if suffix == ".parquet":
            return _arrays(_columns(shipped), _columns(made))
        if suffix == ".safetensors":
            return _arrays(load(shipped), load(made))
    except Exception as error:  # a file that cannot be read is not alike, whatever its reader says
        return f"not to be compared: {' '.join(str(error).split())[:80]}"
    # A PDF is the picture of the PNG beside it; its own bytes say nothing.
    return "" if suffix == ".pdf" and made[:5] == shipped[:5] else "other bytes"


def _texts(shipped: str, made: str) -> str:
    """Numbers alike, all other words the same."""
    # The padding and the rules of a table are as wide as the numbers in it.
    one, two = ([re.sub(r"\s|[-:]{2,}", "", x) for x in NUMBER.split(t)] for t in (shipped, made))
    if one != two:
        return "other words"
    for a, b in zip(NUMBER.findall(shipped), NUMBER.findall(made), strict=True):
        if not _near(a, b):
            return f"{b}, shipped {a}"
    return ""


def _near(a: str, b: str) -> bool:
    if a == b:  # digits of an md5 may read as an infinite number
        return True
    x, y = (float(t.replace("−", "-")) for t in (a, b))
    digits = len(a.partition(".")[2]) if "e" not in a.lower() else 12
    apart = LAST_PLACE * 10.0**-digits if digits else 0.0
    return abs(x - y) <= max(RELATIVE * abs(x), ABSOLUTE, apart)


def _pictures(shipped: bytes, made: bytes) -> str:
    one, two = (
        np.asarray(Image.open(io.BytesIO(x)).convert("RGB"), float) for x in (shipped, made)
    )
    if one.shape != two.shape:
        return f"{two.shape[1]} × {two.shape[0]} pixels, shipped {one.shape[1]} × {one.shape[0]}"
    apart = float(np.abs(one - two).mean())
    return "" if apart <= COLOUR else f"another picture, {apart:.1f} of 255 apart"


def _columns(content: bytes) -> dict[str, np.ndarray]:
    table = pq.read_table(pa.BufferReader(content))
    columns = {name: np.asarray(table[name].combine_chunks()) for name in table.column_names}
    lists = {name for name, x in columns.items() if len(x) and isinstance(x[0], np.ndarray)}
    return {name: np.stack(list(x)) if name in lists else x for name, x in columns.items()}


def _arrays(shipped: dict[str, np.ndarray], made: dict[str, np.ndarray]) -> str:
    if list(shipped) != list(made):
        return "other columns"
    for name, one in shipped.items():
        two = made[name]
        if one.shape != two.shape or one.dtype != two.dtype:
            return f"{name} is {two.dtype} {two.shape}, shipped {one.dtype} {one.shape}"
        exact = not np.issubdtype(one.dtype, np.floating)
        scale = 0.0 if exact or not one.size else float(np.nanmax(np.abs(one), initial=0.0))
        same = (one == two) if exact else np.isclose(one, two, RELATIVE, RELATIVE * scale, True)
        if not same.all():
            return f"{name} differs in {int((~same).sum()):,} of {same.size:,} values"
    return ""
