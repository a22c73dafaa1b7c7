"""What happens to an igloo at a table: scripts of rest, lifting, carrying, shaking, peeking and mishaps, with labels.

A script is a hand's path and the truth about it, for training and testing the recognition of motion, and for the
movements of the simulated igloo. A label's state is a word of :class:`companion.ports.MotionState`; its times are
seconds from the beginning of the path.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from companion.lab.physics import people
from companion.lab.physics.hand import CONTROL_HZ, HandPath, ease, from_vector, multiply, tremor, wander
from companion.ports import MotionState

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.lab.physics.ranges import Device, ShakerHabits

    FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class HandlingLabel:
    """What was truly done: ``state`` from ``begin`` to ``end``, in seconds from the beginning."""

    state: MotionState
    begin: float
    end: float


@dataclass(frozen=True, slots=True)
class Episode:
    """Something done with an igloo: ``accel`` (n, 3) in g at ``rate_hz``, and the truth, pieces alike joined."""

    accel: FloatArray
    rate_hz: float
    truth: tuple[HandlingLabel, ...]


def joined(labels: list[HandlingLabel]) -> tuple[HandlingLabel, ...]:
    """Return labels in the order of time, those that say the same one after the other made one."""
    whole: list[HandlingLabel] = []
    for label in sorted(labels, key=lambda one: one.begin):
        if whole and whole[-1].state is label.state and label.begin - whole[-1].end < 0.05:
            whole[-1] = HandlingLabel(label.state, whole[-1].begin, label.end)
        else:
            whole.append(label)
    return tuple(whole)


class Script:
    """Writes a path piece by piece, always where the last piece ended.

    The igloo stands on the table at first. ``person`` gives tremor and shaking, ``device`` the height at which the
    centre of mass stands.
    """

    def __init__(self, device: Device, person: ShakerHabits, rng: np.random.Generator) -> None:
        self.rng = rng
        self.person = person
        self.standing = device.middle_m + device.thickness_m
        self.labels: list[HandlingLabel] = []
        self.weight = device.shell_kg * 9.80665
        self._place = np.array([0.0, 0.0, self.standing])
        self._turn = from_vector(np.array([0.0, 0.0, rng.uniform(0, 2 * np.pi)]))
        self._pieces: list[HandPath] = []
        self._steps = 0

    @property
    def now(self) -> float:
        """The seconds written so far."""
        return self._steps / CONTROL_HZ

    def path(self) -> HandPath:
        """Return the whole path."""
        names = ("position", "turn", "grip", "table", "push")
        return HandPath(*(np.concatenate([getattr(piece, name) for piece in self._pieces]) for name in names))

    def rest(self, seconds: float, *, restless: float = 0.0) -> None:
        """Leave it on the table, which people make tremble by ``restless`` g (rms, 8-30 Hz)."""
        n = self._length(seconds)
        table = np.zeros(n)
        if restless:
            t = np.arange(n) / CONTROL_HZ
            for _ in range(3):
                hz = self.rng.uniform(8.0, 30.0)
                swell = wander(n, 0.5, self.rng)[:, 0] * self._window(n)
                table += restless * 9.8 / (2 * np.pi * hz) ** 2 * swell * np.sin(2 * np.pi * hz * t)
        self._label(MotionState.REST, n)
        self._add(n, grip=np.zeros(n), table=table)

    def lift(self, height: float, seconds: float) -> None:
        """Take hold of it and lift it."""
        n = self._length(self.rng.uniform(0.06, 0.18))
        nudge = np.zeros((n, 3))
        nudge[:, :2] = np.sin(np.linspace(0, np.pi, n))[:, None] * self._flat(self.weight * self.rng.uniform(0, 0.25))
        self._extend(MotionState.REST, n)
        self._add(n, grip=ease(n), push=nudge)
        n = self._length(seconds)
        rise = self._place + np.concatenate([self._flat(height * self.rng.uniform(0, 0.8)), [height]])
        tilt = self.person.pose * self.rng.uniform(0.2, 1.0)
        self._label(MotionState.LIFTED, n)
        self._move(n, rise, self._tilted(tilt))

    def carry(self, distance: float, seconds: float) -> None:
        """Carry it over the table."""
        n = self._length(seconds)
        there = self._place + np.concatenate([self._flat(distance), [self.rng.uniform(-0.03, 0.05)]])
        there[2] = max(there[2], self.standing + 0.05)
        self._label(MotionState.CARRIED, n)
        self._move(n, there, self._tilted(self.person.pose * self.rng.uniform(0.1, 1.0)))

    def hold(self, seconds: float) -> None:
        """Hold it in the air."""
        n = self._length(seconds)
        self._label(MotionState.CARRIED, n)
        self._move(n, self._place, self._turn)

    def shake(self, seconds: float) -> None:
        """Shake it as the person does."""
        position, turn = people.shaking(self.person, seconds, self.rng, facing=self._facing())
        n = len(position)
        # it begins and ends in the place and the pose in which it is held
        turn = people.follow(self._turn, turn, self._window(n, 0.25)[:, None])
        self._label(MotionState.SHAKEN, n)
        self._add(n, position=self._place + position * self._window(n, 0.12)[:, None], turn=turn)

    def turn_over(self, degrees: float, seconds: float, look: float, *, back: bool = True) -> None:
        """Turn it by so many degrees to look at its bottom, look, and turn it back."""
        upright = self._turn
        n = self._length(seconds)
        start = self.now
        over = self._tilted(np.deg2rad(degrees), about=self._turn)
        self._move(n, self._place + self._near(0.03), over)
        seen = self._length(look)
        self._move(seen, self._place, self._turn)
        end = self.now
        # the truth: beyond 75°, which the eased turn passes at a known time
        share = float(np.searchsorted(ease(n), 75.0 / degrees)) / CONTROL_HZ
        if back:
            self._move(n, self._place + self._near(0.03), upright)
            end += seconds - share
        self.labels.append(HandlingLabel(MotionState.TURNED, start + share, end))

    def turn_back(self, seconds: float) -> None:
        """Turn it upright again."""
        self._move(self._length(seconds), self._place, from_vector(np.array([0.0, 0.0, self._facing()])))

    def set_down(self, seconds: float) -> None:
        """Set it down and let go."""
        n = self._length(seconds)
        there = self._place + np.concatenate([self._near(0.06)[:2], [0.0]])
        there[2] = self.standing
        self._extend(MotionState.CARRIED, n)
        self._move(n, there, from_vector(np.array([0.0, 0.0, self._facing()])))
        n = self._length(self.rng.uniform(0.08, 0.25))
        self._label(MotionState.SET_DOWN, n)
        self._add(n, grip=1 - ease(n))

    def knock(self) -> None:
        """Knock against it, or on the table beside it."""
        n = self._length(self.rng.uniform(0.12, 0.3))
        push = np.zeros((n, 3))
        table = np.zeros(n)
        width = int(self.rng.integers(4, 14))
        at = 20
        pulse = np.sin(np.linspace(0, np.pi, width)) ** 2
        if self.rng.random() < 0.5:
            # a finger: it gives the shell a speed of 5-25 cm/s, which friction stops soon
            impulse = self.weight / 9.80665 * self.rng.uniform(0.05, 0.25)
            direction = np.append(self._flat(1.0), self.rng.uniform(-0.3, 0.1))
            push[at : at + width] = pulse[:, None] * direction * impulse / (pulse.sum() / CONTROL_HZ)
        else:
            # a fist on the table: its top gives way by some tenths of a millimetre and rings
            t = np.arange(n - at) / CONTROL_HZ
            hz = self.rng.uniform(15.0, 60.0)
            give = self.rng.uniform(1.0, 4.0) * 9.8 / (2 * np.pi * hz) ** 2
            ring = np.exp(-t * self.rng.uniform(25.0, 60.0)) * np.sin(2 * np.pi * hz * t)
            table[at:] = -give * ring * np.minimum(t / 0.003, 1.0)
        self._label(MotionState.KNOCKED, n)
        self._add(n, grip=np.zeros(n), push=push, table=table)

    def drop(self, seconds: float = 1.0) -> None:
        """Let it fall; nobody picks it up again, so this ends a script."""
        n = self._length(seconds)
        grip = np.zeros(n)
        slip = int(self.rng.integers(12, 40))
        grip[:slip] = np.linspace(1, 0, slip)
        fall = np.sqrt(2 * max(self._place[2] - self.standing, 0.01) / 9.80665)
        begin = self.now + slip / CONTROL_HZ
        self.labels.append(HandlingLabel(MotionState.DROPPED, begin, begin + fall + 0.05))
        self._add(n, grip=grip)

    def _length(self, seconds: float) -> int:
        return max(int(seconds * CONTROL_HZ), 8)

    def _facing(self) -> float:
        """Return the turn about the upright, in rad."""
        return float(np.arctan2(self._turn[3], self._turn[0]) * 2)

    def _flat(self, length: float) -> FloatArray:
        angle = self.rng.uniform(0, 2 * np.pi)
        return length * np.array([np.cos(angle), np.sin(angle)])

    def _near(self, spread: float) -> FloatArray:
        return np.asarray(self.rng.normal(size=3) * spread * np.array([1.0, 1.0, 0.3]))

    def _tilted(self, angle: float, about: FloatArray | None = None) -> FloatArray:
        """Return a pose tilted by an angle about a level axis, from upright or from another pose."""
        axis = np.append(self._flat(angle), 0.0)
        base = from_vector(np.array([0.0, 0.0, self._facing() + self.rng.normal() * 0.3])) if about is None else about
        tilted: FloatArray = multiply(from_vector(axis), base)
        return tilted

    def _move(self, n: int, place: FloatArray, turn: FloatArray) -> None:
        """Reach from here to a place and a pose with the least jerk, with a hand's unsteadiness."""
        way = ease(n)[:, None]
        if float(turn @ self._turn) < 0:
            turn = -turn
        window = self._window(n, 0.1)[:, None]
        shiver = tremor(n, self.person.tremor_g, self.rng) + 0.0015 * wander(n, 0.6, self.rng, 3)
        turns = people.follow(self._turn, turn[None], way)
        turns = multiply(from_vector(0.02 * wander(n, 0.7, self.rng, 3) * window), turns)
        self._add(n, position=self._place + (place - self._place) * way + shiver * window, turn=turns)

    def _window(self, n: int, seconds: float = 0.08) -> FloatArray:
        """Return 0 at both ends and 1 between, smoothly."""
        x = np.minimum(np.arange(n), np.arange(n)[::-1]) / (seconds * CONTROL_HZ)
        x = np.clip(x, 0, 1)
        return np.asarray(x * x * (3 - 2 * x))

    def _label(self, state: MotionState, n: int) -> None:
        self.labels.append(HandlingLabel(state, self.now, self.now + n / CONTROL_HZ))

    def _extend(self, state: MotionState, n: int) -> None:
        """Make the last label longer where it says the same, or begin one."""
        if self.labels and self.labels[-1].state == state and abs(self.labels[-1].end - self.now) < 1e-6:
            self.labels[-1] = replace(self.labels[-1], end=self.now + n / CONTROL_HZ)
        else:
            self._label(state, n)

    def _add(
        self,
        n: int,
        *,
        position: FloatArray | None = None,
        turn: FloatArray | None = None,
        grip: FloatArray | None = None,
        table: FloatArray | None = None,
        push: FloatArray | None = None,
    ) -> None:
        if position is None:
            position = np.broadcast_to(self._place, (n, 3)).copy()
        if turn is None:
            turn = np.broadcast_to(self._turn, (n, 4)).copy()
        piece = HandPath(
            position,
            turn,
            np.ones(n) if grip is None else grip,
            np.zeros(n) if table is None else table,
            np.zeros((n, 3)) if push is None else push,
        )
        self._pieces.append(piece)
        self._place = position[-1]
        self._turn = turn[-1]
        self._steps += n


