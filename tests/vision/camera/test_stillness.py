"""When a scene lies still, and whether it is a new one."""

from __future__ import annotations

from typing import Any

import numpy as np

from vision.camera.stillness import StillnessDetector, difference


def small(seed: int, *, lamp: int = 0, token: bool = False, hand: int | None = None) -> Any:
    """A small grey copy of a table with the noise of a camera."""
    rng = np.random.default_rng(seed)
    picture = np.full((120, 160), 120 + lamp) + rng.normal(0, 1.0, (120, 160))
    if token:
        picture[60:63, 80:83] += 40
    if hand is not None:
        picture[40:, hand : hand + 30] -= 60
    return np.clip(picture, 0, 255).astype(np.uint8)


def test_a_lamp_moves_nothing_a_token_does() -> None:
    assert difference(small(1), small(2, lamp=20)) < 10
    assert difference(small(1), small(2, token=True)) > 30


def test_a_scene_settles_when_the_hand_has_gone_and_is_new_once() -> None:
    scene = StillnessDetector(1.0)
    told = []
    for number in range(40):
        hand = 10 + 4 * number if 10 <= number < 20 else None
        told.append(scene.feed(number / 5, small(number, hand=hand, token=number >= 20)))
        if told[-1] and scene.new:
            scene.looked()
            assert number in (5, 26)
    assert not any(told[11:26]) and all(told[26:])
    scene.forget()
    assert scene.new
    scene.seconds = 0.2
    assert scene.seconds == 0.2
