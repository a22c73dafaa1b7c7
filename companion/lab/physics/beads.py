"""Beads in a moved shell, as soft spheres: the inner loop of simulator A, compiled by numba.

Contacts are springs with dampers that never pull (their laws are in :mod:`.contact`), with Coulomb friction and rolling
beads. The inside may have flat bricks and small bumps. The shell is a rigid body on the springs of a hand, may stand on
a table, and rings in a few modes that contacts excite. Time goes in even steps (semi-implicit Euler), a whole number of
them to a sample, so that the sensor's true rate is met exactly. There is no randomness here: what is drawn is drawn
outside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from companion.lab.physics.contact import BRICK, DOME, FLAT, FLOOR, SKIN, compiled, near_pairs, near_surfaces

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

GRAVITY = 9.80665
LONGEST_STEP = 1.5e-5
"""The longest step in seconds: a tenth of the shortest contact of the ranges."""
FEET = 8
"""How many points of the base ring may touch the table."""
_COS = np.cos(np.arange(FEET) * 2 * np.pi / FEET)
_SIN = np.sin(np.arange(FEET) * 2 * np.pi / FEET)

# The scalars of the inner loop, in the order of its vector of parameters.
(
    DT, SUB, CONTROL_DT, RADIUS, WALL, MIDDLE, DOOR, DOOR_X, DOOR_Y, OUTER, BASE,
    SHELL_KG, INERTIA_X, INERTIA_Y, INERTIA_Z, HAND_KG, HAND_INERTIA, SPRING, DAMPER, TURN_SPRING, TURN_DAMPER,
    K_BEADS, C_BEADS, MU_BEADS, K_FLOOR, C_FLOOR, MU_FLOOR, K_DOME, C_DOME, MU_DOME, ROLLING,
    FOOT_SPRING, FOOT_DAMPER, FOOT_FRICTION, GRAVITY_AT, HERTZ, VISCOUS, DEEP_BEADS, DEEP_FLOOR, DEEP_DOME,
) = range(40)  # fmt: skip
PARAMETERS = 40

# The columns of the hand's path, one row a control step.
POSITION, POSITION_STEP, TURN, TURN_STEP, SPIN, GRIP, TABLE, TABLE_STEP, PUSH = 0, 3, 6, 10, 14, 17, 18, 19, 20
COLUMNS = 23


@compiled
def simulate(
    par: FloatArray,
    path: FloatArray,
    radius: FloatArray,
    mass: FloatArray,
    pos: FloatArray,
    vel: FloatArray,
    rot: FloatArray,
    shell: FloatArray,
    bricks: FloatArray,
    bumps: FloatArray,
    modes: FloatArray,
    sensor_at: FloatArray,
    sensor_matrix: FloatArray,
    filters: FloatArray,
    out: FloatArray,
    trace: FloatArray,
) -> None:
    """Run the beads through a hand's path and write what an ideal, filtered sensor feels.

    ``par`` (40,) and ``path`` (steps, 23) are laid out as the constants above say; ``radius``, ``mass`` (n,) and
    ``pos``, ``vel``, ``rot`` (n, 3) are the beads' (SI, world frame; ``rot`` is the spin in rad/s), ``shell`` (13,)
    is position, velocity, quaternion and spin of the shell's centre of mass; all of these are left as they end.
    ``bricks`` (b, 4) are planes (nx, ny, nz, d) with n·x ≥ d inside, ``bumps`` (u, 4) spheres (x, y, z, radius), both
    in the igloo's frame with the floor at 0.
    ``modes`` (m, 17): ω, ζ, 1/mass, direction (3), dome (6), floor (3), value, speed. ``out`` (samples, 3) gets m/s²
    in the sensor's axes. ``trace`` (samples, n + 1, 6), where it is not empty, gets position and velocity of every
    bead and, last, of the shell.
    """
    n = radius.shape[0]
    n_modes = modes.shape[0]
    dt = par[DT]
    sub = int(par[SUB])
    gravity = par[GRAVITY_AT]
    r_in, wall, middle = par[RADIUS], par[WALL], par[MIDDLE]
    inside = (r_in, wall, middle, par[DOOR], par[DOOR_X], par[DOOR_Y])
    door = par[DOOR]
    force = np.zeros((n, 3))
    torque = np.zeros((n, 3))
    pairs = np.zeros((n * (n - 1) // 2 + 1, 2), dtype=np.int64)
    near = np.zeros((n * (3 + bricks.shape[0] + bumps.shape[0]) + 1, 3), dtype=np.int64)
    hertz = par[HERTZ]
    viscous = par[VISCOUS]
    state = np.zeros((3, 2, 2))
    raw = np.zeros(3)
    n_pairs = 0
    n_near = 0
    fresh = 0
    for sample in range(out.shape[0]):
        for part in range(sub):
            # --- where the hand wants the shell (cubic between control steps)
            at = (sample * sub + part) * dt / par[CONTROL_DT]
            row = min(int(at), path.shape[0] - 2)
            s = at - row
            s2 = s * s
            s3 = s2 * s
            h0 = 2 * s3 - 3 * s2 + 1
            h1 = s3 - 2 * s2 + s
            h2 = 3 * s2 - 2 * s3
            h3 = s3 - s2
            d0 = (6 * s2 - 6 * s) / par[CONTROL_DT]
            d1 = (3 * s2 - 4 * s + 1) / par[CONTROL_DT]
            d3 = (3 * s2 - 2 * s) / par[CONTROL_DT]
            grip = path[row, GRIP] * (1 - s) + path[row + 1, GRIP] * s

            # --- the shell's frame as a matrix (body to world)
            qw, qx, qy, qz = shell[6], shell[7], shell[8], shell[9]
            m00 = 1 - 2 * (qy * qy + qz * qz)
            m01 = 2 * (qx * qy - qz * qw)
            m02 = 2 * (qx * qz + qy * qw)
            m10 = 2 * (qx * qy + qz * qw)
            m11 = 1 - 2 * (qx * qx + qz * qz)
            m12 = 2 * (qy * qz - qx * qw)
            m20 = 2 * (qx * qz - qy * qw)
            m21 = 2 * (qy * qz + qx * qw)
            m22 = 1 - 2 * (qx * qx + qy * qy)
            sx, sy, sz = shell[0], shell[1], shell[2]
            svx, svy, svz = shell[3], shell[4], shell[5]
            wx, wy, wz = shell[10], shell[11], shell[12]

            fx = path[row, PUSH] * (1 - s) + path[row + 1, PUSH] * s
            fy = path[row, PUSH + 1] * (1 - s) + path[row + 1, PUSH + 1] * s
            fz = path[row, PUSH + 2] * (1 - s) + path[row + 1, PUSH + 2] * s
            tx = 0.0
            ty = 0.0
            tz = 0.0
            if grip > 0.0:
                k = par[SPRING] * grip
                c = par[DAMPER] * grip
                a = POSITION
                b = POSITION_STEP
                p0 = path[row]
                p1 = path[row + 1]
                fx += k * (h0 * p0[a] + h1 * p0[b] + h2 * p1[a] + h3 * p1[b] - sx)
                fx += c * (d0 * (p0[a] - p1[a]) + d1 * p0[b] + d3 * p1[b] - svx)
                fy += k * (h0 * p0[a + 1] + h1 * p0[b + 1] + h2 * p1[a + 1] + h3 * p1[b + 1] - sy)
                fy += c * (d0 * (p0[a + 1] - p1[a + 1]) + d1 * p0[b + 1] + d3 * p1[b + 1] - svy)
                fz += k * (h0 * p0[a + 2] + h1 * p0[b + 2] + h2 * p1[a + 2] + h3 * p1[b + 2] - sz)
                fz += c * (d0 * (p0[a + 2] - p1[a + 2]) + d1 * p0[b + 2] + d3 * p1[b + 2] - svz)
                # the hand carries its own weight and that of the shell
                fz += (par[SHELL_KG] + par[HAND_KG] * grip) * gravity * grip
                a = TURN
                b = TURN_STEP
                gw = h0 * p0[a] + h1 * p0[b] + h2 * p1[a] + h3 * p1[b]
                gx = h0 * p0[a + 1] + h1 * p0[b + 1] + h2 * p1[a + 1] + h3 * p1[b + 1]
                gy = h0 * p0[a + 2] + h1 * p0[b + 2] + h2 * p1[a + 2] + h3 * p1[b + 2]
                gz = h0 * p0[a + 3] + h1 * p0[b + 3] + h2 * p1[a + 3] + h3 * p1[b + 3]
                # the turn that is missing: goal · conjugate(shell), twice its vector part
                ew = gw * qw + gx * qx + gy * qy + gz * qz
                ex = -gw * qx + gx * qw - gy * qz + gz * qy
                ey = -gw * qy + gx * qz + gy * qw - gz * qx
                ez = -gw * qz - gx * qy + gy * qx + gz * qw
                sign = 2.0 if ew >= 0 else -2.0
                k = par[TURN_SPRING] * grip
                c = par[TURN_DAMPER] * grip
                a = SPIN
                tx += k * sign * ex + c * (p0[a] * (1 - s) + p1[a] * s - wx)
                ty += k * sign * ey + c * (p0[a + 1] * (1 - s) + p1[a + 1] * s - wy)
                tz += k * sign * ez + c * (p0[a + 2] * (1 - s) + p1[a + 2] * s - wz)

            # --- the table under the base ring
            p0 = path[row]
            p1 = path[row + 1]
            table = h0 * p0[TABLE] + h1 * p0[TABLE_STEP] + h2 * p1[TABLE] + h3 * p1[TABLE_STEP]
            if sz - table < par[OUTER] + middle + 0.02:
                table_v = d0 * (p0[TABLE] - p1[TABLE]) + d1 * p0[TABLE_STEP] + d3 * p1[TABLE_STEP]
                for foot in range(2 * FEET + 1):
                    # the base ring, the rim of the dome and its top: so a fallen igloo lies where it should
                    angle = foot % FEET
                    bx = par[OUTER] * _COS[angle]
                    by = par[OUTER] * _SIN[angle]
                    bz = -middle - par[BASE]
                    if foot >= FEET:
                        bx *= 0.75
                        by *= 0.75
                        bz = -middle + wall + 0.66 * par[OUTER]
                    if foot == 2 * FEET:
                        bx = 0.0
                        by = 0.0
                        bz = -middle + wall + par[OUTER]
                    rx = m00 * bx + m01 * by + m02 * bz
                    ry = m10 * bx + m11 * by + m12 * bz
                    rz = m20 * bx + m21 * by + m22 * bz
                    depth = table - (sz + rz)
                    if depth > 0.0:
                        vx = svx + wy * rz - wz * ry
                        vy = svy + wz * rx - wx * rz
                        vz = svz + wx * ry - wy * rx - table_v
                        push = par[FOOT_SPRING] * depth - par[FOOT_DAMPER] * vz
                        if push > 0.0:
                            slide = np.sqrt(vx * vx + vy * vy)
                            drag = par[FOOT_FRICTION] * push / (slide + 0.002)
                            fx += -drag * vx
                            fy += -drag * vy
                            fz += push
                            tx += ry * push + rz * drag * vy
                            ty += -rz * drag * vx - rx * push
                            tz += -rx * drag * vy + ry * drag * vx

            # what the contacts press on the shell, sorted by where: each mode is a sum of these
            load0 = load1 = load2 = load3 = load4 = load5 = load6 = load7 = load8 = 0.0
            for i in range(n):
                force[i, 0] = 0.0
                force[i, 1] = 0.0
                force[i, 2] = -gravity * mass[i]
                torque[i, 0] = 0.0
                torque[i, 1] = 0.0
                torque[i, 2] = 0.0

            # --- who is near whom: found anew before anything can have come through the skin
            if fresh == 0:
                fastest = 0.0
                for i in range(n):
                    vx = vel[i, 0] - svx
                    vy = vel[i, 1] - svy
                    vz = vel[i, 2] - svz
                    speed = np.sqrt(vx * vx + vy * vy + vz * vz)
                    fastest = max(fastest, speed)
                fastest += np.sqrt(wx * wx + wy * wy + wz * wz) * (r_in + wall) + 0.5
                fresh = min(max(int(0.5 * SKIN / (fastest * dt)), 1), 64)
                n_pairs = near_pairs(pos, radius, pairs)
                turned = (m00, m01, m02, m10, m11, m12, m20, m21, m22)
                n_near = near_surfaces(inside, pos, radius, shell, turned, bricks, bumps, near)
            fresh -= 1

            # --- bead against bead
            for e in range(n_pairs):
                i = pairs[e, 0]
                j = pairs[e, 1]
                x = pos[i, 0] - pos[j, 0]
                y = pos[i, 1] - pos[j, 1]
                z = pos[i, 2] - pos[j, 2]
                reach = radius[i] + radius[j]
                square = x * x + y * y + z * z
                if square >= reach * reach:
                    continue
                dist = np.sqrt(square)
                x /= dist
                y /= dist
                z /= dist
                ri = radius[i]
                rj = radius[j]
                gx = ri * rot[i, 0] + rj * rot[j, 0]
                gy = ri * rot[i, 1] + rj * rot[j, 1]
                gz = ri * rot[i, 2] + rj * rot[j, 2]
                # the surfaces' speed: bead i's lowest point against bead j's highest
                vx = vel[i, 0] - vel[j, 0] - (gy * z - gz * y)
                vy = vel[i, 1] - vel[j, 1] - (gz * x - gx * z)
                vz = vel[i, 2] - vel[j, 2] - (gx * y - gy * x)
                vn = vx * x + vy * y + vz * z
                push = reach - dist
                root = np.sqrt(push / par[DEEP_BEADS])
                push *= par[K_BEADS] * (1.0 - hertz + hertz * root)
                push -= par[C_BEADS] * vn * (1.0 - viscous + viscous * root)
                if push <= 0.0:
                    continue
                vx -= vn * x
                vy -= vn * y
                vz -= vn * z
                slide = np.sqrt(vx * vx + vy * vy + vz * vz)
                reduced = mass[i] * mass[j] / (mass[i] + mass[j])
                sticky = 0.3 * reduced * (2.0 / 7.0) / dt
                drag = min(par[MU_BEADS] * push / (slide + 1e-12), sticky)
                px = push * x - drag * vx
                py = push * y - drag * vy
                pz = push * z - drag * vz
                force[i, 0] += px
                force[i, 1] += py
                force[i, 2] += pz
                force[j, 0] -= px
                force[j, 1] -= py
                force[j, 2] -= pz
                cx = -(y * pz - z * py)
                cy = -(z * px - x * pz)
                cz = -(x * py - y * px)
                torque[i, 0] += ri * cx
                torque[i, 1] += ri * cy
                torque[i, 2] += ri * cz
                torque[j, 0] += rj * cx
                torque[j, 1] += rj * cy
                torque[j, 2] += rj * cz

            # --- bead against shell: floor, wall and dome, door
            for e in range(n_near):
                i = near[e, 0]
                surface = near[e, 1]
                ri = radius[i]
                x = pos[i, 0] - sx
                y = pos[i, 1] - sy
                z = pos[i, 2] - sz
                bx = m00 * x + m10 * y + m20 * z
                by = m01 * x + m11 * y + m21 * z
                bz = m02 * x + m12 * y + m22 * z + middle
                k = par[K_DOME]
                c = par[C_DOME]
                mu = par[MU_DOME]
                deep = par[DEEP_DOME]
                if surface == FLOOR:
                    depth = ri - bz
                    if depth <= 0.0:
                        continue
                    ux = 0.0
                    uy = 0.0
                    uz = 1.0
                    k = par[K_FLOOR]
                    c = par[C_FLOOR]
                    mu = par[MU_FLOOR]
                    deep = par[DEEP_FLOOR]
                elif surface == DOME:
                    up = max(bz - wall, 0.0)
                    square = bx * bx + by * by + up * up
                    far = r_in - ri
                    if square <= far * far:
                        continue
                    dist = np.sqrt(square)
                    depth = dist - far
                    ux = -bx / dist
                    uy = -by / dist
                    uz = -up / dist
                elif surface == FLAT:
                    depth = bx * par[DOOR_X] + by * par[DOOR_Y] - (r_in - door - ri)
                    if depth <= 0.0:
                        continue
                    ux = -par[DOOR_X]
                    uy = -par[DOOR_Y]
                    uz = 0.0
                elif surface == BRICK:
                    j = near[e, 2]
                    ux = bricks[j, 0]
                    uy = bricks[j, 1]
                    uz = bricks[j, 2]
                    depth = bricks[j, 3] + ri - (ux * bx + uy * by + uz * bz)
                    if depth <= 0.0:
                        continue
                else:
                    j = near[e, 2]
                    ux = bx - bumps[j, 0]
                    uy = by - bumps[j, 1]
                    uz = bz - bumps[j, 2]
                    far = bumps[j, 3] + ri
                    square = ux * ux + uy * uy + uz * uz
                    if square >= far * far:
                        continue
                    dist = np.sqrt(square)
                    depth = far - dist
                    ux /= dist
                    uy /= dist
                    uz /= dist
                nx = m00 * ux + m01 * uy + m02 * uz
                ny = m10 * ux + m11 * uy + m12 * uz
                nz = m20 * ux + m21 * uy + m22 * uz
                # the touching point, from the shell's centre of mass
                rx = x - nx * ri
                ry = y - ny * ri
                rz = z - nz * ri
                vx = vel[i, 0] - ri * (rot[i, 1] * nz - rot[i, 2] * ny) - (svx + wy * rz - wz * ry)
                vy = vel[i, 1] - ri * (rot[i, 2] * nx - rot[i, 0] * nz) - (svy + wz * rx - wx * rz)
                vz = vel[i, 2] - ri * (rot[i, 0] * ny - rot[i, 1] * nx) - (svz + wx * ry - wy * rx)
                vn = vx * nx + vy * ny + vz * nz
                root = np.sqrt(depth / deep)
                push = k * depth * (1.0 - hertz + hertz * root) - c * vn * (1.0 - viscous + viscous * root)
                if push <= 0.0:
                    continue
                vx -= vn * nx
                vy -= vn * ny
                vz -= vn * nz
                slide = np.sqrt(vx * vx + vy * vy + vz * vz)
                sticky = 0.3 * mass[i] * (2.0 / 7.0) / dt
                drag = min(mu * push / (slide + 1e-12), sticky)
                px = push * nx - drag * vx
                py = push * ny - drag * vy
                pz = push * nz - drag * vz
                force[i, 0] += px
                force[i, 1] += py
                force[i, 2] += pz
                spin = np.sqrt(rot[i, 0] ** 2 + rot[i, 1] ** 2 + rot[i, 2] ** 2)
                brake = min(par[ROLLING] * push * ri / (spin + 1e-9), 0.1 * mass[i] * ri * ri / dt)
                torque[i, 0] += -ri * (ny * pz - nz * py) - brake * rot[i, 0]
                torque[i, 1] += -ri * (nz * px - nx * pz) - brake * rot[i, 1]
                torque[i, 2] += -ri * (nx * py - ny * px) - brake * rot[i, 2]
                fx -= px
                fy -= py
                fz -= pz
                tx -= ry * pz - rz * py
                ty -= rz * px - rx * pz
                tz -= rx * py - ry * px
                if uz > 0.7:
                    u = bx / r_in
                    v = by / r_in
                    load6 += push * (1 - u * u - v * v)
                    load7 += push * u
                    load8 += push * v
                else:
                    load0 += push
                    load1 -= push * ux
                    load2 -= push * uy
                    load3 -= push * uz
                    load4 += push * (ux * ux - uy * uy)
                    load5 += push * 2 * ux * uy

            # --- the shell moves
            held = par[SHELL_KG] + par[HAND_KG] * grip
            ax = fx / held
            ay = fy / held
            az = fz / held - gravity
            bwx = m00 * wx + m10 * wy + m20 * wz
            bwy = m01 * wx + m11 * wy + m21 * wz
            bwz = m02 * wx + m12 * wy + m22 * wz
            ix = par[INERTIA_X] + par[HAND_INERTIA] * grip
            iy = par[INERTIA_Y] + par[HAND_INERTIA] * grip
            iz = par[INERTIA_Z] + par[HAND_INERTIA] * grip
            ox = (m00 * tx + m10 * ty + m20 * tz - bwy * bwz * (iz - iy)) / ix
            oy = (m01 * tx + m11 * ty + m21 * tz - bwz * bwx * (ix - iz)) / iy
            oz = (m02 * tx + m12 * ty + m22 * tz - bwx * bwy * (iy - ix)) / iz

            # --- what the sensor feels, in the shell's frame: gravity, motion of its place, ringing
            px, py, pz = sensor_at[0], sensor_at[1], sensor_at[2]
            gx = ax
            gy = ay
            gz = az + gravity
            raw[0] = m00 * gx + m10 * gy + m20 * gz + oy * pz - oz * py
            raw[1] = m01 * gx + m11 * gy + m21 * gz + oz * px - ox * pz
            raw[2] = m02 * gx + m12 * gy + m22 * gz + ox * py - oy * px
            cx = bwy * pz - bwz * py
            cy = bwz * px - bwx * pz
            cz = bwx * py - bwy * px
            raw[0] += bwy * cz - bwz * cy
            raw[1] += bwz * cx - bwx * cz
            raw[2] += bwx * cy - bwy * cx
            for j in range(n_modes):
                omega = modes[j, 0]
                push = modes[j, 6] * load0 + modes[j, 7] * load1 + modes[j, 8] * load2 + modes[j, 9] * load3
                push += modes[j, 10] * load4 + modes[j, 11] * load5
                push += modes[j, 12] * load6 + modes[j, 13] * load7 + modes[j, 14] * load8
                push = push * modes[j, 2] - omega * (2 * modes[j, 1] * modes[j, 16] + omega * modes[j, 15])
                modes[j, 16] += push * dt
                modes[j, 15] += modes[j, 16] * dt
                raw[0] += modes[j, 3] * push
                raw[1] += modes[j, 4] * push
                raw[2] += modes[j, 5] * push
            for axis in range(3):
                x = sensor_matrix[axis, 0] * raw[0] + sensor_matrix[axis, 1] * raw[1] + sensor_matrix[axis, 2] * raw[2]
                for stage in range(2):
                    # transposed direct form II
                    y = filters[stage, 0] * x + state[axis, stage, 0]
                    state[axis, stage, 0] = filters[stage, 1] * x - filters[stage, 3] * y + state[axis, stage, 1]
                    state[axis, stage, 1] = filters[stage, 2] * x - filters[stage, 4] * y
                    x = y
                if part == sub - 1:
                    out[sample, axis] = x

            # --- everything takes its step
            shell[3] = svx + ax * dt
            shell[4] = svy + ay * dt
            shell[5] = svz + az * dt
            shell[0] = sx + shell[3] * dt
            shell[1] = sy + shell[4] * dt
            shell[2] = sz + shell[5] * dt
            wx += (m00 * ox + m01 * oy + m02 * oz) * dt
            wy += (m10 * ox + m11 * oy + m12 * oz) * dt
            wz += (m20 * ox + m21 * oy + m22 * oz) * dt
            shell[10] = wx
            shell[11] = wy
            shell[12] = wz
            half = 0.5 * dt
            gw = qw - half * (wx * qx + wy * qy + wz * qz)
            gx = qx + half * (wx * qw + wy * qz - wz * qy)
            gy = qy + half * (wy * qw + wz * qx - wx * qz)
            gz = qz + half * (wz * qw + wx * qy - wy * qx)
            norm = np.sqrt(gw * gw + gx * gx + gy * gy + gz * gz)
            shell[6] = gw / norm
            shell[7] = gx / norm
            shell[8] = gy / norm
            shell[9] = gz / norm
            for i in range(n):
                step = dt / mass[i]
                vel[i, 0] += force[i, 0] * step
                vel[i, 1] += force[i, 1] * step
                vel[i, 2] += force[i, 2] * step
                pos[i, 0] += vel[i, 0] * dt
                pos[i, 1] += vel[i, 1] * dt
                pos[i, 2] += vel[i, 2] * dt
                step = dt / (0.4 * mass[i] * radius[i] * radius[i])
                rot[i, 0] += torque[i, 0] * step
                rot[i, 1] += torque[i, 1] * step
                rot[i, 2] += torque[i, 2] * step
        if trace.shape[0] > 0:
            for i in range(n):
                trace[sample, i, 0:3] = pos[i]
                trace[sample, i, 3:6] = vel[i]
            trace[sample, n, 0:6] = shell[0:6]
