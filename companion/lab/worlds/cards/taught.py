"""A taught table of cards that several tests share: rendered once a process."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np

from companion.lab.worlds.cards.art import CardArt
from companion.lab.worlds.cards.photos import CardScene, Igloo, Laid, fan, ring, sheet, sheet_extent, shoot, view
from companion.rules.arctic.components import TEXT, UNKNOWN
from companion.rules.igloo_pop.components import CARD_TEXT
from vision.board.markers import MODULES
from vision.board.print_kit import STICKER_MODULE_MM, marker_boxes

ROUND = 1
"""The seed of the round that is played in the tests."""


@dataclass(frozen=True)
class RoundPhotos:
    """Two photos of a round (JPEG) and the truth: (card, colour, number) of each igloo, cards clockwise."""

    art: CardArt
    names: list[str]
    colours: list[str]
    placed: bytes
    turned: bytes
    truth: list[tuple[str, str, int]]


def sticker(number: int) -> np.ndarray:
    """Return the print for an igloo, as the kit draws it."""
    dots, rim = 8, 4.5
    size = round((MODULES * STICKER_MODULE_MM + 2 * rim) * dots)
    image = np.full((size, size, 3), 255, np.uint8)
    for box in marker_boxes(10 + number, rim, rim, STICKER_MODULE_MM):
        rows = slice(round(box.y * dots), round((box.y + box.height) * dots))
        image[rows, round(box.x * dots) : round((box.x + box.width) * dots)] = round(255 * box.grey)
    return image


@cache
def sheets(art: CardArt) -> list[tuple[bytes, list[str]]]:
    """Return photos of all 33 cards in two sheets, each with its names."""
    found = []
    for begin in (0, 18):
        names = list(CARD_TEXT[begin : begin + 18])
        camera, light = view(begin + 3, *sheet_extent(art, len(names), 6), width=1500, tilt=(3, 8))
        found.append((shoot(sheet(art, names, 6, begin), camera, light, begin).jpeg, names))
    return found


@cache
def taught_round(seed: int, family: int = 1) -> RoundPhotos:
    """Return a round of three players: single igloos, two on a card, most cards free."""
    art = CardArt("igloo-pop", 700 + seed, family)
    rng = np.random.default_rng(seed)
    names = [str(name) for name in rng.permutation(CARD_TEXT)[:9]]
    colours = ["red", "blue", "green"]
    cards = ring(art, names, seed)
    up, down, truth = [], [], []
    numbers = [int(n) for n in rng.permutation(np.arange(2, 14))]
    for index, count in ((0, 1), (2, 1), (3, 2), (6, 1)):
        for which in range(count):
            at = _beside(cards[index], (which - (count - 1) / 2) * 50)
            colour, number = colours[(index + which) % 3], numbers.pop()
            up.append(Igloo(at, colour, turn=40 * index))
            down.append(Igloo((at[0] + 2, at[1] - 1), number=number, turn=70 * index, sticker=sticker(number)))
            truth.append((names[index], colour, number))
    frames = []
    for number, igloos in enumerate((up, down)):
        camera, light = view(seed + 40 * number, 470, 400, width=1500, tilt=(3, 12))
        frames.append(shoot(CardScene(art, tuple(cards), tuple(igloos)), camera, light, number).jpeg)
    return RoundPhotos(art, names, colours, frames[0], frames[1], truth)


@cache
def laid(seed: int, names: tuple[str, ...] = ()) -> bytes:
    """Return a photo (JPEG) of the circle of :func:`taught_round`, or of other cards, before an igloo stands on it."""
    played = taught_round(seed)
    camera, light = view(70, 470, 400, width=1280, tilt=(3, 8))
    return shoot(CardScene(played.art, tuple(ring(played.art, list(names) or played.names, 5))), camera, light, 1).jpeg


def _beside(card: Laid, along: float) -> tuple[float, float]:
    angle = np.radians(card.turn)
    return card.at[0] - float(np.sin(angle)) * along, card.at[1] + float(np.cos(angle)) * along


def picture(jpeg: bytes) -> np.ndarray:
    """Return a JPEG as pixels."""
    image = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
    assert image is not None
    return image


@dataclass(frozen=True)
class Pile:
    """A photo of a fanned-out pile of Arctic cards, the sheets that teach its cards, and what it is worth."""

    names: list[str]
    photo: bytes
    sheets: list[tuple[bytes, list[str]]]
    points: int


@cache
def fanned(family: int = 0) -> Pile:
    """Return a pile of nine cards of the first two packs' foxes and moose, walruses and orcas."""
    art = CardArt("arctic", 41, family)
    every = list(TEXT[:UNKNOWN])
    names = [every[i] for i in (0, 2, 7, 8, 9, 12, 16, 17, 4)]
    taught = []
    camera, light = view(5, *sheet_extent(art, 20, 5), width=1500, tilt=(3, 8))
    taught.append((shoot(sheet(art, every[:20], 5, 5), camera, light, 5).jpeg, every[:20]))
    camera, light = view(8, 330, 160, width=1400, tilt=(3, 12))
    photo = shoot(fan(art, names, 3, shown=0.36, curve=1.0), camera, light, 8).jpeg
    # Runs of two foxes, three moose and two orcas, and three of them; the totem is secret.
    return Pile(names, photo, taught, 1 + 3 + 1 + 3)
