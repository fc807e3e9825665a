"""What embedding and logits alone say of a network of any shape: both accounts, votes, and what of
the statement on the code needs no residual stream.

In: the name that its rows get; the settings as JSON; the arrays W_E (n or more, d) and logits (n²,
n), as safetensors. Out: Parquet, one row for each number, as stages/measure.py writes it.
"""

from math import isqrt

import numpy as np

from strata import results, store
from strata.patch.projections import keys
from strata.results import Row
from strata.run import command
from studies.mechanism.code import gates, logits, measures
from studies.mechanism.code.decide import CRITERIA
from studies.mechanism.code.pairs import Profile
from studies.params import LogitsSettings, MechanismSettings


def main(name: str, settings_path: str, path: str, out: str) -> None:
    settings = store.read_model(settings_path, MechanismSettings)
    arrays, _ = store.read_tensors(path)
    n = isqrt(len(arrays["logits"]))
    found = logits.profiles(iter([(*np.divmod(np.arange(n * n), n), arrays["logits"])]), n)
    y, key = Profile(found.y, found.total), keys(arrays["W_E"][:n], n, settings.key_threshold)
    folds = {"folds": settings.folds, "seed": settings.seed}
    own = LogitsSettings(key_threshold=settings.key_threshold, **folds)
    accounts, ceiling = logits.at_key(found, key, own), found.ceiling(np.ones(n, dtype=bool))
    use = gates.code(y, key, gates.Limits.of(settings))
    both = [measures.of_votes(y, settings), measures.of_products(y, use, settings)]
    shares = {**accounts.r2, "ceiling": ceiling}
    rows = measures.beside("accounts", "logits by either account", "share", shares)
    held = {**accounts.held_out}
    rows += measures.beside("accounts-held-out", "held-out products by either", "share", held)
    for values, others in both:
        of = (
            (Row("", id, CRITERIA[id].sentence), CRITERIA[id].unit, x) for id, x in values.items()
        )
        rows += [row._replace(unit=unit, value=x) for row, unit, x in of] + others
    results.write_rows(out, [row._replace(run=name) for row in rows if row.value == row.value])


if __name__ == "__main__":
    command(main)
