"""Figures of reading cards in art and pictures of two drawing programs: our own, and POV-Ray's (``worlds/traced``).

A box of each game is taught by sheets, as people teach it. Then are read: circles of Igloo Pop, Arctic's River with the
piles that players lay, and whole fanned-out piles. ``python -m companion.lab.bench.vision.open_cards`` prints both.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final, Protocol

import cv2
import numpy as np

from companion.lab.bench.vision.cards import matched
from companion.lab.worlds.cards import photos
from companion.lab.worlds.cards.art import CardArt
from companion.lab.worlds.cards.photos import CardShot
from companion.lab.worlds.cards.river import RiverScene, begun, drawn_table, played
from companion.lab.worlds.traced import cards as traced
from companion.lab.worlds.traced.cards_art import Faces
from companion.lab.worlds.traced.povray import Lamps, TracedView
from companion.lab.worlds.traced.river import traced_table
from companion.rules.arctic.components import ANIMALS, TEXT, UNKNOWN
from companion.rules.igloo_pop.components import CARD_TEXT
from vision.cards.deck import Deck, teach
from vision.cards.detect import CardFinder
from vision.cards.pile import Read, each_once, read_open, read_pile
from vision.cards.round import read_circle
from vision.cards.sheet import find_cards

SHEET: Final = 24
TRACED: Final = ((11, 0), (12, 1), (13, 3))
"""Seed and manner of the traced boxes that may be looked at while working."""
KEPT: Final = ((21, 2), (22, 4), (23, 5))
"""Those that were kept for one reading."""
OURS: Final = ((31, 5), (32, 6), (33, 7))
"""Seed and family of the boxes of our own drawing."""
POP, ARCTIC = "igloo-pop", "arctic"


class CardWorld(Protocol):
    """A drawing program with one box of each game."""

    @property
    def label(self) -> str:
        """Return the box's name."""

    @property
    def seed(self) -> int:
        """Return the box's seed."""

    def sheet(self, game: str, names: Sequence[str], first: int, attempt: int) -> CardShot:
        """Return a photo of a sheet in rows of six."""

    def circle(self, names: Sequence[str], seed: int) -> CardShot:
        """Return a photo of a circle of Igloo Pop."""

    def river(self, scene: RiverScene, seed: int) -> CardShot:
        """Return a photo of a table of Arctic."""

    def fan(self, names: Sequence[str], seed: int, shown: float) -> CardShot:
        """Return a photo of a fanned-out pile in one row."""


@dataclass(frozen=True)
class TracedWorld:
    """POV-Ray's cards, one box by seed and manner."""

    seed: int
    manner: int

    @property
    def label(self) -> str:
        """Return the box's name."""
        return f"traced {self.seed} manner {self.manner}"

    def sheet(self, game: str, names: Sequence[str], first: int, attempt: int) -> CardShot:
        """Return a photo of a sheet."""
        return traced.sheet_shot(Faces(game, self.seed, self.manner), names, first, attempt)

    def circle(self, names: Sequence[str], seed: int) -> CardShot:
        """Return a photo of a circle."""
        view = TracedView(seed, 480, 430, 1600, 1200)
        return traced.trace(traced.circle(Faces(POP, self.seed, self.manner), names, seed), view, Lamps(seed), seed)

    def river(self, scene: RiverScene, seed: int) -> CardShot:
        """Return a photo of a table."""
        table = traced_table(seed, self.manner)
        laid = traced.TracedScene(Faces(ARCTIC, self.seed, self.manner), *_parts(table.scene(scene, seed)))
        return traced.trace(laid, table.view, table.lamps, seed)

    def fan(self, names: Sequence[str], seed: int, shown: float) -> CardShot:
        """Return a photo of a pile."""
        scene = traced.fan(Faces(ARCTIC, self.seed, self.manner), names, seed, shown=shown)
        across = max(330.0, 110 + len(names) * 0.33 * 60)
        return traced.trace(scene, TracedView(seed, across, 170, 1600, 1200), Lamps(seed), seed)


