"""Figures of reading cards, on rendered photos of art the finder was not tuned on, for ``companion bench vision``.

A set is a box of art of its own, taught by sheets, then read: nine cards in a ring, the same with igloos on them and
upturned (a round), and fanned-out piles with runs of one animal. The renderer is our own.
"""

from __future__ import annotations

import time
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any, Final, TypeVar

import cv2
import numpy as np

from companion.lab.worlds.board_art import TEAMS
from companion.lab.worlds.cards import photos, taught
from companion.lab.worlds.cards.art import CardArt
from companion.rules.arctic.components import ANIMALS, TEXT, UNKNOWN
from companion.rules.arctic.score import best_reading
from companion.rules.igloo_pop.components import CARD_TEXT
from vision.cards.deck import Deck, teach
from vision.cards.detect import CardFinder, DetectedCard
from vision.cards.pile import Read, read_cards, read_pile
from vision.cards.round import join, read_both
from vision.cards.sheet import find_cards

if TYPE_CHECKING:
    from collections.abc import Sequence

    from companion.ports import ByteArray

FIRST_SEED: Final = 900
"""Boxes that no test and no tuning has used."""
FAMILIES: Final = (5, 6, 7)
"""Families of art that were not looked at before all was measured."""
Found = TypeVar("Found", DetectedCard, Read)
_NEAR: Final = 0.25
"""A card is found where a found one's corners lie within so many widths of its own."""


def measure_cards(shown: int = 2) -> dict[str, float]:
    """Return the figures by name for a box of each game and family, each with ``shown`` rounds and piles."""
    tally: Counter[str] = Counter()
    times: list[float] = []
    for family in FAMILIES:
        seed = FIRST_SEED + family
        pop, arctic = CardArt("igloo-pop", seed, family), CardArt("arctic", seed, family)
        finder = CardFinder(_taught(arctic, TEXT[:UNKNOWN], 24, tally))
        for turn in range(shown):
            _one_pile(arctic, finder, seed * 10 + turn, tally, times)
        finder = CardFinder(_taught(pop, CARD_TEXT, 18, tally))
        for turn in range(shown):
            _one_round(pop, finder, seed * 10 + turn, tally, times)
    return _figures(tally, times)


def _taught(art: Any, names: Sequence[str], each: int, tally: Counter[str]) -> Deck:
    """Return a deck taught from sheets; a photo in which they are not all found is taken again, and counted."""
    images = []
    for begin in range(0, len(names), each):
        part = list(names[begin : begin + each])
        for attempt in range(20):
            extent = photos.sheet_extent(art, len(part), 6)
            camera, light = photos.view(art.seed * 100 + begin + attempt, *extent, width=2000, tilt=(0, 15))
            shot = photos.shoot(photos.sheet(art, part, 6, begin), camera, light, attempt)
            tally["sheets"] += 1
            if len(find_cards(shot.image)) == len(part):
                tally["sheets whole"] += 1
                break
        images.append(shot.image)
    return teach(art.game, images, list(names))


def matched(found: Sequence[Found], shot: Any) -> list[Found | None]:
    """Return for each card of the truth the found one that lies there."""
    result: list[Found | None] = []
    for corners in shot.corners:
        width = float(np.linalg.norm(corners[1] - corners[0]))
        near = [(float(np.abs(one.corners - corners).max()) / width, i) for i, one in enumerate(found)]
        result.append(found[min(near)[1]] if near and min(near)[0] < _NEAR else None)
    return result


def count(kind: str, found: Sequence[DetectedCard], shot: Any, scene: Any, deck: Deck, tally: Counter[str]) -> None:
    read = dict(zip((id(one) for one in found), read_cards(found, deck), strict=True))
    near = matched(found, shot)
    for card, one in zip(scene.cards, near, strict=True):
        tally[f"{kind} cards"] += 1
        if one is None:
            tally[f"{kind} not found"] += 1
            continue
        reading = read[id(one)]
        right = reading.name == card.name
        tally[f"{kind} right"] += right
        tally[f"{kind} sure"] += reading.sure
        tally[f"{kind} sure and wrong"] += reading.sure and not right
    tally[f"{kind} too many"] += len(found) - sum(one is not None for one in near)


