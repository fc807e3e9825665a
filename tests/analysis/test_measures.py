"""The numbers of a run: by brute force, on hand-made histories and matrices, and of models whose
answer is known."""

import json
from functools import partial
from math import gcd

import numpy as np
import pandas as pd
import pytest
from small import NONE, PARAMS, exact_mlp, exact_transformer, history_of, split_of, weights_of
from sympy.ntheory import factorint

from strata import monoid, store
from strata.analysis import (
    activations,
    all_pairs,
    heads,
    metrics,
    readout,
    token_fourier,
    variance,
)
from strata.run import Run


@pytest.mark.parametrize("n", [2, 3, 12, 15])
def test_accuracies_are_brute_force_over_every_pair(n):
    split, right = split_of(n), np.random.default_rng(n).random(n * n) < 0.6
    found = metrics.accuracy(right, split, n)
    chosen: dict[str, list[bool]] = {}
    for i in range(n * n):
        a, b = divmod(i, n)
        d1, d2, d = gcd(a, n), gcd(b, n), gcd(a * b, n)
        keys = ["all", split["split"][i], f"target {d}", f"operands {d1}x{d2}"]
        if split["split"][i] == "validation" and split["split"][b * n + a] != "train":
            keys.append("mirror_free")
        for key in keys:
            chosen.setdefault(key, []).append(bool(right[i]))
    shares = {key: sum(some) / len(some) for key, some in chosen.items()}
    for name in ("all", "train", "validation", "mirror_free"):
        assert found[name] == pytest.approx(shares.get(name))
    divisors = [d for d in range(1, n + 1) if n % d == 0]
    assert found["by_target"] == pytest.approx({str(d): shares[f"target {d}"] for d in divisors})
    assert found["by_operands"] == pytest.approx(
        {f"{d1}x{d2}": shares[f"operands {d1}x{d2}"] for d1 in divisors for d2 in divisors}
    )


def test_no_mirror_free_pair_is_no_accuracy():
    split = split_of(3) | {"mirror_in_train": np.ones(9, dtype=bool)}
    assert metrics.accuracy(np.ones(9, dtype=bool), split, 3)["mirror_free"] is None


@pytest.mark.parametrize(
    ("course", "epoch"),
    [
        ([0.1, 0.5, 0.99, 1.0], 3),
        ([0.99, 1.0, 1.0], 1),
        ([0.1, 0.99, 0.98, 1.0, 1.0], 4),  # it must stay there
        ([0.1, 1.0, 1.0, 0.5], None),
        ([0.1, 0.2], None),
        ([NONE, 0.1, NONE, 0.99, NONE, 1.0], 4),
        ([NONE, 1.0, NONE], 2),
        ([NONE, NONE], None),
        ([], None),
    ],
)
def test_the_level_is_reached_at_the_first_epoch_after_which_it_holds(course, epoch):
    assert metrics.reached(history_of(course), "validation_accuracy", 0.99) == epoch


@pytest.mark.parametrize(
    ("train", "epoch", "relapses"),
    [
        ([0.5, 1, 1, 1, 1, 1], 2, 0),
        ([0.5, 0.5, 1, 1, 1, 1], 3, 0),  # read at every epoch, validated or not
        ([1, 1, 1, 1, 0.2, 1], 6, 1),
        ([1, 1, 1, 0.9, 0.2, 1], 6, 2),
        ([0.5, 1, 1, 1, 1, 0.9], None, 1),
        ([0.5] * 6, None, None),
    ],
)
def test_training_accuracy_and_its_relapses_are_read_at_every_epoch(train, epoch, relapses):
    history = history_of([NONE, 0.5, NONE, 1, NONE, 1])
    history["train_accuracy"] = np.array(train, dtype=float)
    assert metrics.epochs_to(history, 0.99) == {
        "train": epoch, "validation": 4, "mirror_free": None, "train_relapses": relapses
    }  # fmt: skip


@pytest.mark.parametrize(
    ("course", "first"),
    [([0.1, 0.99, 0.5], 2), ([1.0, 0.2], 1), ([NONE, 0.5, NONE, 1.0, 0.1], 4), ([0.9], None)],
)
def test_the_level_is_first_reached_whatever_comes_after(course, first):
    found = metrics.first_epochs(history_of(course), 0.99)
    assert found["validation"] == first and found["mirror_free"] is None


