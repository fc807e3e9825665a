"""What embedding and logits alone say of a network of any shape: both accounts, votes, functions of
the product, the law of the bias.

In: the name that its rows get; the settings as JSON; the arrays W_E (n or more, d) and logits (n²,
n), as safetensors. Out: Parquet, as stages/measure.py writes it.
"""

from math import isqrt, nan

import numpy as np

from strata import store
from strata.patch.projections import keys
from strata.run import command
from studies.mechanism.code import decide, gates, logits, measures
from studies.mechanism.code.profile import Profile
from studies.params import LogitsParams, MechanismSettings


def bias(y: Profile) -> dict[str, float]:
    """The mean logit of each candidate as a line in how far its own products raise it above that:
    the slope is −½ of exact codewords whose mean is 0, −1 where all right answers have one
    logit."""
    mean = y.N @ y.y / y.N.sum()
    own, mean = np.diag(y.y) - mean, mean - mean.mean()
    own = own - own.mean()
    slope = float(mean @ own / (own @ own))
    left = mean - slope * own
    return {"slope": slope, "share": float(1 - left @ left / (mean @ mean))}


def main(name: str, settings_path: str, path: str, out: str) -> None:
    settings = store.read_model(settings_path, MechanismSettings)
    arrays, _ = store.read_tensors(path)
    n = isqrt(len(arrays["logits"]))
    found = logits.profiles(iter([(*np.divmod(np.arange(n * n), n), arrays["logits"])]), n)
    y, key = Profile(found.y, found.total), keys(arrays["W_E"][:n], n, settings.key_threshold)
    use = gates.code(y, key, settings)
    values, rows = measures.of_votes(y, settings)
    values |= measures.fits(y, use, settings)
    own = LogitsParams(folds=settings.folds, seed=settings.seed)
    accounts, ceiling = logits.at_key(found, key, own), found.ceiling(np.ones(n, dtype=bool))
    held_out = {f"{k}, held-out products": x for k, x in accounts.held_out.items()}
    of_accounts = {**accounts.r2, "ceiling": ceiling, **held_out}
    rows += measures.beside("accounts", "logits by strata, by primes", "share", of_accounts)
    rows += measures.beside("bias", "the bias as a line in own excess", "ratio", bias(y))
    judged = decide.judged(dict.fromkeys(decide.CRITERIA, nan) | values, settings.levels)
    rows = [*(row for row in judged if row.id in values), *rows]  # statements need more
    measures.write(out, name, rows)


if __name__ == "__main__":
    command(main)
