"""A taught deck: what each card of a game looks like, cut out of photos of sheets, on disk and in memory.

A deck is one file, ``cards-GAME.npz`` in the profile's folder: the names, every card's picture as JPEG, and the
features (SIFT, Lowe 2004; square-rooted, Arandjelović and Zisserman 2012) that are the same in no other place. Cards
of one print share most of their art; a feature that several cards have in one place is kept once.
"""

from __future__ import annotations

import io
import logging
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from companion.ports import BadDataError
from vision.cards import messages
from vision.cards.frames import to_one_frame
from vision.cards.shape import WIDTH, Features, corners_of, tall
from vision.cards.sheet import find_cards
from vision.decode.photo import read_whole, to_jpeg
from vision.whole_file import write_whole

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from companion.ports import ByteArray, FloatArray

    Singles = NDArray[np.float32]

_HEIGHTS: Final = (48, 320)
MOST: Final = 200
_QUALITY: Final = 94
_MOST_FEATURES: Final = 220
_LAMPS_DIFFER: Final = 0.7
_PART: Final = 320
_OVERLAP: Final = 56
"""Parts of a picture in which features are looked for, and how far each looks into its neighbours, in pixels."""
_SAME_PLACE: Final = 4.0
_SAME_LOOK: Final = 0.9
"""How far apart (pixels) and how unlike (cosine) features are that count as one."""


log = logging.getLogger(__name__)


class CardCountError(BadDataError):
    """Photos of sheets show more or fewer cards than were named; ``note`` says it without the numbers."""

    note = messages.WRONG_NUMBER


class DeckDamagedError(BadDataError):
    """A deck cannot be read; ``note`` says it without the file's name."""

    note = messages.DECK_DAMAGED


def features(grey: ByteArray, most: int, where: NDArray[np.bool_] | None = None) -> Features:
    """Return the features of a grey picture, the strongest ``most``; ``where`` (of its shape): only those there.

    A large one is looked at in parts: SIFT doubles a picture and keeps a dozen copies, hundreds of megabytes at once.
    """
    vision: Any = cv2  # its stubs do not know SIFT
    sift = vision.SIFT_create(most, contrastThreshold=0.02, edgeThreshold=14)
    high, wide = grey.shape
    frames, looks, strength = [np.zeros((0, 4))], [np.zeros((0, 128))], [np.zeros(0)]
    for y in range(0, high, _PART):
        for x in range(0, wide, _PART):
            right, bottom = x + _PART, y + _PART
            left, top = x, y
            if where is not None:
                ys, xs = np.nonzero(where[y:bottom, x:right])
                if not len(xs):
                    continue
                left, right, top, bottom = x + xs.min(), x + xs.max() + 1, y + ys.min(), y + ys.max() + 1
            left, top = max(0, left - _OVERLAP), max(0, top - _OVERLAP)
            keys, found = sift.detectAndCompute(grey[top : bottom + _OVERLAP, left : right + _OVERLAP], None)
            if found is None or not keys:
                continue
            here = np.array([[key.pt[0] + left, key.pt[1] + top, key.size, key.angle] for key in keys])
            own = (here[:, 0] >= x) & (here[:, 0] < x + _PART) & (here[:, 1] >= y) & (here[:, 1] < y + _PART)
            if where is not None:
                at = np.clip(np.round(here[:, 1::-1]).astype(int), 0, np.array(grey.shape) - 1)
                own &= where[at[:, 0], at[:, 1]]
            frames.append(here[own])
            looks.append(found[own])
            strength.append(np.array([key.response for key in keys])[own])
    order = np.argsort(-np.concatenate(strength), kind="stable")[:most]
    described = np.concatenate(looks)[order]
    described = np.sqrt(described / np.maximum(described.sum(axis=1, keepdims=True), 1e-6))
    return Features(np.concatenate(frames)[order].astype(np.float32), described.astype(np.float32))


@dataclass(frozen=True)
class Deck:
    """The cards of a game: ``pictures`` is (n, height, :data:`WIDTH`, 3), BGR, uint8, in the order of ``names``."""

    game: str
    names: tuple[str, ...]
    pictures: ByteArray

    @property
    def height(self) -> int:
        """Return a card's height in pixels."""
        return int(self.pictures.shape[1])

    @cached_property
    def features(self) -> Features:
        """Return what is to be found of any card of the deck, each feature once."""
        frames, looks = np.zeros((0, 4), np.float32), np.zeros((0, 128), np.float32)
        for own in map(_own_features, self.pictures):
            new = ~_known(own, frames, looks)
            frames, looks = np.concatenate([frames, own.frames[new]]), np.concatenate([looks, own.looks[new]])
        return Features(frames, looks)

    def only(self, names: Sequence[str]) -> Deck:
        """Return a deck of some of its cards."""
        return Deck(self.game, tuple(names), self.pictures[[self.index(name) for name in names]])

    def index(self, name: str) -> int:
        """Return a card's number; :raises ValueError: it was not taught."""
        return self.names.index(name)


