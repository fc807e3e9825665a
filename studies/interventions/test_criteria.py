"""Each criterion on a model made by hand that passes it, and on one that fails."""

import numpy as np
import pytest
from planted import planted
from scipy.linalg import block_diag
from small import exact_mlp

from strata.api.circuits import subject
from strata.monoid import JClass, chi
from strata.patch import ablations, projections, scores
from strata.results import FAILS, HOLDS
from studies.interventions.code import criteria, energy, interchange, routing
from studies.interventions.code.records import (
    Control,
    EqualEnergy,
    HeadChange,
    Interventions,
    KeepRemove,
)
from studies.params import load

Weights = dict[str, np.ndarray]
LEVELS = load().interventions.levels
DRAWS = 3


def record(it: ablations.Subject, **records: object) -> Interventions:
    n = it.rig.n
    return Interventions(
        run=f"n{n}-s1", n=n, seed=1, architecture="transformer", classes=(), draws=DRAWS,
        finite=True, base=scores.measures(it.rig, it.rig.base), **records,  # pyright: ignore
    )  # fmt: skip


def verdicts(run: Interventions) -> dict[str, str]:
    return {x.id: x.verdict for x in criteria.judge(run, LEVELS)}


@pytest.mark.parametrize("known", [True, False], ids=["shared", "own"])
def test_class_means_can_be_moved_where_classes_share_coordinates(known):
    """Where each has coordinates of its own, as one-hot rows are, the hybrid is no residue."""
    n = 15
    it = subject(planted(n) if known else exact_mlp(n), n)
    made = tuple(interchange.interchange(it, 1, np.random.default_rng(0)))
    found = verdicts(record(it, interchange=made))
    for kind in ("class", "class-only"):
        assert found[f"swap-{kind}-shared-coordinates"] == (HOLDS if known else FAILS)


def test_what_a_hybrid_keeps_of_a_residue_is_what_the_other_class_has():
    n = 105
    it = subject(planted(n), n)
    [found] = [
        x for x in interchange.shared_hybrids(it)
        if set(np.gcd(x.instead_of, n)) == {3} and set(x.of_class) == {21}
    ]  # fmt: skip
    assert ((found.acts_as - found.instead_of) % 5 == 0).all()
    assert (np.gcd(found.acts_as, n) == 21).all()
    rows = it.rows_of_W_E[found.acts_as]
    assert np.allclose(found.table, rows, atol=1e-5)  # flags of 21, and the phase modulo 5 alone


def routed(n: int, bit: np.ndarray) -> Weights:
    """The planted model with a head 0 that attends to the operands whose bit is up, and reports
    whether there is one; a second new head reports it by uniform attention. Where the reports
    differ, 0 is answered. So the pattern of head 0, a function of the bits, is needed."""
    w = {name: x.astype(np.float64) for name, x in planted(n).items()}
    width, d_head = w["W_V"].shape[1:]
    t, u, v, harm = (width - i for i in (1, 2, 3, 4))
    w["W_E"][:n, t] = bit
    for name in ("W_Q", "W_K", "W_V"):
        w[name] = np.concatenate([np.zeros((2, width, d_head)), w[name]])
        w[f"b_{name[-1]}"] = np.concatenate([np.zeros((2, d_head)), w[f"b_{name[-1]}"]])
    w["W_O"] = np.concatenate([np.zeros((2, d_head, width)), w["W_O"]])
    w["b_Q"][0, 0], w["W_K"][0, t, 0] = 40 * d_head**0.5, 1
    w["W_V"][0, t, 0], w["W_O"][0, 0, u] = 1, 1
    w["W_V"][1, t, 0], w["W_O"][1, 0, v] = 3, 1
    columns = ((v, 1, 0, 1), (v, 1, -1, -1), (u, 1 / 0.3, -2, -1), (u, 1 / 0.3, -3, 1))
    W_in, W_out = np.zeros((width, 4)), np.zeros((4, width))
    for i, (dim, slope, _, sign) in enumerate(columns):
        W_in[dim, i], W_out[i, harm] = slope, 1e4 * sign
    w["W_in"], w["W_out"] = np.hstack([w["W_in"], W_in]), np.vstack([w["W_out"], W_out])
    w["b_in"] = np.append(w["b_in"], [bias for _, _, bias, _ in columns])
    w["W_U"][harm, 0] = 1
    return {name: x.astype(np.float32) for name, x in w.items()}


