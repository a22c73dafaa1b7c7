"""Hands that follow the page: a motion that is shown and timed, done as well as people do it.

A guided hand keeps time with a metronome and its amplitude by a gauge, but it remains a hand: its grip is as wide a
prior as any, tempo and amplitude stray a little, the direction is not quite upright. The spreads stand in
:class:`Strays`, for they are assumptions, not measurements.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from companion.lab.physics.hand import CONTROL_HZ, HandPath, from_vector, held, multiply, rotate, tremor, wander

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.lab.physics.ranges import ShakerHabits

    FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Design:
    """A motion to be guided: ``travel_m`` is the amplitude (half of the whole way), ``tilt`` the turn's, in rad.

    ``axis`` is ``up``, ``side`` or ``turn`` (about a lying axis through the igloo's middle). ``shape`` is ``sine``,
    ``tap`` (a short jerk each beat) or ``flip`` (from upright by the whole ``tilt`` and back, with rests between).
    """

    name: str
    axis: str
    tempo_hz: float
    travel_m: float = 0.0
    tilt: float = 0.0
    shape: str = "sine"


BOUNCE = Design("up and down", "up", 5.0, 0.02)
"""The motion that the page guides."""
DESIGNS = (
    BOUNCE,
    Design("up and down, faster", "up", 6.5, 0.014),
    Design("up and down, slower", "up", 3.5, 0.035),
    Design("side to side", "side", 5.0, 0.02),
    Design("slow, side to side", "side", 2.0, 0.05),
    Design("gentle", "up", 5.0, 0.005),
    Design("rolling", "turn", 1.0, 0.0, 0.6),
    Design("turning over", "turn", 0.7, 0.0, 1.9),
    Design("tapping", "up", 2.0, 0.010, 0.0, "tap"),
    Design("flipping", "turn", 0.4, 0.0, float(np.pi), "flip"),
    Design("up and down, wider", "up", 5.0, 0.03),
    Design("up and down, smaller", "up", 5.0, 0.013),
)


@dataclass(frozen=True, slots=True)
class Strays:
    """How far guided hands stray, as standard deviations; relative where not said."""

    tempo_person: float = 0.01
    tempo_shake: float = 0.01
    tempo_jitter: float = 0.015
    travel_person: float = 0.12
    travel_shake: float = 0.06
    travel_jitter: float = 0.08
    axis: float = 0.08  # rad
    pose: float = 0.1  # rad
    ellipse: float = 0.25  # of what this person has when free
    rock: float = 0.25  # of the same, cut at 3 degrees


def guided(
    person: ShakerHabits,
    seconds: float,
    habit: np.random.Generator,
    rng: np.random.Generator,
    design: Design = BOUNCE,
    strays: Strays | None = None,
) -> HandPath:
    """Return the path of one guided shake; ``habit`` draws what is this person's own, ``rng`` what is this shake's.

    A generator ``habit`` of the same seed gives the same person's habits.
    """
    strays = strays or Strays()
    n = int(seconds * CONTROL_HZ) + 2
    t = np.arange(n) / CONTROL_HZ
    tempo = design.tempo_hz * np.exp(strays.tempo_person * habit.normal() + strays.tempo_shake * rng.normal())
    size = np.exp(strays.travel_person * habit.normal() + strays.travel_shake * rng.normal())
    leaning = strays.axis * habit.normal(size=3)
    lag = np.pi / 2 + habit.normal()

    rhythm = tempo * np.exp(strays.tempo_jitter * wander(n, 1.2 / tempo, rng)[:, 0])
    phase = 2 * np.pi * np.cumsum(rhythm) / CONTROL_HZ + rng.uniform(0, 2 * np.pi)
    strength = np.exp(strays.travel_jitter * wander(n, 1.5 / tempo, rng)[:, 0])
    swell = np.clip(np.minimum(t / 0.15, (seconds - t) / 0.08), 0, 1)
    strength *= size * swell * swell * (3 - 2 * swell)
    wave = (
        np.sin(phase)
        + 0.5 * person.lopsided / 4 * np.sin(2 * phase + habit.uniform(0, 2 * np.pi))
        + 0.5 * person.sharpness / 9 * np.sin(3 * phase + habit.uniform(0, 2 * np.pi))
    )
    if design.shape == "tap":
        wave = (0.5 + 0.5 * np.cos(phase)) ** 12
    side = np.array([np.cos(person.azimuth), np.sin(person.azimuth), 0.0])
    main = side if design.axis == "side" else np.array([0.0, 0.0, 1.0])
    main = _unit(main + leaning + 0.04 * rng.normal(size=3))
    across = _unit(np.cross(main, habit.normal(size=3)))
    oval = strays.ellipse * person.ellipse * np.sin(phase + lag)
    travel = design.travel_m * strength[:, None]
    position = travel * (wave[:, None] * main + oval[:, None] * across)

    rock = min(strays.rock * person.rock, np.deg2rad(3.0)) if design.axis != "turn" else design.tilt
    axis = _unit(np.cross([0.0, 0.0, 1.0], across + 0.3 * habit.normal(size=3)))
    turned = strength * np.sin(phase + 0.4 * habit.normal())
    if design.shape == "flip":
        turned = swell * swell * (3 - 2 * swell) * (0.5 + 0.5 * np.tanh(4 * np.sin(phase)))
    swing = rock * turned[:, None] * axis
    swing = swing + 0.01 * wander(n, 0.8, rng, 3)
    lean = person.azimuth + 0.5 * habit.normal()
    pose = from_vector(strays.pose * abs(habit.normal()) * np.array([np.cos(lean), np.sin(lean), 0.0]))
    upright = from_vector(np.array([0.0, 0.0, rng.uniform(0, 2 * np.pi)]))
    rocking = from_vector(swing)
    turn = multiply(rocking, np.broadcast_to(multiply(pose, upright), (n, 4)))
    if design.axis != "turn":
        lever = _unit(habit.normal(size=3) + np.array([0.0, 0.0, 0.4])) * person.lever_m
        position = position + rotate(rocking, lever) - lever
    position = position + 0.002 * wander(n, 1.0, rng, 3) + tremor(n, person.tremor_g, rng)
    return held(position, turn)


def _unit(vector: FloatArray) -> FloatArray:
    """Return a vector of length 1."""
    unit: FloatArray = vector / np.linalg.norm(vector)
    return unit
