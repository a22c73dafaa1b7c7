"""Round pieces on a track, drawn plainly: which spots changed, whose they are, and what is better not told."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from vision.cards.tokens import OpenTable, Track, spots

WIDTH = 120.0
STEP = 130
INKS = {"fox": (40, 90, 220), "bear": (200, 120, 60), "orca": (60, 160, 60), "moose": (150, 60, 160)}
ROWS = {"fox": (-22, -22), "bear": (22, -22), "orca": (-22, 22), "moose": (22, 22)}


def table(
    places: dict[str, int], *, lamp: float = 1.0, shift: dict[str, tuple[int, int]] | None = None, turned: bool = False
) -> OpenTable:
    """Return a picture of a track of six cards with a piece of each name on its place."""
    rng = np.random.default_rng(1)
    high, wide = 300, 960
    ground = cv2.resize(
        rng.uniform(90, 150, (10, 32, 3)).astype(np.float32), (wide, high), interpolation=cv2.INTER_CUBIC
    )
    image = ground.copy()
    for name, place in places.items():
        x, y = 100 + STEP * place + ROWS[name][0], 150 + ROWS[name][1]
        dx, dy = (shift or {}).get(name, (0, 0))
        cv2.circle(image, (x + dx, y + dy), 20, INKS[name], -1, cv2.LINE_AA)
    across = np.linspace(lamp, 2 - lamp, wide, dtype=np.float32)[None, :, None]
    image = np.clip(image * across + rng.normal(0, 1.5, image.shape), 0, 255).astype(np.uint8)
    if turned:
        image = np.ascontiguousarray(image[::-1, ::-1])
    return OpenTable(image, (), WIDTH)


BEGUN = dict.fromkeys(INKS, 2)
BOTH = [{"fox": 1, "bear": -1}, {"fox": -1, "bear": 1}]


def moved(places: dict[str, int], way: dict[str, int]) -> dict[str, int]:
    return {name: place + way.get(name, 0) for name, place in places.items()}


def known() -> tuple[Track, dict[str, int]]:
    """Return a track that has learnt where fox and bear lie, and how all stand."""
    track, after = Track(WIDTH), moved(BEGUN, BOTH[0])
    track.learn(seen(BEGUN, after), BOTH[0], BEGUN)
    return track, after


def seen(before: dict[str, int], after: dict[str, int]) -> tuple:
    found = spots(table(before), table(after))
    assert found is not None
    return found


def test_pieces_that_touch_leave_spots_of_their_own() -> None:
    # Fox and bear lie side by side, and go apart.
    found = seen(BEGUN, moved(BEGUN, BOTH[0]))
    at = sorted((round(spot.at[0]), round(spot.at[1])) for spot in found)
    assert np.allclose(at, [(252, 128), (338, 128), (382, 128), (468, 128)], atol=5)
    assert spots(table(BEGUN), table(BEGUN)) == ()


@pytest.mark.parametrize("way", BOTH)
def test_once_learnt_it_is_told_which_piece_went_where(way: dict[str, int]) -> None:
    track, now = known()
    then = seen(now, moved(now, way))
    assert track.read(then, BOTH, now) == (BOTH.index(way),)
    # Of another pair one is known, which is enough.
    other = [{"orca": way["fox"], "bear": way["bear"]}, {"orca": -way["fox"], "bear": -way["bear"]}]
    assert track.read(seen(now, moved(now, other[0])), other, now) == (0,)


def test_another_lamp_changes_nothing() -> None:
    track, now = known()
    then = spots(table(now), table(moved(now, BOTH[1]), lamp=1.3))
    assert then is not None
    assert track.read(then, BOTH, now) == (1,)


def test_what_was_never_learnt_is_not_told() -> None:
    # But it is seen that none went two places.
    farther = [*BOTH, {"fox": 2, "bear": -1}, {"fox": -2, "bear": 1}, {"bear": -1}]
    assert Track(WIDTH).read(seen(BEGUN, moved(BEGUN, BOTH[0])), farther, BEGUN) == (0, 1)
    assert Track(WIDTH).read(seen(BEGUN, moved(BEGUN, farther[2])), farther, BEGUN) == (2, 3)
    track, now = known()
    ways = [{"orca": 1, "moose": -1}, {"orca": -1, "moose": 1}]
    assert track.read(seen(now, moved(now, ways[0])), ways, now) == (0, 1)


def test_by_the_places_that_changed_it_is_told_how_pieces_went_of_which_none_is_known() -> None:
    track, now = known()
    track.where.clear()
    # Fox stands on the fourth place, orca on the third.
    ways = [{"fox": 1, "orca": -1}, {"fox": -1, "orca": 1}]
    for number, way in enumerate(ways):
        assert track.read(seen(now, moved(now, way)), ways, now) == (number,)
    # Of two on the same place nobody knows which is which.
    same = [{"orca": 1, "moose": -1}, {"orca": -1, "moose": 1}]
    assert track.read(seen(now, moved(now, same[0])), same, now) == (0, 1)


def test_what_changes_beside_the_track_is_no_piece() -> None:
    track, now = known()
    then = table(moved(now, BOTH[1]))
    beside, behind = (400, 285), (930, 150)
    for at in (beside, behind):
        cv2.circle(then.picture, at, 14, (20, 20, 20), -1, cv2.LINE_AA)
    spotted = spots(table(now), then)
    assert spotted is not None
    assert len(spotted) == 6
    assert track.read(spotted, BOTH, now) == (1,)


def test_a_piece_that_was_not_seen_to_go_is_known_no_more() -> None:
    track, now = known()
    track.learn(None, {"fox": 1, "moose": -1}, now)
    assert set(track.where) == {"bear"}


def test_what_no_way_explains_is_not_told() -> None:
    track, now = known()
    nudged = spots(table(now), table(moved(now, BOTH[1]), shift={"moose": (60, 40)}))
    assert nudged is not None
    assert track.read(nudged, BOTH, now) == (), "a third piece was pushed"
    assert track.read(seen(now, now), BOTH, now) == (), "nothing was moved"
    assert track.read(seen(now, moved(now, {"moose": 1, "orca": -1})), BOTH, now) == (), "others were moved"


def test_where_too_much_has_changed_nothing_is_looked_at() -> None:
    other = table(BEGUN)
    covered = other.picture.copy()
    covered[60:240, 100:700] = 20
    assert spots(other, OpenTable(covered, (), WIDTH)) is None
    assert spots(other, OpenTable(covered[:100], (), WIDTH)) is None
    outline = np.array([[100, 60], [700, 60], [700, 240], [100, 240]], float)
    assert spots(other, OpenTable(covered, (outline,), WIDTH)) == (), "a card lies there"


def test_a_track_seen_from_its_other_side_is_found_out_and_never_misread() -> None:
    track, places = Track(WIDTH), dict(BEGUN)
    told = 0
    for way in (BOTH[0], {"fox": -1, "orca": 1}, {"fox": 1, "bear": -1}, {"bear": 1, "orca": -1}, BOTH[1], BOTH[0]):
        after = moved(places, way)
        then = spots(table(places, turned=True), table(after, turned=True))
        assert then is not None
        read = track.read(then, [way, {name: -step for name, step in way.items()}], places)
        assert read != (1,)
        told += read == (0,)
        track.learn(then, way, places)
        places = after
    assert track.up == -1.0
    assert told >= 2
