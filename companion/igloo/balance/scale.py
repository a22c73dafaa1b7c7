"""From loads to beads: what a shell and a bead weigh is learnt from known igloos, and a count is a distribution.

An igloo with n beads weighs s + n·b, where shells differ from each other and beads do. How much shells differ is not
known beforehand: it is summed over, from what moulds and stickers make, weighed by how well the known igloos fit. One
shell may be odder than the others. All igloos that are weighed in one sitting tell of s and b too, whatever their
counts are, since all their masses lie on one ladder; so they are answered together. They also make shells look more
alike than they are, as each igloo looks like the count that it is nearest to: so what is believed of shells beforehand
begins where most boxes end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from companion.igloo.balance.messages import (
    LEANS,
    MORE_BEADS_WEIGHED_LESS,
    MORE_THAN_A_BOX,
    NOT_OF_THE_BOX,
    NOTHING,
    NOTHING_KNOWN,
    TOO_FINE,
    TOO_HEAVY,
    TOO_LIGHT,
    TWO,
)
from companion.ports import COUNTS, BadDataError, CountPosterior

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.igloo.balance.loads import Load

    FloatArray = NDArray[np.float64]

SHELLS_G: Final = (0.02, 0.03, 0.042, 0.06, 0.085, 0.12, 0.17, 0.25)
"""How much shells may stray from their mean, g."""
SHELLS_DEGREES: Final = 4.0
SHELLS_USUAL_G: Final = 0.06
"""What is believed of it beforehand: a mould repeats within 0.1 to 0.3 % of 35 g, stickers differ by less, so the
shells of a box are 0.02 to 0.2 g apart, and evenly spread over 0.2 g they stray by 0.06 g. It is believed as if
``SHELLS_DEGREES`` such shells had been weighed (an inverse gamma distribution of the variance)."""
SHELLS_APART_G: Final = 0.2
"""By so much the shells of a box may differ."""
SHELL_G: Final = 35.0
"""The shell that they are of: without a known weight it is the measure of grams here."""
ODD: Final = (0.05, 2.5)
"""How many shells are odd, and by how much further these stray (two normal distributions for one with long tails)."""
PITCHED_G: Final = tuple(np.geomspace(300, 100_000, 12).tolist())
"""How much too heavy an igloo is for the square of what swings across, g.