@pytest.mark.parametrize("n", [2, 3, 12])
def test_pairs_are_counted_one_by_one(n):
    split = split_of(n)
    names = split["split"].reshape(n, n)
    where = {
        name: [(a, b) for a in range(n) for b in range(n) if names[a, b] == name]
        for name in ("train", "validation")
    }
    mirrored = [names[b, a] == "train" for a, b in where["validation"]]
    assert metrics.counts(split, n) == {
        "train": len(where["train"]),
        "train_distinct": len({frozenset(pair) for pair in where["train"]}),
        "validation": len(where["validation"]),
        "validation_mirrored_share": pytest.approx(sum(mirrored) / len(mirrored)),
    }


def test_the_published_split_leaks_as_counted():
    found = metrics.counts(split_of(165), 165)
    assert (found["train"], found["train_distinct"]) == (8167, 6931)
    assert round(found["validation_mirrored_share"], 3) == 0.296


def test_a_matrix_of_blocks_scores_one_and_shuffled_labels_less():
    rng, labels = np.random.default_rng(0), np.gcd(np.arange(30), 30)
    blocks = rng.normal(size=(31, 31))[np.ix_(labels, labels)]
    assert variance.block_eta_squared(blocks, labels) == pytest.approx(1)
    assert variance.block_eta_squared(blocks, rng.permutation(labels)) < 0.6
    assert variance.block_eta_squared(np.full((30, 30), 0.1), labels) == 0
    assert variance.block_eta_squared(rng.normal(size=(30, 30)), labels) < 0.2


@pytest.mark.parametrize("n", [2, 5, 12])
def test_the_block_score_is_the_share_between_blocks_by_brute_force(n):
    rng, labels = np.random.default_rng(n), np.gcd(np.arange(n), n)
    x = rng.normal(size=(n, n)) + labels[:, None]
    within = 0.0
    for d1 in set(labels.tolist()):
        for d2 in set(labels.tolist()):
            block = x[np.ix_(labels == d1, labels == d2)]
            within += ((block - block.mean()) ** 2).sum()
    expected = 1 - within / ((x - x.mean()) ** 2).sum()
    assert variance.block_eta_squared(x, labels) == pytest.approx(expected)


@pytest.mark.parametrize("n", [6, 12, 15])
@pytest.mark.parametrize("architecture", ["transformer", "mlp"])
def test_a_model_that_is_right_everywhere_is_measured_so(n, architecture):
    weights = exact_mlp(n) if architecture == "mlp" else exact_transformer(n)
    found = metrics.measure(
        Run(n, 1, architecture), weights, split_of(n), history_of([0.5, 1.0]), PARAMS
    )
    accuracy = found["accuracy"]
    shares = [accuracy["all"], accuracy["train"], accuracy["validation"], accuracy["mirror_free"]]
    shares += [*accuracy["by_target"].values(), *accuracy["by_operands"].values()]
    assert set(shares) == {1.0}
    assert found["finite"]
    assert found["generalised"]
    epochs = {"train": 1, "validation": 2, "mirror_free": None, "train_relapses": 0}
    assert found["epoch_099"] == epochs
    assert found["first_099"] == {name: epochs[name] for name in metrics.ACCURACIES}
    assert (found["epochs"], found["final_loss"]) == (2, 0.5)
    for measured in found["classes"]:  # one-hot rows: the same energy at every frequency
        if measured["size"] == 1:
            assert measured["fve"] is measured["readout"] is None
            continue
        assert measured["fve"] == pytest.approx(1)
        assert measured["key"] == measured["total"] == measured["size"] - 1
        assert measured["enrichment"] == pytest.approx(1)
        # Logits that are the right answer's indicator: all characters together make that up.
        if architecture == "mlp":
            assert measured["readout"]["r2"] == pytest.approx(1)
            assert measured["readout"]["r2_all"] == pytest.approx(1)
        assert measured["readout"]["prompts_all"] == sum(
            gcd(a * b, n) == measured["d"] for a in range(n) for b in range(n)
        )
    if architecture == "mlp":
        assert found["heads"] == []
        return
    (head,) = found["heads"]
    assert head["self_attention"] == pytest.approx({"mean": 1 / 3, "max": 1 / 3})
    assert head["block_score"] == pytest.approx(0, abs=1e-6)
    d_model = 2 * n + 1
    assert np.allclose(head["ov"]["shares"], 1 / d_model)
    assert head["ov"]["components"] == int(np.ceil(0.95 * d_model))
    assert head["ov"]["top"] == pytest.approx(8 / d_model)


