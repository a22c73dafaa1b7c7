"""What a hand does with an igloo, as smooth accelerations in g: for the simulated igloo, not for training.

Moves follow minimum-jerk paths (Flash & Hogan 1985), so the specific force has no step; the hand trembles a
little at 7 … 11 Hz. The sensor's z axis points up while the igloo stands; ``tilt`` (radians, about x) is how far it
is turned: pi is upside down.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

STANDARD_GRAVITY = 9.80665
NOISE_G = 0.012
"""The sensor's own noise, rms."""

TREMOR_G = 0.015
LIFT_M, LIFT_S = 0.22, 0.7
CARRY_M = 0.30
TURN_S = 0.8
SET_DOWN_S = 0.7
FADE_S = 0.12
TAPS, KAISER = 16, 8.0


def up(tilt: float | FloatArray) -> FloatArray:
    """Return what a resting sensor feels at a tilt: 1 g, shape (3,) or (n, 3)."""
    angle = np.asarray(tilt, dtype=np.float64)
    return np.stack([np.zeros_like(angle), np.sin(angle), np.cos(angle)], axis=-1)


def smooth(n: int) -> FloatArray:
    """Return a minimum-jerk path from 0 to 1 in n steps."""
    s = np.linspace(0.0, 1.0, n)
    return np.asarray(s**3 * (10.0 - 15.0 * s + 6.0 * s * s))


def push(n: int, metres: float, seconds: float) -> FloatArray:
    """Return the acceleration, in g, along a minimum-jerk path of so many metres."""
    s = np.linspace(0.0, 1.0, n)
    return np.asarray(metres / seconds**2 / STANDARD_GRAVITY * (60.0 * s - 180.0 * s**2 + 120.0 * s**3))


def resampled(felt: FloatArray, was_hz: float, rate_hz: float) -> FloatArray:
    """Return what a sensor of another rate would have given, (m, 3) for (n, 3); as it is where the rates are the same.

    By a sinc under a Kaiser window of so many samples to each side: nothing that is heard is lost or made up.
    """
    if was_hz == rate_hz:
        return felt
    at = np.arange(int((len(felt) - 1) * rate_hz / was_hz) + 1) * (was_hz / rate_hz)
    near = np.floor(at).astype(np.int64)[:, None] + np.arange(1 - TAPS, 1 + TAPS)
    off = at[:, None] - near
    weight = np.sinc(off) * np.i0(KAISER * np.sqrt(np.maximum(0.0, 1.0 - (off / TAPS) ** 2)))
    weight /= weight.sum(axis=1, keepdims=True)
    return np.asarray(np.einsum("nk,nkx->nx", weight, felt[near.clip(0, len(felt) - 1)]))


def rotation(source: FloatArray, target: FloatArray) -> FloatArray:
    """Return the smallest rotation that brings one direction to another (Rodrigues)."""
    a = source / max(float(np.linalg.norm(source)), 1e-9)
    b = target / max(float(np.linalg.norm(target)), 1e-9)
    v, c = np.cross(a, b), float(a @ b)
    if c < -0.999999:
        # Opposite: half a turn about any axis across.
        axis = np.cross(a, [1.0, 0.0, 0.0] if abs(a[0]) < 0.9 else [0.0, 1.0, 0.0])
        axis /= np.linalg.norm(axis)
        return np.asarray(2.0 * np.outer(axis, axis) - np.eye(3))
    k = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    return np.asarray(np.eye(3) + k + k @ k / (1.0 + c))


