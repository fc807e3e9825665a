"""Every shipped run, as a module and as the analysis runs it."""

import numpy as np
import pytest
import shipped
import torch

from strata.measure import activations


@pytest.mark.parametrize("name", sorted(shipped.weights()))
def test_logits_of_all_pairs_are_those_of_the_analysis(name):
    model = shipped.model(name)
    for a, b, own in activations.blocks(model.weights(), model.n, activations.ROWS):
        with torch.inference_mode():
            apart = np.abs(model(a, b).numpy() - own.logits)
        assert apart.max() <= activations.TIE * np.abs(own.logits).max()
