"""The networks that are written by hand, for every square-free n from 6 to 429: statement 5.

Out: CSV, one row for each n: how many neurons and parameters it uses, its total squared norm as it
is and balanced, and its least margin over all pairs, bounded from below in exact arithmetic. A
margin above 0 says that every pair is answered rightly.
"""

import pandas as pd

from strata import store
from strata.api import by_hand
from strata.arithmetic import factorint
from strata.patch.patching import forward_pass
from strata.run import command
from strata.store import Arrays
from studies.mechanism.code import norms

FROM, TO = 6, 429


def writing(w: Arrays) -> Arrays:
    """Return the network without the neurons that write nothing, most of them: it computes the
    same."""
    live = w["W_out"].any(axis=1)
    return w | {"W_in": w["W_in"][:, live], "b_in": w["b_in"][live], "W_out": w["W_out"][live]}


def main(out: str) -> None:
    rows = [
        {"n": n} | norms.size(forward_pass(writing(by_hand.weights(n)), n))._asdict()
        for n in range(FROM, TO + 1)
        if max(factorint(n).values()) == 1
    ]
    store.write_text(out, pd.DataFrame(rows).to_csv(index=False))


if __name__ == "__main__":
    command(main)
