"""What is drawn by number is drawn apart: no hand and no shake shares the generator of its igloo."""

from __future__ import annotations

import numpy as np

from companion.lab.physics import draws


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
