"""Which of several cards lies there, most of which may print the same: what alone tells two of them apart decides.

How sharply, how bright, and under which gleam of a lamp each was taught differs from card to card and from place to
place, and tells nothing. So a card is fitted to what is seen window by window by a gain and an offset of its own, moved
by a pixel at most, and only what that leaves counts. Two cards are compared where they themselves, fitted so to each
other, leave something; where that is hidden, neither is likelier. Errors are taken for normal, of a strength that each
window has of its own (a profile likelihood), and neighbouring pixels that err together count once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from vision.cards.blocks import BLOCK

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.ports import ByteArray, FloatArray

    Singles = NDArray[np.float32]
    Flags = NDArray[np.bool_]
    Whole = NDArray[np.int64]

_TELLING: Final = 0.5
"""What is visible of two cards tells them apart if they differ there by so large a part of what they do anywhere."""
_OTHER: Final = 1 - 0.8**2
"""Where the cards' windows correlate less than what fits well does, they print something else."""
_BLUNT: Final = 2.0
"""A card's blurred picture is that of a lens that spreads a point so far (pixels, one standard deviation)."""
_NEVER: Final = float(np.log(1e-6))
_MIDDLE: Final = np.float32(128)
_STEPS: Final = 1 / 12
"""The variance that rounding to whole levels of lightness gives."""