def _own_features(picture: ByteArray) -> Features:
    grey: Any = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    return features(grey, _MOST_FEATURES)


def _known(own: Features, frames: Singles, looks: Singles) -> NDArray[np.bool_]:
    if not len(frames) or not len(own.frames):
        return np.zeros(len(own.frames), bool)
    alike = own.looks @ looks.T > _SAME_LOOK
    near = np.abs(own.frames[:, None, :2] - frames[None, :, :2]).max(axis=2) < _SAME_PLACE
    turned = (own.frames[:, None, 3] - frames[None, :, 3] + 180) % 360 - 180
    result: NDArray[np.bool_] = (alike & near & (np.abs(turned) < 20)).any(axis=1)
    return result


def teach(game: str, photos: Sequence[ByteArray], order: Sequence[str], former: Deck | None = None) -> Deck:
    """Return a deck of the cards in photos of sheets, which lie row by row in ``order`` through all photos.

    Cards of ``former`` that are not in ``order`` stay as they were taught.

    :raises BadDataError: there are more or fewer cards in the photos than names, or a name is there twice.
    """
    if len(set(order)) != len(order):
        raise BadDataError(messages.NAMED_TWICE)
    sheets = [find_cards(photo) for photo in photos]
    counts = [len(sheet) for sheet in sheets]
    if sum(counts) != len(order) or not order:
        each = f" ({', '.join(map(str, counts))})" if len(counts) > 1 else ""
        raise CardCountError(f"The photos show {sum(counts)} cards{each}, and the order names {len(order)}.")
    if former is not None:
        height = former.height
    else:
        ratio = np.median([tall(quad) for sheet in sheets for quad in sheet])
        height = int(np.clip(round(WIDTH * float(ratio) / 8) * 8, *_HEIGHTS))
    lamps = [_table_tones(photo, sheet) for photo, sheet in zip(photos, sheets, strict=True)]
    cards = [
        (photo, _to_photo(quad, height), lamps[0] - lamp)
        for photo, sheet, lamp in zip(photos, sheets, lamps, strict=True)
        for quad in sheet
    ]
    pictures = [_in_light(straighten(photo, to, height), lamp) for photo, to, lamp in cards]
    kept = {} if former is None else dict(zip(former.names, former.pictures, strict=True))
    known = [_own_features(picture) for name, picture in kept.items() if name not in order]
    frames = to_one_frame([*known, *map(_own_features, pictures)], height, len(known))[len(known) :]
    for number, ((photo, to, lamp), frame) in enumerate(zip(cards, frames, strict=True)):
        if frame is not None:
            pictures[number] = _in_light(straighten(photo, to @ frame, height), lamp)
    kept.update(zip(order, pictures, strict=True))
    return Deck(game, tuple(kept), np.stack(list(kept.values())))


def _table_tones(photo: ByteArray, sheet: Sequence[FloatArray]) -> FloatArray:
    """Return (3,): the logarithms of the table's colour beside the cards, without how light it is."""
    beside = []
    for quad in sheet:
        middle = quad.mean(axis=0)
        for a, b in zip(quad, np.roll(quad, -1, axis=0), strict=True):
            x, y = np.round(middle + 1.08 * ((a + b) / 2 - middle)).astype(int)
            if 2 <= x < photo.shape[1] - 2 and 2 <= y < photo.shape[0] - 2:
                beside.append(photo[y - 2 : y + 3, x - 2 : x + 3].reshape(-1, 3).mean(axis=0))
    if not beside:
        return np.zeros(3)
    tones: FloatArray = np.log((np.median(beside, axis=0) / 255) ** 2.2 + 0.003)
    tones -= tones.mean()
    return tones


def _in_light(picture: ByteArray, tones: FloatArray) -> ByteArray:
    """Return a picture as the lamp of another photo would have shown it; the same table lies under both.

    Phones balance white in every photo anew. Another table is not another lamp: what differs much stays as it is.
    """
    if np.abs(tones).max() > _LAMPS_DIFFER:
        return picture
    steps = (np.arange(256) / 255)[:, None] ** 2.2 * np.exp(tones)
    curve = np.clip(np.round(255 * np.clip(steps, 0, 1) ** (1 / 2.2)), 0, 255).astype(np.uint8)
    return cv2.LUT(picture, curve.reshape(1, 256, 3)).astype(np.uint8)


