"""Where formulas leave too few answers right: modulo which prime the answers are lost."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from jaxtyping import Float

from strata.arithmetic import primefactors
from strata.measure.activations import answers
from strata.patch.patching import ForwardPass, forward_pass
from strata.store import Arrays
from strata.tables.table import Cells, Column, Table
from studies.mechanism.code import adding, outputs, scores


def replaced(pairs: ForwardPass, seed: int) -> Iterator[tuple[str, Float[np.ndarray, "rows n"]]]:
    """Yield a name for what formulas replace, and the logits: scores (A-two), pre-activations (B4),
    and these with what neurons write."""
    two = scores.fit_pass(pairs, 2)
    patched = scores.with_pattern(pairs, scores.pattern_of(pairs, two.scores))
    yield "scores", patched.logits(patched.residual)
    neurons = adding.neurons(pairs, two, seed=seed)
    hidden = np.maximum(neurons.form("B4"), 0)
    yield "neurons", adding.logits(pairs, hidden, pairs.weights["W_out"])
    written = outputs.written(neurons, hidden)
    yield "all", adding.logits(pairs, hidden, written.W_out)


def rows(name: str, weights: Arrays, seed: int) -> list[Cells]:
    """Return, for each replacement, the right answers and those right modulo the prime that loses
    most and modulo the others."""
    pairs = forward_pass(weights, weights["W_U"].shape[1])
    by_part = list[Cells]()
    for what, logits in replaced(pairs, seed):
        answer = answers(logits)
        right = {
            p: float(pairs.count @ (answer % p == pairs.label % p)) / pairs.n**2
            for p in primefactors(pairs.n)
        }
        lost = min(right, key=lambda p: right[p])
        others = min(share for p, share in right.items() if p != lost)
        cells: Cells = {"run": name, "replaced": what, "right": pairs.right(logits)}
        by_part.append(cells | {"prime": lost, "lost": right[lost], "others": others})
    return by_part


def table(cells: list[Cells]) -> Table:
    """Return the table of these rows."""
    about = "Networks in which formulas leave too few answers right, and the prime that is lost."
    return Table("lost-primes", about, pd.DataFrame(cells, columns=[*COLUMNS]), COLUMNS)


COLUMNS = {
    "run": Column("run", align="l"),
    "replaced": Column("replaced by formulas", align="l"),
    "right": Column("right answers", "share"),
    "prime": Column("prime that loses most", "count"),
    "lost": Column("right modulo this prime", "share"),
    "others": Column("right modulo each other prime, at least", "share"),
}
