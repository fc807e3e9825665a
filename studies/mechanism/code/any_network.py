"""The mechanism of a network that is no run: all of it of weights; of embedding and logits votes,
functions of the product, both accounts and the law of the bias; of logits alone votes and that law.

In: the name that its rows get; the settings as JSON; as safetensors its weights, or logits (n², n)
and, if there is one, the embedding W_E (n or more, d). Out: Parquet, as stages/measure.py writes
it, and the levels of each number as JSON.
"""

from math import nan

import numpy as np

from strata import store
from strata.patch.projections import key_masks
from strata.results import Row
from strata.run import command
from studies.mechanism.code import accounts, decide, gates, measures
from studies.mechanism.code.decide import CRITERIA, SENTENCES
from studies.mechanism.code.profile import Profile, profile_of_logits
from studies.params import MechanismSettings


def bias(y: Profile) -> dict[str, float]:
    """Fit a line to the mean logit of each candidate, as a function of how far the candidate's own
    products raise it above that mean. The slope is −½ for exact codewords whose mean is 0, and −1
    where all right answers have one logit."""
    mean = y.N @ y.y / y.N.sum()
    excess, mean = np.diag(y.y) - mean, mean - mean.mean()
    excess = excess - excess.mean()
    slope = float(mean @ excess / (excess @ excess))
    residual = mean - slope * excess
    return {"slope": slope, "share": float(1 - residual @ residual / (mean @ mean))}


def of_arrays(arrays: store.Arrays, settings: MechanismSettings) -> list[Row]:
    """Return the rows of logits, and of the embedding where it is there."""
    y = profile_of_logits(arrays["logits"])
    values, rows = measures.measure_votes(y, settings)
    if "W_E" in arrays:
        n = len(y.y)
        key = key_masks(arrays["W_E"][:n], n, settings.key_threshold)
        values |= measures.measure_fits(y, gates.code(y, key, settings), settings)
        rows += accounts.measure(y, key)
    rows += measures.unlevelled("bias", "the bias as a line in own excess", "ratio", bias(y))
    verdicts = decide.judge(dict.fromkeys(CRITERIA, nan) | values, settings.levels)
    return [*(row for row in verdicts if row.id in values), *rows]  # statements need more


def main(name: str, settings_path: str, path: str, out: str, levels: str) -> None:
    settings = store.read_model(settings_path, MechanismSettings)
    arrays, _ = store.read_tensors(path)
    if "logits" in arrays:
        rows = of_arrays(arrays, settings)
    else:
        rows = measures.measure(arrays, len(arrays["b_U"]), settings)
    worded = SENTENCES.sentences  # those of pages, where rows have the words of the criteria
    rows = [row._replace(sentence=worded.get(row.id, row.sentence)) for row in rows]
    measures.write(out, name, rows)
    store.write_json(levels, {k: getattr(settings.levels, x.levels) for k, x in CRITERIA.items()})


if __name__ == "__main__":
    command(main)