Off the middle it pitches the platform as it swings. With c to turn the platform (N m), swing w (1/s) and the sensor h
below the middle that adds c w² / (g + h w²)²: plates that tilt at 100 to 400 Hz, and 5 to 40 mm, make this range.
"""
PITCHED_STEP: Final = float(np.log(PITCHED_G[1] / PITCHED_G[0]) / np.sqrt(12))
"""The standard deviation within a step of it, as a part."""
PLACES_G: Final = 0.03
"""So much an igloo and its shell may be off by, because they stood at other places of the platform."""
OTHER_SHELL: Final = 4.0
"""Beads that differ by more standard errors were not in the shells with their numbers."""
SPREAD: Final = 0.02
"""Beads differ by 1 to 3 %."""
BEAD_G: Final = (0.4, 1.0)
"""The mass of a glass bead before anything is known: from 4 to 12 mm, as the median and the spread of the logarithm."""
ASSUMED_BEAD_G: Final = 0.5
"""Without a known weight grams are told by this bead, for the widths above alone: then no answer has grams."""
RUBS_MORE: Final = 1.5
"""An igloo whose swing dies so much faster than any did in the calibration rubs: 0.2 g may be missing by then."""
PITCHES: Final = 5e-4
"""What stands free on a plate that is fit to count with swings across by less than 2 %: this is the square of that."""
OTHER: Final = 0.02
"""How often something else than an igloo of the box is put on."""
SURE: Final = 0.9
STEPS: Final = np.linspace(-3.4, 3.4, 13)
LATTICE: Final = np.column_stack([one.ravel() for one in np.meshgrid(STEPS, STEPS)])
"""Where shell and bead are looked at, in standard errors of what the known igloos tell of them."""
UNLIKELY: Final = 16.0
"""What the known igloos make less likely than this (a logarithm, against the best) is not looked at."""
TOGETHER_DRAWS: Final = 200
"""Draws for a whole box: each costs some 50,000 products."""


class KnownMass(NamedTuple):
    """A labelled weighing: ``value`` is grams or beads; ``load`` and ``error`` are parts of the platform's mass.

    ``pitch``, ``pitch_error``: as of a :class:`companion.igloo.balance.loads.Load`.
    """

    value: float
    load: float
    error: float
    pitch: float = 0.0
    pitch_error: float = 0.0


def known_mass(value: float, load: Load) -> KnownMass:
    """Return a weighing of which it is known what it is of."""
    return KnownMass(value, load.load, load.error, load.pitch, load.pitch_error)


@dataclass(frozen=True, slots=True)
class WeighedCount:
    """What lies on the platform: ``posterior`` as of a shake, with the states of a balance; ``grams`` where known."""

    posterior: CountPosterior
    grams: float | None
    load: Load


@dataclass(frozen=True, slots=True)
class BalanceScale:
    """A calibrated balance: known weights, known igloos, and how it swung then.

    ``empty_hz``: the tares of the calibration. ``left_aside``: labelled weighings that fit nothing. ``damping``: the
    largest that there was, of the critical one; 0: it was not kept. ``shells``: empty shells, ``value`` is the number
    of the sticker; a known igloo with as many beads has that shell.
    """

    weights: tuple[KnownMass, ...] = ()
    igloos: tuple[KnownMass, ...] = ()
    empty_hz: tuple[float, ...] = ()
    left_aside: tuple[str, ...] = ()
    damping: float = 0.0
    shells: tuple[KnownMass, ...] = ()
    platform_g: float = field(init=False)
    """The mass that swings when nothing lies on it, g."""

    def __post_init__(self) -> None:
        """Reckon the platform's mass.

        :raises BadDataError: when no two known igloos differ.
        """
        if len({one.value for one in self.igloos}) < 2:
            raise BadDataError(NOTHING_KNOWN)
        object.__setattr__(self, "platform_g", self._platform())

    @property
    def in_grams(self) -> bool:
        """Tell whether grams are known: by coins or other weights."""
        return bool(self.weights)

    def _platform(self) -> float:
        if self.weights:
            load = np.array([one.load for one in self.weights])
            grams = np.array([one.value for one in self.weights])
            w = 1 / np.array([one.error for one in self.weights]) ** 2
            return float((w * grams * load).sum() / (w * load * load).sum())
        n = np.array([one.value for one in self.igloos])
        load = np.array([one.load for one in self.igloos])
        slope = float(np.polyfit(n, load, 1)[0])
        if slope <= 0:
            raise BadDataError(MORE_BEADS_WEIGHED_LESS)
        return ASSUMED_BEAD_G / slope

    @property
    def bead_g(self) -> float:
        """About what a bead weighs, g, by the known igloos alone."""
        return self._ladder()[0]

    @property
    def shell_g(self) -> float:
        """About what an empty shell weighs, g, by the known igloos alone."""
        return self._ladder()[1]

    def _ladder(self) -> tuple[float, float]:
        n, load = np.array([(one.value, one.load) for one in self.igloos]).T
        bead, shell = np.polyfit(n, load, 1) * self.platform_g
        return float(bead), float(shell)

    def mass(self, load: Load) -> tuple[float, float]:
        """Return a weighing's mass and its standard error, g."""
        return load.load * self.platform_g, load.error * self.platform_g

    def answers(self, weighed: Sequence[Load]) -> list[WeighedCount]:
        """Return what lies on the platform at each weighing; those of one sitting help each other."""
        draws, logs = self._drawn()
        weighed = [self._free(one) for one in weighed]
        sound = [one for one in weighed if not one.why]
        every = [self._likelihood(one, draws) for one in sound]
        for likelihood in every:
            logs = logs + np.log(likelihood.sum(axis=1) / len(COUNTS) * (1 - OTHER) + OTHER * self._elsewhere(draws))
        weight = np.exp(logs - logs.max())
        weight /= weight.sum()
        told = iter(every)
        return [self._answer(one, next(told), draws, weight) if not one.why else _refused(one) for one in weighed]

    def _free(self, load: Load) -> Load:
        """Return a weighing, or say that what lies there does not stand free."""
        rubs = 0 < RUBS_MORE * self.damping < load.swing.damping
        leans = not load.why and (rubs or load.pitch - 3 * load.pitch_error > PITCHES)
        return replace(load, why=LEANS) if leans else load

    def together(self, weighed: Sequence[Load]) -> list[WeighedCount]:
        """Return what each igloo of one box holds, where no two of them hold the same number.

        The probability of every assignment of numbers to igloos is summed over subsets of numbers, for each of some
        draws of shell and bead. What is no igloo, or was not weighed soundly, is answered by itself.

        :raises BadDataError: when more igloos were weighed than a box has.
        """
        alone = self.answers(weighed)
        igloos = [at for at, one in enumerate(alone) if one.posterior.p]
        if len(igloos) > len(COUNTS):
            raise BadDataError(MORE_THAN_A_BOX)
        if not igloos:
            return alone
        draws, logs = self._drawn()
        every = [self._likelihood(weighed[at], draws) for at in igloos]
        for one in every:
            logs = logs + np.log(one.sum(axis=1) + 1e-300)
        weight = np.exp(logs - logs.max())
        # The same draws each time, so that the same box is answered alike.
        steps = (np.random.default_rng(0).random() + np.arange(TOGETHER_DRAWS)) / TOGETHER_DRAWS
        upto = np.cumsum(weight)
        some = np.searchsorted(upto / upto[-1], steps)
        likely = np.stack([one[some] + 1e-12 * one[some].max() for one in every])
        # The draws were chosen by weighings answered apart; what "each number once" adds weighs them again.
        p = assigned(likely, 1 / likely.sum(axis=2).prod(axis=0))
        found = list(alone)
        for at, row in zip(igloos, p, strict=True):
            before = alone[at]
            sure = float(row.max()) >= SURE
            told = CountPosterior(
                "counted" if sure else "more",
                tuple(row.tolist()),
                before.posterior.seconds,
                "" if sure else TOO_FINE,
            )
            found[at] = WeighedCount(told, before.grams, before.load)
        return found

    def _answer(self, load: Load, likelihood: FloatArray, draws: FloatArray, weight: FloatArray) -> WeighedCount:
        grams = self.mass(load)[0] - float(_pitched(load.pitch, float(weight @ draws[:, 3])))
        shown = grams if self.in_grams else None
        shell, bead = float(weight @ draws[:, 0]), float(weight @ draws[:, 1])
        # For each draw: which counts, and whether something else.
        whole = likelihood / len(COUNTS) * (1 - OTHER)
        other = OTHER * self._elsewhere(draws)
        share = weight / (whole.sum(axis=1) + other)
        p, none = share @ whole, float(share @ other)
        seconds = load.swing.seconds
        if none > 0.5 or not p.sum() > 0:
            why = self._why(grams, shell, bead)
            return WeighedCount(CountPosterior("not-an-igloo", seconds=seconds, why=why), shown, load)
        p = p / p.sum()
        sure = float(p.max()) >= SURE
        return WeighedCount(
            CountPosterior("counted" if sure else "more", tuple(p.tolist()), seconds, "" if sure else TOO_FINE),
            shown,
            load,
        )

    @staticmethod
    def _why(grams: float, shell: float, bead: float) -> str:
        least, most = shell + COUNTS[0] * bead, shell + COUNTS[-1] * bead
        if grams < 0.2 * shell:
            return NOTHING
        if grams < least - bead / 2:
            return TOO_LIGHT
        if 2 * least - bead / 2 < grams < 2 * most + bead / 2:
            return TWO
        return TOO_HEAVY if grams > most + bead / 2 else NOT_OF_THE_BOX

    def _elsewhere(self, draws: FloatArray) -> FloatArray:
        """Return the density of what is no igloo, at any mass from nothing to two full ones, per g."""
        return 1 / (2 * (draws[:, 0] + (COUNTS[-1] + 1) * draws[:, 1]))

    def _likelihood(self, load: Load, draws: FloatArray) -> FloatArray:
        """Return how likely a mass is under each draw and count, (draws, 12), per g."""
        grams, error = self.mass(load)
        n = np.arange(COUNTS.start, COUNTS.stop)
        mean = draws[:, :1] + n * draws[:, 1:2] + _pitched(load.pitch, draws[:, 3:4])
        variance = error**2 + _unsure(load.pitch, load.pitch_error, draws[:, 3:4])
        variance = variance + n * (SPREAD * draws[:, 1:2]) ** 2
        off, stray = grams - mean, draws[:, 2:3]
        odd, further = ODD
        own = next((one for one in self.shells if one.value == load.igloo), None)
        if own is not None:
            # Its shell was weighed; now and then another shell has its sticker.
            shell = own.load * self.platform_g - _pitched(own.pitch, draws[:, 3:4])
            unsure = (own.error * self.platform_g) ** 2 + _unsure(own.pitch, own.pitch_error, draws[:, 3:4])
            weighed = _normal(off + draws[:, :1] - shell, variance + unsure)
            return (1 - odd) * weighed + odd * _normal(off, variance + stray**2)
        return (1 - odd) * _normal(off, variance + stray**2) + odd * _normal(off, variance + (further * stray) ** 2)

    def _own_shells(self) -> bool:
        """Tell whether each known igloo may have the shell with its number: what a bead weighs by each agrees."""
        shells = {one.value: one for one in self.shells}
        found = [(one, shells[one.value]) for one in self.igloos if one.value in shells]
        if len({one.value for one, _ in found}) < 2:
            return True
        n = np.array([one.value for one, _ in found])
        bead = np.array([one.load - shell.load for one, shell in found]) * self.platform_g / n
        error = np.array([np.hypot(one.error, shell.error) for one, shell in found]) * self.platform_g
        error = np.sqrt(error**2 + PLACES_G**2 + n * (SPREAD * bead) ** 2) / n
        return bool(np.all(np.abs(bead - np.average(bead, weights=1 / error**2)) < OTHER_SHELL * error))

    def _drawn(self) -> tuple[FloatArray, FloatArray]:
        """Return a grid of (shell, bead, difference of shells, pitched), g, with the logarithm of its weights."""
        number, load, sigma, pitch, pitch_error = np.array((*self.igloos, *self.shells)).T
        full = np.arange(len(number)) < len(self.igloos)
        slope, shell = self._ladder()
        slope, unit = max(0.02, slope), 1.0 if self.in_grams else max(1.0, shell) / SHELL_G
        # A box holds each number once: weighings of one number are of one igloo, with one shell and the same beads.
        same, n = (number[:, None] == number[None]).astype(float), np.where(full, number, 0.0)
        if not self._own_shells():
            same = same * (full[:, None] == full[None])
        beads = same * n * (SPREAD * slope) ** 2 * full[:, None]
        design = np.column_stack([np.ones_like(n), n])
        drawn, logs = [], []
        for pitched, usual in product(PITCHED_G, SHELLS_G):
            shells = usual * unit
            mass = load * self.platform_g - _pitched(pitch, pitched)
            alone = (sigma * self.platform_g) ** 2 + _unsure(pitch, pitch_error, pitched)
            covariance = np.diag(alone) + same * shells**2 + beads
            inverse = np.linalg.inv(covariance)
            precision = design.T @ inverse @ design
            middle = np.linalg.solve(precision, design.T @ inverse @ mass)
            left = mass - design @ middle
            evidence = left @ inverse @ left + np.linalg.slogdet(covariance)[1] + np.linalg.slogdet(precision)[1]
            part = middle + LATTICE @ np.linalg.inv(np.linalg.cholesky(precision))
            bead = np.maximum(part[:, 1], 1e-3)
            prior = -0.5 * (np.log(bead / BEAD_G[0]) / BEAD_G[1]) ** 2
            # The grid is even in the logarithm of what shells stray by.
            prior -= SHELLS_DEGREES * (np.log(usual) + 0.5 * (SHELLS_USUAL_G / usual) ** 2)
            drawn.append(np.column_stack([part[:, 0], bead, np.full((len(part), 2), (shells, pitched))]))
            logs.append(-0.5 * float(evidence) + prior - 0.5 * (LATTICE**2).sum(axis=1))
        points, weights = np.vstack(drawn), np.concatenate(logs)
        likely = weights > weights.max() - UNLIKELY
        return points[likely], weights[likely]


