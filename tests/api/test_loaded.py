"""Models as torch modules: the analysis's own numbers, and the pipeline's own interventions."""

import os
import subprocess
import sys

import numpy as np
import pytest
import shipped
import torch
from small import weights_of

from strata.api import by_hand
from strata.api.model import Transformer, model_of
from strata.inputs import InputError
from strata.measure import activations, fourier, subspaces
from strata.monoid import JClass
from strata.patch import ablations, projections, routing, specificity
from strata.run import Run

# The answers of a model with two threads, and of the same in a child that was forked.
FORKED = """
from multiprocessing import get_context
from strata.api.hand import by_hand
model = by_hand(35)
answers = model.answers()
with get_context("fork").Pool(1) as pool:
    print((pool.apply(model.answers) == answers).all())
"""
SMALL = [Run(12, 1), Run(15, 2), Run(12, 1, "mlp")]


@pytest.fixture(scope="module")
def model() -> Transformer:
    """Make a transformer by hand, whose classes share the directions of each prime."""
    network = model_of(Run(35, 1), by_hand.weights(35))
    assert isinstance(network, Transformer)
    return network


TRAINED = ("n113-s1", "mlp-n113-s1", "n180-s1")


@pytest.mark.parametrize("run", [*SMALL, *map(Run.parse, TRAINED)], ids=str)
def test_the_forward_pass_is_that_of_the_analysis(run):
    model = shipped.model(str(run)) if str(run) in TRAINED else model_of(run, weights_of(run))
    weights, (a, b) = model.weights(), np.divmod(np.arange(run.n**2)[-4096:], run.n)
    forward = activations.forward(weights, a, b)
    logits, cache = model.run_with_cache(a, b)
    tolerance = activations.TIE * np.abs(forward.logits).max()
    np.testing.assert_allclose(logits, forward.logits, rtol=0, atol=tolerance)
    np.testing.assert_allclose(cache["post"][:, 0], forward.mlp, atol=1e-5 * forward.mlp.max())
    if isinstance(model, Transformer):
        np.testing.assert_allclose(cache["pattern"][:, :, 0], forward.attention, atol=1e-5)
    if str(run) not in TRAINED:
        for name, x in weights.items():
            np.testing.assert_array_equal(x, weights_of(run)[name])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system forks no process")