def _to_photo(quad: FloatArray, height: int) -> FloatArray:
    """Return (3, 3) what takes the pixels of a card with an outline (4, 2) to those of the photo."""
    to = cv2.getPerspectiveTransform(corners_of(height).astype(np.float32), quad.astype(np.float32))
    return np.asarray(to, float)


def straighten(photo: ByteArray, to: FloatArray, height: int) -> ByteArray:
    """Return what of a photo lies under a card; ``to`` (3, 3) takes the card's pixels to the photo's.

    What appears larger in the photo than it is kept is averaged.
    """
    corners = cv2.perspectiveTransform(corners_of(height)[None], to)[0]
    apparent = float(np.linalg.norm(corners[1] - corners[0]) + np.linalg.norm(corners[2] - corners[3])) / 2 / WIDTH
    finer = int(np.clip(round(apparent), 1, 6))
    scale = np.array([[finer, 0, (finer - 1) / 2], [0, finer, (finer - 1) / 2], [0, 0, 1.0]])
    # The map from fine card pixels to the photo; the fine picture is then averaged.
    fine: Any = cv2.warpPerspective(
        photo,
        to @ np.linalg.inv(scale),
        (WIDTH * finer, height * finer),
        flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
        borderMode=cv2.BORDER_CONSTANT,
    )
    straight: ByteArray = cv2.resize(fine, (WIDTH, height), interpolation=cv2.INTER_AREA) if finer > 1 else fine
    return straight


def file_of(folder: Path, game: str) -> Path:
    """Return where a deck lies in a profile's folder."""
    return folder / f"cards-{game}.npz"


def save_deck(folder: Path, deck: Deck) -> Path:
    """Write a deck and return its file.

    :raises vision.whole_file.WriteError: it cannot be written.
    """
    jpegs = [np.frombuffer(to_jpeg(picture, _QUALITY), np.uint8) for picture in deck.pictures]
    known = deck.features
    buffer = io.BytesIO()
    np.savez(
        buffer,
        names=np.array(deck.names),
        sizes=np.array([len(jpeg) for jpeg in jpegs], np.int64),
        jpegs=np.concatenate(jpegs),
        frames=known.frames,
        looks=np.round(known.looks * 255).astype(np.uint8),
    )
    folder.mkdir(parents=True, exist_ok=True)
    path = file_of(folder, deck.game)
    write_whole(path, buffer.getvalue())
    return path


def load_deck(folder: Path, game: str) -> Deck | None:
    """Return a taught deck, or None where none was taught.

    :raises DeckDamagedError: the file is damaged.
    """
    path = file_of(folder, game)
    if not path.exists():
        return None
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as stored:
            names = tuple(str(name) for name in stored["names"])
            ends = np.cumsum(stored["sizes"])
            parts = np.split(stored["jpegs"].astype(np.uint8), ends[:-1])
            frames, looks = stored["frames"].astype(np.float32), stored["looks"].astype(np.float32)
        if not 0 < len(parts) <= MOST:
            raise ValueError("not the pictures of a deck")
        deck = Deck(game, names, np.stack([read_whole(part.tobytes()) for part in parts]))
        _check(deck, frames, looks)
    except (BadDataError, OSError, EOFError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
        raise DeckDamagedError(f"{path}: {messages.DECK_DAMAGED}") from error
    looks /= np.maximum(np.linalg.norm(looks, axis=1, keepdims=True), 1e-6)
    deck.__dict__["features"] = Features(frames, looks)
    return deck


def deck_to_extend(folder: Path, game: str) -> Deck | None:
    """Return the deck that more is taught to; None where none was taught, or it is damaged: then it is put aside."""
    try:
        return load_deck(folder, game)
    except DeckDamagedError as error:
        path = file_of(folder, game)
        log.warning("%s It is put aside.", error)
        path.replace(path.with_suffix(".damaged"))
        return None


def _check(deck: Deck, frames: Singles, looks: Singles) -> None:
    count, height, wide = deck.pictures.shape[:3]
    if not 0 < count <= MOST or count != len(deck.names) or wide != WIDTH:
        raise ValueError("not the pictures of a deck")
    if not _HEIGHTS[0] <= height <= _HEIGHTS[1] or len(frames) != len(looks) or looks.shape[1:] != (128,):
        raise ValueError("not the features of a deck")
