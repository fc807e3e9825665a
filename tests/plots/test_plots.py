"""Each panel shows what it is given: stars, boundaries, names, pixels, and what went wrong."""

import re
from math import gcd

import numpy as np
import pytest
from matplotlib.colors import to_hex

from strata import monoid
from strata.measure.accuracy import Accuracy
from strata.measure.metrics import Metrics
from strata.plots import base, borders, seeds, spectra
from strata.run import Run


@pytest.fixture
def ax():
    _, (ax,) = base.figure()
    return ax


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
    first, second = (np.ma.asarray(image.get_array()) for image in ax.images)
    assert np.argwhere(np.ma.getmaskarray(first)).tolist() == [[0, 0]]
    assert not np.ma.getmaskarray(second).any()
    assert max(first.max(), second.max()) <= 1 and ax.images[0].get_clim() == (0, 1)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("$k_{11}$", "$k_5$")
    assert [text.get_text() for text in ax.texts] == ["$k_3$ = 0", "$k_3$ = 1"]


@pytest.mark.parametrize(("n", "axis"), [(2, "x"), (12, "y"), (165, "x"), (180, "y")])
def test_lines_stand_between_classes_and_names_beside_them_in_order(ax, n, axis):
    classes = monoid.classes(n)
    d, sizes = [J.d for J in classes], [len(J) for J in classes]
    base.heat(ax, np.eye(n))
    borders.class_axis(ax, d, sizes, axis, gap=0.08)
    ends = [np.asarray(line.get_xydata())[0, "xy".index(axis)] for line in ax.lines]
    order = monoid.algebraic_order(n)
    assert ends == [i - 0.5 for i in range(1, n) if gcd(order[i], n) != gcd(order[i - 1], n)]
    names = [text.get_text() for text in ax.texts]
    if len(d) <= 12:
        assert names == [base.name(x) for x in d]
    assert len(names) == min(len(d), 12) and base.name(d[int(np.argmax(sizes))]) in names
    divisors = {base.name(x): x for x in d}
    inside = [np.array([text.xy]).ravel()["xy".index(axis)] for text in ax.texts]  # pyright: ignore
    assert [gcd(order[round(x)], n) for x in inside] == [divisors[text] for text in names]
    places = [text.get_position()["xy".index(axis)] for text in ax.texts]
    assert (np.diff(places) >= 0.08 * n - 1e-9).all() and min(places) >= -0.5
    assert max(places) <= n - 0.5 + 1e-9


def test_each_entry_of_a_large_matrix_has_as_many_pixels_as_any_other(tmp_path):
    fig, (ax,) = base.figure(size=(2.1, 2.1))
    base.heat(ax, np.indices((128, 170)).sum(axis=0) % 2, cmap="gray", aspect="auto")
    base.save(fig, str(tmp_path / "x"))
    box = ax.get_window_extent()
    assert [round(box.width / 170, 6), round(box.height / 128, 6)] == [2, 2]
    assert [box.x0, box.y0] == pytest.approx(np.round([box.x0, box.y0]))


def test_a_run_that_did_not_generalise_or_diverged_says_so_where_its_picture_is(ax):
    accuracy = Accuracy.model_construct(validation=0.34)
    failed = Metrics.model_construct(finite=True, generalised=False, accuracy=accuracy)
    assert seeds.start_panel(ax, Run(113, 7), failed) and not ax.texts
    assert ax.get_title() == "$n$ = 113, seed 7\nnot generalised: 34% right"
    assert to_hex(ax.title.get_color()).upper() == base.RED
    assert not seeds.start_panel(ax, Run(113, 7), failed.model_copy(update={"finite": False}))
    assert [text.get_text() for text in ax.texts] == ["diverged"] and not ax.axison


def test_a_saved_figure_has_its_width_and_one_pixel_for_each_entry(tmp_path):
    fig, (ax,) = base.figure(size=(base.COLUMN, 2))
    base.heat(ax, np.eye(5))
    png = base.save(fig, str(tmp_path / "a"))
    sides = re.findall(rb"/(?:Width|Height) (\d+)", (tmp_path / "a.pdf").read_bytes())
    assert [*map(int, sides)] == [5, 5]
    assert int.from_bytes(png.read_bytes()[16:20], "big") == base.DPI * base.COLUMN
