"""The picture of the house is what the imports say, and each room stands in the document."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from companion.lab import draw_architecture
from companion.lab.draw_architecture import PICTURE, rooms
from companion.lab.layered_layout import lay_out, layers, reduced
from companion.rules import games, package_name

pytestmark = pytest.mark.pure

ROOT = Path(__file__).resolve().parents[2]
DIAMOND = {"a": {"b", "c", "d"}, "b": {"d"}, "c": {"d"}, "d": set[str]()}


@pytest.fixture(scope="module")
def picture() -> str:
    return draw_architecture.picture()


def test_the_committed_picture_is_that_of_the_imports(picture: str) -> None:
    assert picture == PICTURE.read_text(encoding="utf-8"), "make it anew: python -m companion.lab.draw_architecture"


def test_the_picture_has_every_room_and_its_arrows(picture: str) -> None:
    drawn = ET.fromstring(picture)  # noqa: S314 - our own
    groups = {group.get("class") for group in drawn.iter("{http://www.w3.org/2000/svg}g")}
    inner, imports = rooms()
    assert groups == set(inner)
    tipped = [path for path in drawn.iter("{http://www.w3.org/2000/svg}path") if path.get("marker-end")]
    assert len(tipped) == sum(map(len, reduced(imports).values()))


def test_a_room_imports_what_it_is_drawn_above() -> None:
    inner, imports = rooms()
    assert {"log", "commands", "views"} <= set(inner["night"])
    assert {"ports", "rules", "events"} <= imports["night"]
    assert imports["ports"] == imports["rules"] == set()
    level = layers(reduced(imports))
    assert all(level[room] > level[end] for room, ends in imports.items() for end in ends)


def test_every_room_stands_in_the_document() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert f"]({PICTURE.name})" in page
    found = {path.parent for top in ("companion", "vision", "web") for path in (ROOT / top).rglob("*.py")}
    # The folders of the games are a line together: each is found by its name.
    assert "`companion/rules/<game>`" in page
    found = {room for room in found if not set(map(package_name, games(examples=True))) & set(room.parts)}
    missing = [room for room in sorted(found) if f"](../{room.relative_to(ROOT)}/README.md)" not in page]
    assert not missing


def test_an_arrow_that_a_longer_way_shows_is_left_out() -> None:
    assert reduced(DIAMOND) == {"a": {"b", "c"}, "b": {"d"}, "c": {"d"}, "d": set()}


def test_long_arrows_bend_in_the_layers_between_and_nodes_stand_apart() -> None:
    laid = lay_out(DIAMOND, 100, 20)
    assert ["a", "a>d>1", "d"] in laid.ways
    assert laid.layer == {"a": 2, "b": 1, "c": 1, "d": 0, "a>d>1": 1}
    row = sorted(laid.middle[one] for one in ("b", "c", "a>d>1"))
    assert row[1] - row[0] >= 59.9
    assert row[2] - row[1] >= 59.9
