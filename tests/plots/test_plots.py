"""Each panel shows what it is given: stars, boundaries, thresholds; none needs colour for it."""

import re
from math import gcd

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.text import Text

from strata import monoid
from strata.plots import base, diagram, dynamics, embedding, interventions, spectra


@pytest.fixture
def ax():
    _, (ax,) = base.figure()
    return ax


def pixels(fig):
    canvas = FigureCanvasAgg(fig)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3]


def blank(fig):
    return (pixels(fig) == 255).all()


def points(line):
    return np.asarray(line.get_xydata()).tolist()


def texts(artist):
    return [t for t in artist.findobj(Text) if isinstance(t, Text)]


def shown(drawn):
    return np.ma.asarray(drawn.get_array())


def test_an_empty_figure_is_blank_and_a_note_is_not():
    fig, (ax,) = base.figure()
    ax.set_axis_off()
    assert blank(fig)
    base.note(ax, "n = 2 has no such class")
    assert not blank(fig)


def test_stars_stand_where_the_mask_is_true_and_the_constant_is_left_out(ax):
    rng = np.random.default_rng(0)
    amplitude, stars = rng.random((4, 10)), rng.random((4, 10)) > 0.8
    drawn = spectra.grid_spectrum(ax, amplitude, stars, 3, (5, 11))
    assert {(int(y), int(x)) for x, y in np.asarray(ax.collections[0].get_offsets())} == {
        (int(i), int(j)) for i, j in np.argwhere(stars)
    }
    assert np.argwhere(np.ma.getmaskarray(shown(drawn))).tolist() == [[0, 0]]
    assert shown(drawn).max() == 1 and drawn.get_clim() == (0, 1)
    assert "C_{4}" in ax.get_ylabel() and "prime 5" in ax.get_ylabel()
    assert "C_{10}" in ax.get_xlabel() and "prime 11" in ax.get_xlabel()


@pytest.mark.parametrize("n", [2, 12, 113, 165, 180])
@pytest.mark.parametrize("axis", ["x", "y"])
def test_boundaries_lie_between_classes_and_names_do_not_touch(ax, n, axis):
    classes = monoid.classes(n)
    d, sizes = [J.d for J in classes], [len(J) for J in classes]
    base.heat(ax, np.eye(n))
    base.class_axis(ax, d, sizes, axis, gap=0.08)
    ends = [points(line)[0]["xy".index(axis)] for line in ax.lines]
    order = monoid.algebraic_order(n)
    assert ends == [i - 0.5 for i in range(1, n) if gcd(order[i], n) != gcd(order[i - 1], n)]
    ticks = (ax.xaxis if axis == "x" else ax.yaxis).get_majorticklocs()
    labels = [t.get_text() for t in (ax.xaxis if axis == "x" else ax.yaxis).get_ticklabels()]
    assert (np.diff(sorted(ticks)) >= 0.08 * n).all()
    assert base.name(d[int(np.argmax(sizes))]) in labels


def test_63_classes_have_looks_of_their_own_and_eight_have_markers_of_their_own():
    looks = [base.style(i) for i in range(63)]
    assert len({(look["color"], look["marker"]) for look in looks}) == 63
    assert len({look["marker"] for look in looks[:8]}) == 8


def test_a_class_is_solid_and_random_sets_are_dashed(ax):
    embedding.components(ax, ["J_1", "J_3"], [6, 4], [(9.5, 0.5), (7.0, 0.1)])
    looks = {
        line.get_linestyle(): points(line) for line in ax.lines if line.get_linestyle() != "None"
    }
    assert looks == {"-": [[0, 6], [1, 4]], "--": [[0, 9.5], [1, 7]]}
    assert ax.get_ylim()[0] == 0


def test_cosines_have_the_threshold_and_a_ring_at_the_number_of_key_frequencies(ax):
    embedding.cosines(ax, {1: [1.0, 0.9, 0.2], 3: [0.7]}, {1: 2, 3: 5}, threshold=0.8)
    dashed = [line for line in ax.lines if line.get_linestyle() == "--"]
    rings = [line for line in ax.lines if line.get_markerfacecolor() == "none"]
    assert [points(line) for line in dashed] == [[[0, 0.8], [1, 0.8]]]
    assert [points(line) for line in rings] == [[[2, 0.9]]]


def test_epochs_without_a_measurement_are_passed_over(ax):
    epoch, seen = np.arange(1, 5), np.array([np.nan, 0.0, np.nan, 0.5])
    dynamics.progress(ax, epoch, {"validation": seen}, log=False)
    assert points(ax.lines[0]) == [[2, 0], [4, 0.5]]


def test_a_loss_of_zero_has_no_place_on_a_log_scale(ax):
    dynamics.progress(ax, np.arange(1, 4), {"loss": np.array([1.0, 0.0, np.inf])}, log=True)
    assert points(ax.lines[0]) == [[1, 1]] and ax.get_yscale() == "log"


@pytest.mark.parametrize("sizes", [[1], [79, 39, 19, 7, 9, 3, 1], [1] * 40])
def test_blocks_side_by_side_do_not_overlap(sizes):
    starts = spectra.places(sizes)
    for start, size, following in zip(starts, sizes, starts[1:], strict=False):
        assert start + size < following


