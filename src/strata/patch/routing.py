"""Ablate heads by replacing what they write by its mean.

Definitions and criteria are in studies/interventions/criteria.md, section 4.
"""

import numpy as np
from jaxtyping import Float

from strata.patch.ablations import Subject
from strata.patch.patching import Bench, Outcome

Heads = tuple[int, ...]


def ablate_heads(subject: Subject, heads: Heads) -> Outcome:
    """Return the outcome with what these heads write replaced by its mean over all ordered
    pairs."""
    mix = subject.rig.weighted_values(subject.rig.attention)
    for h in heads:
        mix[:, h] = mean_mix(subject.rig, mix, h)
    return subject.rig.with_heads(mix)


def mean_mix(
    rig: Bench, mix: Float[np.ndarray, "rows n_heads d_head"], h: int
) -> Float[np.ndarray, " d_head"]:
    """Return the mean over all ordered pairs of what a head mixes."""
    return (rig.count / rig.count.sum()) @ mix[:, h].astype(np.float64)
