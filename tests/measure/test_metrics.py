"""The numbers of a run: of models whose answer is known, and against all logits at once."""

import json
from functools import partial
from math import gcd

import numpy as np
import pandas as pd
import pytest
from small import (
    NONE,
    PARAMS,
    exact_mlp,
    exact_transformer,
    history_of,
    measured,
    split_of,
    weights_of,
)

from strata import monoid, store
from strata.measure import activations, all_pairs, character_fit, metrics, token_fourier
from strata.measure.accuracy import ACCURACIES
from strata.run import Run


@pytest.mark.parametrize("n", [6, 12, 15])
@pytest.mark.parametrize("architecture", ["transformer", "mlp"])
def test_a_model_that_is_right_everywhere_is_measured_so(n, architecture):
    weights = exact_mlp(n) if architecture == "mlp" else exact_transformer(n)
    run = Run(n, 1, "mlp" if architecture == "mlp" else "")
    found = measured(run, weights, split_of(n), history_of([0.5, 1.0]))
    accuracy = found.accuracy
    shares = [accuracy.all, accuracy.train, accuracy.validation]
    shares += [accuracy.mirror_free] if architecture == "transformer" else []
    shares += [*accuracy.by_target.values(), *accuracy.by_operands.values()]
    assert set(shares) == {1.0}
    assert found.finite
    assert found.generalised
    epochs = {"train": 1, "validation": 2, "mirror_free": None, "train_relapses": 0}
    assert found.epoch_099.model_dump() == epochs
    assert found.first_099.model_dump() == {x: epochs[x] for x in ACCURACIES}
    assert (found.epochs, found.final_loss) == (2, 0.5)
    for of in found.classes:  # one-hot rows: the same energy at every frequency
        if of.size == 1:
            assert of.fve is of.character_fit is None
            continue
        assert of.character_fit is not None
        assert of.fve == pytest.approx(1)
        assert of.key == of.total == of.size - 1
        assert of.enrichment == pytest.approx(1)
        # Logits that are the right answer's indicator: all characters together make that up.
        if architecture == "mlp":
            assert of.character_fit.r2 == pytest.approx(1)
            assert of.character_fit.r2_all == pytest.approx(1)
        prompts = [gcd(a * b, n) == of.d for a in range(n) for b in range(n)]
        assert of.character_fit.prompts_all == sum(prompts)
    if architecture == "mlp":
        assert found.heads == ()
        return
    (head,) = found.heads
    assert head.self_attention.model_dump() == pytest.approx({"mean": 1 / 3, "max": 1 / 3})
    assert head.block_score == pytest.approx(0, abs=1e-6)
    d_model = 2 * n + 1
    assert np.allclose(head.ov.shares, 1 / d_model)
    assert head.ov.components == int(np.ceil(0.95 * d_model))
    assert head.ov.top == pytest.approx(8 / d_model)


@pytest.mark.parametrize(
    "run", [Run(2, 1), Run(4, 1), Run(12, 1), Run(15, 2), Run(13, 1), Run(12, 1, "mlp")], ids=str
)
def test_the_measures_of_any_run_can_be_written_and_are_the_same_each_time(run, tmp_path):
    texts = []
    for _ in range(2):
        found = measured(run, weights_of(run), split_of(run.n, run.seed), history_of([0.1, 0.2]))
        store.write_json(tmp_path / "m.json", found)
        texts.append((tmp_path / "m.json").read_text(encoding="utf-8"))
    assert texts[0] == texts[1]
    assert json.loads(texts[0])["run"] == str(run)
    assert found.generalised == ((found.accuracy.validation or 0) >= 0.99)
    assert len(found.heads) == (0 if run.variant == "mlp" else 3)
    assert [x.d for x in found.classes] == [d for d in range(1, run.n + 1) if run.n % d == 0]
    for head in found.heads:
        assert sum(head.ov.shares) == pytest.approx(1)
        assert 0 <= head.block_score <= 1
        assert set(head.alignment) == {x.d for x in found.classes}


