"""What moves like a shaken igloo and is none, and that shaken beads are none of it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from companion.igloo.count import signal_validity as said
from companion.igloo.count.counter import Counter, active_blocks, count_recording
from companion.igloo.count.features import FeatureStream
from companion.igloo.count.not_a_shake import why_not_a_shake
from companion.igloo.simulated import BANK
from companion.lab.soak import absurd_values
from companion.ports import DeviceKind, Samples

FloatArray = NDArray[np.float64]

with np.load(BANK, allow_pickle=False) as _bank:
    SHAKES = _bank["accel"] * (float(_bank["ug_per_lsb"]) * 1e-6)
    RATE = float(_bank["rate_hz"])
T = np.arange(round(4 * RATE)) / RATE
AXIS = np.array([0.3, -0.5, 0.8124])


def blocks(accel: FloatArray, rate: float = RATE) -> list[NDArray[np.float32]]:
    stream = FeatureStream(rate)
    stream.feed(accel)
    there = active_blocks(stream.cells)
    return [sound for sound, use in zip(stream.sounds, there, strict=True) if use][-25:]


def moved(wave: FloatArray, seed: int = 1, noise: float = 0.02) -> FloatArray:
    """Return samples (n, 3) in steps of 7.8 mg of something that moves along one axis, upright."""
    rng = np.random.default_rng(seed)
    accel = np.array([0.0, 0.0, 1.0]) + wave[:, None] * AXIS + rng.normal(0, noise, (len(wave), 3))
    return np.asarray(np.round(accel / 0.0078125) * 0.0078125)


def wandering(hz: float, jitter: float, seed: int = 2) -> FloatArray:
    """Return the phase of a rhythm that wanders as a hand's does."""
    rng = np.random.default_rng(seed)
    knots = np.interp(T, np.arange(0, 5, 0.3), rng.normal(size=17))
    return np.asarray(2 * np.pi * np.cumsum(hz * (1 + jitter * knots)) / RATE)


@pytest.mark.parametrize("rate", [RATE, RATE / 2, RATE / 4])
def test_shaken_beads_are_no_impostor(rate: float) -> None:
    factor = round(RATE / rate)
    assert {why_not_a_shake(blocks(shake[::factor], rate)) for shake in SHAKES[::2]} == {""}


@pytest.mark.parametrize("noise", [0.008, 0.035])
@pytest.mark.parametrize(("hz", "g"), [(1.8, 0.8), (4.0, 2.7), (7.0, 3.5)])
def test_a_swing_without_beads(hz: float, g: float, noise: float) -> None:
    swing = moved(g * np.sin(wandering(hz, 0.06)), noise=noise)
    assert why_not_a_shake(blocks(swing)) == said.NO_BEADS
    answer = count_recording(swing, RATE)
    assert (answer.state, answer.why, answer.p) == ("not-a-shake", said.NO_BEADS, ())


def test_one_bump_makes_no_beads() -> None:
    swing = moved(2.5 * np.sin(wandering(4.0, 0.06)))
    swing[6000:6010] += 3.0 * np.random.default_rng(1).normal(size=(10, 3))
    assert why_not_a_shake(blocks(swing)) == said.NO_BEADS


@pytest.mark.parametrize("hz", [30.0, 50.0, 60.0, 137.0])
def test_a_hum_is_none_with_a_swing_or_without(hz: float) -> None:
    hum = 1.2 * np.sin(2 * np.pi * hz * T) + 0.5 * np.sin(6 * np.pi * hz * T + 1)
    swung = moved(hum + 2.0 * np.sin(wandering(4.0, 0.06)))
    assert why_not_a_shake(blocks(swung)) in {said.HUM, said.LOOP}
    assert count_recording(swung, RATE).p == ()
    assert count_recording(moved(hum), RATE).p == ()


@pytest.mark.parametrize("form", [lambda a: np.sign(np.sin(a)), lambda a: 2 * (a / (2 * np.pi) % 1) - 1])
def test_a_square_and_a_saw(form: Callable[[FloatArray], FloatArray]) -> None:
    assert why_not_a_shake(blocks(moved(3.5 * form(2 * np.pi * 4.1 * T)))) == said.LOOP
    assert count_recording(moved(3.5 * form(2 * np.pi * 4.1 * T)), RATE).p == ()


def test_jerks_that_come_irregularly() -> None:
    jerks = moved(3.5 * np.sign(np.sin(wandering(3.0, 0.15))))
    assert why_not_a_shake(blocks(jerks)) == said.JERKS
    assert count_recording(jerks, RATE).p == ()


@pytest.mark.parametrize("seconds", [0.13, 0.4, 1.1])
def test_the_same_piece_for_ever(seconds: float) -> None:
    piece = SHAKES[17][3000 : 3000 + round(seconds * RATE)]
    loop = np.tile(piece, (40, 1))[: len(T)]
    assert why_not_a_shake(blocks(loop)) == said.LOOP


@pytest.mark.parametrize("frame", [8, 16, 32])
def test_samples_in_reverse(frame: int) -> None:
    found = []
    for shake in SHAKES[2:30:6]:
        whole = shake[: len(shake) // frame * frame]
        found.append(why_not_a_shake(blocks(whole.reshape(-1, frame, 3)[:, ::-1].reshape(-1, 3))))
    assert found.count(said.SHUFFLED) >= (4 if frame > 8 else 2)
    assert set(found) <= {said.SHUFFLED, ""}


@pytest.mark.parametrize("what", list(absurd_values.SHAKE_LIKE))
def test_nothing_wrong_in_a_shakes_own_way_is_counted(what: str) -> None:
    (found,) = absurd_values.absurd({what: absurd_values.SHAKE_LIKE[what]}, seed=7)
    assert found.counted == 0, found.said
    assert any(why.endswith(".") and why[0].isupper() for why in found.said)


@pytest.mark.parametrize(("scale", "wrong"), [(0.5, True), (2.0, True), (1.12, False), (0.9, False)])
def test_the_scale_is_known_from_rest(scale: float, wrong: bool) -> None:
    shake = SHAKES[14]
    up = shake.mean(axis=0) / np.linalg.norm(shake.mean(axis=0))
    rest = up + np.random.default_rng(3).normal(0, 0.012, (round(0.7 * RATE), 3))
    whole = np.concatenate([rest, shake, rest]) * scale
    assert (count_recording(whole, RATE).why == said.NOT_ONE_G) == wrong
    counter, told = Counter("scale", DeviceKind.SIMULATED), []
    for start in range(0, len(whole), 64):
        answer = counter.feed(Samples(whole[start : start + 64], start / RATE, RATE, start))
        if answer is not None:
            told.append(answer)
    assert any(answer.state == "counted" for answer in told) != wrong
    assert any(answer.why == said.NOT_ONE_G for answer in told) == wrong
