"""Igloos in a photo of Igloo Pop: upright ones by the thalers in their notches, upturned ones by their stickers.

A thaler is a compact patch of one colour with the even, colourless ring of the igloo around it; a sticker is a marker
of ``companion kit``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import cv2
import numpy as np

from vision.board.markers import MODULES
from vision.board.print_kit import STICKER_OF

if TYPE_CHECKING:
    from companion.ports import ByteArray, FloatArray

_HUES: Final = {"red": 3.0, "yellow": 28.0, "green": 65.0, "blue": 112.0, "violet": 145.0}
"""Where the thalers' colours lie on OpenCV's circle of 180 hues, under a white lamp."""
_REDDEST: Final = 53.0
_YELLOWEST: Final = 97.0
"""How light (Lab) the purest red and yellow of a screen are: hardly any red is lighter, or yellow nearer to that red.
"""
_LOOK: Final = 110.0
"""A card's width in the picture in which igloos are looked for, in pixels."""
_RADII: Final = np.arange(0.24, 0.5, 0.02)
"""An igloo's radius may be so many card widths."""
_RING: Final = (0.72, 0.86)
_CELL: Final = 10
_CONTRAST: Final = 40.0
_BITS: Final = {
    marker: cv2.aruco.generateImageMarker(cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50), marker, MODULES)
    > 127
    for marker in STICKER_OF
}
THALER: Final = (0.006, 0.16)
"""A thaler's area in squares of a card's width: at least, at most."""
APART: Final = 0.45
"""Igloos stand at least so many card widths apart."""


def find_stickers(photo: ByteArray) -> Iterator[tuple[FloatArray, int]]:
    """Yield where a sticker lies in a photo (2,), and its number; one that is there twice is not believed."""
    detector = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50))
    grey: Any = cv2.cvtColor(photo, cv2.COLOR_BGR2GRAY)
    corners, _, others = detector.detectMarkers(grey)
    found: dict[int, list[FloatArray]] = {}
    for quad in (*corners, *others):
        number = _sticker(grey, quad[0])
        if number is None:
            continue
        at = quad[0].mean(axis=0).astype(float)
        here = found.setdefault(number, [])
        if all(np.linalg.norm(at - other) > 0.5 * np.linalg.norm(quad[0][1] - quad[0][0]) for other in here):
            here.append(at)
    for number, places in found.items():
        if len(places) == 1:
            yield places[0], number


