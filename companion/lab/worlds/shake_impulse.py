"""Simulator B: the same igloos and hands under another law of contact, for testing only, never for training.

Simulator A (`companion.lab.physics`) has soft spheres in a smooth dome. Here bodies are rigid: contacts are impulses
found by sweeps over all of them (projected Gauss-Seidel, as in E. Guendelman et al. 2003), with a restitution that
falls with speed, box friction, a dome of flat bricks, and modes of the shell that ring exactly. Device, hand and the
sensor's digits are drawn from the same ranges (`companion.lab.physics.ranges`).
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from companion.lab.physics import draws, people, sensor
from companion.lab.physics.beads import GRAVITY
from companion.lab.physics.contact import compiled
from companion.lab.physics.hand import CONTROL_HZ, HandPath
from companion.lab.physics.ranges import Device, Grip
from companion.lab.physics.world import SensorRecording, scene
from companion.ports import COUNTS

FloatArray = NDArray[np.float64]
SUB = 5
"""Steps to a sample: 16 000 a second."""
SWEEPS = 8
SETTLE_S = 0.15


def bricks(device: Device) -> FloatArray:
    """Return the planes of the inside as rows (nx, ny, nz, d, is floor): a bead's centre has n·x >= d + radius.

    In the igloo's frame with the floor at 0: the floor, twelve upright walls (the one at the door farther in), and two
    rings of slanted bricks under a flat top.
    """
    rows = [[0.0, 0.0, 1.0, 0.0, 1.0]]
    radius = device.radius_m
    for k in range(12):
        angle = device.door_azimuth + k * np.pi / 6
        inset = device.door_m if k == 0 else 0.0
        rows.append([-np.cos(angle), -np.sin(angle), 0.0, -(radius - inset), 0.0])
        for up in (0.5, 1.05):
            turned = angle + (np.pi / 12 if up < 1 else 0.0)
            n = np.array([np.cos(turned) * np.cos(up), np.sin(turned) * np.cos(up), np.sin(up)])
            rows.append([*(-n), -(radius + n[2] * device.wall_m), 0.0])
    rows.append([0.0, 0.0, -1.0, -(device.wall_m + 0.98 * radius), 0.0])
    return np.asarray(rows)


def record(device: Device, grip: Grip, path: HandPath, count: int, rng: np.random.Generator) -> SensorRecording:
    """Simulate a hand's path, as `companion.lab.physics.world.record` does."""
    radii = device.beads(count, rng)
    settle = int(SETTLE_S * CONTROL_HZ) + 1
    parts = (path.position, path.turn, path.grip, path.table, path.push)
    whole = HandPath(*(np.concatenate([np.repeat(p[:1], settle, axis=0), p]) for p in parts))
    start = scene(device, grip, whole, radii)
    skip = int(SETTLE_S * device.rate_hz)
    samples = skip + int(path.seconds * device.rate_hz)
    felt = np.zeros((samples, 3))
    step = 1 / (device.rate_hz * SUB)
    held = device.shell_kg + grip.kg
    inertia = np.asarray(device.inertia) + grip.kg * 0.02**2
    beat, swing = 2 * np.pi * grip.hz, 2 * np.pi * grip.turn_hz
    hand = np.array(
        [
            held * beat**2,
            2 * grip.damping * beat * held,
            inertia.max() * swing**2,
            2 * grip.turn_damping * swing * inertia.max(),
        ]
    )
    modes = np.array(
        [
            (
                *(2 * np.pi * m.hz * np.sqrt(1 - m.damping**2), 2 * np.pi * m.hz * m.damping, 1 / m.mass),
                *(*m.direction, *m.floor, *m.dome[:4]),
            )
            for m in device.modes
        ]
    )
    surface = np.array([*device.restitution, *device.friction, device.fall])
    _run(
        step, device.middle_m, held, inertia, hand, surface, whole.rows(), radii, start.mass, start.pos, bricks(device),
        modes, device.radius_m, start.sensor_at, start.sensor_matrix,
        sensor.lowpass(device.cutoff_hz, device.rate_hz * SUB), start.shell, felt,
    )  # fmt: skip
    return SensorRecording(
        sensor.digitise(device, felt[skip:] / GRAVITY, rng), device.rate_hz, sensor.UG_PER_LSB, count
    )


