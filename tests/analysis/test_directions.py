"""Directions shared with random residues: those of any residues, by the definition for a class."""

import numpy as np
import pytest
from small import PARAMS, weights_of

from strata.analysis import directions, subspaces
from strata.monoid import classes
from strata.run import Run

MANY = PARAMS.model_copy(update={"shuffles": 400, "top_directions": 3, "aligned_cosine": 0.5})


def test_the_mean_is_that_of_counts_over_random_sets():
    run = Run(15, 1)
    weights, rng = weights_of(run), np.random.default_rng(7)
    found = [*directions.random(weights, 15, MANY)]
    assert len(found) == 3
    for h, head in enumerate(found):
        W_OV = subspaces.W_OV(weights["W_V"][h], weights["W_O"][h])
        for J in classes(15):
            for side in ("read", "write"):
                sets = [rng.choice(15, len(J), replace=False) for _ in range(400)]
                cosines = [subspaces.alignment(W_OV, weights["W_E"][x], side, 3) for x in sets]
                counts = [(x >= 0.5).sum() for x in cosines]
                error = float(4 * (np.std(counts) + 0.05) / 20)
                assert head[str(J.d)][f"{side}_random"] == pytest.approx(np.mean(counts), abs=error)


def test_where_all_residues_lie_in_what_a_head_reads_every_set_does():
    weights, rng = weights_of(Run(15, 1)), np.random.default_rng(0)
    read, _ = np.linalg.qr(rng.normal(size=(12, 3)))
    weights["W_E"] = (rng.normal(size=(16, 3)) @ read.T).astype(np.float32)
    weights["W_V"] = np.stack([read @ rng.normal(size=(3, 4)) for _ in range(3)])
    strict = MANY.model_copy(update={"aligned_cosine": 0.999})
    for head in directions.random(weights, 15, strict):
        assert [head[str(J.d)]["read_random"] for J in classes(15)] == [3, 3, 1, 0]


def test_the_mlp_only_model_has_no_head():
    assert not [*directions.random(weights_of(Run(15, 1, "mlp")), 15, PARAMS)]