def _one_round(
    art: Any,
    finder: CardFinder,
    seed: int,
    tally: Counter[str],
    times: list[float],
) -> None:
    rng = np.random.default_rng([31, seed])
    names = [str(name) for name in rng.permutation(CARD_TEXT)[:9]]
    ring = tuple(photos.ring(art, names, seed))
    colours = [str(colour) for colour in rng.permutation(list(TEAMS))[: int(rng.integers(3, 6))]]
    numbers = [int(n) for n in rng.permutation(np.arange(2, 14))]
    up, down, truth = [], [], set()
    for index, card in enumerate(ring):
        for at in photos.stand(art, card, int(rng.choice([0, 0, 1, 1, 1, 2])), seed * 10 + index):
            if not numbers:
                break
            colour, number, turn = str(rng.choice(colours)), numbers.pop(), float(rng.uniform(0, 360))
            up.append(photos.Igloo(at, colour, turn=turn))
            moved = (at[0] + float(rng.normal(0, 3)), at[1] + float(rng.normal(0, 3)))
            down.append(photos.Igloo(moved, number=number, turn=turn + 40, sticker=taught.sticker(number)))
            truth.add((card.name, colour, number))
    shots: list[tuple[ByteArray, list[DetectedCard]]] = []
    for kind, igloos in (("whole", ()), ("placed", tuple(up)), ("upturned", tuple(down))):
        scene = photos.CardScene(art, ring, igloos)
        shot = photos.shoot(scene, *photos.view(seed * 3 + len(shots), 470, 400), seed)
        begun = time.process_time()
        found = finder.find(shot.image)
        times.append(1000 * (time.process_time() - begun))
        count("whole" if kind == "whole" else "with igloos", found, shot, scene, finder.deck, tally)
        shots.append((shot.image, found))
    for only, name in ((names, "round of an open game"), ((), "round alone")):
        first, second = read_both(
            (shots[1][0], shots[2][0]), (shots[1][1], shots[2][1]), finder.deck, only, tuple(colours)
        )
        pairs = join(first, second)
        seen = {(first.cards[one.card].name, one.colour, number) for one, number in pairs}
        right = seen == truth and len(pairs) == len(truth)
        staked = {one.card for one in first.igloos} if only else set(range(len(first.cards)))
        doubts = sum(one.unsure or number is None for one, number in pairs)
        doubts += sum(not first.cards[card].sure for card in staked)
        tally[f"{name}: igloos"] += len(truth)
        tally[f"{name}: igloos right"] += len(seen & truth)
        tally[f"{name}s"] += 1
        tally[f"{name}: right"] += right
        tally[f"{name}: right without a touch"] += right and not doubts
        tally[f"{name}: doubts"] += doubts
        tally[f"{name}: wrong without a doubt"] += not right and not doubts


def _one_pile(art: Any, finder: CardFinder, seed: int, tally: Counter[str], times: list[float]) -> None:
    rng = Random(seed)
    many = rng.randint(8, 14)
    names: list[str] = []
    while len(names) < many:
        animal = rng.choice(ANIMALS)
        own = [name for name in TEXT[:UNKNOWN] if name.startswith(f"{animal}-") and name not in names]
        names += rng.sample(own, min(len(own), rng.randint(1, 4)))
    names = names[:many]
    rows = 1 if many <= 10 or rng.random() < 0.5 else 2
    scene = photos.fan(art, names, seed, shown=rng.uniform(0.27, 0.36), curve=rng.uniform(0, 3), rows=rows)
    wide = max(110 + -(-many // rows) * 0.33 * 60, 330 if rows == 1 else 260)
    shot = photos.shoot(scene, *photos.view(seed, wide, 160 if rows == 1 else 260), seed)
    begun = time.process_time()
    found = finder.find(shot.image)
    times.append(1000 * (time.process_time() - begun))
    count("fanned", found, shot, scene, finder.deck, tally)
    read = read_pile(found, finder.deck)
    truth = [name.split("-")[0] for name in names]
    seen = [card.kind for card in read]
    doubts = sum(not card.kind_sure or card.gap_before for card in read)
    tally["piles"] += 1
    tally["piles in order"] += seen == truth
    tally["piles in order without a touch"] += seen == truth and not doubts
    tally["piles' doubts"] += doubts
    tally["piles scored right"] += _points(seen) == _points(truth)
    tally["piles wrong without a doubt"] += seen != truth and not doubts


def _points(kinds: Sequence[str]) -> int:
    return best_reading([ANIMALS.index(kind) for kind in kinds]).points


def _figures(tally: Counter[str], times: list[float]) -> dict[str, float]:
    figures: dict[str, float] = {
        "cards: sheets of which every card was found, of a hundred": _share(tally, "sheets whole", "sheets"),
    }
    for kind in ("whole", "with igloos", "fanned"):
        for what in ("right", "not found", "sure", "sure and wrong"):
            figures[f"cards {kind}: {what}, of a hundred"] = _share(tally, f"{kind} {what}", f"{kind} cards")
        figures[f"cards {kind}: found where none lies"] = tally[f"{kind} too many"]
        figures[f"cards {kind}: photographed"] = tally[f"{kind} cards"]
    for name in ("round of an open game", "round alone"):
        figures[f"{name}: igloos right (card, colour, number), of a hundred"] = _share(
            tally, f"{name}: igloos right", f"{name}: igloos"
        )
        figures[f"{name}: read without an error"] = tally[f"{name}: right"]
        figures[f"{name}: read without an error or a doubt"] = tally[f"{name}: right without a touch"]
        figures[f"{name}: doubts, each"] = round(tally[f"{name}: doubts"] / max(1, tally[f"{name}s"]), 2)
        figures[f"{name}: wrong without a doubt"] = tally[f"{name}: wrong without a doubt"]
    figures["rounds"] = tally["round alones"]
    figures["piles: cards' animals in order without an error"] = tally["piles in order"]
    figures["piles: the same, and without a doubt"] = tally["piles in order without a touch"]
    figures["piles: doubts, each"] = round(tally["piles' doubts"] / max(1, tally["piles"]), 2)
    figures["piles: scored right"] = tally["piles scored right"]
    figures["piles: wrong without a doubt"] = tally["piles wrong without a doubt"]
    figures["piles"] = tally["piles"]
    figures["find cards in a photo of 1600×1200, median ms of a core"] = round(float(np.median(times)), 0)
    return figures


def _share(tally: Counter[str], part: str, whole: str) -> float:
    return round(100 * tally[part] / max(1, tally[whole]), 1)


def measure(shown: int = 2) -> dict[str, float]:
    """Return :func:`measure_cards` with OpenCV held to one core."""
    threads = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        return measure_cards(shown)
    finally:
        cv2.setNumThreads(threads)
