"""What is drawn by number is drawn apart, and igloos of a measured box are such as it has."""

from __future__ import annotations

import numpy as np
import pytest

from companion.lab.physics import draws
from companion.lab.physics.ranges import Ranges


def test_no_generator_is_another_ones_whatever_the_zeros() -> None:
    numbers = [(7,), (7, 0), (7, 0, 0), (7, 0, 0, 0), (7, 1), (7, 1, 0), (7, 1, 0, 0)]
    first = {float(draws.generator(*one).random()) for one in numbers}
    first.add(float(np.random.default_rng([7, 1]).random()))
    assert len(first) == len(numbers) + 1


def test_the_first_hand_says_nothing_of_its_igloo() -> None:
    pairs = [draws.pair(5, number) for number in range(300)]
    igloos = np.array([(one.bead_m, one.shell_kg, one.radius_m, one.friction[0]) for one, _ in pairs])
    hands = np.array([(hand.tempo_hz, hand.peak_g, hand.grip.kg, hand.grip.hz) for _, hand in pairs])
    together = np.corrcoef(igloos.T, hands.T)[:4, 4:]
    assert np.abs(together).max() < 0.22  # 0.55 between beads and strength where they shared a generator


MEASURED = {"bead_mm": (7.9, 8.1), "shell_g": (20.0, 22.0), "cap_g": (9.0, 10.0), "inner_mm": (47.0, 48.0)}


def test_igloos_of_a_measured_box_are_such_as_it_has_and_the_rest_stays_open() -> None:
    ranges = Ranges().of_box(MEASURED | {"height_mm": (26.0, 27.0), "bead_g": (0.66, 0.69)})
    igloos = [draws.pair(6, number, 0, ranges)[0] for number in range(60)]
    for one in igloos:
        assert 0.0079 <= one.bead_m <= 0.0081 and 0.0235 <= one.radius_m <= 0.024
        assert 0.029 <= one.shell_kg <= 0.032 and one.place == "cap-below"
        assert 0.026 - 0.024 <= one.wall_m <= 0.027 - 0.0235
        # both were measured between two values: a bead may weigh what these allow together
        grams = one.bead_density * np.pi / 6 * one.bead_m**3 * 1000
        assert 0.66 * (7.9 / 8.1) ** 3 <= grams <= 0.69 * (8.1 / 7.9) ** 3
    bounces = [one.restitution[0] for one in igloos]
    assert min(bounces) < 0.75 and max(bounces) > 0.92


def test_a_scale_alone_tells_how_wide_a_bead_of_glass_is() -> None:
    low, high = Ranges().of_box({"bead_g": (0.66, 0.68)}).bead_mm
    assert 7.8 < low < high < 8.2


def test_beads_that_fill_a_small_igloo_make_it_a_larger_one() -> None:
    ranges = Ranges().of_box({"bead_mm": (8.0, 8.0)})
    assert all(
        not ranges.too_full(0.008, one.radius_m, one.wall_m)
        for one, _ in (draws.pair(8, n, 0, ranges) for n in range(40))
    )


@pytest.mark.parametrize(
    ("measured", "why"),
    [
        ({"lid_g": (1.0, 2.0)}, "lid_g is not measured of a box"),
        ({"shell_g": (22.0, 20.0)}, "shell_g: the first value"),
        ({"shell_g": (0.0, 20.0)}, "shell_g: the first value"),
        ({"shell_g": (20.0, float("nan"))}, "shell_g: the first value"),
        ({"bead_mm": (12.0, 13.0)}, "do not rattle"),
        ({"height_mm": (10.0, 11.0), "inner_mm": (24.0, 25.0), "bead_mm": (7.0, 8.0)}, "do not rattle"),
    ],
)
def test_a_box_that_cannot_be_is_refused_in_a_sentence(measured: dict[str, tuple[float, float]], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Ranges().of_box(measured)