def test_key_frequencies_and_no_others_are_in_colour():
    _, (top, bottom) = base.figure(2, 1)
    share, key = np.array([0.7, 0.1, 0.2]), np.array([True, False, True])
    drawn = spectra.strip(top, [np.log10(np.ones((5, 3)) / 10)], [4], low=-2)
    spectra.shares(bottom, [share], [key], [4], low=1e-5)
    marks = [line for line in bottom.lines if line.get_color() == base.COLORS[1]]
    uniform = [line for line in bottom.lines if line.get_label() == "uniform"]
    assert points(marks[0]) == [[4, 0.7], [6, 0.2]]
    assert points(uniform[0]) == [[3.5, 1 / 3], [6.5, 1 / 3]]
    assert drawn.get_extent() == [3.5, 6.5, 4.5, -0.5]
    assert {"key", "other", "uniform"} <= {t.get_text() for t in texts(bottom)}


@pytest.mark.parametrize("dimensions", [2, 3])
def test_every_residue_is_a_point_in_the_look_of_its_class(dimensions):
    fig, (ax,) = base.figure()
    ax = embedding.oblique(ax, 20, -50) if dimensions == 3 else ax
    members = {J.d: J.elements for J in monoid.classes(12)}
    embedding.scatter(ax, np.random.default_rng(0).random((12, dimensions)), members)
    assert [len(points(line)) for line in ax.lines] == [len(rows) for rows in members.values()]
    assert [to_hex(line.get_color()).upper() for line in ax.lines] == list(base.COLORS[:6])
    assert not blank(fig)


def test_the_density_is_relative_to_its_largest_and_keeps_every_filled_bin(ax):
    rng = np.random.default_rng(0)
    predicted = rng.normal(size=1000)
    actual = predicted + 0.1 * rng.normal(size=1000)
    counts = np.histogram2d(actual, predicted, bins=60, range=[(-4, 4)] * 2)[0]
    drawn = base.density(ax, counts, 4)
    filled = shown(drawn).filled(0)
    assert filled.max() == 1 and 0.02 < (filled > 0).mean() < 0.2
    rows, columns = np.nonzero(filled)
    assert np.corrcoef(rows, columns)[0, 1] > 0.95  # the actual logit is the vertical axis


def test_the_schematic_names_the_sizes_of_the_run():
    fig, (ax,) = base.figure(size=(base.PAGE, 2.1))
    diagram.draw(ax, n=12, d_model=16, n_heads=2, d_head=8, d_mlp=24)
    text = " ".join(t.get_text() for t in ax.texts)
    for size in ("13 × 16", "16 × 8", "8 × 16", "16 × 24", "24 × 16", "16 × 12", "2 attention"):
        assert size in text
    assert not blank(fig)


@pytest.mark.parametrize(("n", "shown"), [(165, "c^\\sharp"), (12, "u(c)^{-1}")])
def test_the_schematic_has_no_local_inverse_where_some_class_has_none(ax, n, shown):
    diagram.draw(ax, n, 16, 2, 8, 24)
    assert shown in ax.texts[-1].get_text()


def test_no_text_is_below_seven_points(ax):
    diagram.draw(ax, 12, 16, 2, 8, 24)
    fig, (other,) = base.figure()
    drawn = base.heat(other, np.eye(3), (0, 1))
    base.bar(drawn, [other], "weight")
    embedding.cosines(other, {1: [0.5]}, {1: 1}, 0.8)
    base.legend(other, "class")
    for figure in (fig, base.owner(ax)):
        assert all(float(t.get_fontsize()) >= 7 for t in texts(figure))
    assert [a.get_ylabel() for a in fig.axes] == ["", "weight"]


def test_a_saved_figure_has_its_width_and_no_date(tmp_path):
    for stem in ("a", "b"):
        fig, (ax,) = base.figure(size=(base.COLUMN, 2))
        base.heat(ax, np.eye(5))
        assert base.save(fig, str(tmp_path / stem)) == tmp_path / f"{stem}.png"
    for suffix in ("pdf", "png"):
        assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()
    pdf = (tmp_path / "a.pdf").read_bytes()
    assert b"CreationDate" not in pdf
    sides = re.findall(rb"/(?:Width|Height) (\d+)", pdf)
    assert [*map(int, sides)] == [5, 5], "one pixel for each entry"
    png = (tmp_path / "a.png").read_bytes()
    assert int.from_bytes(png[16:20], "big") == 200 * base.COLUMN
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.pdf", "a.png", "b.pdf", "b.png"]


@pytest.mark.parametrize("n", [2, 12, 30, 49, 180])
@pytest.mark.parametrize("axis", [None, 2, 3, 7])
def test_room_above_chance_is_counted_on_the_products_themselves(n, axis):
    d = [J.d for J in monoid.classes(n)]
    found = interventions.room_above_chance(n, d, axis)
    for i, j in np.ndindex(found.shape):
        J = monoid.JClass(n, gcd(d[i] * d[j], n))
        quotients = {a // J.d for a in J.elements.tolist()}
        power = max(p for p in (axis**k for k in range(9)) if J.m % p == 0) if axis else J.m
        chance = 1 / len({u % power for u in quotients})
        assert found[i, j] == pytest.approx(1 - chance if chance < 1 else 1)
