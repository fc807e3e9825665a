"""On models made by hand a cut spares the pairs that theory says, on random weights none; and the
network that is run again is the network."""

from math import gcd

import numpy as np
import pytest
import torch
from small import TRAIN, weights_of

from strata import store
from strata.api import by_hand
from strata.api.circuits import subject
from strata.api.model import model_of
from strata.measure import fourier
from strata.monoid import JClass, axis_primes, axis_size, classes
from strata.patch import ablations, patching, projections, scores, specificity
from strata.patch.routing import mean_mix
from strata.patch.scores import Range
from strata.run import Run
from strata.tables import format
from studies.interventions.code import evidence, suite
from studies.interventions.code.records import Interventions
from studies.params import InterventionsSettings, load

INTACT = load().interventions.intact
PARAMS = InterventionsSettings(draws=2, seed=0, key_threshold=0.5)
WIDE = TRAIN.model_copy(update={"d_model": 48, "n_heads": 4})
N = 77  # classes of 60, 10 and 6 elements, the first of them on two axes


@pytest.fixture(scope="module")
def shared():
    return suite.intervene(Run(N, 1), by_hand.weights(N), PARAMS)


@pytest.fixture(scope="module")
def apart():
    """Give every class dimensions of its own in the embedding, which all heads read alike."""
    weights, d = by_hand.weights(N), [J.d for J in classes(N)]
    rows = np.zeros((N + 1, len(d), by_hand.D_MODEL), dtype=np.float32)
    blocks = [d.index(gcd(a, N)) for a in range(N)]
    rows[np.arange(N + 1), [*blocks, 0]] = weights["W_E"]
    for name in ("W_Q", "W_K", "W_V"):
        weights[name] = np.tile(weights[name], (1, len(d), 1))
    wider = {"W_O": 2, "b_O": 0, "W_in": 0, "W_out": 1, "b_out": 0, "W_U": 0}
    for name, axis in wider.items():
        x = weights[name]
        more = [(0, (len(d) - 1) * by_hand.D_MODEL * (i == axis)) for i in range(x.ndim)]
        weights[name] = np.pad(x, more)
    return suite.intervene(Run(N, 1), weights | {"W_E": rows.reshape(N + 1, -1)}, PARAMS)


@pytest.mark.parametrize(
    ("name", "left"),  # of pairs that need the class, others; that need the prime, others
    [("shared", (False, False, False, True)), ("apart", (False, True, True, True))],
)
def test_a_cut_spares_other_pairs_where_directions_are_its_own(name, left, request):
    run = request.getfixturevalue(name)
    table = evidence.cut([run, run.model_copy(update={"n": 21}), lost(run)], INTACT)
    assert [*table["group"]] == [x for x in ("all", f"n = {N}", "n = 21") for _ in range(2)]
    assert [*table["runs"]] == [2, 2, 1, 1, 1, 1]
    for skills in table[["needed", "spared"]].to_numpy().reshape(3, 4):
        assert np.where(np.array(left), skills > 0.95, skills < 0.2).all()
    assert (table["random"].to_numpy() < 0.8).all()
    assert table["intact"].tolist() == [
        runs * is_spared for runs, is_spared in zip(table["runs"], left[1::2] * 3, strict=True)
    ]


