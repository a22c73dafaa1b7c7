"""Handling by other laws than those that the motion detector was written with.

Reaches are not of least jerk: their speed is a skewed bell (the sigma-lognormal model of R. Plamondon 1995), or they
start and stop abruptly. Speeds, heights and pauses are wider, hands tremble more or hardly, tables are softer and
harder, sensors run at 800, 1600 or 3200 Hz with offsets of 40 mg and scales 3 % off, and a part of the line is lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from companion.igloo.motion.detector import MotionDetector
from companion.lab.physics import beads, draws, handling, people, sensor, world
from companion.lab.physics.hand import CONTROL_HZ, HandPath, from_vector, multiply, tremor, wander
from companion.lab.physics.ranges import Ranges
from companion.ports import DeviceKind, MotionState, Samples

FloatArray = NDArray[np.float64]
SETTLE_S = 0.15


def way(n: int, rng: np.random.Generator) -> FloatArray:
    """Return a way from 0 to 1 in n steps: a skewed bell of speed, or a trapezium with corners of 60 ms."""
    if rng.random() < 0.7:
        s = np.linspace(1e-3, 1.0, n)
        middle, width = rng.uniform(0.3, 0.55), rng.uniform(0.2, 0.45)
        speed = np.exp(-0.5 * (np.log(s / middle) / width) ** 2) / s
        speed *= np.clip((1 - s) / 0.15, 0, 1) * np.clip(s / 0.08, 0, 1)
    else:
        corner = max(3, min(int(0.06 * CONTROL_HZ), n // 4))
        speed = np.ones(n)
        speed[:corner] = np.linspace(0, 1, corner)
        speed[-corner:] = np.linspace(1, 0, corner)
    gone = np.cumsum(speed)
    return np.asarray(gone / gone[-1])


class OtherScript(handling.Script):
    """A script whose reaches follow other laws; ``shiver`` multiplies the person's tremor."""

    shiver = 1.0

    def _move(self, n: int, place: FloatArray, turn: FloatArray) -> None:
        gone = way(n, self.rng)[:, None]
        if float(turn @ self._turn) < 0:
            turn = -turn
        window = self._window(n, 0.1)[:, None]
        unsteady = tremor(n, self.shiver * self.person.tremor_g, self.rng) + 0.003 * wander(n, 0.9, self.rng, 3)
        turns = people.follow(self._turn, turn[None], way(n, self.rng)[:, None])
        turns = multiply(from_vector(0.03 * wander(n, 0.5, self.rng, 3) * window), turns)
        self._add(n, position=self._place + (place - self._place) * gone + unsteady * window, turn=turns)

    def turn_over(self, degrees: float, seconds: float, look: float, *, back: bool = True) -> None:
        """As the other, but the truth is read from the path that was written."""
        start, first = self.now, len(self._pieces)
        upright = self._turn
        self._move(self._length(seconds), self._place, self._tilted(np.deg2rad(degrees), about=self._turn))
        self._move(self._length(look), self._place, self._turn)
        if back:
            self._move(self._length(seconds), self._place, upright)
        turns = np.concatenate([piece.turn for piece in self._pieces[first:]])
        x, y = turns[:, 1], turns[:, 2]
        over = np.flatnonzero(1 - 2 * (x * x + y * y) < np.cos(np.deg2rad(75.0)))
        begin, end = start + over[0] / CONTROL_HZ, start + over[-1] / CONTROL_HZ
        self.labels.append(handling.HandlingLabel(MotionState.TURNED, begin, end if back else self.now))