class TwinReader:
    """Tells the cards of one deck apart; what they differ in is worked out once for each two."""

    def __init__(self, pictures: ByteArray) -> None:
        """Know the taught cards (n, h, w, 3)."""
        self._light = np.stack([_lightness(picture) for picture in pictures])
        self._apart: dict[tuple[int, int], Differing] = {}

    def tell(self, seen: ByteArray, cards: Whole, visible: Flags, most: int) -> tuple[Whole, FloatArray]:
        """Return the ``most`` of ``cards`` that fit best, and the logarithms of their odds against the likeliest.

        ``seen`` (h, w, 3) is a straightened card, ``visible`` (rows, columns) the blocks of
        :data:`vision.cards.blocks.BLOCK` pixels in which nothing lies over it.
        """
        picture = _lightness(seen)
        if len(cards) > most:
            first = Fits(picture, self._light[cards], visible, 0)
            cards = cards[np.argsort(first.misfit(visible), kind="stable")[:most]]
        fits = Fits(picture, self._light[cards], visible)
        lead, tried = int(fits.misfit(visible).argmin()), {}
        # Who is beaten by another gives the lead to it, until one is beaten by none.
        while lead not in tried:
            tried[lead] = np.array([self._odds(fits, cards, other, lead, visible) for other in range(len(cards))])
            lead = int(tried[lead].argmax())
        lead = min(tried, key=lambda one: float(tried[one].max()))
        odds = tried[lead]
        # Where one beats another that beats a third, the third may beat the first: each counts by its worst comparison.
        close = np.flatnonzero(odds > _NEVER)
        worst = [min(self._odds(fits, cards, int(one), int(other), visible) for other in close) for one in close]
        odds[close] = np.array(worst) - max(worst)
        return cards, np.minimum(odds, 0.0)

    def _odds(self, fits: Fits, cards: Whole, a: int, b: int, visible: Flags) -> float:
        """Return the logarithm of the odds of the ``a``-th of the cards against the ``b``-th."""
        if a == b:
            return 0.0
        weight = self._differ(int(min(cards[a], cards[b])), int(max(cards[a], cards[b]))).seen(visible)
        if not weight.any():
            return 0.0
        ratio = np.log((fits.left[b] + fits.noise) / (fits.left[a] + fits.noise))
        better = fits.rest(a if (weight * ratio).sum() >= 0 else b, weight > 0.5)
        pixels = BLOCK * BLOCK * independent(better[..., None], np.ones((1, BLOCK, BLOCK), bool), squares=True)
        return 0.5 * pixels * float((weight * ratio).sum())

    def _differ(self, a: int, b: int) -> Differing:
        if (a, b) not in self._apart:
            one = self._light[a]
            fits = Fits(one, self._light[b : b + 1], np.ones((one.shape[0] // BLOCK, one.shape[1] // BLOCK), bool))
            apart = fits.left[0]
            self._apart[a, b] = Differing(apart.astype(np.float16), apart > _OTHER * fits.power)
        return self._apart[a, b]


@dataclass(frozen=True, slots=True)
class Differing:
    """How much two cards differ in each window (rows, columns), and where they surely print something else."""

    apart: NDArray[np.float16]
    other: Flags

    def seen(self, visible: Flags) -> Singles:
        """Return how much each window tells, from 0 to 1; nothing where what is visible was but taught otherwise."""
        apart = self.apart.astype(np.float32)
        # As much as windows differ that print the same, cards differ by how they were taught.
        same = apart[~self.other]
        apart = np.maximum(apart - (np.median(same) if len(same) else 0), 0)
        shown = apart * visible
        most = float(shown.max())
        real = most >= _TELLING * apart.max() or bool((self.other & (shown >= _TELLING * most)).any())
        return shown / np.float32(most) if real and most > _STEPS else np.zeros_like(shown)


class Fits:
    """Cards (n, h, w) fitted to a picture (h, w) window by window, by what is ``visible`` (rows, columns).

    ``left`` (n, rows, columns) is what is left of each window, as a mean square; ``noise`` what is left of most windows
    by whatever fits best there; ``power`` (rows, columns) how much there was. Each may lie ``reach`` pixels off.
    """

    def __init__(self, picture: ByteArray, cards: ByteArray, visible: Flags, reach: int = 1) -> None:
        """Fit them."""
        seen = picture.astype(np.float32) - _MIDDLE
        self._sharp = cards.astype(np.float32) - _MIDDLE
        # A card and the same blurred: mixed, they are as sharp as the picture, whichever is sharper.
        self._blunt = np.stack([cv2.GaussianBlur(card, (0, 0), _BLUNT) for card in self._sharp])
        weight = visible.astype(np.float32)
        many = np.maximum(_around(weight), 1)

        def mean(values: Singles) -> Singles:
            return np.asarray(_around(_in_means(values) * weight) / many, np.float32)

        self._means = one, two = mean(self._sharp), mean(self._blunt)
        a = mean(self._sharp**2) - one**2 + np.float32(_STEPS)
        b = mean(self._blunt**2) - two**2 + np.float32(_STEPS)
        c = mean(self._sharp * self._blunt) - one * two
        scale = np.maximum(a * b - c * c, np.float32(_STEPS**2))
        self.left: Singles = np.full(a.shape, np.inf, np.float32)
        self._gains = np.zeros((2, *a.shape), np.float32)
        self._step = np.zeros(a.shape, np.int8)
        own = mean(seen[None])[0]
        self.power = mean(seen[None] ** 2)[0] - own**2
        self._seen: list[tuple[Singles, Singles]] = []
        for step, (down, across) in enumerate(np.ndindex(2 * reach + 1, 2 * reach + 1)):
            moved = np.roll(seen, (down - reach, across - reach), (0, 1))
            own = mean(moved[None])[0]
            self._seen.append((moved, own))
            u, v = mean(self._sharp * moved) - one * own, mean(self._blunt * moved) - two * own
            first, second = (b * u - c * v) / scale, (a * v - c * u) / scale
            # A card is never seen with its dark and its light exchanged.
            upright = (first + second > 0).astype(np.float32)
            first, second = first * upright, second * upright
            told = 2 * (first * u + second * v) - first**2 * a - second**2 * b - 2 * first * second * c
            left = np.maximum(mean(moved[None] ** 2)[0] - own**2 - told, 0)
            nearer = left < self.left
            self.left = np.where(nearer, left, self.left)
            self._step[nearer] = step
            self._gains[:, nearer] = first[nearer], second[nearer]
        shown = self.left.min(axis=0)[visible]
        self.noise = float(np.median(shown)) + _STEPS if len(shown) else _STEPS

    def misfit(self, visible: Flags) -> Singles:
        """Return (n,): how badly each card fits what is visible, as a sum of logarithms."""
        logs: Singles = np.log(self.left + self.noise).astype(np.float32)
        return np.asarray(logs[:, visible].sum(axis=1), np.float32)

    def rest(self, card: int, windows: Flags) -> Singles:
        """Return what is left of each pixel (n, side, side) in the middle blocks of some windows (rows, columns)."""
        sharp, blunt = _blocks(self._sharp[card])[windows], _blocks(self._blunt[card])[windows]
        steps = self._step[card][windows]
        every = [_blocks(moved)[windows] - own[windows][:, None, None] for moved, own in self._seen]
        seen = np.stack(every)[steps, np.arange(len(steps))]
        first, second = (gain[card][windows][:, None, None] for gain in self._gains)
        one, two = (mean[card][windows][:, None, None] for mean in self._means)
        result: Singles = seen - first * (sharp - one) - second * (blunt - two)
        return result


def _lightness(picture: ByteArray) -> ByteArray:
    rows, columns = picture.shape[0] // BLOCK * BLOCK, picture.shape[1] // BLOCK * BLOCK
    lab: Any = cv2.cvtColor(picture, cv2.COLOR_BGR2Lab)
    return np.asarray(lab[:rows, :columns, 0], np.uint8)


def _blocks(values: Singles) -> Singles:
    """Return a picture (h, w) in blocks (rows, columns, side, side)."""
    rows, columns = values.shape[0] // BLOCK, values.shape[1] // BLOCK
    return values.reshape(rows, BLOCK, columns, BLOCK).swapaxes(1, 2)


def _in_means(values: Singles) -> Singles:
    """Return the means of blocks (n, rows, columns) of pictures (n, h, w)."""
    many, high, wide = values.shape
    flat: Any = cv2.resize(
        values.reshape(-1, wide), (wide // BLOCK, many * high // BLOCK), interpolation=cv2.INTER_AREA
    )
    return np.asarray(flat, np.float32).reshape(many, high // BLOCK, wide // BLOCK)


def _around(values: Singles) -> Singles:
    """Return the sums of three by three blocks (…, rows, columns)."""
    across, down = values.copy(), np.empty_like(values)
    across[..., 1:] += values[..., :-1]
    across[..., :-1] += values[..., 1:]
    down[...] = across
    down[..., 1:, :] += across[..., :-1, :]
    down[..., :-1, :] += across[..., 1:, :]
    return down


def independent(residual: Singles, known: Flags, *, squares: bool = False) -> float:
    """Return the share of independent ones among values (…, h, w, channels) where they are ``known`` (…, h, w).

    It is told by how much neighbours err together (of a first-order autoregression, across and down): their squares,
    of which a strength is told, do so by the square of it.
    """
    share = 1.0
    for axis in (-1, -2):
        there, beside = range(known.shape[axis] - 1), range(1, known.shape[axis])
        both = (np.take(known, there, axis) & np.take(known, beside, axis))[..., None]
        a, b = np.take(residual, there, axis - 1), np.take(residual, beside, axis - 1)
        power = float((((a**2 + b**2) / 2) * both).sum())
        together = float(np.clip((a * b * both).sum() / (power + 1e-9), 0.0, 0.99))
        together = together**2 if squares else together
        share *= (1 - together) / (1 + together)
    return share