def _parts(scene: traced.TracedScene) -> tuple[Any, ...]:
    return scene.cards, scene.domes, scene.flats, scene.arms


@dataclass(frozen=True)
class DrawnWorld:
    """Our own drawing, one box by seed and family."""

    seed: int
    family: int

    @property
    def label(self) -> str:
        """Return the box's name."""
        return f"drawn {self.seed} family {self.family}"

    def sheet(self, game: str, names: Sequence[str], first: int, attempt: int) -> CardShot:
        """Return a photo of a sheet."""
        art = CardArt(game, self.seed, self.family)
        extent = photos.sheet_extent(art, len(names), 6)
        camera, light = photos.view(self.seed * 100 + first + attempt, *extent, width=2000, tilt=(0, 12))
        return photos.shoot(photos.sheet(art, list(names), 6, first), camera, light, attempt)

    def circle(self, names: Sequence[str], seed: int) -> CardShot:
        """Return a photo of a circle."""
        art = CardArt(POP, self.seed, self.family)
        return photos.shoot(
            photos.CardScene(art, tuple(photos.ring(art, list(names), seed))), *photos.view(seed, 470, 400), seed
        )

    def river(self, scene: RiverScene, seed: int) -> CardShot:
        """Return a photo of a table."""
        table = drawn_table(seed, self.family)
        own = type(table)(seed, CardArt(ARCTIC, self.seed, self.family), table.camera, table.light)
        return own.shot(scene, seed)

    def fan(self, names: Sequence[str], seed: int, shown: float) -> CardShot:
        """Return a photo of a pile."""
        art = CardArt(ARCTIC, self.seed, self.family)
        across = max(330.0, 110 + len(names) * 0.33 * 60)
        return photos.shoot(
            photos.fan(art, list(names), seed, shown=shown, curve=1.5), *photos.view(seed, across, 170), seed
        )


def taught(world: CardWorld, game: str, tally: Counter[str]) -> Deck:
    """Return a deck taught by sheets; one of which not every card is found is taken again, and counted."""
    names, each = (CARD_TEXT, 18) if game == POP else (TEXT[:UNKNOWN], SHEET)
    images = []
    for first in range(0, len(names), each):
        part = names[first : first + each]
        for attempt in range(6):
            image = world.sheet(game, part, first, attempt).image
            tally["sheets"] += 1
            if len(find_cards(image)) == len(part):
                tally["sheets whole"] += 1
                break
        images.append(image)
    return teach(game, images, names)


def _count(
    kind: str, names: Sequence[str], shot: CardShot, read: Iterable[Read], tally: Counter[str], said: Any
) -> None:
    """Count what was read of cards whose places are known."""
    rest = list(read)
    near = matched(rest, shot)
    for name, one in zip(names, near, strict=True):
        tally[kind] += 1
        tally[f"{kind}: not found"] += one is None
        if one is None:
            said(kind, name, None)
            continue
        right = one.name == name
        tally[f"{kind}: right"] += right
        tally[f"{kind}: animal right"] += one.kind == name.split("-")[0]
        tally[f"{kind}: sure"] += one.sure
        tally[f"{kind}: sure and wrong"] += one.sure and not right
        if not right or not one.sure:
            said(kind, name, one)
    tally[f"{kind}: found where none lies"] += len(rest) - sum(one is not None for one in near)


