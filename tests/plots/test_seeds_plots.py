"""Small multiples: each panel shows its run's data on the common scale, or says why not."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Text

from strata import monoid
from strata.measure.accuracy import Accuracy
from strata.measure.metrics import Metrics
from strata.plots import base, seeds
from strata.run import Run

DONE = Metrics.model_construct(
    finite=True, generalised=True, accuracy=Accuracy.model_construct(validation=1.0)
)


@pytest.fixture
def ax():
    _, (ax,) = base.figure()
    return ax


def test_a_panel_names_its_run(ax):
    assert seeds.begun(ax, Run(113, 7), DONE)
    assert ax.get_title() == "$n$ = 113, seed 7" and not ax.texts


def test_a_run_that_did_not_generalise_says_so_in_red_and_is_drawn(ax):
    accuracy = Accuracy.model_construct(validation=0.34)
    measured = DONE.model_copy(update={"generalised": False, "accuracy": accuracy})
    assert seeds.begun(ax, Run(113, 7), measured)
    assert ax.get_title().endswith("\nnot generalised: 34% right")
    assert to_hex(ax.title.get_color()).upper() == base.RED


def test_a_run_that_diverged_has_a_word_in_place_of_a_picture(ax):
    diverged = DONE.model_copy(update={"finite": False, "generalised": False})
    assert not seeds.begun(ax, Run(113, 7), diverged)
    assert [text.get_text() for text in ax.texts] == ["diverged"] and not ax.axison


@pytest.mark.parametrize("down", [False, True])
@pytest.mark.parametrize("n", [2, 113, 165])
def test_a_map_is_drawn_as_it_is_with_the_borders_of_its_classes(ax, n, down):
    x = np.random.default_rng(n).random((n, n))
    image = seeds.class_map(ax, x, down=down)
    assert np.array_equal(np.ma.asarray(image.get_array()), x) and image.get_clim() == (0, 1)
    classes = np.gcd(monoid.algebraic_order(n), n)
    ends = {i + 0.5 for i in np.flatnonzero(np.diff(classes))}
    below = {float(line.get_ydata()[0]) for line in ax.lines[len(ends) :]}
    across = {float(line.get_xdata()[0]) for line in ax.lines[: len(ends)]}
    assert below == across == ends
    assert [text.get_text() for text in ax.texts].count(base.name(1)) == 1 + down


def test_spectra_stand_side_by_side_and_the_largest_classes_are_named(ax):
    blocks = {1: np.zeros((4, 79)), 3: np.zeros((4, 39)), 55: np.zeros((4, 1))}
    image = seeds.spectra(ax, blocks, -2)
    starts = [shown.get_extent()[0] for shown in ax.images]
    assert len(starts) == 3 and starts == sorted(starts) and image.get_clim() == (-2, 0)
    assert [label.get_text() for label in ax.get_xticklabels()] == [base.name(1), base.name(3)]


def test_a_cloud_has_every_residue_on_a_scale_of_its_largest_coordinate(ax):
    points = 7 * np.random.default_rng(0).normal(size=(12, 3))
    solid = seeds.cloud(ax, points, 22, -50)
    drawn = (line.get_data_3d() for line in solid.lines)  # pyright: ignore
    found = np.concatenate([np.array(each).T for each in drawn])
    order = monoid.algebraic_order(12)
    assert np.allclose(found, points[order] / np.abs(points).max())
    assert solid.get_xlim() == solid.get_ylim() == (-1, 1)


def test_the_legend_has_a_line_for_each_class():
    _, (left, right) = base.figure(1, 2)
    solid = seeds.cloud(left, np.random.default_rng(0).normal(size=(12, 3)), 22, -50)
    seeds.legend(right, solid)
    entries = [text.get_text() for text in right.findobj(Text) if "J_" in text.get_text()]
    assert entries == [base.name(d) for d in (1, 2, 3, 4, 6, 12)]