@dataclass(frozen=True, slots=True)
class Hand:
    """Makes the waveforms of one sensor, each (n, 3) in g, with noise and tremor from ``rng``."""

    rate: float
    rng: np.random.Generator

    def ring(self, n: int, start: int, peak_g: float, *, hz: float, decay_s: float) -> FloatArray:
        """Return a knock: a damped oscillation along a line, silent before sample ``start``."""
        t = np.arange(max(0, n - start)) / self.rate
        wave = np.zeros(n)
        wave[start:] = peak_g * np.exp(-t / decay_s) * np.sin(2.0 * pi * hz * t)
        return wave

    def noise(self, n: int) -> FloatArray:
        """Return the sensor's noise."""
        return self.rng.normal(0.0, NOISE_G, (n, 3))

    def tremor(self, n: int) -> FloatArray:
        """Return a trembling that is zero at both ends."""
        t = np.linspace(0.0, 1.0, n)
        seconds = n / self.rate
        cycles = np.maximum(1, np.rint(np.array([7.3, 8.9, 10.7]) * seconds))
        axes = self.rng.normal(0.0, TREMOR_G, (3, 3))
        return np.asarray(np.sin(2.0 * pi * t[:, None] * cycles) @ axes)

    def rest(self, tilt: float, seconds: float = 1.0) -> FloatArray:
        """Return lying still."""
        n = round(seconds * self.rate)
        return np.asarray(up(tilt) + self.noise(n))

    def hold(self, tilt: float, seconds: float = 2.0) -> FloatArray:
        """Return being held still, as far as a hand can; the end joins the beginning."""
        n = round(seconds * self.rate)
        return np.asarray(up(tilt) + self.tremor(n) + self.noise(n))

    def lift(self, tilt: float) -> FloatArray:
        """Return being taken up from the table."""
        n = round(LIFT_S * self.rate)
        sway = 0.06 * np.sin(pi * np.linspace(0.0, 1.0, n)) ** 2
        felt = up(tilt + sway) + push(n, LIFT_M, LIFT_S)[:, None] * up(tilt)
        return np.asarray(felt + self.tremor(n) + self.noise(n))

    def carry(self, tilt: float, seconds: float) -> FloatArray:
        """Return being carried to and fro over the table."""
        n = round(seconds * self.rate)
        half = n // 2
        way = np.concatenate([push(half, CARRY_M, seconds / 2.0), -push(n - half, CARRY_M, seconds / 2.0)])
        sway = 0.12 * np.sin(2.0 * pi * np.linspace(0.0, 1.0, n))
        felt = up(tilt + sway) + way[:, None] * np.array([0.9, 0.436, 0.0])
        return np.asarray(felt + self.tremor(n) + self.noise(n))

    def turn(self, tilt: float, to: float) -> FloatArray:
        """Return being turned over in the hand; the beads inside fall to the other side."""
        n = round(TURN_S * self.rate)
        angle = tilt + (to - tilt) * smooth(n)
        spin = np.gradient(angle) * self.rate
        felt = up(angle)
        felt[:, 2] -= 0.05 * spin**2 / STANDARD_GRAVITY  # the sensor sits 5 cm from the wrist's axis
        for _ in range(8):
            start = int(n * self.rng.uniform(0.4, 0.9))
            bead = self.ring(n, start, self.rng.uniform(0.1, 0.5), hz=900.0, decay_s=0.004)
            felt += bead[:, None] * self.rng.normal(0.0, 0.6, 3)
        return np.asarray(felt + self.tremor(n) + self.noise(n))

    def set_down(self, tilt: float) -> FloatArray:
        """Return being put onto the table, which is felt."""
        n, after = round(SET_DOWN_S * self.rate), round(0.25 * self.rate)
        way = np.concatenate([push(n, -LIFT_M, SET_DOWN_S), np.zeros(after)])
        way += self.ring(n + after, n, 1.4, hz=140.0, decay_s=0.014)
        felt = up(tilt) + way[:, None] * up(tilt)
        felt[:n] += self.tremor(n)
        return np.asarray(felt + self.noise(n + after))

    def knock(self, tilt: float) -> FloatArray:
        """Return the table being knocked at, three times, while the igloo stands on it."""
        n = round(0.7 * self.rate)
        wave = np.zeros(n)
        for at in (0.05, 0.25, 0.45):
            wave += self.ring(n, round(at * self.rate), self.rng.uniform(0.4, 0.8), hz=120.0, decay_s=0.008)
        return np.asarray(up(tilt) + wave[:, None] * np.array([0.2, 0.1, 1.0]) + self.noise(n))

    def shake(self, stored: list[FloatArray], tilt: float, seconds: float) -> FloatArray:
        """Return stored shakes (felt upright), one after the other, turned to a tilt and faded into each other."""
        n, fade = round(seconds * self.rate), round(FADE_S * self.rate)
        out = np.tile(up(tilt), (n, 1))
        sin, cos = float(np.sin(tilt)), float(np.cos(tilt))
        about_x = np.array([[1.0, 0.0, 0.0], [0.0, cos, sin], [0.0, -sin, cos]])
        at = 0
        for wave in stored:
            turned = wave @ about_x.T
            part = turned[: n - at]
            weight = np.ones(len(part))
            ramp = smooth(min(fade, len(part) // 2))
            weight[: len(ramp)] = ramp
            weight[len(part) - len(ramp) :] = ramp[::-1]
            out[at : at + len(part)] += (part - up(tilt)) * weight[:, None]
            at += max(1, len(turned) - fade)
            if at >= n:
                break
        return out
