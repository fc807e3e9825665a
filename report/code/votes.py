"""The votes of networks as the front page gets them: rows packed, a byte a number."""

from typing import Any

import numpy as np

from report.code.hero import circle
from report.code.run_data import pack
from strata.monoid import prime_powers

Json = dict[str, Any]


def network(net: Json) -> Json:
    """One network of studies/mechanism/data/picture.json, with the circle of each of its primes."""

    def rows(x: list[Any]) -> Json:
        return pack(np.atleast_2d(x))

    fits = {
        d: {"bias": rows(x["bias"]), "votes": [rows(g) for g in x["votes"]]}
        for d, x in net["fits"].items()
    }
    classes = {d: {k: rows(v) for k, v in x.items()} for d, x in net["classes"].items()}
    powers = [circle(q) for q in prime_powers(net["n"])]
    return net | {"fits": fits, "classes": classes, "powers": powers}