@pytest.mark.parametrize("run", [Run(12, 1), Run(15, 1), Run(18, 1, "mlp"), Run(27, 1)], ids=str)
def test_what_is_summed_in_blocks_is_what_all_logits_at_once_give(run, monkeypatch):
    n, weights = run.n, weights_of(run)
    blocks = partial(activations.blocks, block=50)
    monkeypatch.setattr(all_pairs, "blocks", blocks)
    found = measured(run, weights, split_of(n), history_of([0.1]))
    # Of the same blocks: with some kernels the last bits of a row depend on those beside it.
    a, b, parts = zip(*blocks(weights, n), strict=True)
    a, b, logits = map(np.concatenate, (a, b, [x.logits for x in parts]))
    product = a * b % n
    assert found.accuracy.all == (logits.argmax(axis=1) == product).mean()
    neurons = np.concatenate([x.mlp for x in parts])
    assert found.neurons and found.neurons.varying == np.count_nonzero(neurons.std(axis=0))
    for c in found.classes:
        r, keys = c.character_fit, c.key_frequencies
        if r is None or keys is None:
            assert c.size == 1
            continue
        J, (d1, d2) = monoid.jclass(c.d, n), r.pair
        every = np.gcd(product, n) == J.d
        pair = every & (np.gcd(a, n) == d1) & (np.gcd(b, n) == d2)
        listed = np.array([tuple(k) in keys for k in monoid.frequencies(J.orders).tolist()])
        for rows, r2, prompts in ((every, r.r2_all, r.prompts_all), (pair, r.r2, r.prompts)):
            own, places = logits[rows][:, J.elements], monoid.position(n)[product[rows]]
            over, y = character_fit.sums(own, places, J.orders), character_fit.centred(own)
            fit = character_fit.fit(over, J.orders, listed)
            rest = y - character_fit.predicted(fit, places, J.orders)
            assert r2 == pytest.approx(1 - (rest**2).sum() / (y**2).sum(), abs=1e-9)
            assert prompts == len(own)
        # From here on of the pair.
        assert r.largest == np.abs(y).max()
        told = np.stack([y[places == place].mean(axis=0) for place in places])
        assert r.r2_product == pytest.approx((told**2).sum() / (y**2).sum(), abs=1e-9)
        assert r.r2 <= r.r2_ceiling + 1e-12 <= r.r2_product + 1e-9
        one_each = np.eye(len(J), dtype=bool)[character_fit.half(np.arange(len(J)) > 0, J.orders)]
        alone = [character_fit.fit(over, J.orders, x).r2 for x in one_each]
        assert r.r2_uniform == pytest.approx(len(r.frequencies) * np.mean(alone))


def broken(run: Run, how: str) -> tuple[dict[str, np.ndarray], pd.DataFrame]:
    """Weights and history of a run that went out of bounds in one way or another."""
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


@pytest.mark.parametrize("run", [Run(12, 1), Run(12, 1, "mlp")], ids=str)
@pytest.mark.parametrize("how", ["weights", "one weight", "logits", "loss"])
@pytest.mark.filterwarnings("ignore:.*(invalid value|overflow).*:RuntimeWarning")
def test_a_run_that_is_not_finite_is_measured_as_such(run, how, tmp_path):
    weights, history = broken(run, how)
    found = measured(run, weights, split_of(12), history)
    store.write_json(tmp_path / "m.json", found)
    assert not found.finite
    # That it diverged is believed where no weight is finite.
    assert found.generalised is (False if how == "weights" else None)
    assert how == "loss" or found.accuracy.all == 0
    assert found.final_loss is None
    assert found.epoch_099.validation is None
    assert [x.size for x in found.classes] == [4, 2, 2, 2, 1, 1]


@pytest.mark.parametrize(("n", "q"), [(15, 5), (15, 3), (12, 4), (30, 5)])
def test_the_first_three_components_of_a_function_of_a_residue_are_explained_by_it(n, q):
    rng = np.random.default_rng(n)
    W_E = 5 * rng.normal(size=(q, 8))[np.arange(n) % q] + 0.01 * rng.normal(size=(n, 8))
    shown = metrics.embedding_pca(W_E, n, PARAMS).shown
    assert set(shown.modulo) == set(token_fourier.bands(n))
    assert shown.modulo[q] > 0.99
    assert all(x < 0.6 for k, x in shown.modulo.items() if k != q)
    assert shown.classes < 0.99


def test_two_classes_of_one_size_are_held_against_different_random_residues():
    W_E = np.random.default_rng(0).normal(size=(26, 8)) * np.arange(1, 9) ** 2
    one, two = (metrics.class_pca(monoid.jclass(d, 26), W_E, PARAMS) for d in (1, 2))
    assert (one.random_mean, one.random_std) != (two.random_mean, two.random_std)


@pytest.mark.parametrize("variant", ["", "mlp"])
def test_mirror_free_pairs_are_those_of_a_model_that_cannot_tell_a_pair_from_its_mirror(variant):
    run = Run(6, 1, variant)
    history = history_of([0.5, 1.0])
    history["mirror_free_accuracy"] = [0.5, 1.0]
    found = measured(run, weights_of(run), split_of(6), history)
    known = not variant
    assert (found.accuracy.mirror_free is not None) == known
    epochs = (found.first_099.mirror_free, found.epoch_099.mirror_free)
    assert epochs == ((2, 2) if known else (None, None))
    assert found.epoch_099.validation == 2
