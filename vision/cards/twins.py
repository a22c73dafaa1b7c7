"""Which of several cards lies there, most of which may print the same: what alone tells two of them apart decides.

How sharply, how bright, and under which gleam of a lamp each was taught differs from card to card and from place to
place, and tells nothing. So a card is fitted to what is seen window by window by a gain and an offset of its own, moved
by a pixel at most, and only what that leaves counts. Two cards are compared where they themselves, fitted so to each
other, leave something; where that is hidden, neither is likelier. Errors are taken for normal, of a strength that each
window has of its own (a profile likelihood), and neighbouring pixels that err together count once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

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
        picture = _lightness(seen).astype(np.float32)
        if len(cards) > most:
            first = _fitted(picture, self._light[cards].astype(np.float32), visible, 0)
            cards = cards[np.argsort(first.misfit(visible), kind="stable")[:most]]
        fits = _fitted(picture, self._light[cards].astype(np.float32), visible)
        lead, tried = int(fits.misfit(visible).argmin()), {}
        # Who is beaten by another gives the lead to it, until one is beaten by none.
        while lead not in tried:
            tried[lead] = np.array([self._odds(fits, cards, other, lead, visible) for other in range(len(cards))])
            lead = int(tried[lead].argmax())
        lead = min(tried, key=lambda one: float(tried[one].max()))
        return cards, np.minimum(tried[lead], 0.0)

    def _odds(self, fits: Fits, cards: Whole, a: int, b: int, visible: Flags) -> float:
        """Return the logarithm of the odds of the ``a``-th of the cards against the ``b``-th."""
        if a == b:
            return 0.0
        weight = self._differ(int(min(cards[a], cards[b])), int(max(cards[a], cards[b]))).seen(visible)
        if not weight.any():
            return 0.0
        ratio = np.log((fits.left[b] + fits.noise) / (fits.left[a] + fits.noise))
        better = fits.rest[a if (weight * ratio).sum() >= 0 else b][weight > 0.5]
        pixels = BLOCK * BLOCK * independent(better.reshape(-1, BLOCK, BLOCK, 1), np.ones((1, BLOCK, BLOCK), bool))
        return 0.5 * pixels * float((weight * ratio).sum())

    def _differ(self, a: int, b: int) -> Differing:
        if (a, b) not in self._apart:
            one, other = self._light[a].astype(np.float32), self._light[b : b + 1].astype(np.float32)
            fits = _fitted(one, other, np.ones((one.shape[0] // BLOCK, one.shape[1] // BLOCK), bool))
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
        shown = apart * visible
        most = float(shown.max())
        real = most >= _TELLING * apart.max() or bool((self.other & (shown >= _TELLING * most)).any())
        return shown / np.float32(most) if real and most > _STEPS else np.zeros_like(shown)


@dataclass(frozen=True, slots=True)
class Fits:
    """Cards fitted to a picture: what is ``left`` of it in each window (n, rows, columns), as a mean square.

    ``rest`` (n, rows, columns, pixels) is what is left of each pixel, ``power`` (rows, columns) how much there was.
    """

    left: Singles
    rest: Singles
    power: Singles
    noise: float
    """What is left of most windows by whatever fits best there."""

    def misfit(self, visible: Flags) -> Singles:
        """Return (n,): how badly each card fits what is visible, as a mean logarithm."""
        result: Singles = np.log(self.left + np.float32(self.noise))[:, visible].sum(axis=1)
        return result


def _lightness(picture: ByteArray) -> ByteArray:
    rows, columns = picture.shape[0] // BLOCK * BLOCK, picture.shape[1] // BLOCK * BLOCK
    light: ByteArray = cv2.cvtColor(picture, cv2.COLOR_BGR2Lab)[:rows, :columns, 0]
    return light


def _blocks(values: Singles) -> Singles:
    """Return a picture or several (…, h, w) in blocks (…, rows, columns, pixels)."""
    rows, columns = values.shape[-2] // BLOCK, values.shape[-1] // BLOCK
    cut = values.reshape(*values.shape[:-2], rows, BLOCK, columns, BLOCK)
    return np.moveaxis(cut, -3, -2).reshape(*values.shape[:-2], rows, columns, BLOCK * BLOCK)


def _around(values: Singles) -> Singles:
    """Return the sums of three by three blocks (…, rows, columns)."""
    padded = np.pad(values, [(0, 0)] * (values.ndim - 2) + [(1, 1), (1, 1)])
    across = padded[..., :, :-2] + padded[..., :, 1:-1] + padded[..., :, 2:]
    down: Singles = across[..., :-2, :] + across[..., 1:-1, :] + across[..., 2:, :]
    return down


def _fitted(picture: Singles, cards: Singles, visible: Flags, reach: int = 1) -> Fits:
    """Fit cards (n, h, w) to a picture (h, w) window by window, by what is ``visible`` (rows, columns).

    Each window may lie ``reach`` pixels off.
    """
    weight = visible.astype(np.float32)
    pixels = np.maximum(_around(weight) * BLOCK * BLOCK, 1)
    moved = _blocks(picture) * weight[..., None]
    own = _around(moved.sum(-1)) / pixels
    power = _around((moved**2).sum(-1)) / pixels - own**2
    least = np.full((len(cards), *visible.shape), np.inf, np.float32)
    best = np.zeros((len(cards), *visible.shape, BLOCK * BLOCK), np.float32)
    # A card and the same blurred: mixed, they are as sharp as the picture, whichever is sharper.
    blunt = np.stack([cv2.GaussianBlur(card, (0, 0), _BLUNT) for card in cards])

    def mean(values: Singles) -> Singles:
        return _around(values.sum(-1) * weight) / pixels

    for down, across in np.ndindex(2 * reach + 1, 2 * reach + 1):
        step = (down - reach, across - reach)
        one, two = (_blocks(np.roll(part, step, axis=(-2, -1))) for part in (cards, blunt))
        one_mean, two_mean = mean(one), mean(two)
        a, b = mean(one * one) - one_mean**2 + np.float32(_STEPS), mean(two * two) - two_mean**2 + np.float32(_STEPS)
        c = mean(one * two) - one_mean * two_mean
        u, v = mean(one * moved) - one_mean * own, mean(two * moved) - two_mean * own
        scale = np.maximum(a * b - c * c, np.float32(_STEPS**2))
        first, second = (b * u - c * v) / scale, (a * v - c * u) / scale
        # A card is never seen with its dark and its light exchanged.
        seen = (first + second > 0).astype(np.float32)
        first, second = first * seen, second * seen
        told = 2 * (first * u + second * v) - first**2 * a - second**2 * b - 2 * first * second * c
        left = np.maximum(power - told, 0)
        nearer = left < least
        least = np.where(nearer, left, least)
        rest = moved - own[..., None] - first[..., None] * (one - one_mean[..., None])
        rest -= second[..., None] * (two - two_mean[..., None])
        best = np.where(nearer[..., None], rest, best)
    return Fits(least, best, power, float(np.median(least.min(axis=0)[visible])) + _STEPS if visible.any() else _STEPS)


def independent(residual: Singles, known: Flags) -> float:
    """Return the share of independent ones among values (…, h, w, channels) where they are ``known`` (…, h, w).

    It is told by how much neighbours err together (of a first-order autoregression, across and down).
    """
    share = 1.0
    for axis in (-1, -2):
        there, beside = range(known.shape[axis] - 1), range(1, known.shape[axis])
        both = (np.take(known, there, axis) & np.take(known, beside, axis))[..., None]
        a, b = np.take(residual, there, axis - 1), np.take(residual, beside, axis - 1)
        power = float((((a**2 + b**2) / 2) * both).sum())
        together = float(np.clip((a * b * both).sum() / (power + 1e-9), 0.0, 0.99))
        share *= (1 - together) / (1 + together)
    return share