def measure_world(world: CardWorld, shown: int, tally: Counter[str], said: Any = None) -> None:
    """Count what is read of a box: ``shown`` circles, tables of Arctic and fanned-out piles; ``said`` hears errors."""
    said = said or (lambda *_: None)
    base = world.seed * 100
    finder = CardFinder(taught(world, POP, tally))
    for turn in range(shown):
        names = [str(name) for name in np.random.default_rng([91, base + turn]).permutation(CARD_TEXT)[:9]]
        shot = world.circle(names, base + turn)
        cards = read_circle(finder.find(shot.image), finder.deck)
        _count("open", names, shot, cards, tally, lambda *what, turn=turn: said(f"circle {turn}", *what))
        tally["circles"] += 1
        tally["circles right"] += [card.name for card in cards] in _rotations(names)
    finder = CardFinder(taught(world, ARCTIC, tally))
    for turn in range(shown):
        scene = _table(base + turn)
        shot = world.river(scene, base + turn)
        groups = each_once(read_open(finder.find(shot.image), finder.deck))
        _arctic(scene, shot, groups, tally, lambda *what, turn=turn: said(f"river {turn}", *what))
    for turn in range(shown):
        rng = Random(base + turn)
        names = _pile(rng)
        shot = world.fan(names, base + turn, rng.uniform(0.27, 0.36))
        read = read_pile(finder.find(shot.image), finder.deck)
        _count("fanned", names, shot, read, tally, lambda *what, turn=turn: said(f"fan {turn}", *what))
        tally["fanned-out piles"] += 1
        tally["fanned-out piles: cards right, in order"] += [card.name for card in read] == names
        tally["fanned-out piles: animals right, in order"] += [card.kind for card in read] == [
            name.split("-")[0] for name in names
        ]


def _rotations(names: list[str]) -> list[list[str]]:
    return [names[k:] + names[:k] for k in range(len(names))]


def _table(seed: int) -> RiverScene:
    """Return what lies on a table of Arctic after some turns of a random game."""
    turns = played(seed, 2 + seed % 3)
    scene = begun(turns[0].before)
    for turn in turns[: 4 + seed % 5]:
        scene = scene.then(turn.after, turn.laid, turn.before.seat)
    return scene


def _arctic(
    scene: RiverScene, shot: CardShot, groups: Sequence[Sequence[Read]], tally: Counter[str], said: Any
) -> None:
    river = [card for card in scene.slots if card is not None]
    names = river + [card for fan in scene.fans for card in fan]
    every = [card for group in groups for card in group]
    tops = set(np.cumsum([len(fan) for fan in scene.fans if fan]) - 1 + len(river))
    lying = [n for n in range(len(names)) if n < len(river) or n in tops]
    for kind, some in (("open", lying), ("part covered", [n for n in range(len(names)) if n not in lying])):
        part = CardShot(shot.image, tuple(shot.corners[n] for n in some), ())
        own = [one for one in matched(every, part) if one is not None]
        _count(kind, [names[n] for n in some], part, own, tally, said)
    tally["found where none lies"] += len(every) - sum(one is not None for one in matched(every, shot))
    seen = [[card.name for card in group] for group in groups]
    for fan in scene.fans:
        if fan:
            tally["piles"] += 1
            tally["piles right"] += list(fan) in seen
    tally["rivers"] += 1
    tally["rivers right"] += sorted(river) == sorted(one for group in seen for one in group if one in river)


def _pile(rng: Random) -> list[str]:
    many = rng.randint(8, 13)
    names: list[str] = []
    while len(names) < many:
        animal = rng.choice(ANIMALS)
        own = [name for name in TEXT[:UNKNOWN] if name.startswith(f"{animal}-") and name not in names]
        names += rng.sample(own, min(len(own), rng.randint(1, 4)))
    return names[:many]


def measure(worlds: Iterable[CardWorld], shown: int = 2, said: Any = None) -> dict[str, int]:
    """Return the counts of several boxes together, OpenCV held to one core."""
    threads = cv2.getNumThreads()
    cv2.setNumThreads(1)
    tally: Counter[str] = Counter()
    try:
        for world in worlds:
            measure_world(world, shown, tally, said and (lambda *what, own=world.label: said(own, *what)))
    finally:
        cv2.setNumThreads(threads)
    return dict(sorted(tally.items()))


def main() -> None:
    """Print the counts of POV-Ray's boxes and of ours; with ``kept``, of those that were kept."""
    boxes = KEPT if "kept" in sys.argv else TRACED
    traced_ones: list[CardWorld] = [TracedWorld(*box) for box in boxes]
    ours: list[CardWorld] = [DrawnWorld(*box) for box in OURS]
    for name, worlds in (("traced", traced_ones), ("ours", ours)):
        print(name, json.dumps(measure(worlds), indent=1))


if __name__ == "__main__":
    main()
