"""Tokens of which few were taught, or that lie on each other: their values and number, on boards painted from above."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest

from vision.board.labels import from_json
from vision.board.layout import Layout, read_layout
from vision.board.patches import Sampler
from vision.board.pose import Pose
from vision.read.profile import TaughtPhoto, printed_places
from vision.read.token_fit import find_fit
from vision.read.tokens import TokenReader

pytestmark = pytest.mark.learning

LAYOUT = """
[board]
kind = "grid"
columns = 6
rows = 6
[ground]
classes = ["sea"]
[[things]]
kind = "coin"
values = [1, 2, 7]
max = 3
[[things]]
kind = "stamp"
values = [1, 2, 7]
max = 3
"""
SIDE = 100
SIZE = (8 * SIDE, 8 * SIDE)
COLOUR = {"coin": (90, 200, 240), "stamp": (120, 200, 120)}
NAMES = [f"{column}{row}" for column in "abcdef" for row in range(1, 7)]

Laid = dict[str, tuple[str, list[int]]]


def shot(
    layout: Layout, laid: Laid, seed: int, blank: bool = False, pawns: bool = False, aside: bool = False
) -> TaughtPhoto:
    """Return a board with tokens of a kind and their values in some places; several lie on each other.

    With ``pawns``, one stands over the edge of each single token; with ``aside``, digits stand at the tokens' edge, a
    picture in their middle.
    """
    rng = np.random.default_rng(seed)
    image = np.full((SIZE[1], SIZE[0], 3), 90, np.uint8)
    places: dict[str, Any] = {}
    for name in NAMES:
        x, y = SIDE * (ord(name[0]) - 96), SIDE * (7 - int(name[1]))
        cv2.rectangle(image, (x + 2, y + 2), (x + SIDE - 3, y + SIDE - 3), (150, 110, 60), -1)
        kind, values = laid.get(name, ("coin", []))
        around, ring = rng.uniform(0, 2 * np.pi), 0 if len(values) == 1 else 18
        for index, value in enumerate(values):
            angle = around + 2 * np.pi * index / len(values)
            at = (x + 50 + ring * np.cos(angle), y + 50 + ring * np.sin(angle))
            lay(image, kind, "" if blank else str(value), at, float(rng.uniform(0, 360)), aside)
        if pawns and len(values) == 1:
            at = (round(x + 50 + 20 * np.cos(around)), round(y + 50 + 20 * np.sin(around)))
            cv2.circle(image, at, 13, (60, 60, 200), -1, cv2.LINE_AA)
        things = [{"kind": kind, "value": v, "count": values.count(v)} for v in sorted(set(values))]
        places[name] = {"ground": "sea", "things": things}
    image = np.clip(cv2.GaussianBlur(image, (0, 0), 1.0) + rng.normal(0, 2, image.shape), 0, 255).astype(np.uint8)
    contents = {layout.index[n]: c for n, c in from_json({"places": places}, layout).items()}
    sampler = Sampler(layout)
    low, high = SIDE - 0.5, 7 * SIDE - 0.5
    pose = Pose.from_corners(np.array([[low, low], [high, low], [high, high], [low, high]]), 6, 6, SIZE)
    close = sampler.close(image, pose, printed_places(layout, contents))
    return TaughtPhoto(str(seed), sampler.straighten(image, pose), contents, close)


def lay(image: Any, kind: str, value: str, at: tuple[float, float], turn: float, aside: bool = False) -> None:
    """Lay a token 42 pixels wide, round or square, over what is there."""
    token, mask = np.full((64, 64, 3), COLOUR[kind], np.uint8), np.zeros((64, 64), np.uint8)
    if kind == "coin":
        cv2.circle(mask, (32, 32), 21, 255, -1)
    else:
        cv2.rectangle(mask, (13, 13), (50, 50), 255, -1)
    if aside:
        cv2.ellipse(token, (40, 40), (7, 4), -45, 0, 360, (90, 60, 50), -1, cv2.LINE_AA)
        cv2.putText(token, value, (16, 34), cv2.FONT_HERSHEY_DUPLEX, 0.7, (20, 30, 40), 2, cv2.LINE_AA)
    else:
        cv2.putText(token, value, (21, 43), cv2.FONT_HERSHEY_DUPLEX, 1.0, (20, 30, 40), 3, cv2.LINE_AA)
    matrix = cv2.getRotationMatrix2D((32, 32), turn, 1)
    matrix[:, 2] += np.array(at) - 32
    size = (image.shape[1], image.shape[0])
    cover = cv2.warpAffine(mask, matrix, size)[..., None].astype(np.float32) / 255
    image[:] = np.round(image * (1 - cover) + cv2.warpAffine(token, matrix, size) * cover).astype(np.uint8)


def alone(kind: str, values: list[int], first: int, step: int) -> Laid:
    return {NAMES[first + step * i]: (kind, [value]) for i, value in enumerate(values)}


@pytest.fixture(scope="module")
def layout() -> Layout:
    return read_layout(LAYOUT)


@pytest.fixture(scope="module")
def taught(layout: Layout) -> list[TaughtPhoto]:
    """Return photos on which coins show all values, and two stamps the same."""
    coins = [alone("coin", [1, 2, 7, 7, 1, 2], 0, 3), alone("coin", [2, 7, 1, 1, 2, 7], 1, 3)]
    stamps = [alone("stamp", [1], 20, 1), alone("stamp", [1], 25, 1)]
    return [shot(layout, c | s, seed) for seed, (c, s) in enumerate(zip(coins, stamps, strict=True))]


def wrongly_read(layout: Layout, reader: TokenReader, seen: TaughtPhoto) -> tuple[int, float]:
    """Return how many places are read wrongly, and the least probability that a truth is given."""
    sampler = Sampler(layout)
    wrong, least = 0, 1.0
    for place, content in seen.contents.items():
        if content.things:
            kind = next(k for k, things in enumerate(layout.valued) if content.things[0][0] in things)
            many = sum(count for _, count in content.things)
            patch = sampler.cut(seen.straight, [place])[0]
            ways = reader.read(patch, seen.close[place], place, kind, [many])[0][many]
            wrong += max(ways, key=ways.__getitem__) != content.things
            least = min(least, ways[content.things])
    return wrong, least


def test_tokens_that_lie_on_each_other_are_read(layout: Layout, taught: list[TaughtPhoto]) -> None:
    reader = TokenReader(Sampler(layout), taught)
    assert reader.reads(0)
    rng = np.random.default_rng(5)
    piles: Laid = {name: ("coin", [int(v) for v in rng.choice([1, 2, 7], 2 + i % 2)]) for i, name in enumerate(NAMES)}
    wrong, least = wrongly_read(layout, reader, shot(layout, piles, 9))
    assert wrong == 0
    assert least > 0.2


def test_values_of_a_kind_that_were_never_taught_are_read_by_those_of_another(
    layout: Layout, taught: list[TaughtPhoto]
) -> None:
    reader = TokenReader(Sampler(layout), taught)
    assert reader.reads(1)
    wrong, least = wrongly_read(layout, reader, shot(layout, alone("stamp", [1, 2, 7, 7, 2, 1, 2, 7], 2, 4), 7))
    assert wrong == 0
    assert least > 0.2


def test_a_kind_of_few_tokens_is_not_read_by_prints_that_tell_nothing(layout: Layout) -> None:
    blank = [
        shot(layout, alone("coin", [1, 2, 7, 1, 2, 7], seed, 3) | alone("stamp", [1], 20, 1), seed, blank=True)
        for seed in (0, 1)
    ]
    reader = TokenReader(Sampler(layout), blank)
    assert not reader.reads(0)
    assert not reader.reads(1)


def test_a_token_more_than_is_there_is_unlikely(layout: Layout, taught: list[TaughtPhoto]) -> None:
    sampler = Sampler(layout)
    reader = TokenReader(sampler, taught)
    piles: Laid = {name: ("coin", [1, 2, 7][: 1 + i % 3]) for i, name in enumerate(NAMES)}
    seen = shot(layout, piles, 4)
    for place, content in seen.contents.items():
        many = sum(count for _, count in content.things)
        _, odds = reader.read(sampler.cut(seen.straight, [place])[0], seen.close[place], place, 0, [1, 2, 3])
        assert max(odds, key=odds.__getitem__) == many


def test_a_token_that_a_pawn_stands_on_is_one(layout: Layout, taught: list[TaughtPhoto]) -> None:
    sampler = Sampler(layout)
    reader = TokenReader(sampler, taught)
    seen = shot(layout, alone("coin", [1, 2, 7] * 6, 0, 2), 12, pawns=True)
    for place, content in seen.contents.items():
        if content.things:
            _, odds = reader.read(sampler.cut(seen.straight, [place])[0], seen.close[place], place, 0, [1, 2, 3])
            # Its prints alone would tell this twenty to one.
            assert odds[1] > 100 * odds[2] > 1000 * odds[3]


def test_four_tokens_are_told_from_three_by_more_than_their_prints() -> None:
    fit = find_fit(([0.98, 0.97, 0.96, 0.99], [0.9, 0.85, 0.8, 0.88]), ([0.4, 0.5, 0.45, 0.6], [0.1, 0.0, 0.05, 0.2]))
    assert fit is not None
    there, half, none = (fit.odds(signs, first=False) for signs in ((0.97, 0.86), (0.97, 0.1), (0.5, 0.1)))
    assert there > 100 > half > 100 * none
    assert half < 2
    # That there is any of its colour was told from afar.
    assert fit.odds((0.97, 0.1), first=True) == fit.odds((0.97, 0.86), first=True) > 1
    assert find_fit(([0.98] * 4, [0.9] * 3), ([0.4] * 4, [0.1] * 4)) is None
