"""Each panel shows what it is given: stars, boundaries, thresholds; none needs colour for it."""

import re
from math import gcd

import numpy as np
import pytest
from matplotlib import colormaps
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.text import Text

from strata import monoid
from strata.plots import accounts, base, borders, diagram, dynamics, embedding, spectra
from strata.task import task_of


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


def test_each_prime_keeps_its_direction_whatever_axes_a_class_has():
    x = np.arange(2 * 4 * 10).reshape(2, 4, 10)  # axes of 3, 5 and 11
    assert np.array_equal(spectra.unfolded(x, (3, 5, 11), across=11, down=5), x)
    assert np.array_equal(spectra.unfolded(x[0], (5, 11), across=11, down=5), x[:1])
    assert np.array_equal(spectra.unfolded(x[:, 0], (3, 11), across=11, down=5), x[:, :1])
    assert np.array_equal(spectra.unfolded(x[:, :, 0], (3, 5), across=11, down=5), x[:, :, :1])
    assert spectra.unfolded(x, (2, 3, 2), across=2, down=3).shape == (1, 4, 20)


def test_stars_stand_where_the_mask_is_true_and_the_constant_is_left_out(ax):
    rng = np.random.default_rng(0)
    amplitude, stars = rng.random((2, 4, 10)), rng.random((2, 4, 10)) > 0.8
    spectra.blocks_spectrum(ax, amplitude, stars, "J", ("$k_3$", "$k_5$", "$k_{11}$"))
    assert {(int(y), int(x)) for x, y in np.asarray(ax.collections[0].get_offsets())} == {
        (int(i), int(j + 11 * k)) for k, i, j in np.argwhere(stars)
    }
    first, second = (shown(image) for image in ax.images)
    assert np.argwhere(np.ma.getmaskarray(first)).tolist() == [[0, 0]]
    assert not np.ma.getmaskarray(second).any()
    assert max(first.max(), second.max()) <= 1 and ax.images[0].get_clim() == (0, 1)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("$k_{11}$", "$k_5$")
    assert [text.get_text() for text in ax.texts] == ["$k_3$ = 0", "$k_3$ = 1"]


@pytest.mark.parametrize("n", [2, 12, 113, 165, 180])
@pytest.mark.parametrize("axis", ["x", "y"])
def test_lines_stand_between_classes_and_names_beside_them_in_order(ax, n, axis):
    classes = monoid.classes(n)
    d, sizes = [J.d for J in classes], [len(J) for J in classes]
    base.heat(ax, np.eye(n))
    borders.class_axis(ax, d, sizes, axis, gap=0.08)
    ends = [points(line)[0]["xy".index(axis)] for line in ax.lines]
    order = monoid.algebraic_order(n)
    assert ends == [i - 0.5 for i in range(1, n) if gcd(order[i], n) != gcd(order[i - 1], n)]
    names = [text.get_text() for text in ax.texts]
    if len(d) <= 12:
        assert names == [base.name(x) for x in d]
    assert len(names) == min(len(d), 12) and base.name(d[int(np.argmax(sizes))]) in names
    of = {base.name(x): x for x in d}
    inside = [np.array([text.xy]).ravel()["xy".index(axis)] for text in ax.texts]  # pyright: ignore
    assert [gcd(order[round(x)], n) for x in inside] == [of[text] for text in names]
    places = [text.get_position()["xy".index(axis)] for text in ax.texts]
    assert (np.diff(places) >= 0.08 * n - 1e-9).all() and min(places) >= -0.5
    assert max(places) <= n - 0.5 + 1e-9


