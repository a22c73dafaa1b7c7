"""Simulator A put together: a device, a hand's path and a number of beads give a recording."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from companion.lab.physics import beads, contact, people, sensor
from companion.lab.physics.hand import CONTROL_HZ, HandPath, rotate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.lab.physics.ranges import Device, Grip, ShakerHabits

    FloatArray = NDArray[np.float64]

SETTLE_S = 0.15
"""Beads fall and come to rest for so long before a recording begins."""


@dataclass(frozen=True, slots=True)
class SensorRecording:
    """What the sensor of one igloo said: ``accel`` (n, 3) in LSB of ``ug_per_lsb`` µg, at the true ``rate_hz``."""

    accel: NDArray[np.int16]
    rate_hz: float
    ug_per_lsb: float
    count: int

    @property
    def g(self) -> FloatArray:
        """The samples in g."""
        scaled: FloatArray = self.accel.astype(np.float64) * (self.ug_per_lsb * 1e-6)
        return scaled


@dataclass(frozen=True, slots=True)
class BeadWorld:
    """Everything the inner loop works on, in SI units; the arrays change as it runs."""

    par: FloatArray
    path: FloatArray
    radius: FloatArray
    mass: FloatArray
    pos: FloatArray
    vel: FloatArray
    rot: FloatArray
    shell: FloatArray
    bricks: FloatArray
    bumps: FloatArray
    modes: FloatArray
    sensor_at: FloatArray
    sensor_matrix: FloatArray
    filters: FloatArray

    def run(self, samples: int, *, trace: bool = False) -> tuple[FloatArray, FloatArray]:
        """Run for so many samples; return what the sensor feels (samples, 3) in m/s², and the trace or nothing."""
        out = np.zeros((samples, 3))
        seen = np.zeros((samples if trace else 0, len(self.radius) + 1, 6))
        beads.simulate(
            self.par, self.path, self.radius, self.mass, self.pos, self.vel, self.rot, self.shell, self.bricks,
            self.bumps, self.modes, self.sensor_at, self.sensor_matrix, self.filters, out, seen,
        )  # fmt: skip
        return out, seen


def scene(
    device: Device, grip: Grip, path: HandPath, radii: FloatArray, *, gravity: float = beads.GRAVITY
) -> BeadWorld:
    """Set the scene: the shell where the path begins, the beads stacked inside it without touching.

    ``radii`` (n,) in m, as :meth:`Device.beads` draws them.
    """
    radii = np.asarray(radii, dtype=np.float64)
    mass = device.bead_density * 4 / 3 * np.pi * radii**3
    sub = int(np.ceil(1 / (device.rate_hz * beads.LONGEST_STEP)))
    shell = np.zeros(13)
    shell[:3] = path.position[0]
    shell[6:10] = path.turn[0] / np.linalg.norm(path.turn[0])
    return BeadWorld(
        par=_parameters(device, grip, sub, gravity),
        path=path.rows(),
        radius=radii,
        mass=mass,
        pos=_stack(device, radii, path),
        vel=np.zeros((len(radii), 3)),
        rot=np.zeros((len(radii), 3)),
        shell=shell,
        bricks=np.array(device.bricks, dtype=np.float64).reshape(-1, 4),
        bumps=np.array(device.bumps, dtype=np.float64).reshape(-1, 4),
        modes=np.array(
            [[2 * np.pi * m.hz, m.damping, 1 / m.mass, *m.direction, *m.dome, *m.floor, 0.0, 0.0] for m in device.modes]
        ).reshape(len(device.modes), 17),
        sensor_at=np.asarray(device.sensor_at) - np.array([0.0, 0.0, device.middle_m]),
        sensor_matrix=sensor.axes(device),
        filters=sensor.lowpass(device.cutoff_hz, device.rate_hz * sub),
    )


def record(device: Device, grip: Grip, path: HandPath, count: int, rng: np.random.Generator) -> SensorRecording:
    """Simulate a whole path; the beads settle first, in a hand or on a table that does not move yet."""
    settling = HandPath(
        *(np.repeat(part[:1], int(SETTLE_S * CONTROL_HZ) + 1, axis=0) for part in _parts(path)),
    )
    whole = HandPath(*(np.concatenate([a, b]) for a, b in zip(_parts(settling), _parts(path), strict=True)))
    world = scene(device, grip, whole, device.beads(count, rng))
    skip = int(SETTLE_S * device.rate_hz)
    felt, _ = world.run(skip + int(path.seconds * device.rate_hz))
    return SensorRecording(
        accel=sensor.digitise(device, felt[skip:] / beads.GRAVITY, rng),
        rate_hz=device.rate_hz,
        ug_per_lsb=sensor.UG_PER_LSB,
        count=count,
    )


def shake(
    device: Device, person: ShakerHabits, count: int, seconds: float, rng: np.random.Generator
) -> SensorRecording:
    """Simulate one shake by a person of an igloo with ``count`` beads, in the hand from beginning to end.

    >>> from companion.lab.physics.ranges import Ranges
    >>> rng = np.random.default_rng(5)
    >>> device, person = Ranges().device(rng), Ranges().person(rng)
    >>> one = shake(device, person, 4, 0.2, np.random.default_rng(9))
    >>> two = shake(device, person, 4, 0.2, np.random.default_rng(9))
    >>> bool((one.accel == two.accel).all())
    True
    """
    path = people.shake(person, seconds, rng)
    return record(device, person.grip, path, count, rng)


def _parts(path: HandPath) -> tuple[FloatArray, ...]:
    """Return the arrays of a path in the order of its fields."""
    return path.position, path.turn, path.grip, path.table, path.push


def _parameters(device: Device, grip: Grip, sub: int, gravity: float) -> FloatArray:
    """Lay the scalars out for the inner loop."""
    par = np.zeros(beads.PARAMETERS)
    bead = device.bead_density * np.pi / 6 * device.bead_m**3
    law = device.hertz, device.viscous
    k_beads, c_beads, deep_beads = contact.contact_for(bead / 2, device.restitution[0], device.contact_s[0], *law)
    k_floor, c_floor, deep_floor = contact.contact_for(bead, device.restitution[1], device.contact_s[1], *law)
    k_dome, c_dome, deep_dome = contact.contact_for(bead, device.restitution[2], device.contact_s[2], *law)
    held = device.shell_kg + grip.kg
    inertia = device.inertia
    hand_inertia = grip.kg * 0.02**2
    swing = 2 * np.pi * grip.turn_hz
    beat = 2 * np.pi * grip.hz
    turned = max(inertia) + hand_inertia
    # the igloo's plastic on a table or a board: some 2 ms of contact, little bounce
    foot_spring = device.shell_kg * (np.pi / 0.002) ** 2
    values = {
        beads.DT: 1 / (device.rate_hz * sub),
        beads.SUB: sub,
        beads.CONTROL_DT: 1 / CONTROL_HZ,
        beads.RADIUS: device.radius_m,
        beads.WALL: device.wall_m,
        beads.MIDDLE: device.middle_m,
        beads.DOOR: device.door_m,
        beads.DOOR_X: np.cos(device.door_azimuth),
        beads.DOOR_Y: np.sin(device.door_azimuth),
        beads.OUTER: device.radius_m + device.thickness_m,
        beads.BASE: device.thickness_m,
        beads.SHELL_KG: device.shell_kg,
        beads.INERTIA_X: inertia[0],
        beads.INERTIA_Y: inertia[1],
        beads.INERTIA_Z: inertia[2],
        beads.HAND_KG: grip.kg,
        beads.HAND_INERTIA: hand_inertia,
        beads.SPRING: held * beat**2,
        beads.DAMPER: 2 * grip.damping * beat * held,
        beads.TURN_SPRING: turned * swing**2,
        beads.TURN_DAMPER: 2 * grip.turn_damping * swing * turned,
        beads.K_BEADS: k_beads,
        beads.C_BEADS: c_beads,
        beads.MU_BEADS: device.friction[0],
        beads.K_FLOOR: k_floor,
        beads.C_FLOOR: c_floor,
        beads.MU_FLOOR: device.friction[1],
        beads.K_DOME: k_dome,
        beads.C_DOME: c_dome,
        beads.MU_DOME: device.friction[2],
        beads.ROLLING: device.rolling,
        beads.FOOT_SPRING: foot_spring / 3,
        beads.FOOT_DAMPER: 0.9 * np.sqrt(foot_spring * device.shell_kg) / 3,
        beads.FOOT_FRICTION: 0.35,
        beads.GRAVITY_AT: gravity,
        beads.HERTZ: device.hertz,
        beads.VISCOUS: device.viscous,
        beads.DEEP_BEADS: deep_beads,
        beads.DEEP_FLOOR: deep_floor,
        beads.DEEP_DOME: deep_dome,
    }
    for place, value in values.items():
        par[place] = value
    return par


def _stack(device: Device, radii: FloatArray, path: HandPath) -> FloatArray:
    """Return places (n, 3) inside the shell where no bead touches another: spread on a spiral, then pushed apart."""
    n = len(radii)
    reach = radii * 1.01
    k = np.arange(n) + 0.5
    far = (device.radius_m - device.door_m) * 0.7 * np.sqrt(k / max(n, 1))
    golden = k * np.pi * (3 - np.sqrt(5))
    rows = np.column_stack([far * np.cos(golden), far * np.sin(golden), reach * (1 + (np.arange(n) % 3))])
    door = np.array([np.cos(device.door_azimuth), np.sin(device.door_azimuth)])
    bricks = np.array(device.bricks, dtype=np.float64).reshape(-1, 4)
    bumps = np.array(device.bumps, dtype=np.float64).reshape(-1, 4)
    for _ in range(3000):
        apart = rows[:, None] - rows[None]
        length = np.linalg.norm(apart, axis=2) + np.eye(n)
        overlap = np.maximum(reach[:, None] + reach[None] - length, 0) * (1 - np.eye(n))
        rows += 0.5 * (apart / length[..., None] * overlap[..., None]).sum(axis=1)
        rows[:, 2] = np.maximum(rows[:, 2], reach)
        if device.door_m:
            behind = rows[:, :2] @ door - (device.radius_m - device.door_m - reach)
            rows[:, :2] -= np.maximum(behind, 0)[:, None] * door
        from_middle = rows - np.column_stack([np.zeros((n, 2)), np.minimum(rows[:, 2], device.wall_m)])
        length = np.linalg.norm(from_middle, axis=1)
        rows -= from_middle * (np.maximum(length - (device.radius_m - reach), 0) / (length + 1e-9))[:, None]
        inside = 0.0
        for brick in bricks:
            missing = np.maximum(brick[3] + reach - rows @ brick[:3], 0)
            inside = max(inside, float(missing.max(initial=0.0)))
            rows += missing[:, None] * brick[:3]
        for bump in bumps:
            away = rows - bump[:3]
            length = np.linalg.norm(away, axis=1)
            missing = np.maximum(bump[3] + reach - length, 0)
            inside = max(inside, float(missing.max(initial=0.0)))
            rows += away * (missing / length)[:, None]
        if max(overlap.max(initial=0.0), inside) < 0.005 * device.bead_m:
            break
    else:
        raise ValueError(f"{n} beads of {1e3 * device.bead_m:.1f} mm do not fit into this shell.")
    local = rows - np.array([0.0, 0.0, device.middle_m])
    placed: FloatArray = rotate(np.broadcast_to(path.turn[0], (n, 4)), local) + path.position[0]
    return placed
