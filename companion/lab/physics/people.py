"""How people shake: from a person's habits to one shake's path."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from companion.lab.physics.beads import GRAVITY
from companion.lab.physics.hand import CONTROL_HZ, HandPath, from_vector, held, multiply, rotate, tremor, wander

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.lab.physics.ranges import ShakerHabits

    FloatArray = NDArray[np.float64]


def shake(person: ShakerHabits, seconds: float, rng: np.random.Generator, *, still: float = 0.0) -> HandPath:
    """Return the path of one shake of ``seconds``, after ``still`` seconds of holding, about a person's habits."""
    position, turn = shaking(person, seconds, rng, still=still)
    return held(position, turn)


def shaking(
    person: ShakerHabits,
    seconds: float,
    rng: np.random.Generator,
    *,
    still: float = 0.0,
    ramp: float = 0.15,
    facing: float | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return position (n, 3) and turn (n, 4) of a shake that swells within ``ramp`` seconds and ebbs at its end.

    ``facing`` is the igloo's turn about the upright in rad, drawn where it is not given.
    """
    n = int((still + seconds) * CONTROL_HZ) + 2
    t = np.arange(n) / CONTROL_HZ
    tempo = person.tempo_hz * np.exp(rng.normal() * 0.08)
    peak = person.peak_g * np.exp(rng.normal() * 0.15) * GRAVITY

    # rhythm and strength wander; the phase is the integral of the rhythm
    rhythm = tempo * np.exp(person.tempo_jitter * wander(n, 1.2 / tempo, rng)[:, 0])
    phase = 2 * np.pi * np.cumsum(rhythm) / CONTROL_HZ + rng.uniform(0, 2 * np.pi)
    strength = np.exp(person.travel_jitter * wander(n, 1.5 / tempo, rng)[:, 0])
    inside = np.minimum((t - still) / ramp, (still + seconds - t) / 0.08)
    strength *= _envelope(np.clip(inside, 0, 1), person.pauses, t, rng)

    main, across = _axes(person, rng)
    travel = np.clip(peak / (2 * np.pi * tempo) ** 2, *person.travel_m)
    wave = (
        np.sin(phase)
        + person.lopsided / 4 * np.sin(2 * phase + rng.uniform(0, 2 * np.pi))
        + person.sharpness / 9 * np.sin(3 * phase + rng.uniform(0, 2 * np.pi))
    )
    swirl = 0.9 if "swirling" in person.styles else person.ellipse
    lag = np.pi / 2 + rng.normal() * (0.2 if "swirling" in person.styles else 1.0)
    position = travel * strength[:, None] * (wave[:, None] * main + swirl * np.sin(phase + lag)[:, None] * across)

    # turning that goes with it, about a wrist or an elbow
    tilt_axis = np.cross([0.0, 0.0, 1.0], across + 0.3 * rng.normal(size=3))
    tilt_axis /= np.linalg.norm(tilt_axis) + 1e-12
    twist_part = strength * np.sin(phase + rng.uniform(0, 2 * np.pi))
    rock_part = strength * np.sin(phase + rng.normal() * 0.6)
    # a wrist cannot turn as fast as it likes: some 25 rad/s at the most, nor swing its lever beyond some 3 g
    beat = 2 * np.pi * tempo
    limit = min(25.0 / beat, 3.0 * GRAVITY / (person.lever_m * beat * beat))
    swing = (
        min(person.rock, limit) * rock_part[:, None] * tilt_axis
        + min(person.twist, limit) * twist_part[:, None] * np.array([0.0, 0.0, 1.0])
        + 0.03 * wander(n, 0.8, rng, 3)
    )
    lean = person.azimuth + rng.normal() * 0.5
    pose = from_vector(person.pose * np.exp(rng.normal() * 0.2) * np.array([np.cos(lean), np.sin(lean), 0.0]))
    facing = rng.uniform(0, 2 * np.pi) if facing is None else facing
    upright = from_vector(np.array([0.0, 0.0, facing]))
    rocking = from_vector(swing)
    turn = multiply(rocking, np.broadcast_to(multiply(pose, upright), (n, 4)))
    lever = _unit(rng.normal(size=3) + np.array([0.0, 0.0, 0.4])) * person.lever_m
    position = position + rotate(rocking, lever) - lever
    position = position + 0.003 * wander(n, 1.0, rng, 3) + tremor(n, person.tremor_g, rng)
    return position, turn


def follow(base: FloatArray, turn: FloatArray, share: FloatArray) -> FloatArray:
    """Return the way (n, 4) from the pose ``base`` (4,) towards ``turn`` (n or 1, 4), gone by ``share`` (n, 1)."""
    back = base * np.array([1.0, -1.0, -1.0, -1.0])
    apart = multiply(turn, np.broadcast_to(back, turn.shape))
    apart = apart * np.where(apart[:, :1] < 0, -1.0, 1.0)
    length = np.linalg.norm(apart[:, 1:], axis=1, keepdims=True)
    angle = 2 * np.arctan2(length, apart[:, :1])
    vector = apart[:, 1:] / np.maximum(length, 1e-12) * angle
    way: FloatArray = multiply(from_vector(vector * share), np.broadcast_to(base, (len(share), 4)))
    return way


def _envelope(strength: FloatArray, pauses: float, t: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return the strength over time (n,), with pauses of 0.15-0.5 s, rounded at its corners."""
    for _ in range(int(rng.poisson(pauses * float((strength > 0).sum()) / CONTROL_HZ))):
        middle, half = rng.uniform(t[0], t[-1]), rng.uniform(0.08, 0.25)
        strength = np.minimum(strength, np.clip((np.abs(t - middle) - half) / 0.06 + 1, 0.02, 1))
    return strength * strength * (3 - 2 * strength)


def _axes(person: ShakerHabits, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return the main direction of a shake and one across it, by the person's styles."""
    style = person.styles[int(rng.integers(len(person.styles)))]
    side = np.array([np.cos(person.azimuth), np.sin(person.azimuth), 0.0])
    up = np.array([0.0, 0.0, 1.0])
    fore = np.cross(up, side)
    main = {
        "up-down": up,
        "to-and-fro": fore,
        "slanted": _unit(up + rng.choice([-1.0, 1.0]) * side * rng.uniform(0.4, 1.6)),
    }.get(style, side)
    main = _unit(main + 0.15 * rng.normal(size=3))
    across = np.cross(main, rng.normal(size=3))
    if style == "swirling":
        across = np.cross(up, main)
    return main, _unit(across)


def _unit(vector: FloatArray) -> FloatArray:
    """Return a vector of length 1."""
    unit: FloatArray = vector / np.linalg.norm(vector)
    return unit