@compiled
def _run(
    dt: float,
    middle: float,
    held: float,
    inertia: FloatArray,
    hand: FloatArray,
    surface: FloatArray,
    path: FloatArray,
    radii: FloatArray,
    mass: FloatArray,
    pos: FloatArray,
    planes: FloatArray,
    modes: FloatArray,
    inner: float,
    sensor_at: FloatArray,
    sensor_matrix: FloatArray,
    filters: FloatArray,
    shell: FloatArray,
    out: FloatArray,
) -> None:
    """Run; ``out`` (samples, 3) gets what the sensor feels, m/s²."""
    n = radii.shape[0]
    vel = np.zeros((n, 3))
    spin = np.zeros((n, 3))
    place = np.array([shell[0], shell[1], shell[2]])
    speed = np.zeros(3)
    turn = np.zeros(3)  # the shell's spin, world frame
    q = np.array([shell[6], shell[7], shell[8], shell[9]])
    most = n * planes.shape[0] + n * n
    who = np.zeros((most, 2), dtype=np.int64)
    normal = np.zeros((most, 3))
    arm = np.zeros((most, 3))  # from the shell's centre of mass, for contacts with it
    goal = np.zeros(most)
    inverse = np.zeros(most)
    pressed = np.zeros(most)
    rubbed = np.zeros((most, 3))
    spot = np.zeros((most, 3))
    on_floor = np.zeros(most)
    ring = np.zeros((modes.shape[0], 2))
    state = np.zeros((3, 2, 2))
    m = np.zeros((3, 3))
    before, before_turn, x, e, twist, own, felt = (
        np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3),
    )  # fmt: skip
    g = np.zeros(4)
    for sample in range(out.shape[0]):
        for _part in range(SUB):
            at = (sample * SUB + _part) * dt * 1000.0
            row = min(int(at), path.shape[0] - 2)
            s = at - row
            qw, qx, qy, qz = q[0], q[1], q[2], q[3]
            m[0, 0] = 1 - 2 * (qy * qy + qz * qz)
            m[0, 1] = 2 * (qx * qy - qz * qw)
            m[0, 2] = 2 * (qx * qz + qy * qw)
            m[1, 0] = 2 * (qx * qy + qz * qw)
            m[1, 1] = 1 - 2 * (qx * qx + qz * qz)
            m[1, 2] = 2 * (qy * qz - qx * qw)
            m[2, 0] = 2 * (qx * qz - qy * qw)
            m[2, 1] = 2 * (qy * qz + qx * qw)
            m[2, 2] = 1 - 2 * (qx * qx + qy * qy)
            for a in range(3):
                before[a] = speed[a]
                before_turn[a] = turn[a]

            # the hand pulls
            for a in range(3):
                s2, s3 = s * s, s * s * s
                p0, p1, d0, d1 = path[row, a], path[row + 1, a], path[row, 3 + a], path[row + 1, 3 + a]
                want = (2 * s3 - 3 * s2 + 1) * p0 + (s3 - 2 * s2 + s) * d0 + (3 * s2 - 2 * s3) * p1 + (s3 - s2) * d1
                pace = (6 * s2 - 6 * s) * (p0 - p1) + (3 * s2 - 4 * s + 1) * d0 + (3 * s2 - 2 * s) * d1
                speed[a] += dt / held * (hand[0] * (want - place[a]) + hand[1] * (pace * 1000.0 - speed[a]))
            for a in range(4):
                g[a] = path[row, 6 + a] * (1 - s) + path[row + 1, 6 + a] * s
            ew = g[0] * qw + g[1] * qx + g[2] * qy + g[3] * qz
            e[0] = -g[0] * qx + g[1] * qw - g[2] * qz + g[3] * qy
            e[1] = -g[0] * qy + g[1] * qz + g[2] * qw - g[3] * qx
            e[2] = -g[0] * qz - g[1] * qy + g[2] * qx + g[3] * qw
            sign = 2.0 if ew >= 0 else -2.0
            for a in range(3):
                rate = path[row, 14 + a] * (1 - s) + path[row + 1, 14 + a] * s
                twist[a] = hand[2] * sign * e[a] + hand[3] * (rate - turn[a])
            for a in range(3):
                own[a] = (m[0, a] * twist[0] + m[1, a] * twist[1] + m[2, a] * twist[2]) / inertia[a]
            for a in range(3):
                turn[a] += dt * (m[a, 0] * own[0] + m[a, 1] * own[1] + m[a, 2] * own[2])
            for i in range(n):
                vel[i, 2] -= GRAVITY * dt

            # what touches, or will within this step
            k = 0
            for i in range(n):
                for a in range(3):
                    x[a] = pos[i, a] - place[a]
                b0 = m[0, 0] * x[0] + m[1, 0] * x[1] + m[2, 0] * x[2]
                b1 = m[0, 1] * x[0] + m[1, 1] * x[1] + m[2, 1] * x[2]
                b2 = m[0, 2] * x[0] + m[1, 2] * x[1] + m[2, 2] * x[2] + middle
                for p in range(planes.shape[0]):
                    gap = planes[p, 0] * b0 + planes[p, 1] * b1 + planes[p, 2] * b2 - planes[p, 3] - radii[i]
                    if gap < 0.00025:
                        who[k, 0] = i
                        who[k, 1] = -1
                        for a in range(3):
                            normal[k, a] = m[a, 0] * planes[p, 0] + m[a, 1] * planes[p, 1] + m[a, 2] * planes[p, 2]
                            arm[k, a] = x[a] - normal[k, a] * radii[i]
                        r0 = arm[k, 1] * normal[k, 2] - arm[k, 2] * normal[k, 1]
                        r1 = arm[k, 2] * normal[k, 0] - arm[k, 0] * normal[k, 2]
                        r2 = arm[k, 0] * normal[k, 1] - arm[k, 1] * normal[k, 0]
                        total = 1 / mass[i] + 1 / held
                        for a in range(3):
                            share = m[0, a] * r0 + m[1, a] * r1 + m[2, a] * r2
                            total += share * share / inertia[a]
                        inverse[k] = total
                        on_floor[k] = planes[p, 4]
                        spot[k, 0], spot[k, 1], spot[k, 2] = b0, b1, b2
                        goal[k] = gap
                        k += 1
                for j in range(i):
                    dx, dy, dz = pos[i, 0] - pos[j, 0], pos[i, 1] - pos[j, 1], pos[i, 2] - pos[j, 2]
                    square = dx * dx + dy * dy + dz * dz
                    reach = radii[i] + radii[j] + 0.00025
                    if square < reach * reach:
                        far = np.sqrt(square)
                        gap = far - radii[i] - radii[j]
                        who[k, 0] = i
                        who[k, 1] = j
                        normal[k, 0], normal[k, 1], normal[k, 2] = dx / far, dy / far, dz / far
                        inverse[k] = 1 / mass[i] + 1 / mass[j]
                        goal[k] = gap
                        k += 1
            for c in range(k):
                pressed[c] = 0.0
                rubbed[c, 0] = rubbed[c, 1] = rubbed[c, 2] = 0.0
                i, j = who[c, 0], who[c, 1]
                closing = 0.0
                for a in range(3):
                    other = speed[a] if j < 0 else vel[j, a]
                    closing += (vel[i, a] - other) * normal[c, a]
                if j < 0:
                    closing -= (turn[1] * arm[c, 2] - turn[2] * arm[c, 1]) * normal[c, 0]
                    closing -= (turn[2] * arm[c, 0] - turn[0] * arm[c, 2]) * normal[c, 1]
                    closing -= (turn[0] * arm[c, 1] - turn[1] * arm[c, 0]) * normal[c, 2]
                gap = goal[c]
                goal[c] = -gap / dt if gap > 0 else min(-gap - 2e-5, 1e-4) * 0.1 / dt if gap < -2e-5 else 0.0
                if closing < -0.02 and gap + closing * dt < 0:
                    at_300 = surface[0] if j >= 0 else surface[1] if on_floor[c] > 0 else surface[2]
                    bounce = max(1 - (1 - at_300) * (-closing / 0.3) ** surface[6], 0.15)
                    goal[c] = -bounce * closing

            # sweeps of impulses
            for _sweep in range(SWEEPS):
                largest = 0.0
                for c in range(k):
                    i, j = who[c, 0], who[c, 1]
                    n0, n1, n2 = normal[c, 0], normal[c, 1], normal[c, 2]
                    ri = radii[i]
                    v0 = vel[i, 0] - ri * (spin[i, 1] * n2 - spin[i, 2] * n1)
                    v1 = vel[i, 1] - ri * (spin[i, 2] * n0 - spin[i, 0] * n2)
                    v2 = vel[i, 2] - ri * (spin[i, 0] * n1 - spin[i, 1] * n0)
                    if j < 0:
                        v0 -= speed[0] + turn[1] * arm[c, 2] - turn[2] * arm[c, 1]
                        v1 -= speed[1] + turn[2] * arm[c, 0] - turn[0] * arm[c, 2]
                        v2 -= speed[2] + turn[0] * arm[c, 1] - turn[1] * arm[c, 0]
                        mu = surface[4] if on_floor[c] > 0 else surface[5]
                    else:
                        rj = radii[j]
                        v0 -= vel[j, 0] + rj * (spin[j, 1] * n2 - spin[j, 2] * n1)
                        v1 -= vel[j, 1] + rj * (spin[j, 2] * n0 - spin[j, 0] * n2)
                        v2 -= vel[j, 2] + rj * (spin[j, 0] * n1 - spin[j, 1] * n0)
                        mu = surface[3]
                    vn = v0 * n0 + v1 * n1 + v2 * n2
                    more = max((goal[c] - vn) / inverse[c], -pressed[c])
                    if more == 0.0 and pressed[c] == 0.0:
                        continue
                    largest = max(largest, abs(more) * inverse[c])
                    pressed[c] += more
                    # friction: stop the sliding, within the cone
                    t0, t1, t2 = v0 - vn * n0, v1 - vn * n1, v2 - vn * n2
                    grip = 1.0 / (3.5 * inverse[c])
                    w0, w1, w2 = rubbed[c, 0] - grip * t0, rubbed[c, 1] - grip * t1, rubbed[c, 2] - grip * t2
                    size = np.sqrt(w0 * w0 + w1 * w1 + w2 * w2)
                    if size > mu * pressed[c]:
                        shrink = mu * pressed[c] / (size + 1e-15)
                        w0, w1, w2 = w0 * shrink, w1 * shrink, w2 * shrink
                    j0 = more * n0 + w0 - rubbed[c, 0]
                    j1 = more * n1 + w1 - rubbed[c, 1]
                    j2 = more * n2 + w2 - rubbed[c, 2]
                    rubbed[c, 0], rubbed[c, 1], rubbed[c, 2] = w0, w1, w2
                    light = 1 / mass[i]
                    vel[i, 0] += j0 * light
                    vel[i, 1] += j1 * light
                    vel[i, 2] += j2 * light
                    whirl = -2.5 / (mass[i] * ri)
                    spin[i, 0] += whirl * (n1 * j2 - n2 * j1)
                    spin[i, 1] += whirl * (n2 * j0 - n0 * j2)
                    spin[i, 2] += whirl * (n0 * j1 - n1 * j0)
                    if j < 0:
                        speed[0] -= j0 / held
                        speed[1] -= j1 / held
                        speed[2] -= j2 / held
                        c0 = arm[c, 1] * j2 - arm[c, 2] * j1
                        c1 = arm[c, 2] * j0 - arm[c, 0] * j2
                        c2 = arm[c, 0] * j1 - arm[c, 1] * j0
                        o0 = (m[0, 0] * c0 + m[1, 0] * c1 + m[2, 0] * c2) / inertia[0]
                        o1 = (m[0, 1] * c0 + m[1, 1] * c1 + m[2, 1] * c2) / inertia[1]
                        o2 = (m[0, 2] * c0 + m[1, 2] * c1 + m[2, 2] * c2) / inertia[2]
                        turn[0] -= m[0, 0] * o0 + m[0, 1] * o1 + m[0, 2] * o2
                        turn[1] -= m[1, 0] * o0 + m[1, 1] * o1 + m[1, 2] * o2
                        turn[2] -= m[2, 0] * o0 + m[2, 1] * o1 + m[2, 2] * o2
                    else:
                        light = 1 / mass[j]
                        vel[j, 0] -= j0 * light
                        vel[j, 1] -= j1 * light
                        vel[j, 2] -= j2 * light
                        whirl = -2.5 / (mass[j] * radii[j])
                        spin[j, 0] += whirl * (n1 * j2 - n2 * j1)
                        spin[j, 1] += whirl * (n2 * j0 - n0 * j2)
                        spin[j, 2] += whirl * (n0 * j1 - n1 * j0)
                if largest < 1e-4:
                    break

            # what the sensor feels in this step
            for a in range(3):
                e[a] = (speed[a] - before[a]) / dt
                g[a] = (turn[a] - before_turn[a]) / dt
            e[2] += GRAVITY
            for a in range(3):
                felt[a] = m[0, a] * e[0] + m[1, a] * e[1] + m[2, a] * e[2]
                own[a] = m[0, a] * turn[0] + m[1, a] * turn[1] + m[2, a] * turn[2]
                twist[a] = m[0, a] * g[0] + m[1, a] * g[1] + m[2, a] * g[2]
            along = own[0] * sensor_at[0] + own[1] * sensor_at[1] + own[2] * sensor_at[2]
            square = own[0] * own[0] + own[1] * own[1] + own[2] * own[2]
            for a in range(3):
                b, d = (a + 1) % 3, (a + 2) % 3
                felt[a] += twist[b] * sensor_at[d] - twist[d] * sensor_at[b]
                felt[a] += own[a] * along - square * sensor_at[a]
            for r in range(modes.shape[0]):
                kick = 0.0
                for c in range(k):
                    if who[c, 1] < 0 and pressed[c] > 0:
                        u, v = spot[c, 0] / inner, spot[c, 1] / inner
                        if on_floor[c] > 0:
                            shape = modes[r, 6] * (1 - u * u - v * v) + modes[r, 7] * u + modes[r, 8] * v
                        else:
                            shape = (
                                modes[r, 9] + modes[r, 10] * u + modes[r, 11] * v + modes[r, 12] * spot[c, 2] / inner
                            )
                        kick += shape * pressed[c]
                kick *= modes[r, 2]
                omega, fade = modes[r, 0], modes[r, 1]
                # q and its speed turn on a shrinking circle; the kick adds to the speed
                a0 = ring[r, 0]
                a1 = (ring[r, 1] + fade * ring[r, 0]) / omega
                shrink = np.exp(-fade * dt)
                cosine, sine = np.cos(omega * dt) * shrink, np.sin(omega * dt) * shrink
                b0_, b1_ = a0 * cosine + a1 * sine, a1 * cosine - a0 * sine
                old = ring[r, 1]
                ring[r, 0] = b0_
                ring[r, 1] = b1_ * omega - fade * b0_ + kick
                pull = (ring[r, 1] - old) / dt
                for a in range(3):
                    felt[a] += modes[r, 3 + a] * pull
            for axis in range(3):
                x_ = (
                    sensor_matrix[axis, 0] * felt[0]
                    + sensor_matrix[axis, 1] * felt[1]
                    + sensor_matrix[axis, 2] * felt[2]
                )
                for stage in range(2):
                    y_ = filters[stage, 0] * x_ + state[axis, stage, 0]
                    state[axis, stage, 0] = filters[stage, 1] * x_ - filters[stage, 3] * y_ + state[axis, stage, 1]
                    state[axis, stage, 1] = filters[stage, 2] * x_ - filters[stage, 4] * y_
                    x_ = y_
                out[sample, axis] = x_

            # the step
            for a in range(3):
                place[a] += speed[a] * dt
            half = 0.5 * dt
            w0, w1, w2 = turn[0], turn[1], turn[2]
            q[0] = qw - half * (w0 * qx + w1 * qy + w2 * qz)
            q[1] = qx + half * (w0 * qw + w1 * qz - w2 * qy)
            q[2] = qy + half * (w1 * qw + w2 * qx - w0 * qz)
            q[3] = qz + half * (w2 * qw + w0 * qy - w1 * qx)
            size = np.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
            for a in range(4):
                q[a] /= size
            for i in range(n):
                for a in range(3):
                    pos[i, a] += vel[i, a] * dt


