"""When a scene lies still, and whether it is a new one."""

from __future__ import annotations

from typing import Any

import numpy as np

from vision.camera.stillness import SceneMemory, StillnessDetector, difference


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


def test_what_lies_unchanged_is_looked_at_a_few_times_and_then_seldom() -> None:
    memory, looks = SceneMemory[int](30.0, 3), iter(range(100))

    def see(at: float, seed: int, *, token: bool = False, anew: bool = False) -> int:
        return memory.see(at, small(seed, token=token), lambda: next(looks), anew=anew)

    assert [see(number, number) for number in range(6)] == [0, 1, 2, 2, 2, 2]
    assert see(6, 6, token=True) == 3, "something new lies there"
    assert [see(number, number, token=True) for number in range(7, 12)] == [4, 5, 5, 5, 5]
    assert see(12, 12, token=True, anew=True) == 6
    assert [see(at, 13, token=True) for at in (41, 42, 71)] == [6, 7, 7]
    assert see(40, 14, token=True) == 8, "a clock that goes back is another"
    memory.forget()
    assert see(61, 15, token=True) == 9


def test_a_difference_is_that_of_the_most_changed_spots_beside_what_changed_alike() -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        one, other = rng.integers(0, 256, (2, 7, int(rng.integers(1, 9))), np.uint8)
        change = one.astype(int) - other
        spots = np.sort(np.abs(change - int(np.median(change))), axis=None)
        assert difference(one, other) == spots[-4]