def of_routes(weights: Weights, n: int) -> dict[int | None, criteria.Route]:
    it = subject(weights, n)
    made = tuple(routing.routing(it, DRAWS, np.random.default_rng(0)))
    run = record(it, routing=made)
    found = {x.modulus: x for x in criteria.routes(run, (0,), LEVELS)}
    for x in found.values():  # what is at a level is not below it
        at = LEVELS.model_copy(update={"lost": x.lost, "routed": x.share})
        [same] = [y for y in criteria.routes(run, (0,), at) if y.modulus == x.modulus]
        assert same.used and (same.answer == "yes") is (x.share - x.high >= LEVELS.differ)
    return found


def test_a_pattern_that_classes_decide_and_that_is_needed_routes_by_class():
    n = 35
    found = of_routes(routed(n, np.gcd(np.arange(n), n) > 1), n)
    assert found[None].share == pytest.approx(1) and found[None].answer == "yes"
    assert found[None].lost > 0.3
    assert found[5].answer != "yes" and found[7].answer != "yes"


def test_a_pattern_that_residues_modulo_a_prime_decide_does_not_route_by_class():
    n = 35
    found = of_routes(routed(n, np.isin(np.arange(n) % 7, [1, 2, 3])), n)
    assert found[7].share == pytest.approx(1) and found[7].answer == "yes"
    assert found[None].share < 0.5 and found[None].answer != "yes"


def test_a_pattern_that_does_not_matter_is_not_used():
    assert {x.answer for x in of_routes(planted(15), 15).values()} == {"not used"}


def headed(n: int, shares: np.ndarray) -> Weights:
    """The planted model with heads that each have a share of the flag and the phases of a prime;
    ``shares`` has the shape heads × primes."""
    w, P = planted(n), shares.shape[1]
    width, count = w["W_E"].shape[1], len(shares)
    read = 5 * P
    W_V, W_O = np.zeros((count, width, read)), np.zeros((count, read, width))
    prime = np.concatenate([np.arange(P), np.repeat(np.arange(P), 4)])
    dims = np.arange(read)
    W_V[:, dims, dims] = 3 * shares[:, prime]
    W_O[:, dims, read + dims] = 1
    none, zero = np.zeros((count, width, read)), np.zeros((count, read))
    heads = {"W_Q": none, "W_K": none, "W_V": W_V, "W_O": W_O, "b_Q": zero, "b_K": zero}
    return w | {name: x.astype(np.float32) for name, x in (heads | {"b_V": zero}).items()}


@pytest.mark.parametrize(("left", "verdict"), [([0.2, 0.9, 0.8], HOLDS), ([0.2, 0.9, 0.2], FAILS)])
def test_head_0_carries_the_class_where_any_other_may_be_missing(left, verdict):
    it = subject(planted(15), 15)
    whole = scores.measures(it.rig, it.rig.base)
    without = [
        HeadChange(change="ablate", heads=(h,), all=whole.model_copy(update={"class_accuracy": x}))
        for h, x in enumerate(left)
    ]
    every = HeadChange(change="ablate", heads=(0, 1, 2), all=whole)
    assert verdicts(record(it, routing=(*without, every)))["carries"] == verdict


HEADS = {
    "one head for each prime": (np.eye(2), True, True),
    "a head and a half for each": (np.array([[0.9, 0], [0.1, 0], [0, 0.9], [0, 0.1]]), False, True),
    "equal shares": (np.full((4, 2), 0.25), False, False),
}


@pytest.mark.parametrize(("shares", "alone", "group"), HEADS.values(), ids=HEADS)
def test_heads_belong_to_primes_alone_as_a_group_or_not(shares, alone, group):
    it = subject(headed(35, shares), 35)
    assert it.rig.base.answer.tolist() == it.rig.label.tolist()
    made = tuple(routing.routing(it, 1, np.random.default_rng(0)))
    found = verdicts(record(it, routing=made))
    for scale in criteria.SCALES:
        assert found[f"heads-alone-{scale}"] == (HOLDS if alone else FAILS)
        assert found[f"heads-group-{scale}"] == (HOLDS if group else FAILS)


