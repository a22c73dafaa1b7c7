"""The referee's balance: a platform on two blades, an igloo on it, taps, and what the sensor on the platform feels.

Two worlds of other laws. In ``A`` the blades are a little stiffer the further they bend, and lose energy as a damper
does. In ``B`` they are a little softer, lose energy by rubbing too, and beads that ride along are shaken loose for a
moment after each tap. In both the table below gives way, the platform can tilt, and a weight off the middle couples the
tilt to the swing. Units are SI inside (m, kg, s); masses are told in g, accelerations in g.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from companion.lab.physics.sensor import LIMIT, UG_PER_LSB

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

GRAVITY: Final = 9.80665
RATE_HZ: Final = 3200.0
LEANING: Final = 5e3
"""How stiff the place is where an igloo leans on the frame, N/m, as long as it does not slip."""
LEAN_M: Final = 0.025
"""How far from the middle of the platform that place is."""
FASTEST: Final = 1.04
"""How much faster than it says a sensor may be."""
HAND: Final = 60.0
"""A hand that still touches the igloo damps the swing so many times more than the blades do."""
KNOCK: Final = 20.0
"""A knuckle on the table pushes so much harder than a finger on the platform."""
STEPS: Final = 3
"""Steps of the integration to a sample: 0.1 ms, in which 25 Hz turn by one degree."""

COINS_G: Final = (2.30, 3.06, 3.92, 7.50, 8.50)
"""1 c, 2 c, 5 c, 1 € and 2 €."""


@dataclass(frozen=True, slots=True)
class Balance:
    """One balance as somebody built it; ``world`` is ``A`` or ``B``.

    ``platform_g``: what swings when it is empty, the blades' own share included. ``empty_hz`` and ``tilt_hz``: swing
    and tilt of the empty platform. ``damping``: of the critical one. ``table_kg``, ``table_hz`` and ``table_damping``:
    what the clamp stands on. ``bend``: change of the stiffness at 1 mm. ``slip``: change of the stiffness, a part of
    it, that a clamp makes now and then. ``drift``: change of the stiffness in a minute. ``arm_m``: half the platform's
    width. ``rub``: deceleration by rubbing, m/s². ``true_rate``: the sensor's rate as a part of what it says.
    ``trembling_g``: how the building trembles.
    """

    world: str
    platform_g: float
    empty_hz: float
    tilt_hz: float
    damping: float
    table_kg: float
    table_hz: float
    table_damping: float
    bend: float
    slip: float
    drift: float
    arm_m: float
    rub: float
    noise_g: float
    gain: float
    offset_g: tuple[float, float, float]
    crooked: tuple[float, float, float]
    true_rate: float
    trembling_g: float


@dataclass(frozen=True, slots=True)
class IglooBox:
    """The igloos of a box: shells of their own, g; what a bead weighs, and how beads differ (a part of it)."""

    shells_g: tuple[float, ...]
    bead_g: float
    spread: float


class Weighing(NamedTuple):
    """What is on the platform: g, where (m from the middle), how high its middle is (m), and what rides in it (g).

    ``lean_n``: the friction (N) at which it slips where it leans on the frame; 0: it stands free. ``released_m``: how
    far off its middle the platform is let go at the beginning, and ``held_s``: how long a hand still damps it then.
    ``taps``: how many of the taps of the sitting it gets at most; ``on_table``: they meet the table beside it.
    """

    grams: float
    off_m: float = 0.0
    high_m: float = 0.02
    beads_g: float = 0.0
    lean_n: float = 0.0
    released_m: float = 0.0
    held_s: float = 0.0
    taps: int = 99
    on_table: bool = False


def built(rng: np.random.Generator, world: str = "A", *, well: bool = True) -> Balance:
    """Return a balance as somebody builds it, with care or (``well=False``) with one of four usual faults."""
    one = Balance(
        world=world,
        platform_g=float(rng.uniform(18, 45)),
        empty_hz=float(rng.uniform(18, 32)),
        tilt_hz=float(rng.uniform(200, 350)),
        damping=float(rng.uniform(0.002, 0.008)),
        table_kg=float(rng.uniform(8, 25)),
        table_hz=float(rng.uniform(60, 110)),
        table_damping=float(rng.uniform(0.02, 0.06)),
        bend=float(rng.uniform(0.0, 0.01) * (1 if world == "A" else -1)),
        slip=0.0,
        drift=float(rng.normal(0, 2e-4)),
        arm_m=float(rng.uniform(0.035, 0.05)),
        rub=0.0 if world == "A" else float(rng.uniform(0.0, 0.004)),
        noise_g=float(rng.uniform(0.004, 0.009)),
        gain=float(rng.uniform(0.96, 1.04)),
        offset_g=tuple(rng.normal(0, 0.04, 3)),
        crooked=tuple(rng.normal(0, 0.05, 3)),
        true_rate=float(rng.uniform(0.96, FASTEST)),
        trembling_g=float(rng.uniform(0.0, 0.002)),
    )
    if well:
        return one
    match rng.integers(4):
        case 0:  # a light table that swings as fast as the balance does
            loaded = one.empty_hz * np.sqrt(one.platform_g / (one.platform_g + 40))
            return replace(one, table_kg=float(rng.uniform(1.0, 4.0)), table_hz=float(loaded * rng.uniform(0.9, 1.15)))
        case 1:  # a plate so soft that it tilts nearly as slowly as it swings
            return replace(one, tilt_hz=float(one.empty_hz * rng.uniform(1.3, 2.0)))
        case 2:  # a clamp that slips
            return replace(one, slip=float(rng.uniform(0.003, 0.02)))
        case _:  # something rubs: the swing dies within some turns
            return replace(one, damping=float(rng.uniform(0.04, 0.1)))


def box(rng: np.random.Generator, bead_g: float = 0.67, *, shells: int = 12) -> IglooBox:
    """Return a box of igloos whose shells differ by 0.02 to 0.2 g and whose beads differ by 1 to 3 %."""
    apart = float(rng.uniform(0.02, 0.2))
    return IglooBox(tuple(rng.uniform(25, 45) + apart * rng.random(shells)), bead_g, float(rng.uniform(0.01, 0.03)))


def filled(rng: np.random.Generator, of: IglooBox, shell: int, beads: int, off_m: float = 0.0) -> Weighing:
    """Return an igloo of a box with so many beads, on the platform."""
    riding = float((of.bead_g * (1 + of.spread * rng.normal(size=beads))).sum())
    return Weighing(of.shells_g[shell] + riding, off_m, 0.025, riding)


class BalanceSitting(NamedTuple):
    """What is weighed one after another on one balance, and its own chance; ``apart_min``: minutes between two."""

    balance: Balance
    what: Sequence[Weighing]
    rng: np.random.Generator
    apart_min: float = 0.5


def weigh(
    balance: Balance, what: Sequence[Weighing], rng: np.random.Generator, *, seconds: float = 4.5, taps: int = 4
) -> FloatArray:
    """Return what the sensor feels, (k, n, 3) in g at 3200 Hz (nominal), of each of ``what`` one after another.

    Between two weighings half a minute passes.
    """
    (felt,) = weigh_all([BalanceSitting(balance, what, rng)], seconds=seconds, taps=taps)
    return felt


def weigh_all(
    sittings: Sequence[BalanceSitting], *, seconds: float = 4.5, taps: int = 4, first_s: float = 0.25
) -> list[FloatArray]:
    """Return what the sensors of several balances feel, as :func:`weigh` does of one; at once, which is much faster.

    The first tap is after ``first_s``, the last one 0.85 s before the end.
    """
    k, k_tilt, at, push, length, lever, shaken = (
        np.concatenate(one) for one in zip(*(_drawn(one, seconds, taps, first_s) for one in sittings), strict=True)
    )
    each = [len(one.what) for one in sittings]

    def of(get: Callable[[Balance], float]) -> FloatArray:
        return np.repeat([float(get(one.balance)) for one in sittings], each)

    on_it = [one for sitting in sittings for one in sitting.what]
    m = np.array([one.grams for one in on_it]) * 1e-3
    off = np.array([one.off_m for one in on_it])
    high = np.array([one.high_m for one in on_it])
    riding = np.array([one.beads_g for one in on_it]) * 1e-3 * of(lambda one: one.world == "B")
    lean = np.array([one.lean_n for one in on_it])
    held, on_table = np.array([one.held_s for one in on_it]), np.array([one.on_table for one in on_it])
    push = push * (np.arange(taps) < np.array([[one.taps] for one in on_it]))
    m0, rub, stiffer = of(lambda one: one.platform_g) * 1e-3, of(lambda one: one.rub), of(lambda one: one.bend)
    # mass matrix of (swing, tilt), each weighing its own
    a, b, d = m0 + m, m * off, m0 * of(lambda one: one.arm_m) ** 2 / 3 + m * (off**2 + high**2)
    mb = of(lambda one: one.table_kg)
    kb = mb * (2 * np.pi * of(lambda one: one.table_hz)) ** 2
    c = 2 * of(lambda one: one.damping) * np.sqrt(k * a)
    ct = 2 * 0.02 * np.sqrt(k_tilt * d)
    cb = 2 * of(lambda one: one.table_damping) * np.sqrt(kb * mb)
    rate = RATE_HZ * of(lambda one: one.true_rate)
    dt, calm = 1.0 / (rate * STEPS), np.exp(-2 * np.pi * 8.0 / rate)
    tremble, trembles = np.zeros(len(m)), of(lambda one: one.trembling_g) * GRAVITY * np.sqrt(1 - calm**2)
    z, v, tilt, turn, zb, vb = (np.zeros(len(m)) for _ in range(6))
    z = z + np.array([one.released_m for one in on_it])
    loose, stretch = np.zeros(len(m)), np.zeros(len(m))
    felt = np.empty((shaken.shape[1], len(m), 3))
    for i in range(len(felt)):
        tremble = calm * tremble + trembles * shaken[:, i]
        for j in range(STEPS):
            since = (i * STEPS + j) * dt[:, None] - at
            on = (since > 0) & (since < length)
            force = np.where(on, push * np.pi / (2 * length) * np.sin(np.pi * since / length), 0.0)
            twist = (force * lever).sum(axis=1) * ~on_table
            force = force.sum(axis=1)
            # A knock on the table is as hard as a table is heavy beside a platform.
            knock, force = np.where(on_table, KNOCK * force, 0.0), np.where(on_table, 0.0, force)
            rel, rv = z - zb, v - vb
            spring = k * rel * (1 + stiffer * (rel * 1e3) ** 2) + c * rv + rub * a * np.tanh(rv / 2e-3)
            spring = spring + np.where((i * STEPS + j) * dt < held, HAND * c, 0.0) * rv
            # Where it leans it holds like a spring until it slips.
            stretch = np.clip(stretch + (rv + LEAN_M * turn) * dt, -lean / LEANING, lean / LEANING)
            spring = spring + LEANING * stretch
            pull = -spring - force
            loose = loose * (1 - dt / 0.04) + dt / 0.04 * (force > 0)
            bend = -k_tilt * tilt - ct * turn - twist - LEANING * LEAN_M * stretch
            aa = a - riding * np.clip(loose, 0, 0.5)
            det = aa * d - b * b
            acc, spin = (d * pull - b * bend) / det, (aa * bend - b * pull) / det
            ab = (spring - kb * zb - cb * vb - knock) / mb + tremble
            v, turn, vb = v + acc * dt, turn + spin * dt, vb + ab * dt
            z, tilt, zb = z + v * dt, tilt + turn * dt, zb + vb * dt
        felt[i, :, 2] = acc / GRAVITY
        felt[i, :, 0] = tilt + 0.02 * spin / GRAVITY
        felt[i, :, 1] = 0.1 * tilt
    felt[..., 2] += 1.0
    parts = np.split(felt, np.cumsum(each)[:-1], axis=1)
    return [_read(sitting, part, seconds) for sitting, part in zip(sittings, parts, strict=True)]


def _drawn(sitting: BalanceSitting, seconds: float, taps: int, first_s: float) -> tuple[FloatArray, ...]:
    """Return how stiff swing and tilt are, when and how it is tapped, how the building trembles: a row a weighing."""
    one, what, rng, apart = sitting
    count, m0 = len(what), one.platform_g * 1e-3
    minutes = apart * np.arange(count)
    soft = (1 + one.drift * minutes) * np.where(rng.random(count) < 0.3, 1 + one.slip * rng.normal(size=count), 1)
    k = m0 * (2 * np.pi * one.empty_hz) ** 2 * soft
    at = np.linspace(first_s, seconds - 0.85, taps)[None] + rng.uniform(-0.06, 0.06, (count, taps))
    mass = m0 + np.array([weighing.grams for weighing in what]) * 1e-3
    push = np.sqrt(k * mass)[:, None] * 3e-4 * rng.uniform(0.5, 1.4, (count, taps))
    length = rng.uniform(0.004, 0.009, (count, taps))
    lever = rng.normal(0, 0.15, (count, taps)) * one.arm_m
    k_tilt = np.full(count, m0 * one.arm_m**2 / 3 * (2 * np.pi * one.tilt_hz) ** 2)
    # As long as the fastest sensor needs, so that all are as long.
    shaken = rng.normal(size=(int(seconds * RATE_HZ * FASTEST), count)).T
    return tuple(np.asarray(one, dtype=np.float64) for one in (k, k_tilt, at, push, length, lever, shaken))


def _read(sitting: BalanceSitting, felt: FloatArray, seconds: float) -> FloatArray:
    """Return what the sensor makes of what it feels, (n, k, 3) in g: (k, n, 3)."""
    one = sitting.balance
    felt = felt[: int(seconds * RATE_HZ * one.true_rate)]
    x, y, zz = one.crooked
    turned = felt @ np.array([[1, zz, -y], [-zz, 1, x], [y, -x, 1]])
    noise = one.noise_g * sitting.rng.normal(size=felt.shape)
    noisy = one.gain * turned + np.asarray(one.offset_g) + noise
    steps = (np.clip(np.rint(noisy * 1e6 / UG_PER_LSB), -LIMIT - 1, LIMIT).astype(np.int16)) & ~1
    answer: FloatArray = (steps * (UG_PER_LSB * 1e-6)).swapaxes(0, 1)
    return answer


class LabelledWeighings(NamedTuple):
    """Weighings as a recording holds them: ``accel`` (k, n, 3) in g, ``what`` and ``value`` (k,); ``truth``: beads."""

    accel: FloatArray
    what: tuple[str, ...]
    value: tuple[float, ...]
    truth: tuple[int | None, ...]

    def save(self, path: Path) -> None:
        """Write them as a recording."""
        np.savez(path, accel=self.accel, rate_hz=RATE_HZ, what=np.array(self.what), value=np.array(self.value))


class WeighingPlan(NamedTuple):
    """What is to be weighed, and what is said of it: ``truth`` are the beads of what is unknown."""

    on_it: list[Weighing]
    what: tuple[str, ...]
    value: tuple[float, ...]
    truth: tuple[int | None, ...]

    def weighed(self, accel: FloatArray) -> LabelledWeighings:
        """Return it with what was felt."""
        return LabelledWeighings(accel, self.what, self.value, self.truth)


def calibration_plan(of: IglooBox, rng: np.random.Generator, known: Sequence[int] = (4, 11)) -> WeighingPlan:
    """Return how somebody calibrates: three coins and some known igloos, each twice, each after a tare."""
    rows: list[tuple[str, float, Weighing]] = []
    for coin in (COINS_G[0], COINS_G[3], COINS_G[4]):
        rows += [("grams", coin, Weighing(coin, float(rng.normal(0, 0.004)), 0.002)) for _ in range(2)]
    for shell, beads in enumerate(known):
        igloo = filled(rng, of, shell, beads)
        rows += [("beads", beads, igloo._replace(off_m=float(rng.normal(0, 0.006)))) for _ in range(2)]
    return tared(rows)


def evening_plan(of: IglooBox, rng: np.random.Generator, counts: Sequence[int]) -> WeighingPlan:
    """Return igloos of a box with so many beads each, one after another, a tare before each and at the end."""
    shells = rng.permutation(len(of.shells_g))
    igloos = [
        filled(rng, of, int(shells[at % len(shells)]), n, float(rng.normal(0, 0.006))) for at, n in enumerate(counts)
    ]
    made = tared([("unknown", float("nan"), one) for one in igloos])
    truth = iter(counts)
    return made._replace(truth=tuple(next(truth) if what == "unknown" else None for what in made.what))


def calibration_of(
    balance: Balance, of: IglooBox, rng: np.random.Generator, known: Sequence[int] = (4, 11)
) -> LabelledWeighings:
    """Return what the sensor feels while somebody calibrates a balance."""
    plan = calibration_plan(of, rng, known)
    return plan.weighed(weigh(balance, plan.on_it, rng))


def evening(balance: Balance, of: IglooBox, rng: np.random.Generator, counts: Sequence[int]) -> LabelledWeighings:
    """Return what the sensor feels of igloos with so many beads each."""
    plan = evening_plan(of, rng, counts)
    return plan.weighed(weigh(balance, plan.on_it, rng))


def tared(rows: Sequence[tuple[str, float, Weighing]]) -> WeighingPlan:
    """Return what is weighed and what is said of it, with the empty platform before each and at the end."""
    tare = ("tare", 0.0, Weighing(0.0))
    whole = [one for row in rows for one in (tare, row)] + [tare]
    what, value, on_it = zip(*whole, strict=True)
    return WeighingPlan(list(on_it), what, value, (None,) * len(whole))
