"""What a hand wants: paths of place and turn, and the little unsteadiness of every hand.

A path is sampled at 1000 Hz. Quaternions are (w, x, y, z) and turn the igloo's own axes (z up through the dome)
into the world's (z up).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

CONTROL_HZ = 1000.0


@dataclass(frozen=True, slots=True)
class HandPath:
    """Where a hand wants the igloo's centre of mass, how turned and how firmly held, over n control steps.

    ``position`` (n, 3) in m, ``turn`` (n, 4), ``grip`` (n,) 0…1, ``table`` (n,) the table's height in m, ``push``
    (n, 3) a force on the shell from elsewhere in N.
    """

    position: FloatArray
    turn: FloatArray
    grip: FloatArray
    table: FloatArray
    push: FloatArray

    @property
    def seconds(self) -> float:
        """How long the path is."""
        return (len(self.position) - 1) / CONTROL_HZ

    def rows(self) -> FloatArray:
        """Return the path with its slopes, laid out for the inner loop, shape (n, 23)."""
        turn = steady(self.turn)
        step = np.gradient(turn, axis=0)
        # spin = 2 · dq/dt · conjugate(q)
        spin = 2 * multiply(step * CONTROL_HZ, turn * np.array([1.0, -1.0, -1.0, -1.0]))[:, 1:]
        slope = np.gradient(self.position, axis=0)
        table_slope = np.gradient(self.table)
        return np.ascontiguousarray(
            np.column_stack(
                [self.position, slope, turn, step, spin, self.grip, self.table, table_slope, self.push],
            )
        )


def held(position: FloatArray, turn: FloatArray) -> HandPath:
    """Return a path in a firm hand, far above any table."""
    n = len(position)
    return HandPath(position, turn, np.ones(n), np.full(n, -10.0), np.zeros((n, 3)))


def multiply(a: FloatArray, b: FloatArray) -> FloatArray:
    """Multiply quaternions, shapes (…, 4); ``b`` turns first."""
    aw, ax, ay, az = np.moveaxis(a, -1, 0)
    bw, bx, by, bz = np.moveaxis(b, -1, 0)
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=-1,
    )


def from_vector(vector: FloatArray) -> FloatArray:
    """Return the quaternions (…, 4) of rotation vectors (…, 3) in rad."""
    angle = np.linalg.norm(vector, axis=-1, keepdims=True)
    half = 0.5 * angle
    scale = np.where(angle > 1e-9, np.sin(half) / np.maximum(angle, 1e-9), 0.5)
    return np.concatenate([np.cos(half), vector * scale], axis=-1)


def rotate(turn: FloatArray, vector: FloatArray) -> FloatArray:
    """Turn vectors (…, 3) by quaternions (…, 4)."""
    w = turn[..., :1]
    u = turn[..., 1:]
    vector = np.broadcast_to(vector, u.shape)
    return vector + 2 * np.cross(u, np.cross(u, vector) + w * vector)


def matrix(turn: FloatArray) -> FloatArray:
    """Return the rotation matrix (3, 3) of one quaternion."""
    return rotate(np.broadcast_to(turn, (3, 4)), np.eye(3)).T.copy()


def steady(turn: FloatArray) -> FloatArray:
    """Return unit quaternions whose sign does not jump from one to the next."""
    turn = turn / np.linalg.norm(turn, axis=-1, keepdims=True)
    flips = np.cumsum(np.sum(turn[1:] * turn[:-1], axis=-1) < 0) % 2
    turn[1:][flips == 1] *= -1
    return turn


def wander(n: int, seconds: float, rng: np.random.Generator, columns: int = 1) -> FloatArray:
    """Return smooth noise (n, columns) of unit variance that changes over about ``seconds``."""
    width = max(seconds * CONTROL_HZ, 1.0)
    knots = int(n / width) + 4
    values = rng.normal(size=(knots, columns))
    at = np.arange(n) / width + 1 + rng.uniform(0, 0.999)
    at = np.minimum(at, knots - 2.001)
    i = at.astype(np.int64)
    s = (at - i)[:, None]
    # cubic B-spline: smooth in its second derivative, so that the hand's acceleration has no steps
    weights = ((1 - s) ** 3, 3 * s**3 - 6 * s**2 + 4, -3 * s**3 + 3 * s**2 + 3 * s + 1, s**3)
    mixed: FloatArray = np.sum([weight * values[i - 1 + k] for k, weight in enumerate(weights)], axis=0) / 6
    mixed /= np.sqrt(0.4794)  # the variance of the spline's weights, averaged over s
    return mixed


def tremor(n: int, rms_g: float, rng: np.random.Generator) -> FloatArray:
    """Return a hand's tremor as displacements (n, 3) in m: 6 to 12 Hz, of this acceleration."""
    t = np.arange(n) / CONTROL_HZ
    total = np.zeros((n, 3))
    for _ in range(3):
        hz = rng.uniform(6.0, 12.0)
        strength = rms_g * 9.80665 / (2 * np.pi * hz) ** 2 * np.sqrt(2.0 / 3.0)
        swell = 1 + 0.5 * wander(n, 0.7, rng)
        phase = 2 * np.pi * (hz * t + 0.15 * np.cumsum(wander(n, 0.4, rng)[:, 0]) / CONTROL_HZ * hz)
        direction = rng.normal(size=3)
        direction /= np.linalg.norm(direction)
        total += strength * swell * np.sin(phase + rng.uniform(0, 2 * np.pi))[:, None] * direction
    return total


def ease(n: int) -> FloatArray:
    """Return the way of a reach from 0 to 1 in n steps with the least jerk (Flash & Hogan 1985)."""
    s = np.linspace(0.0, 1.0, n)
    return s**3 * (10 - 15 * s + 6 * s * s)
