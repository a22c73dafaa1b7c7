"""Layouts and labels: what is read, and the one sentence where it cannot be."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from companion.rules import game, games
from vision.board.labels import Content, LabelError, read_labels
from vision.board.layout import SHIPPED, Layout, LayoutError, Thing, open_layout, read_layout
from vision.read.profile import fingerprint

GRID = """
[board]
kind = "grid"
columns = 3
rows = 2
[ground]
classes = ["grass", "lake"]
[[things]]
kind = "crown"
values = [1, 2, 3]
max = 2
[[things]]
kind = "king"
colours = ["red", "blue"]
[[things]]
kind = "castle"
"""


@pytest.fixture
def grid() -> Layout:
    return read_layout(GRID, "tiles")


def test_squares_are_named_from_the_near_left(grid: Layout) -> None:
    assert [place.name for place in grid.places] == ["a2", "b2", "c2", "a1", "b1", "c1"]
    assert (grid.places[0].x, grid.places[0].y) == (0.5, 0.5)
    assert (grid.width, grid.height, grid.game) == (3, 2, "tiles")
    assert grid.things == (
        *(Thing("crown", value=v) for v in (1, 2, 3)),
        *(Thing("king", colour=c) for c in ("red", "blue")),
        Thing("castle"),
    )
    assert grid.most == (2, 2, 2, 1, 1, 1)
    assert grid.valued == ((0, 1, 2),)


def test_heaps_lie_on_the_grounds_that_are_named() -> None:
    heap = read_layout(GRID.replace("max = 2", 'max = 2\nheaps = ["lake"]'))
    assert heap.heaps == (frozenset({"lake"}),) * 3 + (frozenset(),) * 3
    with pytest.raises(LayoutError, match=r"crown: heaps names a ground that the layout does not have\."):
        read_layout(GRID.replace("max = 2", 'max = 2\nheaps = ["moon"]'))


def test_a_list_of_places() -> None:
    layout = read_layout(
        '[board]\nkind = "places"\nplaces = [{name = "x", at = [1, 2], size = 2}, {name = "y", at = [4, 1]}]\n'
        '[ground]\nclasses = ["a"]\n'
    )
    assert not layout.is_grid
    assert [(p.name, p.x, p.y, p.width, p.height) for p in layout.places] == [("x", 1, 2, 2, 2), ("y", 4, 1, 1, 1)]
    assert (layout.width, layout.height) == (4.5, 3)


def test_the_shipped_layouts_hold_every_place_and_thing_of_their_games() -> None:
    assert {path.stem for path in SHIPPED.glob("*.toml")} == set(games(examples=True))
    for name in ("iglu-iglu", "ice-team", "thin-ice"):
        layout = open_layout(name)
        played = game(name)
        state: Any = played.start(played.seats(2), played.settled_options(None))
        assert set(state.position()["places"]) == set(layout.index)
        if name == "iglu-iglu":
            read_labels(json.dumps(state.position()), layout)
    assert {f"card{n}" for n in range(1, 10)} == set(open_layout("igloo-pop").index)
    assert set(open_layout("arctic").index) == {
        *(f"land{n}" for n in (0, 1, 3, 6, 10, 15)),
        *(f"river{n}" for n in range(1, 7)),
    }


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[board", "no TOML"),
        ("x = 1", "[board] is missing"),
        (GRID.replace("columns = 3", "columns = 0"), "columns is a whole number from 1 to 26"),
        (GRID.replace('kind = "grid"', 'kind = "ring"'), '"grid" or "places"'),
        (GRID.replace('"grass", "lake"', '"lake", "lake"'), "twice"),
        (GRID.replace("max = 2", "max = -1"), "max is a whole number"),
        (GRID.replace("[1, 2, 3]", "[]"), "values is a list"),
        (GRID.replace("max = 2", 'max = 2\non = ["lava"]'), "a ground that the layout does not have"),
        (GRID + '[[things]]\nkind = "castle"', "The same thing is there twice"),
        ('[board]\nkind = "places"\nplaces = [{name = "x", at = [1, nan]}]\n[ground]\nclasses = ["a"]', "number"),
        ('[board]\nkind = "places"\nplaces = []\n[ground]\nclasses = ["a"]', "lists its places"),
    ],
)
def test_a_layout_that_cannot_be_read_is_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(LayoutError) as caught:
        read_layout(text)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("name", "moved"), [("ice-team", True), ("iglu-iglu", False)])
def test_a_profile_does_not_fit_places_that_lie_elsewhere(name: str, moved: bool) -> None:
    """Where a grid lies is found in each picture; other boards are only known by the layout."""
    layout = open_layout(name)
    first = replace(layout.places[0], x=layout.places[0].x + 0.3)
    other = replace(layout, places=(first, *layout.places[1:]))
    assert (fingerprint(other) != fingerprint(layout)) is moved
    assert fingerprint(replace(other, places=layout.places)) == fingerprint(layout)


def test_files_that_are_no_layouts(tmp_path: Path) -> None:
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "huge.toml").write_bytes(b"#" * 300_000)
    for name, sentence in (("binary.toml", "no TOML file"), ("huge.toml", "larger than"), ("none.toml", "neither")):
        with pytest.raises(LayoutError, match=sentence):
            open_layout(str(tmp_path / name))
    with pytest.raises(LayoutError, match="cannot be read"):
        open_layout(str(tmp_path))


def test_csv_and_json_say_the_same(grid: Layout) -> None:
    csv = "place,ground,kind,colour_or_value,count\na1,grass,,,\nb1,lake,crown,2,1\n"
    csv += "b1,lake,king,Red,1\nc2,grass,castle,,\n"
    things = [{"kind": "crown", "value": 2, "count": 1}, {"kind": "king", "colour": "red"}]
    board: dict[str, Any] = {
        "places": {
            "a1": {"ground": "grass", "things": []},
            "b1": {"ground": "lake", "things": things},
            "c2": {"ground": "grass", "things": [{"kind": "castle", "count": 1}]},
            "a2": None,
        }
    }
    labels = read_labels(csv, grid)
    assert labels == read_labels(json.dumps(board), grid)
    assert labels["b1"] == Content(1, ((1, 1), (3, 1)))
    assert labels["b1"].to_json(grid)["things"] == [
        {"kind": "crown", "value": 2, "count": 1},
        {"kind": "king", "colour": "red", "count": 1},
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a9,grass,,,", "Line 1: the layout has no place 'a9'"),
        ("a1,grass,crown,7,1", "knows no 'crown 7'"),
        ("a1,grass,crown,1,9", "at most 2 of crown 1"),
        ("a1,grass,crown,1,many", "small whole number"),
        ("a1,grass,,,\na1,lake,,,", "two grounds"),
        ("", "nothing of any place"),
        ("{", "begin like JSON"),
        ('{"places": []}', "hold no places"),
        ('{"places": {"a1": {"ground": "grass", "things": [{"colour": "red"}]}}}', "a thing has a kind"),
        ('{"a1": 5}', "a ground and a list of things"),
    ],
)
def test_labels_that_do_not_fit_are_one_sentence(grid: Layout, text: str, sentence: str) -> None:
    with pytest.raises(LabelError) as caught:
        read_labels(text, grid)
    assert sentence in str(caught.value)
