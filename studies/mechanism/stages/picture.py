"""The code of one model as numbers, from which a page places any pair among the codewords.

In: a run, its weights. Out: JSON, the functions φ of every residue, the matrix and the offset that
read them from the last residual stream, the Gram matrix of the nearest code, and for each prime
power the two functions that are drawn.
"""

import numpy as np

from strata import store
from strata.monoid import prime_powers
from strata.params import load
from strata.patch.projections import keys
from strata.run import Run, command
from studies.mechanism.code import codewords, dictionary, pairs, plots, residual


def main(name: str, weights: str, out: str) -> None:
    run, threshold = Run.parse(name), load("params.yaml").metrics.key_threshold
    trained = store.read_weights(weights, run)
    use = dictionary.dictionary(run.n, keys(trained["W_E"][: run.n], run.n, threshold))
    of = pairs.all_pairs(trained, run.n)
    stream = residual.stream(of, use)
    read = np.linalg.pinv(stream.mu)
    found = {
        "values": use.values,
        "read": read,
        "offset": of.N @ use.values / of.N.sum() - stream.mean @ read,
        "gram": codewords.nearest(pairs.profile(of), use.values),
    }
    planes = [{"q": q, "functions": plots.functions(q, use)} for q in prime_powers(run.n)]
    rounded = {key: np.round(x, 5).tolist() for key, x in found.items()}
    store.write_json(out, {"run": name, "planes": planes} | rounded)


if __name__ == "__main__":
    command(main)
