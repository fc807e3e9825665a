"""A network by formula computes what its formulas say, as a model with hooks like any other."""

import numpy as np
import pytest
import torch
from small import ROOT, random_weights

from strata.api import second_adder
from strata.api.model import ByFormula, Transformer
from strata.inputs import InputError
from strata.patch.patching import forward_pass
from strata.task import parse_task
from studies.mechanism.code import adding, outputs, scores
from studies.params import load

N = 77


@pytest.fixture(scope="module")
def second():
    return Transformer(None, second_adder.weights(N))


@pytest.fixture(scope="module")
def formula(second) -> ByFormula:
    return second.by_formula()


def test_a_network_that_is_made_of_the_formulas_answers_by_them(second, formula):
    assert formula.accuracy() > 0.99 and second.accuracy() == 1
    _, whole = second.run_with_cache(5, [3, 70])
    _, parts = formula.run_with_cache(5, [3, 70])
    assert torch.allclose(whole["pattern"], parts["pattern"], atol=1e-4)
    assert formula.free_numbers > 0 and formula.replaced > formula.W_in.numel()
    assert formula.extra_repr().endswith("by formula")


def test_its_logits_are_those_of_all_formulas_at_once():
    n, seed = 15, load(ROOT).adding.measures.seed
    model = Transformer(None, random_weights(n))
    pairs = forward_pass(model.weights(), n)
    neurons = adding.neurons(pairs, scores.fit_pass(pairs, 2), seed=seed)
    hidden = np.maximum(neurons.form("B4"), 0)
    logits = adding.logits(pairs, hidden, outputs.written(neurons, hidden).W_out)[pairs.row]
    a, b = np.divmod(np.arange(n * n), n)
    np.testing.assert_allclose(model.by_formula()(a, b), logits[a, b], atol=1e-4)


def test_the_formulas_are_the_only_path_and_hooks_change_them(formula):
    before = formula(3, 4)
    with torch.no_grad():
        formula.W_E[:N].zero_()
    assert torch.equal(formula(3, 4), before)
    with formula.hooks([("blocks.0.mlp.hook_pre", lambda x, point: 0 * x)]):
        silent = formula(np.arange(N), 4)
    assert torch.allclose(silent, silent[:1].expand_as(silent)) and torch.equal(
        formula(3, 4), before
    )


def test_what_has_no_formulas_is_refused(formula):
    with pytest.raises(InputError, match="change the network first"):
        formula.without(head=0)
    other = Transformer(None, second_adder.weights(N), task=parse_task("Z77", N))
    with pytest.raises(InputError, match="multiplication"):
        other.by_formula()