def shake(
    seed: int, device: int, number: int, count: int, seconds: float, *, person: int = 0, rate_hz: float = 0.0
) -> SensorRecording:
    """Return one shake of simulator B, by its numbers; ``rate_hz`` replaces the sensor's own clock."""
    igloo, hand = draws.pair(seed, device, person)
    if rate_hz:
        igloo = replace(igloo, rate_hz=rate_hz)
    rng = draws.generator(seed, device, person, number)
    return record(igloo, hand.grip, people.shake(hand, seconds, rng), count, rng)


def many(seed: int, devices: int, seconds: float, each: int = 1) -> dict[str, Any]:
    """Return a labelled recording: ``each`` shakes of every count in each of so many devices, one hand each.

    A file has one rate, so one clock ticks in all its igloos.
    """
    rate = draws.pair(seed, 0)[0].rate_hz
    runs, counts, ids = [], [], []
    for d in range(devices):
        for s in range(each * len(COUNTS)):
            recording = shake(seed, d, s, COUNTS[s % len(COUNTS)], seconds, rate_hz=rate)
            runs.append(recording.g)
            counts.append(recording.count)
            ids.append(d)
    shortest = min(len(run) for run in runs)
    return {
        "accel": np.stack([run[:shortest] for run in runs]).astype(np.float32),
        "rate_hz": np.asarray(rate),
        "count": np.asarray(counts),
        "device": np.asarray(ids),
        "person": np.asarray(ids),
    }


if __name__ == "__main__":
    out, devices = sys.argv[1], int(sys.argv[2])
    np.savez_compressed(out, **many(77, devices, 4.0))
