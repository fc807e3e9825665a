"""The networks that are written by hand, for every square-free n from 6 to 429: statement 5.

Out: CSV, one row for each n: how many neurons and parameters it uses, its total squared norm as it
is and balanced, and its least margin over all pairs, bounded from below in exact arithmetic. A
margin above 0 says that every pair is answered rightly. ``second`` and ``thrifty`` are the balanced
norms of the network with a second adder and of the one whose heads look at zeros, made so large
that their least margin is that of the first; empty where n has none.
"""

from collections.abc import Callable
from math import nan

import pandas as pd

from strata import store
from strata.api import by_hand, second_adder, thrifty
from strata.arithmetic import factorint
from strata.inputs import InputError
from strata.patch.patching import forward_pass, outcome
from strata.run import command
from strata.store import Arrays
from studies.mechanism.code import norms

FROM, TO = 6, 429


def writing(w: Arrays) -> Arrays:
    """Return the network without the neurons that write nothing, most of them: it computes the
    same."""
    live = w["W_out"].any(axis=1)
    return w | {"W_in": w["W_in"][:, live], "b_in": w["b_in"][live], "W_out": w["W_out"][live]}


def norm_for(margin: float, write: Callable[[int], Arrays], n: int) -> float:
    """Return the balanced norm of the network that is written in this way, with this least margin;
    NaN where its heads do not suffice for n."""
    try:
        weights = writing(write(n))
    except InputError:
        return nan
    pairs = forward_pass(weights, n)
    least = outcome(pairs.logits(pairs.residual), pairs.label)[2].min()
    return norms.squared_norm(norms.scale_logits(weights, margin / least))


def main(out: str) -> None:
    rows = []
    for n in range(FROM, TO + 1):
        if max(factorint(n).values()) == 1:
            size = norms.size(forward_pass(writing(by_hand.weights(n)), n))
            others = {
                "second": norm_for(size.margin, second_adder.weights, n),
                "thrifty": norm_for(size.margin, thrifty.weights, n),
            }
            rows.append({"n": n, **size._asdict(), **others})
    store.write_text(out, pd.DataFrame(rows).to_csv(index=False))


if __name__ == "__main__":
    command(main)