@pytest.mark.parametrize(
    "run", [Run(2, 1), Run(4, 1), Run(12, 1), Run(15, 2), Run(13, 1), Run(12, 1, "mlp")], ids=str
)
def test_the_measures_of_any_run_can_be_written_and_are_the_same_each_time(run, tmp_path):
    texts = []
    for _ in range(2):
        found = metrics.measure(
            run, weights_of(run), split_of(run.n, run.seed), history_of([0.1, 0.2]), PARAMS
        )
        store.write_json(tmp_path / "m.json", found)
        texts.append((tmp_path / "m.json").read_text(encoding="utf-8"))
    assert texts[0] == texts[1]
    assert json.loads(texts[0])["run"] == str(run)
    assert found["generalised"] == (found["accuracy"]["validation"] >= 0.99)
    assert len(found["heads"]) == (0 if run.variant == "mlp" else 3)
    assert [x["d"] for x in found["classes"]] == [d for d in range(1, run.n + 1) if run.n % d == 0]
    for head in found["heads"]:
        assert sum(head["ov"]["shares"]) == pytest.approx(1)
        assert 0 <= head["block_score"] <= 1
        assert set(head["alignment"]) == {str(x["d"]) for x in found["classes"]}


@pytest.mark.parametrize("run", [Run(12, 1), Run(15, 1), Run(18, 1, "mlp"), Run(27, 1)], ids=str)
def test_what_is_summed_in_blocks_is_what_all_logits_at_once_give(run, monkeypatch):
    n, weights = run.n, weights_of(run)
    ((a, b, whole),) = activations.blocks(weights, n)
    monkeypatch.setattr(all_pairs, "blocks", partial(activations.blocks, block=50))
    found = metrics.measure(run, weights, split_of(n), history_of([0.1]), PARAMS)
    logits, product = whole.logits, a * b % n
    assert found["accuracy"]["all"] == (logits.argmax(axis=1) == product).mean()
    for c in found["classes"]:
        if not (r := c["readout"]):
            continue
        J, (d1, d2) = monoid.jclass(c["d"], n), r["pair"]
        every = np.gcd(product, n) == J.d
        pair = every & (np.gcd(a, n) == d1) & (np.gcd(b, n) == d2)
        listed = [tuple(k) in set(map(tuple, c["key_frequencies"]))
                  for k in monoid.frequencies(J.orders).tolist()]  # fmt: skip
        for rows, of in ((pair, ""), (every, "_all")):
            own, places = logits[rows][:, J.elements], monoid.position(n)[product[rows]]
            fit = readout.fit(readout.sums(own, places, J.orders), J.orders, np.array(listed))
            y = readout.centred(own)
            rest = y - readout.predicted(fit, places, J.orders)
            assert r[f"r2{of}"] == pytest.approx(1 - (rest**2).sum() / (y**2).sum(), abs=1e-9)
            assert r[f"prompts{of}"] == len(own)
        own, places = logits[pair][:, J.elements], monoid.position(n)[product[pair]]
        y = readout.centred(own)
        told = np.stack([y[places == place].mean(axis=0) for place in places])
        assert r["r2_product"] == pytest.approx((told**2).sum() / (y**2).sum(), abs=1e-9)
        assert r["r2"] <= r["r2_ceiling"] + 1e-12 <= r["r2_product"] + 1e-9


