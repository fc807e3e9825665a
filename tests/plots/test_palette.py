"""The palette: verdicts are told apart, by the colour-blind too, and a colour means one thing."""

import itertools

import numpy as np
import pytest

from strata.plots import palette

# Machado, Oliveira and Fernandes, 2009, severity 1: what is seen, in linear light.
SEEN = {
    "usual": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                   [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                     [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                   [0.004733, 0.691367, 0.3039]],
}  # fmt: skip
XYZ = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175],
       [0.0193339, 0.119192, 0.9503041]]  # fmt: skip
GROUNDS = ("#ffffff", "#15171a")


def linear(colour: str) -> np.ndarray:
    x = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4)


def lab(colour: str, seen: str) -> np.ndarray:
    """CIELAB, D65."""
    light = np.clip(np.array(SEEN[seen]) @ linear(colour), 0, 1)
    t = np.array(XYZ) @ light / [0.95047, 1, 1.08883]
    f = np.where(t > (6 / 29) ** 3, np.cbrt(t), t / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("seen", SEEN)
@pytest.mark.parametrize("ground", [0, 1])
def test_verdicts_are_told_apart_whoever_looks(ground, seen):
    for one, other in itertools.combinations([x[ground] for x in palette.VERDICTS], 2):
        assert np.linalg.norm(lab(one, seen) - lab(other, seen)) >= 30, (one, other)


@pytest.mark.parametrize("seen", ["usual", "protanopia", "deuteranopia"])
def test_eight_classes_have_colours_that_differ_for_colour_blind_readers_too(seen):
    apart = [
        np.linalg.norm(lab(one, seen) - lab(other, seen))
        for one, other in itertools.combinations(palette.CLASSES, 2)
    ]
    assert len(palette.CLASSES) == 8 and min(apart) > 15  # a difference of 2 is just seen


@pytest.mark.parametrize("ground", [0, 1])
def test_a_prime_can_be_written_in_its_colour(ground):
    paper = linear(GROUNDS[ground]) @ XYZ[1] + 0.05
    for colours in palette.PRIMES.values():
        ink = linear(colours[ground]) @ XYZ[1] + 0.05
        assert max(ink / paper, paper / ink) >= 4.5


def test_a_colour_means_one_thing():
    roles = [*palette.PRIMES.values(), *palette.VERDICTS]
    every = [x.lower() for own in roles for x in own] + [x.lower() for x in palette.CLASSES]
    assert len({*every}) == len(every)