def _sticker(grey: ByteArray, quad: FloatArray) -> int | None:
    """Return the number of the sticker in four corners; the detector itself passes over many that are a little soft."""
    side = MODULES * _CELL - 1.0
    straight = np.array([[0, 0], [side, 0], [side, side], [0, side]], np.float32)
    to = cv2.getPerspectiveTransform(quad.astype(np.float32), straight)
    print_ = cv2.warpPerspective(grey, to, (MODULES * _CELL, MODULES * _CELL))
    limit, _ = cv2.threshold(print_, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    cells = np.asarray(print_, float).reshape(MODULES, _CELL, MODULES, _CELL)[:, 3:7, :, 3:7].mean(axis=(1, 3))
    if np.ptp(cells) < _CONTRAST:
        return None
    bits = cells > limit
    for marker, number in STICKER_OF.items():
        known = _BITS[marker]
        if any((np.rot90(bits, turn) != known).sum() <= 1 for turn in range(4)):
            return number
    return None


class Thaler(NamedTuple):
    """A thaler in a photo: where (2,), its colour (3,) in Lab as a white lamp would show it, how likely each name."""

    at: FloatArray
    tone: FloatArray
    colours: dict[str, float]


def find_thalers(
    photo: ByteArray,
    cards: Sequence[FloatArray],
    colours: Sequence[str],
    may_be: Callable[[FloatArray], bool] = lambda at: True,
) -> Iterator[Thaler]:
    """Yield the thalers on or near cards with these corners, of these colours.

    ``may_be`` tells of a point of the photo (2,) whether one can be there: what the cards print counts for nothing.
    """
    width = float(np.median([np.linalg.norm(corners[1] - corners[0]) for corners in cards]))
    scale = min(1.0, _LOOK / width)
    small = cv2.resize(photo, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA) if scale < 1 else photo
    card = width * scale
    lab: Any = cv2.cvtColor(cv2.GaussianBlur(small, (0, 0), 1.0).astype(np.float32) / 255, cv2.COLOR_BGR2Lab)
    spots = _spots(lab, card)
    reach = [cv2.convexHull(np.concatenate(list(cards)).astype(np.float32) * scale)]
    spots = [s for s in spots if cv2.pointPolygonTest(reach[0], (float(s[0]), float(s[1])), True) > -0.6 * card]
    spots = [s for s in spots if may_be((np.array(s[:2]) + 0.5) / scale - 0.5)]
    rings = [(spot, *_ring(lab, spot, card)) for spot in spots]
    rings = [one for one in rings if one[1] > 0]
    if not rings:
        return
    # All igloos are of one plastic: the ring that most have is its colour under this lamp.
    tones = np.array([one[3] for one in rings])
    alike = [(np.linalg.norm(tones - tone, axis=1) < 9).sum() for tone in tones]
    plastic = np.median(tones[np.linalg.norm(tones - tones[int(np.argmax(alike))], axis=1) < 9], axis=0)
    kept: list[tuple[float, float]] = []
    for spot, _, light, tone in sorted(rings, key=lambda one: -one[1]):
        if np.linalg.norm(tone - plastic) > 12:
            continue
        if any(np.hypot(spot[0] - x, spot[1] - y) < APART * card for x, y in kept):
            continue
        seen = _tone(lab, spot, plastic, light)
        if seen is None:
            continue
        kept.append((spot[0], spot[1]))
        at = (np.array(spot[:2]) + 0.5) / scale - 0.5
        yield Thaler(at, seen[1], _colours(*seen, colours))


def _spots(lab: FloatArray, card: float) -> list[tuple[float, float, float]]:
    """Return (x, y, radius) of compact patches about as large as a thaler."""
    vision: Any = cv2  # its stubs do not know the blob detector
    settings = vision.SimpleBlobDetector_Params()
    settings.minThreshold, settings.maxThreshold, settings.thresholdStep = 10.0, 245.0, 9.0
    settings.filterByArea = settings.filterByConvexity = settings.filterByInertia = True
    settings.filterByCircularity = False
    settings.minArea, settings.maxArea = THALER[0] * card**2, THALER[1] * card**2
    settings.minConvexity, settings.minInertiaRatio = 0.85, 0.18
    settings.minDistBetweenBlobs, settings.minRepeatability = 0.1 * card, 2
    settings.filterByColor = True
    found: list[tuple[float, float, float]] = []
    layers = (lab[..., 0] * 2.5, lab[..., 1] * 1.6 + 128, lab[..., 2] * 1.6 + 128)
    for layer in layers:
        grey = np.clip(layer, 0, 255).astype(np.uint8)
        for shade in (0, 255):
            settings.blobColor = shade
            for key in vision.SimpleBlobDetector_create(settings).detect(grey):
                x, y = key.pt
                if all(np.hypot(x - a, y - b) > 0.08 * card for a, b, _ in found):
                    found.append((float(x), float(y), float(key.size) / 2))
    return found


def _ring(lab: FloatArray, spot: tuple[float, float, float], card: float) -> tuple[float, float, FloatArray]:
    """Return how much a spot has the even ring of an igloo around it (0: not at all), how light the ring is, and its
    colour (2,).
    """
    angles = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    radii = np.array([_RING[0], _RING[1], 1.2])[:, None] * _RADII * card
    xs = spot[0] + radii[..., None] * np.cos(angles)
    ys = spot[1] + radii[..., None] * np.sin(angles)
    shape = (3 * len(_RADII), 24)
    seen = cv2.remap(
        lab, xs.reshape(shape).astype(np.float32), ys.reshape(shape).astype(np.float32), cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REPLICATE,
    ).reshape(3, len(_RADII), 24, 3)  # fmt: skip
    ring = np.concatenate([seen[0], seen[1]], axis=1)
    middle = np.median(ring, axis=1)
    off = np.abs(ring - middle[:, None])
    even = (off[..., 1:].max(axis=2) < 9) & (off[..., 0] < 22)
    share = even.mean(axis=1)
    share *= np.hypot(middle[:, 1], middle[:, 2]) < 26
    share *= middle[:, 0] > 28
    outside = np.abs(seen[2] - middle[:, None]).max(axis=2) > 12
    score = np.where(share > 0.78, share + 0.5 * outside.mean(axis=1), 0.0)
    best = int(np.argmax(score))
    return float(score[best]), float(middle[best, 0]), middle[best, 1:]


def _tone(
    lab: FloatArray, spot: tuple[float, float, float], plastic: FloatArray, light: float
) -> tuple[float, FloatArray] | None:
    """Return hue and colour (3,) in Lab of what lies in the notch, or None where nothing coloured or dark does."""
    radius = max(1.5, 0.45 * spot[2])
    x0, y0 = round(spot[0] - radius), round(spot[1] - radius)
    patch = lab[max(0, y0) : y0 + round(2 * radius) + 1, max(0, x0) : x0 + round(2 * radius) + 1].reshape(-1, 3)
    if not len(patch):
        return None
    tone = np.median(patch, axis=0)
    # As a white lamp would show it: the igloo is white, and shows what light falls on the thaler.
    there, white = _linear(tone), _linear(np.array([light, plastic[0], plastic[1]]))
    shown = np.clip(0.85 * there / np.maximum(white, 0.01), 0, 1) ** (1 / 2.2)
    pixel = shown.astype(np.float32).reshape(1, 1, 3)
    hue = float(cv2.cvtColor(pixel, cv2.COLOR_BGR2HSV)[0, 0, 0])
    seen = cv2.cvtColor(pixel, cv2.COLOR_BGR2Lab)[0, 0].astype(float)
    return None if np.hypot(seen[1], seen[2]) < 14 and seen[0] > 55 else (hue, seen)


def _colours(hue: float, tone: FloatArray, colours: Sequence[str]) -> dict[str, float]:
    """Return the probability of each thaler colour."""
    chroma = float(np.hypot(tone[1], tone[2]))
    scores = {}
    for colour in colours:
        if colour == "black":
            scores[colour] = -((max(0.0, chroma - 8) / 8) ** 2) - (max(0.0, float(tone[0]) - 25) / 12) ** 2
        else:
            off = abs((hue / 2 - _HUES[colour] + 90) % 180 - 90)
            scores[colour] = -((off / 9) ** 2) - (max(0.0, 26 - chroma) / 6) ** 2 - _unlike(colour, float(tone[0]))
    top = max(scores.values())
    weights = {colour: float(np.exp(max(-60.0, 0.5 * (score - top)))) for colour, score in scores.items()}
    total = sum(weights.values())
    return {colour: weight / total for colour, weight in weights.items() if weight / total > 0.002}


def _unlike(colour: str, lightness: float) -> float:
    """Return how ill a lightness suits red or yellow: their hues are neighbours, and a warm lamp brings them nearer."""
    if colour == "red":
        return (max(0.0, lightness - _REDDEST) / 12) ** 2
    if colour == "yellow":
        return (max(0.0, (_REDDEST + _YELLOWEST) / 2 - lightness) / 12) ** 2
    return 0.0


def _linear(lab: FloatArray) -> FloatArray:
    """Return linear light (blue, green, red) of a colour in Lab."""
    bgr = cv2.cvtColor(np.asarray(lab, np.float32).reshape(1, 1, 3), cv2.COLOR_Lab2BGR)[0, 0]
    light: FloatArray = np.clip(bgr, 0, 1).astype(float) ** 2.2
    return light