def play(script: Script, *, peek: bool = False, mishap: bool = False) -> None:
    """Write one turn at an igloo as in a round: taken, shaken, set down; perhaps with a peek, perhaps dropped."""
    rng = script.rng
    script.rest(rng.uniform(0.8, 2.5), restless=float(rng.choice([0.0, 0.0, rng.uniform(0.0005, 0.004)])))
    for _ in range(int(rng.integers(0, 3))):
        script.knock()
        script.rest(rng.uniform(0.6, 1.5))
    script.lift(rng.uniform(0.05, 0.30), rng.uniform(0.35, 1.0))
    peek_at = int(rng.integers(0, 3)) if peek else -1
    for round_ in range(int(rng.integers(1, 4)) if not peek else 3):
        if rng.random() < 0.6:
            script.carry(rng.uniform(0.05, 0.3), rng.uniform(0.4, 1.2))
        if rng.random() < 0.9:
            script.shake(rng.uniform(0.8, 4.0))
        if rng.random() < 0.6:
            script.hold(rng.uniform(0.3, 1.5))
        if round_ == peek_at:
            script.turn_over(rng.uniform(100, 180), rng.uniform(0.25, 0.9), rng.uniform(0.4, 2.0))
            script.hold(rng.uniform(0.3, 0.8))
    if mishap:
        if script.labels[-1].state is not MotionState.CARRIED:
            script.hold(rng.uniform(0.3, 0.8))
        script.drop()
        return
    script.set_down(rng.uniform(0.35, 1.0))
    script.rest(rng.uniform(1.0, 2.0))