def _normal(off: FloatArray, variance: FloatArray) -> FloatArray:
    """Return the density of a normal distribution so far off its mean."""
    density: FloatArray = np.exp(-0.5 * off**2 / variance) / np.sqrt(2 * np.pi * variance)
    return density


def _pitched(pitch: FloatArray | float, grams: FloatArray | float) -> FloatArray:
    """Return how much too heavy a weighing is, g."""
    return np.asarray(grams * np.maximum(pitch, 0.0))


def _unsure(pitch: FloatArray | float, error: FloatArray | float, grams: FloatArray | float) -> FloatArray:
    """Return the variance of how much too heavy a weighing is, g²."""
    return np.asarray((grams * error) ** 2 + (PITCHED_STEP * _pitched(pitch, grams)) ** 2)


def assigned(likely: FloatArray, weight: FloatArray) -> FloatArray:
    """Return p of each number for each igloo (k, 12), no number twice; ``likely`` (k, draws, 12), ``weight`` (draws,).

    Forth over the igloos with the set of numbers that are gone, and back with the set that is left.
    """
    k, draws, numbers = likely.shape
    sets = 1 << numbers
    by_size: list[list[int]] = [[] for _ in range(numbers + 1)]
    for one in range(sets):
        by_size[one.bit_count()].append(one)
    before, after = np.zeros((sets, draws)), np.zeros((sets, draws))
    before[0] = 1.0
    after[by_size[k]] = 1.0
    for igloo in range(k):
        gone = np.array(by_size[igloo])
        for n in range(numbers):
            free = gone[gone & (1 << n) == 0]
            before[free | (1 << n)] += before[free] * likely[igloo, :, n]
    for igloo in reversed(range(k)):
        gone = np.array(by_size[igloo])
        for n in range(numbers):
            free = gone[gone & (1 << n) == 0]
            after[free] += after[free | (1 << n)] * likely[igloo, :, n]
    p = np.zeros((k, numbers))
    for igloo in range(k):
        gone = np.array(by_size[igloo])
        for n in range(numbers):
            free = gone[gone & (1 << n) == 0]
            p[igloo, n] = float(((before[free] * after[free | (1 << n)]).sum(axis=0) * likely[igloo, :, n]) @ weight)
    answer: FloatArray = p / p.sum(axis=1, keepdims=True)
    return answer


def _refused(load: Load) -> WeighedCount:
    return WeighedCount(CountPosterior("bad-data", seconds=load.swing.seconds, why=load.why), None, load)
