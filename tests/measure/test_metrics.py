"""The numbers of a run: of models whose answer is known, and against all logits at once."""

from functools import partial
from math import gcd

import numpy as np
import pandas as pd
import pytest
from planted import exact_transformer, mlp_lookup
from small import NONE, PARAMS, history_of, measured, split_of, weights_of

from strata import monoid, store
from strata.measure import activations, all_pairs, character_fit, metrics, token_fourier
from strata.measure.accuracy import ACCURACIES
from strata.run import Run


@pytest.mark.parametrize("n", [6, 12])
@pytest.mark.parametrize("architecture", ["transformer", "mlp"])
def test_a_model_that_is_right_everywhere_is_measured_so(n, architecture):
    weights = mlp_lookup(np.eye(n)) if architecture == "mlp" else exact_transformer(n)
    run = Run(n, 1, "mlp" if architecture == "mlp" else "")
    measures = measured(run, weights, split_of(n), history_of([0.5, 1.0]))
    accuracy = measures.accuracy
    shares = [accuracy.all, accuracy.train, accuracy.validation]
    shares += [accuracy.mirror_free] if architecture == "transformer" else []
    shares += [*accuracy.by_target.values(), *accuracy.by_operands.values()]
    assert set(shares) == {1.0}
    assert measures.finite
    assert measures.generalised
    epochs = {"train": 1, "validation": 2, "mirror_free": None, "train_relapses": 0}
    assert measures.epoch_099.model_dump() == epochs
    assert measures.first_099.model_dump() == {x: epochs[x] for x in ACCURACIES}
    assert (measures.epochs, measures.final_loss) == (2, 0.5)
    for c in measures.classes:  # one-hot rows: the same energy at every frequency
        if c.size == 1:
            assert c.fve is c.character_fit is None
            continue
        assert c.character_fit is not None
        assert c.fve == pytest.approx(1)
        assert c.key == c.total == c.size - 1
        assert c.enrichment == pytest.approx(1)
        # The logits indicate the right answer, which is a sum of all characters.
        if architecture == "mlp":
            assert c.character_fit.r2 == pytest.approx(1)
            assert c.character_fit.r2_all == pytest.approx(1)
        prompts = [gcd(a * b, n) == c.d for a in range(n) for b in range(n)]
        assert c.character_fit.prompts_all == sum(prompts)
    if architecture == "mlp":
        assert measures.heads == ()
        return
    (head,) = measures.heads
    assert head.self_attention.model_dump() == pytest.approx({"mean": 1 / 3, "max": 1 / 3})
    assert head.block_score == pytest.approx(0, abs=1e-6)
    assert np.allclose(head.ov.shares[:n], 1 / n)
    assert head.ov.components == int(np.ceil(0.95 * n))
    assert head.ov.top == pytest.approx(min(8, n) / n)


@pytest.mark.parametrize("run", [Run(12, 1), Run(15, 1), Run(18, 1, "mlp"), Run(27, 1)], ids=str)
def test_what_is_summed_in_blocks_is_what_all_logits_at_once_give(run, monkeypatch):
    n, weights = run.n, weights_of(run)
    blocks = partial(activations.blocks, block=50)
    monkeypatch.setattr(all_pairs, "blocks", blocks)
    measures = measured(run, weights, split_of(n), history_of([0.1]))
    # The blocks are the same, as some kernels' last bits of a row depend on the rows beside it.
    a, b, parts = zip(*blocks(weights, n), strict=True)
    a, b, logits = map(np.concatenate, (a, b, [x.logits for x in parts]))
    product = a * b % n
    assert measures.accuracy.all == (logits.argmax(axis=1) == product).mean()
    neurons = np.concatenate([x.mlp for x in parts])
    assert measures.neurons and measures.neurons.varying == np.count_nonzero(neurons.std(axis=0))
    for c in measures.classes:
        r, keys = c.character_fit, c.key_frequencies
        if r is None or keys is None:
            assert c.size == 1
            continue
        J, (d1, d2) = monoid.jclass(c.d, n), r.pair
        in_class = np.gcd(product, n) == J.d
        pair = in_class & (np.gcd(a, n) == d1) & (np.gcd(b, n) == d2)
        listed = np.array([tuple(k) in keys for k in monoid.frequencies(J.orders).tolist()])
        for rows, r2, prompts in ((in_class, r.r2_all, r.prompts_all), (pair, r.r2, r.prompts)):
            class_logits, places = logits[rows][:, J.elements], monoid.position(n)[product[rows]]
            sums = character_fit.sums(class_logits, places, J.orders)
            y = character_fit.centred(class_logits)
            fit = character_fit.fit(sums, J.orders, listed)
            residual = y - character_fit.predicted_logits(fit, places, J.orders)
            assert r2 == pytest.approx(1 - (residual**2).sum() / (y**2).sum(), abs=1e-9)
            assert prompts == len(class_logits)
        # The last variables of the loop are those of the pair.
        assert r.largest == np.abs(y).max()
        explained = np.stack([y[places == place].mean(axis=0) for place in places])
        assert r.r2_product == pytest.approx((explained**2).sum() / (y**2).sum(), abs=1e-9)
        assert r.r2 <= r.r2_ceiling + 1e-12 <= r.r2_product + 1e-9
        one_each = np.eye(len(J), dtype=bool)[character_fit.half(np.arange(len(J)) > 0, J.orders)]
        alone = [character_fit.fit(sums, J.orders, x).r2 for x in one_each]
        assert r.r2_uniform == pytest.approx(len(r.frequencies) * np.mean(alone))