def play(script: handling.Script, *, peek: bool = False, mishap: bool = False) -> None:
    """Write a turn at an igloo with other speeds, heights and pauses."""
    rng = script.rng
    script.rest(rng.uniform(0.8, 3.0), restless=float(rng.choice([0.0, rng.uniform(0.001, 0.006)])))
    for _ in range(int(rng.integers(0, 4))):
        script.knock()
        script.rest(rng.uniform(0.7, 2.0))
    script.lift(rng.uniform(0.04, 0.45), rng.uniform(0.25, 1.5))
    peek_at = int(rng.integers(0, 3)) if peek else -1
    for turn in range(3):
        if rng.random() < 0.6:
            script.carry(rng.uniform(0.03, 0.6), rng.uniform(0.3, 2.0))
        if rng.random() < 0.7:
            script.shake(rng.uniform(0.8, 5.0))
        if rng.random() < 0.6:
            script.hold(rng.uniform(0.3, 3.0))
        if turn == peek_at:
            script.turn_over(rng.uniform(100, 180), rng.uniform(0.2, 1.6), rng.uniform(0.3, 3.0))
            script.hold(rng.uniform(0.5, 1.0))
    if mishap:
        script.hold(rng.uniform(0.5, 1.0))
        script.drop()
        return
    script.set_down(rng.uniform(0.25, 1.5))
    script.rest(rng.uniform(1.0, 3.0))


def episodes(seed: int, count: int, *, peeks: bool = True, drops: bool = True) -> Iterator[handling.Episode]:
    """Simulate so many turns, each with a sensor, a table and a hand of its own."""
    ranges = Ranges()
    for number in range(count):
        rng = draws.generator(seed, number, 1)
        device = ranges.device(rng, nominal_hz=float(rng.choice([800.0, 1600.0, 3200.0])))
        device = replace(
            device,
            offset_g=tuple(float(value) for value in rng.uniform(-0.04, 0.04, 3)),
            gain=tuple(float(value) for value in rng.uniform(0.97, 1.03, 3)),
        )
        person = ranges.person(rng)
        script = OtherScript(device, person, rng)
        script.shiver = float(np.exp(rng.uniform(np.log(0.4), np.log(2.0))))
        play(script, peek=peeks and number % 3 == 1, mishap=drops and number % 3 == 2)
        hardness = float(np.exp(rng.uniform(np.log(0.3), np.log(3.0))))
        felt = _record(device, person.grip, script.path(), int(rng.integers(2, 14)), hardness, rng)
        yield handling.Episode(felt, device.rate_hz, handling.joined(script.labels))


def _record(
    device: Any, grip: Any, path: HandPath, count: int, hardness: float, rng: np.random.Generator
) -> FloatArray:
    """Return what the sensor feels, in g; the foot under the igloo is so many times as hard as simulator A's."""
    still = int(SETTLE_S * CONTROL_HZ) + 1
    parts = (path.position, path.turn, path.grip, path.table, path.push)
    whole = HandPath(*(np.concatenate([np.repeat(part[:1], still, axis=0), part]) for part in parts))
    scene = world.scene(device, grip, whole, device.beads(count, rng))
    scene.par[beads.FOOT_SPRING] *= hardness
    scene.par[beads.FOOT_DAMPER] *= np.sqrt(hardness)
    skip = int(SETTLE_S * device.rate_hz)
    felt, _ = scene.run(skip + int(path.seconds * device.rate_hz))
    return np.asarray(sensor.digitise(device, felt[skip:] / beads.GRAVITY, rng) * (sensor.UG_PER_LSB * 1e-6))


def detections(
    episode: handling.Episode, rng: np.random.Generator, *, lost: float = 0.002
) -> list[tuple[MotionState, float]]:
    """Return what the detector tells, with when; of portions of 5 ms such a part never arrives."""
    detector = MotionDetector("varied", DeviceKind.SIMULATED)
    answers: list[tuple[MotionState, float]] = []
    portion = max(4, round(0.005 * episode.rate_hz))
    gap = 0
    for start in range(0, len(episode.accel), portion):
        part = episode.accel[start : start + portion]
        if rng.random() < lost:
            gap += len(part)
            continue
        run = Samples(part, start / episode.rate_hz, episode.rate_hz, start, gap)
        gap = 0
        now = (start + len(part)) / episode.rate_hz
        answers += [(motion.state, now) for motion in detector.feed(run)]
    return answers