@pytest.mark.parametrize(("highs", "holds"), [((0.1, 0.2), True), ((0.1, 1), False)])
def test_key_characters_are_kept_where_every_control_does_worse(highs, holds):
    it = subject(planted(15), 15)
    whole = scores.measures(it.rig, it.rig.base)

    def drawn(high: float) -> Control:
        over = dict.fromkeys(
            scores.ScoreRanges.model_fields, scores.Range(mean=0, low=0, high=high)
        )
        return Control(dimension=1, own=scores.ScoreRanges(**over))

    kept = KeepRemove(
        site="embedding", d=None, action="keep", dimension=1, base=whole, own=whole, all=whole,
        controls={"other": drawn(highs[0]), "random": drawn(highs[1])},
    )  # fmt: skip
    assert criteria._kept(kept, LEVELS).holds is holds


def equal(weights: Weights, n: int) -> dict[str, EqualEnergy]:
    it = subject(weights, n)
    controls = projections.draw_controls(n, it.masks, DRAWS, np.random.default_rng(0))
    found = energy.equal_energy(it, controls)
    return {x.site: x for x in found if x.d is None}


N = 11  # one axis of order 10: where ±1 and ±2 are key, ±3 and ±4 are all draws of as many others


def unread() -> Weights:
    """The planted model, whose embedding also has every other character, which nothing reads."""
    w, J = planted(N), JClass(N, 1)
    for i, k in enumerate((3, 4, 5)):
        x = chi((k,), J.orders) * 0.26**0.5 * (1 if k < 5 else 0.5**0.5)
        w["W_E"][J.elements, -2 * i - 2], w["W_E"][J.elements, -2 * i - 1] = x.real, x.imag
    return w


def two_readers(strength: float = 0.2) -> Weights:
    """Two planted models side by side, the second of three times the frequencies, whose phases are
    weak: its character fit is the same, and it is right alone once they are as strong."""
    one, two = planted(N), planted(N, frequency=3)
    two["W_E"][:, 1:5] *= strength
    two["W_U"], two["b_U"] = two["W_U"] * 0.2, two["b_U"] * 0.2
    made = {"b_U": one["b_U"] + two["b_U"]}
    for name in ("W_E", "b_in", "b_out"):
        made[name] = np.concatenate([one[name], two[name]], axis=-1)
    made["W_U"] = np.concatenate([one["W_U"], two["W_U"]])
    for name in ("W_in", "W_out"):
        made[name] = np.asarray(block_diag(one[name], two[name]))
    for name in ("W_Q", "W_K", "W_V", "W_O"):
        axis, x, y = (2 if name == "W_O" else 1), one[name], two[name]
        first = np.concatenate([x, np.zeros_like(y)], axis)
        second = np.concatenate([np.zeros_like(x), y], axis)
        made[name] = np.concatenate([first, second])
    for name in ("b_Q", "b_K", "b_V"):
        made[name] = np.concatenate([one[name], two[name]])
    made["b_O"] = np.concatenate([one["b_O"], two["b_O"]])
    return {name: x.astype(np.float32) for name, x in made.items()}


def test_what_reads_key_characters_alone_is_about_their_content():
    x = equal(unread(), N)["embedding"]
    assert x.classes == (1,) and x.ratio.mean == pytest.approx(0.26**0.5, rel=1e-3)
    assert x.keep_key.skill == x.base.skill == 1
    for judge in (criteria._keep_content, criteria._remove_content):
        case = judge(x, LEVELS)
        assert case is not None and case.holds
    assert x.add_other_strong.skill.low == 1  # a disturbance that nothing reads
    weak, whole = x.remove_key_weak.margin.high, x.base.margin
    assert weak is not None and weak < whole  # a part of the key characters is taken away


def test_what_reads_other_characters_as_well_once_they_are_as_strong_is_about_energy():
    x = equal(two_readers(), N)["embedding"]
    assert x.ratio.mean == pytest.approx(0.2, rel=1e-3)
    assert x.base.skill == x.keep_key.skill == 1
    weak = x.keep_other.skill.high
    assert x.keep_other_strong.skill.low == 1 and weak is not None and weak < 0.5
    case = criteria._keep_content(x, LEVELS)
    assert case is not None and not case.holds


def test_the_components_of_most_energy_are_the_key_characters_of_a_clean_embedding():
    x = equal(unread(), N)["embedding"]
    assert x.overlap == pytest.approx(1, abs=1e-5)
    assert x.keep_top.skill == 1 and x.remove_top.skill == x.remove_key.skill