def test_an_axis_is_needed_exactly_where_the_product_has_it(shared):
    for r in shared.specificity:
        if r.axis is None:
            continue
        accuracy = np.array(r.all.by_operands.accuracy)
        d = shared.classes
        has = np.array([[N // gcd(x * y, N) % r.axis == 0 for y in d] for x in d])
        assert (accuracy[~has] == 1).all() and (accuracy[has] < 0.6).all()


@pytest.mark.parametrize("run", [Run(12, 1), Run(15, 2), Run(9, 1, "mlp")], ids=str)
def test_the_network_run_again_is_the_network(run):
    weights, n = weights_of(run, WIDE), run.n
    rig = patching.rig(weights, n)
    row, (a, b) = rig.row.ravel(), np.divmod(np.arange(n * n), n)
    logits = model_of(run, weights)(a, b).double()
    label = torch.from_numpy(a * b % n)
    loss = torch.nn.functional.cross_entropy(logits, label, reduction="none").numpy()
    assert np.allclose(rig.base.loss[row], loss, atol=1e-5)
    assert (rig.base.answer[row] == logits.argmax(dim=1).numpy()).all()
    others = logits.clone()
    others[np.arange(n * n), label] = -np.inf
    margin = logits[np.arange(n * n), label] - others.max(dim=1).values
    assert np.allclose(rig.base.margin[row], margin, atol=1e-5)
    mean = rig.by_product(np.arange(len(rig.a), dtype=float)[:, None])
    assert mean[:, 0] == pytest.approx([row[a * b % n == c].mean() for c in range(n)])
    mix = np.random.default_rng(n).normal(size=(len(rig.a), 2, 3))
    assert mean_mix(rig, mix, 1) == pytest.approx(mix[row, 1].mean(axis=0))
    again = rig.with_heads(rig.weighted_values(rig.attention)) if rig.attends else rig.base
    assert np.allclose(again.loss, rig.base.loss, atol=1e-5)
    measured = scores.measures(rig, rig.base)
    assert measured.loss == pytest.approx(loss.mean(), rel=1e-4)
    d, right = [J.d for J in classes(n)], (logits.argmax(dim=1) == label).numpy()
    for i, x in enumerate(d):
        of_target = np.gcd(a * b, n) == x
        assert measured.by_target[x].accuracy == pytest.approx(right[of_target].mean())
        for j, y in enumerate(d):
            of_operands = (np.gcd(a, n) == x) & (np.gcd(b, n) == y)
            stored = measured.by_operands.loss[i][j]
            assert stored == pytest.approx(loss[of_operands].mean(), rel=1e-3)


@pytest.mark.parametrize(("n", "d"), [(165, 1), (165, 3), (24, 3), (45, 1)])
def test_spans_of_characters_are_projections_that_leave_means_alone(n, d):
    J, rng = JClass(n, d), np.random.default_rng(n)
    mask = np.zeros(len(J), dtype=bool)
    mask[[1, int(fourier.conjugate(J.orders)[1])]] = True
    P = projections.characters(mask, J.orders)
    assert np.allclose(P, P.T) and np.allclose(P @ P, P) and np.allclose(P.sum(axis=0), 0)
    assert np.trace(P) == pytest.approx(mask.sum())
    table = rng.normal(size=(n, 3))
    keep, remove = projections.split(table, {d: P}, n)
    mean = table[J.elements].mean(axis=0)
    assert np.allclose((keep + remove)[J.elements], table[J.elements] + mean)
    assert (np.delete(keep, J.elements, 0) == np.delete(table, J.elements, 0)).all()


def test_an_embedding_replaced_by_itself_changes_nothing():
    model = subject(weights_of(Run(15, 1), WIDE), 15)
    outcome = ablations.with_embedding(model.rig, model.rows_of_W_E)
    assert np.allclose(outcome.loss, model.rig.base.loss, atol=1e-4)


def test_directions_that_are_removed_are_gone_from_residues_and_not_from_class_means():
    model = subject(weights_of(Run(15, 1), WIDE), 15)
    basis = specificity.directions(model, 1)
    rows = specificity.removed(model, basis)
    assert np.allclose(specificity.deviations(rows, 15) @ basis.T, 0, atol=1e-5)
    means = [[x[J.elements].mean(axis=0) for J in classes(15)] for x in (rows, model.rows_of_W_E)]
    assert np.allclose(*means, atol=1e-5) and np.abs(means @ basis.T).max() > 0.1


@pytest.mark.parametrize("n", [24, 35, 165])
def test_axes_of_a_prime_tell_apart_the_residues_modulo_its_power(n):
    for J in classes(n):
        primes = axis_primes(J)
        assert len(primes) == len([q for q in J.orders if q > 1])
        for p in {*primes}:
            columns = J.coordinates[:, np.array(primes) == p]
            assert len(np.unique(columns, axis=0)) == axis_size(J.m, p)
            power = max(p**k for k in range(1, 8) if J.m % p**k == 0)
            units = [int(a) // J.d % J.m % power for a in J.elements] if not J.regular else [
                int(a) % power for a in J.elements
            ]  # fmt: skip
            assert len({*zip(units, map(tuple, columns.tolist()), strict=True)}) == len({*units})


def test_a_range_is_over_the_draws_that_have_the_number():
    assert scores.draw_range([1.0, None, 2.0, 6.0]) == Range(mean=3.0, low=1.0, high=6.0)


@pytest.mark.parametrize("run", [Run(2, 1), Run(12, 1), Run(15, 1, "mlp")], ids=str)
def test_any_run_can_be_cut_and_tabled_and_random_weights_spare_nothing(run, tmp_path):
    records = [suite.intervene(run, weights_of(run, WIDE), PARAMS) for _ in range(2)]
    assert records[0] == records[1]
    store.write_json(tmp_path / "x.json", records[0])
    assert store.read_model(tmp_path / "x.json", Interventions) == records[0]
    assert sum(evidence.cut(records, INTACT)["intact"]) == 0
    for table in (evidence.table_of_run(records[0]), evidence.table_over_runs(records, INTACT)):
        assert format.markdown(table) and format.latex(table).isascii() and format.csv(table)


def test_a_run_that_diverged_is_recorded_and_has_no_cuts():
    weights = weights_of(Run(6, 1), WIDE) | {"b_U": np.full(6, np.nan, dtype=np.float32)}
    record = suite.intervene(Run(6, 1), weights, PARAMS)
    assert record == lost(record) and format.markdown(evidence.table_of_run(record))


def lost(run: Interventions) -> Interventions:
    """Return what is recorded of a run that diverged."""
    identity = ("run", "n", "seed", "architecture", "classes", "draws")
    return Interventions(**{name: getattr(run, name) for name in identity}, finite=False)
