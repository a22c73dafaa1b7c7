"""Which places look as they did, and what that says to what is read there."""

from __future__ import annotations

from math import log
from typing import Any

import cv2
import numpy as np
import pytest

from companion.rules.inference.belief import Belief, Together
from companion.rules.inference.turns import Evidence
from vision.board.labels import Content
from vision.board.layout import open_layout
from vision.board.patches import Sampler
from vision.read.diff import compare, differences
from vision.track.evidence import LEAST, belief_as_was, belief_of_several, several

LAYOUT = open_layout("iglu-iglu")
SAMPLER = Sampler(LAYOUT)


def board(
    noise: int,
    *,
    piece: str = "",
    shadow: float = 0.0,
    moved: tuple[int, int] = (0, 0),
    lamp: float = 1.0,
    grain: float = 2.0,
) -> Any:
    """A straight picture of printed tiles; ``piece``: where a token of a third of a place lies, how long its shadow."""
    left, far, right, near = SAMPLER.box
    size = round((near - far) * SAMPLER.side), round((right - left) * SAMPLER.side)
    coarse = np.random.default_rng(1).uniform(60, 190, (size[0] // 6, size[1] // 6, 3)).astype(np.float32)
    picture = cv2.resize(coarse, (size[1], size[0]), interpolation=cv2.INTER_CUBIC)
    if piece:
        x, y, place = SAMPLER.middle(LAYOUT.index[piece])
        fallen = picture[round(y) : round(y + shadow * place), round(x - place / 6) : round(x + place / 6)]
        fallen *= 0.5
        cv2.circle(picture, (round(x), round(y)), round(place / 6), (40, 60, 210), -1)
    picture = np.roll(picture, moved, axis=(0, 1)) * lamp
    picture += np.random.default_rng(100 + noise).normal(0, grain, picture.shape)
    return np.clip(picture, 0, 255).astype(np.uint8)


@pytest.mark.parametrize(("moved", "lamp"), [((0, 0), 1.0), ((1, 0), 1.0), ((-1, 1), 1.04)])
def test_noise_a_lamp_and_a_pixel_change_nothing_a_token_does(moved: tuple[int, int], lamp: float) -> None:
    names = {place.name for place in LAYOUT.places}
    assert compare(SAMPLER, board(1), board(2, moved=moved, lamp=lamp)).quiet >= names - {"d4"}
    there = compare(SAMPLER, board(1), board(3, moved=moved, lamp=lamp, piece="d4")).quiet
    assert there == names - {"d4"}, "what came is seen, and only there"
    assert compare(SAMPLER, board(4, piece="d4"), board(5, moved=moved, lamp=lamp)).quiet == names - {"d4"}
    assert compare(SAMPLER, board(1), board(3, piece="d4")).unlike == {"d4": 1.0}
    assert set(compare(SAMPLER, board(1), board(3, moved=moved, lamp=lamp, piece="d4")).unlike) <= {"d4"}
    assert not compare(SAMPLER, board(1), board(2, moved=moved, lamp=lamp)).unlike


def test_a_shadow_on_the_next_place_is_no_plain_change() -> None:
    new = board(3, piece="d4", shadow=0.75)
    assert "d3" not in compare(SAMPLER, board(1), new).quiet, "it does not look as it did"
    unlike = compare(SAMPLER, board(1), new).unlike
    assert unlike["d4"] == 1 and all(much < 1 for name, much in unlike.items() if name != "d4")


@pytest.mark.parametrize("end", [-0.4, 0.0, 0.4])
def test_a_piece_that_came_to_a_strip_is_seen_wherever_it_stands(end: float) -> None:
    """It covers a small part of the strip, but most of a usual place."""
    sampler = Sampler(open_layout("ice-team"))
    left, far, right, near = sampler.box
    size = round((near - far) * sampler.side), round((right - left) * sampler.side), 3
    before = np.random.default_rng(1).integers(80, 90, size).astype(np.uint8)
    after = before.copy()
    x, y, length = sampler.middle(sampler.layout.index["village"])
    cv2.circle(after, (round(x), round(y + end * length)), round(0.22 * sampler.side), (40, 60, 210), -1)
    found = compare(sampler, before, after)
    assert "village" not in found.quiet and found.unlike["village"] == 1
    assert len(found.quiet) == len(sampler.layout.places) - 1 and set(found.unlike) == {"village"}


def test_where_everything_differs_nothing_is_as_it_was() -> None:
    assert not compare(SAMPLER, board(1), board(2, moved=(9, 7))).quiet
    unlike = compare(SAMPLER, board(1), board(2)[:-8])
    assert not unlike.quiet and not unlike.unlike
    assert not compare(SAMPLER, board(1), board(2, grain=60.0)).unlike, "a dark room's noise is no change"
    assert differences(SAMPLER, board(1), board(1)).max() == 0


def test_a_place_that_looks_as_it_did_is_so_whatever_is_read() -> None:
    """Three inuit are read as two in every picture; a bear that hardly anything speaks for stays possible."""
    red = LAYOUT.find_thing("inuit", "red")
    fox = LAYOUT.find_thing("fox", 2)
    assert red is not None and fox is not None
    odds = {0: log(1e-4), 2: log(0.95), 3: log(0.05)}
    foxes = Together((("fox", 1), ("fox", 2)), {(("fox", 1, 1),): log(0.9), (("fox", 2, 1),): log(0.1)})
    seen = Belief({"floe": 0.0, "pack": log(0.01)}, {("inuit", "red"): odds}, log(LEAST), (foxes,))
    three = ("floe", (("fox", 2, 1), ("inuit", "red", 3)))
    assert seen.best() == ("floe", (("fox", 1, 1), ("inuit", "red", 2)))
    was = belief_as_was(seen, Content(LAYOUT.grounds.index("floe"), tuple(sorted([(red, 3), (fox, 1)]))), LAYOUT)
    assert was.best() == three and was.most() - was.get(("floe", (("fox", 1, 1), ("inuit", "red", 2)))) > 7
    # What was read with all certainty is not talked away.
    empty = Belief({"water": 0.0, "floe": log(LEAST)}, {}, log(LEAST))
    gone = belief_as_was(empty, Content(LAYOUT.grounds.index("floe"), ((red, 1),)), LAYOUT)
    assert ("floe", (("inuit", "red", 1),)) not in gone and gone.get(("water", ())) > gone.get(("floe", ()))


def test_looks_that_err_alike_are_no_witnesses_of_each_other() -> None:
    """Two looks at 90 % are not one at 99 %; one that is sure settles what another leaves open."""
    one = Belief({"floe": 0.0}, {("inuit", "red"): {0: log(0.1), 1: log(0.9)}}, log(LEAST))
    table = belief_of_several([one, one]).things["inuit", "red"]
    assert table[1] - table[0] == pytest.approx(log(9))
    other = Belief({"floe": 0.0}, {}, log(LEAST), (Together((("fish", 1), ("fish", 2)), {(("fish", 1, 1),): 0.0}),))
    both = belief_of_several([one, other])
    assert both.things["inuit", "red"][0] == pytest.approx(log(0.55), abs=0.01)
    assert both.get(("floe", ())) > both.get(("floe", (("fish", 2, 1),)))
    evidence = several([Evidence({"a1": one, "b1": one}), Evidence({"a1": one})])
    assert set(evidence.places) == {"a1"}, "what one of them hides is not known"