def test_a_forked_child_answers_as_its_parent():
    command = [sys.executable, "-W", "ignore", "-c", FORKED]
    environment = os.environ | {"OMP_NUM_THREADS": "2", "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.run(command, env=environment, timeout=600, capture_output=True, text=True)
    assert process.stdout == "True\n", process.stderr


def test_activations_have_the_names_and_axes_of_transformerlens():
    model = model_of(Run(12, 1), weights_of(Run(12, 1)))
    _, cache = model.run_with_cache([1, 2], 5)
    shapes = {"embed": (2, 3, 12), "resid_pre": (2, 3, 12), "q": (2, 1, 3, 4), "k": (2, 3, 3, 4)}
    shapes |= {"v": (2, 3, 3, 4), "attn_scores": (2, 3, 1, 3), "pattern": (2, 3, 1, 3)}
    shapes |= {"z": (2, 1, 3, 4), "attn_out": (2, 1, 12), "resid_mid": (2, 1, 12)}
    shapes |= {"pre": (2, 1, 20), "post": (2, 1, 20), "mlp_out": (2, 1, 12)}
    shapes |= {"resid_post": (2, 1, 12)}
    assert {k.rpartition("hook_")[2]: tuple(x.shape) for k, x in cache.items()} == shapes
    assert list(cache)[5] == "blocks.0.attn.hook_attn_scores"
    assert cache["z", 0] is cache["attn_z"] is cache["blocks.0.attn.hook_z"]
    heads = cache.stack_head_results().sum(dim=0)
    torch.testing.assert_close(heads + model.get_parameter("blocks.0.attn.b_O"), cache["attn_out"])
    with pytest.raises(InputError, match=r"'zz': no such activation; there are hook_embed, "):
        cache["zz"]
    assert set(model.state_dict()) >= {"embed.W_E", "blocks.0.attn.W_Q", "blocks.0.mlp.b_in"}


def test_a_hook_replaces_an_activation_inside_its_with_block_alone(model):
    before = model(2, 3)
    zero = [("blocks.0.hook_resid_post", lambda x, point: torch.zeros_like(x))]
    assert torch.equal(model.run_with_hooks(2, 3, zero)[0], model.b_U)
    assert torch.equal(model(2, 3), before)
    with pytest.raises(InputError, match=r"'hook_x': no such activation; there are hook_embed"):
        model.run_with_hooks(2, 3, [("hook_x", lambda x, point: x)])


def test_users_of_other_programs_find_what_they_type(model):
    full = "blocks.0.attn.hook_z"
    zero = [("z", lambda z, point: torch.zeros_like(z))]
    expected = model.run_with_hooks(2, 3, [(full, zero[0][1])])
    assert torch.equal(model.run_with_hooks(2, 3, fwd_hooks=zero), expected)
    for names in ("z", ["z"], [full], lambda name: name == full):
        assert [*model.run_with_cache(2, 3, names_filter=names)[1]] == [full]
    assert model.cfg.n_heads == model.n_heads == len(model.W_Q)
    with pytest.raises(InputError, match=r"must be model\(a, b\); model\.hooked\(\) takes tokens"):
        model([[2, 3, 154]])


def test_circuits_and_spectra_are_those_of_the_analysis(model):
    weights = model.weights()
    for h in range(2):
        expected = subspaces.W_OV(weights["W_V"][h], weights["W_O"][h])
        np.testing.assert_allclose(model.W_OV[h], expected, atol=1e-5)
        score = weights["W_Q"][h] @ weights["W_K"][h].T
        np.testing.assert_allclose(model.W_QK[h], score, atol=1e-5)
    J, share = JClass(35, 5), model.spectrum(5)
    expected = fourier.energy_share(weights["W_E"][J.elements], J.orders)
    np.testing.assert_array_equal(share, expected)
    assert share.index[1] == (1,) and model.key_frequencies(5) == [(1,), (2,), (4,), (5,)]


@pytest.mark.parametrize("run", SMALL, ids=str)
def test_parts_add_up_to_the_logit_of_an_answer(run):
    model = model_of(run, weights_of(run))
    attributed = model.attribution(2, 5)
    logits = model(2, 5)[0]
    for answer, parts in ((10, attributed), (3, model.attribution(2, 5, 3))):
        total = float(parts["logit"].to_numpy().sum())
        assert total == pytest.approx(float(logits[answer] - logits.mean()), abs=1e-5)
    assert {*attributed.loc[attributed["prime"].notna(), "part"]} == {"neuron"}


def test_the_attribution_of_a_planted_model_is_to_the_primes_of_its_neurons(model):
    candidates = (6, 13, 27, 34)  # one residue modulo 7, four modulo 5
    by_prime = [model.attribution(2, 3, c).groupby("prime")["logit"].sum() for c in candidates]
    assert np.ptp([x[7] for x in by_prime]) < 1e-3 < np.ptp([x[5] for x in by_prime])


@pytest.mark.parametrize(("prime", "other"), [(5, 7), (7, 5)])
def test_without_the_directions_of_a_prime_answers_fail_modulo_it_alone(model, prime, other):
    broken = model.without(prime=prime)
    chance = 1 - (1 - 1 / prime) ** 2 + (1 - 1 / prime) ** 2 / (prime - 1)
    assert model.accuracy() == broken.accuracy(other) == 1
    assert broken.accuracy(prime) == pytest.approx(chance, abs=0.1)
    assert broken.changed == (f"without prime {prime}",) and model.changed == ()
    keys = projections.key_masks(model.weights()["W_E"][:35], 35, 0.5)
    subject = ablations.subject(model.weights(), 35, keys)
    expected = specificity.run_without(subject, specificity.directions(subject, 1, prime))
    answers = expected.answer[subject.rig.row.ravel()]
    np.testing.assert_array_equal(broken.answers().ravel(), answers)


def test_a_head_is_ablated_as_the_pipeline_ablates_it():
    run, (a, b) = Run(15, 2), np.divmod(np.arange(225), 15)
    model, label = model_of(run, weights_of(run)), torch.from_numpy(a * b % 15)
    subject = ablations.subject(model.weights(), run.n, {})
    for h in range(3):
        logits, ablated = model.without(head=h)(a, b), routing.ablate_heads(subject, (h,))
        loss = torch.nn.functional.cross_entropy(logits, label, reduction="none")
        np.testing.assert_allclose(loss, ablated.loss[subject.rig.row.ravel()], atol=1e-5)


def test_key_characters_suffice_where_the_model_has_no_others(model):
    with_keys, without_keys = model.keeping_key_characters(), model.without_key_characters()
    assert with_keys.accuracy() == 1 and without_keys.accuracy() < 0.5
    before = model.weights()["W_E"]
    summed = with_keys.weights()["W_E"] + without_keys.weights()["W_E"]
    for J in (JClass(35, 1), JClass(35, 5)):
        means = (summed - before)[J.elements]
        expected = np.tile(before[J.elements].mean(axis=0), (len(J), 1))
        np.testing.assert_allclose(means, expected, atol=1e-5)


@pytest.mark.parametrize("other", [6, 20])  # 20 is of another class
def test_an_operand_takes_the_residue_of_another_modulo_one_prime(model, other):
    hybrid, acts_as = model.swapped(2, other, 7)
    assert acts_as % 7 == 6 and acts_as % 5 == 2
    others = np.delete(np.arange(35), 2)  # 2 · 2 has two changed operands
    np.testing.assert_array_equal(hybrid.answers()[2, others], acts_as * others % 35)
    other_pairs = np.ix_(others, others)
    np.testing.assert_array_equal(hybrid.answers()[other_pairs], model.answers()[other_pairs])
    unchanged, itself = model.swapped(2, 2, 5)
    assert itself == 2
    np.testing.assert_array_equal(unchanged.answers(), model.answers())


BAD = {
    "a = 35: must be from 0 to 34": lambda m: m(35, 0),
    "b = -1: must be from 0 to 34": lambda m: m(0, [1, -1]),
    "a is torch.float32: must be integers from 0 to 34": lambda m: m(torch.ones(2), 1),
    "b is torch.bool: must be integers": lambda m: m(1, True),
    "a = 'x': must be integers": lambda m: m("x", 1),
    r"a, b: shapes \(2,\) and \(3,\): must be equal": lambda m: m([1, 2], [1, 2, 3]),
    "q = 4: must be a divisor of n = 35": lambda m: m.accuracy(4),
    "d = 3: must be one of the classes of .*: 1, 5, 7, 35": lambda m: m.spectrum(3),
    "J_35 has one element, and so no spectrum": lambda m: m.spectrum(35),
    "without: give one of prime and head": lambda m: m.without(),
    "prime = 3: J_1 has no such axis; must be one of 5, 7": lambda m: m.without(prime=3),
    "head = 4: must be from 0 to 3": lambda m: m.without(head=4),
    "answer = 35: must be from 0 to 34": lambda m: m.attribution(2, 5, 35),
    "prime = 7: J_7 has no such axis": lambda m: m.swapped(7, 14, 7),
}


@pytest.mark.parametrize("line", BAD)
def test_what_cannot_be_is_refused_in_one_line(model, line):
    with pytest.raises(InputError, match=rf"\A.*{line}.*\Z"):
        BAD[line](model)
