"""From loads to beads: what a shell and a bead weigh is learnt from known igloos, and a count is a distribution.

An igloo with n beads weighs s + n·b, where shells differ from each other and beads do. How much shells differ is not
known beforehand: it is summed over, weighed by how well the known igloos fit, so few of them give wide answers. All
igloos that are weighed in one sitting tell of s and b too, whatever their counts are, since all their masses lie on one
ladder; so they are answered together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from companion.igloo.balance.messages import (
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

SHELLS_G: Final = tuple(np.geomspace(0.01, 0.25, 8).tolist())
"""How much shells may stray from their mean, g: a mould and a sticker make 0.02 to 0.2 between any two."""
PLACES_G: Final = tuple(np.geomspace(0.003, 0.1, 5).tolist())
"""How much an igloo that is put on weighs too much on the mean, g: known igloos that are weighed twice tell.

Off the middle it tilts the platform as it swings, and that adds to what swings with the square of how far off it is.
"""
_OFF, _OFTEN = np.polynomial.hermite_e.hermegauss(7)
FAR: Final = _OFF[3:] ** 2
"""How far off the middle an igloo stands: squares, the mean of which is 1."""
OFTEN: Final = _OFTEN[3:] * (1, 2, 2, 2) / _OFTEN.sum()
"""And how often it does."""
SPREAD: Final = 0.02
"""Beads differ by 1 to 3 %."""
BEAD_G: Final = (0.4, 1.0)
"""The mass of a glass bead before anything is known: from 4 to 12 mm, as the median and the spread of the logarithm."""
ASSUMED_BEAD_G: Final = 0.5
"""Without a known weight grams are told by this bead, for the widths above alone: then no answer has grams."""
OTHER: Final = 0.02
"""How often something else than an igloo of the box is put on."""
SURE: Final = 0.9
STEPS: Final = np.linspace(-3.4, 3.4, 17)
LATTICE: Final = np.column_stack([one.ravel() for one in np.meshgrid(STEPS, STEPS)])
"""Where shell and bead are looked at, in standard errors of what the known igloos tell of them."""
TOGETHER_DRAWS: Final = 200
"""Draws for a whole box: each costs some 50,000 products."""


class KnownMass(NamedTuple):
    """A labelled weighing: ``value`` is grams or beads; ``load`` and ``error`` are parts of the platform's mass."""

    value: float
    load: float
    error: float


@dataclass(frozen=True, slots=True)
class WeighedCount:
    """What lies on the platform: ``posterior`` as of a shake, with the states of a balance; ``grams`` where known."""

    posterior: CountPosterior
    grams: float | None
    load: Load


@dataclass(frozen=True, slots=True)
class BalanceScale:
    """A calibrated balance: known weights, known igloos, and how it swung then.

    ``empty_hz``: the tares of the calibration. ``left_aside``: labelled weighings that fit nothing.
    """

    weights: tuple[KnownMass, ...] = ()
    igloos: tuple[KnownMass, ...] = ()
    empty_hz: tuple[float, ...] = ()
    left_aside: tuple[str, ...] = ()
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

    def mass(self, load: Load) -> tuple[float, float]:
        """Return a weighing's mass and its standard error, g."""
        return load.load * self.platform_g, load.error * self.platform_g

    def answers(self, weighed: Sequence[Load]) -> list[WeighedCount]:
        """Return what lies on the platform at each weighing; those of one sitting help each other."""
        draws, logs = self._drawn()
        sound = [one for one in weighed if not one.why]
        every = [self._likelihood(one, draws) for one in sound]
        for likelihood in every:
            logs = logs + np.log(likelihood.sum(axis=1) / len(COUNTS) * (1 - OTHER) + OTHER * self._elsewhere(draws))
        weight = np.exp(logs - logs.max())
        weight /= weight.sum()
        told = iter(every)
        return [self._answer(one, next(told), draws, weight) if not one.why else _refused(one) for one in weighed]

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
        some = np.random.default_rng(0).choice(len(draws), TOGETHER_DRAWS, p=weight / weight.sum())
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
        grams, _ = self.mass(load)
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
        mean = draws[:, :1] + n * draws[:, 1:2]
        variance = error**2 + draws[:, 2:3] ** 2 + n * (SPREAD * draws[:, 1:2]) ** 2
        density: FloatArray = np.zeros_like(mean)
        for share, far in zip(OFTEN, FAR, strict=True):
            # What a place adds on the mean is in the shells already.
            left = grams - mean - draws[:, 3:4] * (far - 1)
            density += share * np.exp(-0.5 * left**2 / variance)
        return density / np.sqrt(2 * np.pi * variance)

    def _drawn(self) -> tuple[FloatArray, FloatArray]:
        """Return a grid of (shell, bead, difference of shells, of places), g, with the logarithm of its weights."""
        # A box holds each number once: weighings of one number are of one igloo, with one shell and the same beads.
        same = [[one for one in self.igloos if one.value == value] for value in sorted({o.value for o in self.igloos})]
        n = np.array([of[0].value for of in same])
        many = np.array([len(of) for of in same])
        mass = np.array([np.mean([one.load for one in of]) for of in same]) * self.platform_g
        error = np.sqrt([np.mean([one.error**2 for one in of]) / len(of) for of in same]) * self.platform_g
        slope = max(0.02, float(np.polyfit(n, mass, 1)[0]))
        design = np.column_stack([np.ones_like(n), n])
        drawn, logs = [], []
        for places in PLACES_G:
            twice = self._twice(same, places)
            for shells in SHELLS_G:
                variance = error**2 + 2 * places**2 / many + shells**2 + n * (SPREAD * slope) ** 2
                precision = design.T @ (design / variance[:, None])
                middle = np.linalg.solve(precision, design.T @ (mass / variance))
                left = mass - design @ middle
                evidence = -0.5 * float(
                    (left**2 / variance).sum() + np.log(variance).sum() + np.linalg.slogdet(precision)[1]
                )
                part = middle + LATTICE @ np.linalg.inv(np.linalg.cholesky(precision))
                bead = np.maximum(part[:, 1], 1e-3)
                prior = -0.5 * (np.log(bead / BEAD_G[0]) / BEAD_G[1]) ** 2
                rest = np.full((len(part), 2), (shells, places))
                drawn.append(np.column_stack([part[:, 0], bead, rest]))
                logs.append(evidence + twice + prior - 0.5 * (LATTICE**2).sum(axis=1))
        return np.vstack(drawn), np.concatenate(logs)

    def _twice(self, same: Sequence[Sequence[KnownMass]], places: float) -> float:
        """Return how likely it is that one igloo, weighed twice, weighs so differently (a logarithm)."""
        found = 0.0
        for of in same:
            for one, other in zip(of[::2], of[1::2], strict=False):
                apart = (one.load - other.load) * self.platform_g - places * (FAR[:, None] - FAR[None])
                variance = (one.error**2 + other.error**2) * self.platform_g**2
                density = np.exp(-0.5 * apart**2 / variance) / np.sqrt(variance)
                found += float(np.log(OFTEN @ density @ OFTEN + 1e-300))
        return found


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