def broken(run: Run, how: str) -> tuple[dict[str, np.ndarray], pd.DataFrame]:
    """Return weights and history of a run that went out of bounds in one way or another."""
    weights, history = weights_of(run), history_of([NONE, NONE])
    if how == "weights":
        weights = {name: np.full_like(x, np.nan) for name, x in weights.items()}
        history["loss"] = np.float32(np.nan)
    if how == "one weight":
        weights["b_U"] = weights["b_U"] + np.float32(np.inf)
    if how == "logits":  # every weight is a number, the logits are not
        weights = {name: x * np.float32(1e12) for name, x in weights.items()}
    if how == "loss":
        history.loc[1, "loss"] = np.inf
    return weights, history


@pytest.mark.parametrize("how", ["weights", "one weight", "logits", "loss"])
@pytest.mark.filterwarnings("ignore:.*(invalid value|overflow).*:RuntimeWarning")
def test_a_run_that_is_not_finite_is_measured_as_such(how, tmp_path):
    run = Run(12, 1)
    weights, history = broken(run, how)
    measures = measured(run, weights, split_of(12), history)
    store.write_json(tmp_path / "m.json", measures)
    assert not measures.finite
    # A run counts as diverged only where no weight is finite.
    assert measures.generalised is (False if how == "weights" else None)
    assert how == "loss" or measures.accuracy.all == 0
    assert measures.final_loss is None
    assert measures.epoch_099.validation is None
    assert [x.size for x in measures.classes] == [4, 2, 2, 2, 1, 1]


@pytest.mark.parametrize(("n", "q"), [(15, 5), (15, 3), (12, 4), (30, 5)])
def test_the_first_three_components_of_a_function_of_a_residue_are_explained_by_it(n, q):
    rng = np.random.default_rng(n)
    W_E = 5 * rng.normal(size=(q, 8))[np.arange(n) % q] + 0.01 * rng.normal(size=(n, 8))
    shares = metrics.embedding_pca(W_E, n, PARAMS).shown
    assert set(shares.modulo) == set(token_fourier.bands(n))
    assert shares.modulo[q] > 0.99
    assert all(x < 0.6 for k, x in shares.modulo.items() if k != q)
    assert shares.classes < 0.99


def test_two_classes_of_one_size_are_held_against_different_random_residues():
    W_E = np.random.default_rng(0).normal(size=(26, 8)) * np.arange(1, 9) ** 2
    one, two = (metrics.class_pca(monoid.jclass(d, 26), W_E, PARAMS) for d in (1, 2))
    assert (one.random_mean, one.random_std) != (two.random_mean, two.random_std)


@pytest.mark.parametrize("variant", ["", "mlp"])
def test_mirror_free_pairs_are_those_of_a_model_that_cannot_tell_a_pair_from_its_mirror(variant):
    run = Run(6, 1, variant)
    history = history_of([0.5, 1.0])
    history["mirror_free_accuracy"] = [0.5, 1.0]
    measures = measured(run, weights_of(run), split_of(6), history)
    symmetric = not variant
    assert (measures.accuracy.mirror_free is not None) == symmetric
    epochs = (measures.first_099.mirror_free, measures.epoch_099.mirror_free)
    assert epochs == ((2, 2) if symmetric else (None, None))
    assert measures.epoch_099.validation == 2
