"""Where beads touch: the laws of contact, set by restitution and duration, and who is near enough to touch whom.

Spring and damper lie anywhere between two laws: linear, whose restitution has a closed form and is the same at all
speeds (T. Schwager and T. Pöschel, *Granular Matter* 9, 2007), and viscoelastic spheres (Hertz; Kuwabara and Kono
1987), which bounce less the faster they meet.

Who is near is compiled into :func:`.beads.simulate`, whose compiled form numba keeps on disk by the date of `beads.py`
alone: after a change here, touch that file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar, cast

import numba
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

F = TypeVar("F", bound=Callable[..., object])

MEETING = 0.3
"""The speed in m/s at which a contact has the restitution that was asked for, whatever its law."""
FAST = {"contract", "reassoc", "nsz", "arcp"}
"""What the compiler may reorder; one machine still gives the same samples each time, to the bit."""
SKIN = 1.0e-3
"""How far apart (m) what may soon touch is already looked at."""
FLOOR, DOME, FLAT, BRICK, BUMP = range(5)
"""What a bead may touch: floor, wall and dome, door, one of the bricks, one of the bumps."""


def compiled(function: F) -> F:
    """Compile a function with numba, keeping its type and the result on disk."""
    return cast("F", numba.njit(cache=True, error_model="numpy", fastmath=FAST)(function))


def damping_ratio(restitution: float) -> float:
    """Return β/ω₀ of a linear spring and damper that never pulls, for a coefficient of restitution.

    Inverts the closed form of Schwager & Pöschel (2007), eq. 21-22, by bisection.
    """
    low, high = 0.0, 5.0
    for _ in range(80):
        middle = 0.5 * (low + high)
        if restitution_of(middle) > restitution:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def restitution_of(ratio: float) -> float:
    """Return the coefficient of restitution of a never-pulling spring and damper with β/ω₀ = ``ratio``."""
    if ratio < 1.0:
        omega = np.sqrt(1.0 - ratio * ratio)
        # atan2 takes the branch that the two cases of the paper spell out
        angle = np.pi - np.arctan2(2 * ratio * omega, omega * omega - ratio * ratio)
        return float(np.exp(-ratio / omega * angle))
    if ratio == 1.0:
        return float(np.exp(-2.0))
    big = np.sqrt(ratio * ratio - 1.0)
    return float(np.exp(-ratio / big * np.log((ratio + big) / (ratio - big))))


def spring_for(mass: float, restitution: float, contact_s: float) -> tuple[float, float]:
    """Return stiffness (N/m) and damping (N s/m) of a contact of this reduced mass, restitution and duration."""
    ratio = damping_ratio(restitution)
    # the duration is that of half an undamped swing, which sets the stiffness for all restitutions alike
    omega = np.pi / contact_s
    return mass * omega * omega, 2 * ratio * omega * mass


@compiled
def bounce(mass: float, k: float, c: float, deep: float, hertz: float, viscous: float, speed: float) -> float:
    """Return the restitution of a contact that begins at ``speed``, found by running it."""
    dt = np.sqrt(mass / k) / 100.0
    depth, v = 0.0, speed
    for _ in range(100000):
        depth += 0.5 * dt * v
        root = np.sqrt(max(depth, 0.0) / deep)
        push = k * depth * (1.0 - hertz + hertz * root) + c * v * (1.0 - viscous + viscous * root)
        if push <= 0.0:
            break
        v -= dt * push / mass
        depth += 0.5 * dt * v
        if depth <= 0.0:
            break
    return float(max(-v / speed, 0.0))


def contact_for(
    mass: float, restitution: float, contact_s: float, hertz: float, viscous: float
) -> tuple[float, float, float]:
    """Return stiffness (N/m), damping (N s/m) and the depth (m) they hold at, for any law between the two.

    ``hertz`` and ``viscous`` (0…1) are the parts of spring and damper that grow with the root of the depth. The
    restitution is that at :data:`MEETING`, the duration roughly so.
    """
    k, c = spring_for(mass, restitution, contact_s)
    deep = MEETING * contact_s / np.pi
    if hertz == 0.0 and viscous == 0.0:
        return k, c, deep
    low, high = 0.0, 8.0 * c + 1e-6
    for _ in range(30):
        middle = 0.5 * (low + high)
        if bounce(mass, k, middle, deep, hertz, viscous, MEETING) > restitution:
            low = middle
        else:
            high = middle
    return k, 0.5 * (low + high), deep


@compiled
def near_pairs(pos: FloatArray, radius: FloatArray, pairs: IntArray) -> int:
    """Write the numbers of the beads (n, 3) within a skin of each other into ``pairs``; return how many there are."""
    n = radius.shape[0]
    n_pairs = 0
    for i in range(n):
        for j in range(i):
            x = pos[i, 0] - pos[j, 0]
            y = pos[i, 1] - pos[j, 1]
            z = pos[i, 2] - pos[j, 2]
            reach = radius[i] + radius[j] + SKIN
            if x * x + y * y + z * z < reach * reach:
                pairs[n_pairs, 0] = i
                pairs[n_pairs, 1] = j
                n_pairs += 1
    return n_pairs


@compiled
def near_surfaces(
    inside: tuple[float, ...],
    pos: FloatArray,
    radius: FloatArray,
    shell: FloatArray,
    turned: tuple[float, ...],
    bricks: FloatArray,
    bumps: FloatArray,
    near: IntArray,
) -> int:
    """Write into ``near`` bead, surface and its number for all within a skin of each other; return how many there are.

    ``inside`` is radius, wall, middle, and the door's depth and direction; ``turned`` has the nine numbers of the
    shell's matrix (body to world), row by row; the rest as for :func:`.beads.simulate`. ``near`` must have the room.
    """
    n = radius.shape[0]
    r_in, wall, middle, door, door_x, door_y = inside
    m00, m01, m02, m10, m11, m12, m20, m21, m22 = turned
    sx, sy, sz = shell[0], shell[1], shell[2]
    n_near = 0
    for i in range(n):
        x = pos[i, 0] - sx
        y = pos[i, 1] - sy
        z = pos[i, 2] - sz
        bx = m00 * x + m10 * y + m20 * z
        by = m01 * x + m11 * y + m21 * z
        bz = m02 * x + m12 * y + m22 * z + middle
        reach = radius[i] + SKIN
        up = max(bz - wall, 0.0)
        far = r_in - reach
        if bz < reach:
            near[n_near, 0] = i
            near[n_near, 1] = FLOOR
            n_near += 1
        if bx * bx + by * by + up * up > far * far:
            near[n_near, 0] = i
            near[n_near, 1] = DOME
            n_near += 1
        if door > 0.0 and bx * door_x + by * door_y > r_in - door - reach:
            near[n_near, 0] = i
            near[n_near, 1] = FLAT
            n_near += 1
        for j in range(bricks.shape[0]):
            if bricks[j, 0] * bx + bricks[j, 1] * by + bricks[j, 2] * bz < bricks[j, 3] + reach:
                near[n_near, 0] = i
                near[n_near, 1] = BRICK
                near[n_near, 2] = j
                n_near += 1
        for j in range(bumps.shape[0]):
            x = bx - bumps[j, 0]
            y = by - bumps[j, 1]
            z = bz - bumps[j, 2]
            far = bumps[j, 3] + reach
            if x * x + y * y + z * z < far * far:
                near[n_near, 0] = i
                near[n_near, 1] = BUMP
                near[n_near, 2] = j
                n_near += 1
    return n_near