def test_a_head_that_follows_classes_in_regular_rows_alone_is_seen_to():
    rng, n = np.random.default_rng(0), 180
    labels = np.gcd(np.arange(n), n)
    regular = np.gcd(labels, n // labels) == 1
    x = rng.normal(size=(n, n)).astype(np.float32)
    x[regular] = rng.normal(size=(n + 1, n + 1))[np.ix_(labels, labels)][regular]
    found = heads.block_scores(x, n, rng, 10)
    assert found is not None
    assert found["regular"]["score"] == pytest.approx(1)
    assert found["regular"]["mean"] < 0.5
    chance = found["non_regular"]["mean"] + 5 * found["non_regular"]["std"]
    assert found["non_regular"]["score"] < chance < 0.5
    assert heads.block_scores(x[:30, :30], 30, rng, 2) is None


@pytest.mark.parametrize("n", [4, 8, 12, 49])
def test_the_score_of_some_rows_is_the_share_between_blocks_by_brute_force(n):
    rng, labels = np.random.default_rng(n), np.gcd(np.arange(n), n)
    rows = np.flatnonzero(np.gcd(labels, n // labels) > 1)
    x = rng.normal(size=(n, n))[rows] + labels[rows][:, None]
    block: dict[tuple[int, int], list[float]] = {}
    for i, row in enumerate(rows):
        for j in range(n):
            block.setdefault((labels[row], labels[j]), []).append(x[i, j])
    between = sum(len(v) * (np.mean(v) - x.mean()) ** 2 for v in block.values())
    share = between / ((x - x.mean()) ** 2).sum()
    assert variance.block_eta_squared(x, labels[rows], labels) == pytest.approx(share)


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
    found = metrics.measure(run, weights, split_of(12), history, PARAMS)
    store.write_json(tmp_path / "m.json", found)
    assert not found["finite"]
    assert not found["generalised"]
    assert how == "loss" or found["accuracy"]["all"] == 0
    assert found["final_loss"] is None
    assert found["epoch_099"]["validation"] is None
    assert [x["size"] for x in found["classes"]] == [4, 2, 2, 2, 1, 1]


@pytest.mark.parametrize("n", [15, 12, 36, 30])
def test_a_sum_of_functions_of_the_prime_powers_lies_at_their_periods(n):
    rng = np.random.default_rng(n)
    parts = [rng.normal(size=(p**e, 8)) for p, e in factorint(n).items()]
    planted = np.sum([part[np.arange(n) % len(part)] for part in parts], axis=0)
    found = token_fourier.share(planted)
    assert found and found["share"] == pytest.approx(1)
    # as many frequencies as such sums have dimensions, the constant left out
    assert found["uniform"] == pytest.approx(sum(len(part) - 1 for part in parts) / (n - 1))
    mixed = rng.normal(size=(n, 4000))
    found = token_fourier.share(mixed)
    assert found and found["share"] == pytest.approx(found["uniform"], abs=0.03)


def test_at_a_prime_every_frequency_is_of_a_prime_and_equal_rows_have_none():
    found = token_fourier.share(np.random.default_rng(0).normal(size=(7, 3)))
    assert found == {"share": pytest.approx(1), "uniform": 1}
    assert token_fourier.share(np.ones((6, 3))) is None


def test_points_at_the_means_of_their_labels_are_explained_whole_and_centred_ones_not_at_all():
    n, rng = 15, np.random.default_rng(0)
    labels = np.gcd(np.arange(n), n)
    means = {d: rng.normal(size=3) for d in (1, 3, 5, 15)}
    apart = np.stack([means[d] for d in labels.tolist()])
    assert variance.eta_squared(apart, labels) == pytest.approx(1)
    mixed = rng.normal(size=(n, 3))
    for d in means:
        mixed[labels == d] -= mixed[labels == d].mean(axis=0)
    assert variance.eta_squared(mixed, labels) == pytest.approx(0, abs=1e-12)
    assert variance.eta_squared(np.ones((n, 3)), labels) == 0


def test_of_random_points_labels_explain_what_the_docstring_says():
    rng, labels = np.random.default_rng(0), np.gcd(np.arange(12), 12)
    shares = [variance.eta_squared(rng.normal(size=(12, 3)), labels) for _ in range(400)]
    assert np.mean(shares) == pytest.approx(5 / 11, abs=0.02)


@pytest.mark.parametrize(("n", "q"), [(15, 5), (15, 3), (12, 4), (30, 5)])
def test_the_first_three_components_of_a_function_of_a_residue_are_explained_by_it(n, q):
    rng = np.random.default_rng(n)
    W_E = 5 * rng.normal(size=(q, 8))[np.arange(n) % q] + 0.01 * rng.normal(size=(n, 8))
    shown = metrics.embedding_pca(W_E, PARAMS)["shown"]
    assert set(map(int, shown["modulo"])) == set(token_fourier.bands(n))
    assert shown["modulo"][str(q)] > 0.99
    assert all(x < 0.6 for k, x in shown["modulo"].items() if k != str(q))
    assert shown["classes"] < 0.99