@pytest.mark.parametrize("below", ["viridis", "magma", "RdBu_r"])
def test_a_border_is_to_be_seen_on_every_colour_of_a_map(below):
    def luminance(colour):
        linear = np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)
        return linear @ (0.2126, 0.7152, 0.0722)

    fig, (ax,) = base.figure(size=(3, 3))
    base.heat(ax, np.linspace(0, 1, 256)[None], cmap=below)
    ax.set_axis_off()
    borders.edge(ax, 0, "y", width=2)
    image = pixels(fig) / 255
    drawn = image[image.shape[0] // 2]
    light, dark = luminance(drawn).max(), luminance(drawn).min()
    assert (light, dark) == (1, 0), "dashes of white and black"
    colours = luminance(colormaps[below](np.linspace(0, 1, 256))[:, :3])
    contrast = np.maximum(1.05 / (colours + 0.05), (colours + 0.05) / 0.05)
    assert contrast.min() >= 4.5


@pytest.mark.parametrize(("shape", "inches"), [((165, 165), 1.6), ((128, 170), 1.6), ((7, 9), 1)])
def test_each_entry_of_a_large_matrix_has_as_many_pixels_as_any_other(tmp_path, shape, inches):
    fig, (ax,) = base.figure(size=(inches + 0.5, inches + 0.5))
    striped = np.indices(shape).sum(axis=0) % 2
    base.heat(ax, striped, cmap="gray", aspect="equal" if shape[0] == shape[1] else "auto")
    base.save(fig, str(tmp_path / "x"))
    box = ax.get_window_extent()
    each = np.array([box.width / shape[1], box.height / shape[0]])
    if min(shape) < 40:  # too few to make a pattern
        assert box.width > 0.7 * inches * base.DPI
    else:
        assert each.round(6).tolist() == [2, 2]
        assert [box.x0, box.y0] == pytest.approx(np.round([box.x0, box.y0]))


def test_72_classes_have_looks_of_their_own_and_eight_have_colours_and_markers_of_their_own():
    looks = [base.style(i) for i in range(72)]
    assert len({(look["color"], look["marker"]) for look in looks}) == 72
    assert len({look["marker"] for look in looks[:8]}) == 8
    assert len({look["color"] for look in looks[:8]}) == 8


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
    diagram.draw(ax, task_of(12), d_model=16, n_heads=2, d_head=8, d_mlp=24)
    text = " ".join(t.get_text() for t in ax.texts)
    for size in ("13 × 16", "16 × 8", "8 × 16", "16 × 24", "24 × 16", "16 × 12", "2 attention"):
        assert size in text
    assert not blank(fig)


@pytest.mark.parametrize(("n", "shown"), [(165, "c^\\sharp"), (12, "u(c)^{-1}")])
def test_the_schematic_has_no_local_inverse_where_some_class_has_none(ax, n, shown):
    diagram.draw(ax, task_of(n), 16, 2, 8, 24)
    assert shown in " ".join(text.get_text() for text in ax.texts)


def test_no_text_is_below_seven_points(ax):
    diagram.draw(ax, task_of(12), 16, 2, 8, 24)
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
    for suffix in ("pdf", "svg", "png"):
        assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()
    pdf = (tmp_path / "a.pdf").read_bytes()
    assert b"CreationDate" not in pdf
    sides = re.findall(rb"/(?:Width|Height) (\d+)", pdf)
    assert [*map(int, sides)] == [5, 5], "one pixel for each entry"
    png = (tmp_path / "a.png").read_bytes()
    assert int.from_bytes(png[16:20], "big") == base.DPI * base.COLUMN
    assert {path.name for path in tmp_path.iterdir()} == {
        f"{x}.{y}" for x in "ab" for y in ("pdf", "png", "svg")
    }


def test_a_panel_below_a_matrix_keeps_to_its_columns(tmp_path):
    fig, (top, bottom) = base.figure(2, 1, (4, 3), sharex=True)
    base.heat(top, np.eye(50))
    bottom.plot(np.arange(50))
    base.save(fig, str(tmp_path / "x"))
    above, below = top.get_window_extent(), bottom.get_window_extent()
    assert (above.x0, above.x1) == pytest.approx((below.x0, below.x1))
    assert above.width / 50 == pytest.approx(round(above.width / 50))


def test_a_class_has_a_mark_at_each_of_its_epochs_and_none_where_it_has_none(ax):
    times = {"FVE": np.array([np.nan, 300.0]), "R²": np.array([100.0, 200.0])}
    dynamics.arrivals(ax, [15, 1], ["", "made of J_15"], times)
    labelled = [line for line in ax.lines if not str(line.get_label()).startswith("_")]
    marks = [[(x, round(y)) for x, y in own if np.isfinite(x)] for own in map(points, labelled)]
    assert marks == [[(300, 1)], [(100, 0), (200, 1)]]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first class on top
    shaded = [patch.get_extents().height for patch in ax.patches]
    assert len(shaded) == 1
    assert [(x.get_text(), x.get_position()[1]) for x in ax.texts] == [("made of J_15", 1)]


def test_every_run_has_a_dot_at_its_value_around_its_kind(ax):
    kinds = [np.array([0.2, 0.4, 0.6]), np.array([0.5])]
    hollow = [np.array([False, True, False]), np.array([False])]
    accounts.dots(ax, kinds, hollow, "S", look=0, shift=0.2)
    accounts.ceilings(ax, [0.9, 0.8])
    accounts.kinds(ax, ["165", "154"])
    filled, empty = (np.array(points(line)) for line in ax.lines)
    assert filled[:, 1].tolist() == [0.2, 0.6, 0.5] and empty[:, 1].tolist() == [0.4]
    x = np.append(filled[:2, 0], empty[:, 0])
    assert np.isclose(x.mean(), 0.2) and np.isclose(filled[2, 0], 1.2)
    assert len(set(x.tolist())) == 3
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["165", "154"]
    base.owner(ax).draw_without_rendering()
