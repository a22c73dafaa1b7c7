"""Everything unknown about an igloo, a sensor and a hand is a wide prior: the one place where the ranges stand.

The box's own beads and shells were never measured here, so no figure below is a fact about them. A range is
``(low, high)`` and drawn uniformly, or log-uniformly where the field's name is in :data:`LOGARITHMIC`. Lengths are
in mm, masses in g, times in µs, angles in degrees, accelerations in g, frequencies in Hz, as each name says;
:class:`Device` and :class:`ShakerHabits` carry SI units.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

Range = tuple[float, float]

PLACES = ("top-inside", "top-outside", "side", "cap-below")
"""Where the sensor may sit. A cap below is heavier and has the cable; see :meth:`Ranges.device`."""
STYLES = ("up-down", "sideways", "to-and-fro", "slanted", "rocking", "twisting", "swirling")
"""How people shake; each person has one or two of them."""

MEASURED = ("bead_mm", "bead_g", "shell_g", "cap_g", "inner_mm", "height_mm")
"""What ruler and scale tell of a box: diameter and mass of a bead, mass of a shell without its cap and of the cap with
the sensor, inner diameter at the floor, and inner height."""

LOGARITHMIC = frozenset(
    {
        *("bead_spread", "contact_us", "rolling", "mode_hz", "mode_damping", "mode_mass", "tempo_hz", "peak_g"),
        *("noise_mg", "bump_mm", "bump_high_mm"),
    }
)


@dataclass(frozen=True, slots=True)
class Ranges:
    """The priors. Both simulators and the training draw from these and from nothing else."""

    # the beads
    bead_mm: Range = (4.0, 8.0)
    bead_spread: Range = (0.002, 0.04)  # relative standard deviation of the diameters within one igloo
    bead_density: Range = (2400.0, 2600.0)  # kg/m³, soda-lime glass
    fullest: float = 0.22  # thirteen beads fill no more of the inside than this: they rattle
    # the shell
    shell_g: Range = (15.0, 35.0)
    inner_mm: Range = (35.0, 50.0)  # inner diameter of floor and dome
    wall_mm: Range = (0.0, 8.0)  # an upright wall under the dome
    thickness_mm: Range = (1.0, 2.5)
    door: float = 0.6  # probability of a flat door instead of a smooth dome
    door_depth: Range = (0.06, 0.25)  # how far the flat cuts in, as a part of the inner radius
    bricked: float = 0.45  # probability of a dome and wall of flat bricks inside
    brick_rings: tuple[int, int] = (1, 5)
    brick_sides: tuple[int, int] = (6, 18)
    brick_flat: Range = (0.25, 1.0)  # 1: the bricks meet in edges; less: they are flats on a round dome
    brick_crooked_deg: Range = (0.0, 4.0)
    bumpy: float = 0.40  # probability of bumps: sprues, ribs, a seam, glue, the lettering of a mould
    bumps: tuple[int, int] = (3, 40)
    bump_mm: Range = (0.5, 5.0)  # radius
    bump_high_mm: Range = (0.08, 0.8)
    # contacts: restitution at 0.3 m/s, contact time, friction, and which law
    restitution_beads: Range = (0.70, 0.97)
    restitution_floor: Range = (0.35, 0.90)
    restitution_dome: Range = (0.35, 0.90)
    contact_us: Range = (150.0, 400.0)
    hertz: Range = (0.0, 1.0)  # 0: springs are linear; 1: Hertz, stiffer the deeper
    viscous: Range = (0.0, 1.0)  # 0: dampers are linear; 1: stronger the deeper, so that a fast bead bounces less
    friction_beads: Range = (0.03, 0.45)
    friction_shell: Range = (0.05, 0.70)
    rolling: Range = (0.0003, 0.03)  # rolling resistance, as a part of the bead's radius
    # the sensor's place
    places: tuple[str, ...] = PLACES
    # the shell's resonances
    modes: tuple[int, int] = (2, 6)
    mode_hz: Range = (250.0, 6000.0)
    mode_damping: Range = (0.015, 0.20)  # held in a hand
    mode_mass: Range = (1.0, 10.0)  # modal mass, as a multiple of 25 g
    # the sensor (ADXL345, data sheet tables 1 and 2: noise at 3200 Hz is 32^0.5 of that at 100 Hz)
    sensor_g: Range = (2.0, 6.0)
    cap_g: Range = (6.0, 18.0)  # a cap with its cable
    rate_error: Range = (-0.04, 0.04)
    noise_mg: Range = (8.0, 35.0)
    offset_mg: Range = (-150.0, 150.0)
    gain: Range = (0.95, 1.05)
    skew_deg: Range = (-1.5, 1.5)  # between the axes
    cutoff: Range = (0.34, 0.65)  # of the output filter, as a part of the rate; beyond a half it lets sounds fold over
    # the hand
    hand_g: Range = (5.0, 40.0)  # of fingers that move with the shell
    hand_hz: Range = (14.0, 70.0)  # the spring of the grip, with shell and fingers on it
    hand_damping: Range = (0.2, 0.9)
    turn_hz: Range = (14.0, 60.0)  # the same for turning
    turn_damping: Range = (0.2, 0.9)
    # the person
    tempo_hz: Range = (1.8, 7.5)
    peak_g: Range = (0.5, 4.5)  # of the hand's own acceleration
    travel_mm: Range = (1.0, 90.0)  # amplitude: what does not fit in is cut
    ellipse: Range = (0.0, 0.6)
    sharpness: Range = (0.0, 0.3)  # third harmonic of the hand's acceleration
    lopsided: Range = (0.0, 0.25)  # second harmonic
    tempo_jitter: Range = (0.01, 0.12)
    travel_jitter: Range = (0.03, 0.25)
    rock_deg: Range = (0.0, 12.0)  # turning that goes with any shake
    rock_strong_deg: Range = (10.0, 40.0)  # of those who rock
    twist_deg: Range = (0.0, 8.0)
    twist_strong_deg: Range = (15.0, 50.0)
    lever_mm: Range = (20.0, 150.0)  # from the wrist or elbow that turns
    pose_deg: Range = (0.0, 30.0)  # how crookedly the igloo is held
    tremor_mg: Range = (4.0, 40.0)
    pauses: Range = (0.0, 0.35)  # probability of a short pause in a second of shaking

    def draw(self, name: str, rng: np.random.Generator) -> float:
        """Draw one value of the range called ``name``."""
        low, high = getattr(self, name)
        if name in LOGARITHMIC:
            return float(np.exp(rng.uniform(np.log(low), np.log(high))))
        return float(rng.uniform(low, high))

    def of_box(self, measured: Mapping[str, Range]) -> Ranges:
        """Return the ranges for one box: what was measured of it, each of :data:`MEASURED` between two values.

        :raises ValueError: in a sentence, when a name is unknown or no such box can be.
        """
        for name, (low, high) in measured.items():
            if name not in MEASURED:
                raise ValueError(f"{name} is not measured of a box: choose of {', '.join(MEASURED)}.")
            if not 0 < low <= high < np.inf:
                raise ValueError(f"{name}: the first value must be above 0 and no more than the second.")
        own: dict[str, Any] = {name: reach for name, reach in measured.items() if hasattr(self, name)}
        found = replace(self, **own)
        if "cap_g" in measured:
            found = replace(found, places=("cap-below",))
        if "bead_g" in measured:
            light, heavy = (1e6 * grams / (np.pi / 6) for grams in measured["bead_g"])
            if "bead_mm" in measured:
                small, large = found.bead_mm
                found = replace(found, bead_density=(light / large**3, heavy / small**3))
            else:
                thin, dense = found.bead_density
                found = replace(found, bead_mm=(float(np.cbrt(light / dense)), float(np.cbrt(heavy / thin))))
        if "height_mm" in measured:
            # the dome is half a ball
            low, high = measured["height_mm"]
            narrow, wide = found.inner_mm
            found = replace(found, wall_mm=(max(low - wide / 2, 0.0), max(high - narrow / 2, 0.0)))
        if found.too_full(found.bead_mm[0] / 1000, found.inner_mm[1] / 2000, found.wall_mm[1] / 1000):
            raise ValueError("Thirteen such beads do not rattle in such an igloo: they fill too much of it.")
        return found

    def too_full(self, bead: float, radius: float, wall: float) -> bool:
        """Tell whether thirteen beads fill too much of an igloo to rattle; all in m."""
        return bool(13 * np.pi / 6 * bead**3 > self.fullest * np.pi * radius**2 * (wall + radius * 2 / 3))

    def to_json(self) -> dict[str, object]:
        """Return the ranges for a data card."""
        return asdict(self)

    def device(self, rng: np.random.Generator, *, nominal_hz: float = 3200.0, place: str | None = None) -> Device:
        """Draw an igloo with its sensor.

        >>> Ranges().device(np.random.default_rng(1)) == Ranges().device(np.random.default_rng(1))
        True
        """
        draw = self.draw
        radius = draw("inner_mm", rng) / 2000
        thickness = draw("thickness_mm", rng) / 1000
        wall = draw("wall_mm", rng) / 1000
        while self.too_full(self.bead_mm[0] / 1000, radius, wall):
            radius, wall = draw("inner_mm", rng) / 2000, draw("wall_mm", rng) / 1000
        height = wall + radius
        bead = draw("bead_mm", rng) / 1000
        while self.too_full(bead, radius, wall):
            bead = draw("bead_mm", rng) / 1000
        place = place or str(rng.choice(self.places))
        extra = draw("cap_g" if place == "cap-below" else "sensor_g", rng) / 1000
        azimuth = rng.uniform(0, 2 * np.pi)
        out = radius + thickness + 0.004
        spot = {
            "top-inside": (0.0, 0.0, height - 0.003),
            "top-outside": (0.0, 0.0, height + thickness + 0.003),
            "side": (out * np.cos(azimuth), out * np.sin(azimuth), wall + rng.uniform(0, 0.4) * radius),
            "cap-below": (rng.uniform(-0.006, 0.006), rng.uniform(-0.006, 0.006), -thickness - 0.004),
        }[place]
        modes = []
        for _ in range(int(rng.integers(self.modes[0], self.modes[1] + 1))):
            direction = rng.normal(size=3)
            direction /= np.linalg.norm(direction)
            modes.append(
                Mode(
                    hz=draw("mode_hz", rng),
                    damping=draw("mode_damping", rng),
                    mass=draw("mode_mass", rng) * 0.025,
                    direction=tuple(float(value) for value in direction),
                    dome=tuple(float(value) for value in rng.normal(size=6) * 0.5),
                    floor=tuple(float(value) for value in rng.normal(size=3) * 0.7),
                )
            )
        return Device(
            bead_m=bead,
            bead_spread=draw("bead_spread", rng),
            bead_density=draw("bead_density", rng),
            shell_kg=draw("shell_g", rng) / 1000 + extra,
            radius_m=radius,
            wall_m=wall,
            thickness_m=thickness,
            door_m=radius * draw("door_depth", rng) if rng.random() < self.door else 0.0,
            door_azimuth=float(rng.uniform(0, 2 * np.pi)),
            restitution=(draw("restitution_beads", rng), draw("restitution_floor", rng), draw("restitution_dome", rng)),
            contact_s=tuple(draw("contact_us", rng) * 1e-6 for _ in range(3)),
            friction=(draw("friction_beads", rng), draw("friction_shell", rng), draw("friction_shell", rng)),
            rolling=draw("rolling", rng),
            modes=tuple(modes),
            place=place,
            sensor_at=tuple(float(value) for value in spot),
            sensor_pose=_quaternion(rng),
            nominal_hz=nominal_hz,
            rate_hz=nominal_hz * (1 + draw("rate_error", rng)),
            noise_g=draw("noise_mg", rng) / 1000 * np.sqrt(nominal_hz / 3200.0),
            offset_g=tuple(draw("offset_mg", rng) / 1000 for _ in range(3)),
            gain=tuple(draw("gain", rng) for _ in range(3)),
            skew=tuple(float(np.deg2rad(draw("skew_deg", rng))) for _ in range(3)),
            cutoff_hz=draw("cutoff", rng) * nominal_hz,
            hertz=draw("hertz", rng),
            viscous=draw("viscous", rng),
            bricks=self.laid(radius, wall, rng) if rng.random() < self.bricked else (),
            bumps=self.bumped(radius, wall, rng) if rng.random() < self.bumpy else (),
        )

    def laid(self, radius: float, wall: float, rng: np.random.Generator) -> tuple[tuple[float, ...], ...]:
        """Draw flat bricks for a dome of this radius on a wall (m): planes (nx, ny, nz, d) with n·x >= d inside."""
        rings = int(rng.integers(self.brick_rings[0], self.brick_rings[1] + 1))
        sides = int(rng.integers(self.brick_sides[0], self.brick_sides[1] + 1))
        flat = self.draw("brick_flat", rng)
        crooked = np.deg2rad(self.draw("brick_crooked_deg", rng))
        rows = []
        for ring in range(rings + 1):
            up = 0.0 if ring == 0 else np.deg2rad(80.0) * (ring - 0.5) / rings
            here = max(3, round(sides * np.cos(up)))
            first = rng.uniform(0, 2 * np.pi)
            # a brick reaches to where its neighbours begin, on the side that is nearer
            half = min(np.pi / here, np.deg2rad(40.0) / rings) if ring else np.pi / here
            inset = radius * flat * (1 - np.cos(half))
            for k in range(here):
                azimuth = first + 2 * np.pi * k / here + crooked * rng.normal()
                height = max(up + crooked * rng.normal(), 0.0) if ring else 0.0
                out = (np.cos(azimuth) * np.cos(height), np.sin(azimuth) * np.cos(height), np.sin(height))
                far = radius - inset * rng.uniform(0.7, 1.0) + out[2] * wall
                rows.append((-float(out[0]), -float(out[1]), -float(out[2]), -float(far)))
        return tuple(rows)

    def bumped(self, radius: float, wall: float, rng: np.random.Generator) -> tuple[tuple[float, ...], ...]:
        """Draw bumps on floor and dome: spheres (x, y, z, radius) in m that stand out by the rounded top."""
        rows = []
        size, high = self.draw("bump_mm", rng) / 1000, self.draw("bump_high_mm", rng) / 1000
        on_floor = rng.uniform(0.0, 0.5)
        for _ in range(int(rng.integers(self.bumps[0], self.bumps[1] + 1))):
            here, top = size * rng.uniform(0.7, 1.3), high * rng.uniform(0.5, 1.5)
            azimuth = rng.uniform(0, 2 * np.pi)
            if rng.random() < on_floor:
                far = radius * np.sqrt(rng.random()) * 0.95
                place = (far * np.cos(azimuth), far * np.sin(azimuth), top - here)
            else:
                up = np.arcsin(rng.random())
                far = radius + here - top
                place = (
                    far * np.cos(up) * np.cos(azimuth),
                    far * np.cos(up) * np.sin(azimuth),
                    wall * (1.0 if up > 0.3 else rng.random()) + far * np.sin(up),
                )
            rows.append((*(float(value) for value in place), float(here)))
        return tuple(rows)

    def person(self, rng: np.random.Generator) -> ShakerHabits:
        """Draw somebody who shakes."""
        draw = self.draw
        styles = tuple(str(s) for s in rng.choice(STYLES, size=int(rng.integers(1, 3)), replace=False))
        return ShakerHabits(
            styles=styles,
            tempo_hz=draw("tempo_hz", rng),
            peak_g=draw("peak_g", rng),
            ellipse=draw("ellipse", rng),
            sharpness=draw("sharpness", rng),
            lopsided=draw("lopsided", rng),
            tempo_jitter=draw("tempo_jitter", rng),
            travel_jitter=draw("travel_jitter", rng),
            rock=float(np.deg2rad(draw("rock_strong_deg" if "rocking" in styles else "rock_deg", rng))),
            twist=float(np.deg2rad(draw("twist_strong_deg" if "twisting" in styles else "twist_deg", rng))),
            lever_m=draw("lever_mm", rng) / 1000,
            pose=float(np.deg2rad(draw("pose_deg", rng))),
            azimuth=float(rng.uniform(0, 2 * np.pi)),
            tremor_g=draw("tremor_mg", rng) / 1000,
            pauses=draw("pauses", rng),
            travel_m=(self.travel_mm[0] / 1000, self.travel_mm[1] / 1000),
            grip=Grip(
                kg=draw("hand_g", rng) / 1000,
                hz=draw("hand_hz", rng),
                damping=draw("hand_damping", rng),
                turn_hz=draw("turn_hz", rng),
                turn_damping=draw("turn_damping", rng),
            ),
        )


@dataclass(frozen=True, slots=True)
class Mode:
    """A resonance of the shell: where beads excite it, and which way the sensor moves with it.

    ``dome`` are six coefficients over the unit direction (1, x, y, z, x²-y², 2xy) of a contact with wall or dome,
    ``floor`` three over (1-ρ², x, y) of one with the floor. ``mass`` is in kg.
    """

    hz: float
    damping: float
    mass: float
    direction: tuple[float, ...]
    dome: tuple[float, ...]
    floor: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Device:
    """One igloo with its sensor, in SI units. Triples of contacts are (bead-bead, bead-floor, bead-dome)."""

    bead_m: float
    bead_spread: float
    bead_density: float
    shell_kg: float
    radius_m: float
    wall_m: float
    thickness_m: float
    door_m: float
    door_azimuth: float
    restitution: tuple[float, float, float]
    contact_s: tuple[float, ...]
    friction: tuple[float, float, float]
    rolling: float
    modes: tuple[Mode, ...]
    place: str
    sensor_at: tuple[float, ...]
    sensor_pose: tuple[float, ...]
    nominal_hz: float
    rate_hz: float
    noise_g: float
    offset_g: tuple[float, ...]
    gain: tuple[float, ...]
    skew: tuple[float, ...]
    cutoff_hz: float
    hertz: float
    viscous: float
    bricks: tuple[tuple[float, ...], ...]
    bumps: tuple[tuple[float, ...], ...]

    @property
    def fall(self) -> float:
        """By what power of the speed the loss of a bounce grows, at small losses, under this igloo's law."""
        return (self.viscous - 0.5 * self.hertz) / (2 + 0.5 * self.hertz)

    @property
    def height_m(self) -> float:
        """The inner height, from the floor to the top of the dome."""
        return self.wall_m + self.radius_m

    @property
    def middle_m(self) -> float:
        """The height of the centre of mass over the floor inside, as an even shell has it, roughly."""
        return 0.42 * self.height_m

    @property
    def inertia(self) -> tuple[float, float, float]:
        """The moments of inertia about the centre of mass (kg m²) of a thin shell of this size."""
        across = self.shell_kg * (0.4 * self.radius_m**2 + self.height_m**2 / 14)
        return across, across, self.shell_kg * 0.6 * self.radius_m**2

    def beads(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Draw the radii (m) of ``count`` beads, shape (count,)."""
        spread = np.clip(rng.normal(size=count), -2.5, 2.5) * self.bead_spread
        return self.bead_m / 2 * (1 + spread)


@dataclass(frozen=True, slots=True)
class Grip:
    """How a hand holds: a mass that moves along, and a damped spring to where the hand wants to be."""

    kg: float
    hz: float
    damping: float
    turn_hz: float
    turn_damping: float


@dataclass(frozen=True, slots=True)
class ShakerHabits:
    """Somebody who shakes, in SI units (angles in rad); one shake varies about these habits."""

    styles: tuple[str, ...]
    tempo_hz: float
    peak_g: float
    ellipse: float
    sharpness: float
    lopsided: float
    tempo_jitter: float
    travel_jitter: float
    rock: float
    twist: float
    lever_m: float
    pose: float
    azimuth: float
    tremor_g: float
    pauses: float
    travel_m: tuple[float, float]
    grip: Grip


def _quaternion(rng: np.random.Generator) -> tuple[float, ...]:
    """Draw a turn from all turns evenly, as a unit quaternion (w, x, y, z)."""
    q = rng.normal(size=4)
    q /= np.linalg.norm(q)
    return tuple(float(value) for value in q)
