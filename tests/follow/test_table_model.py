"""What a table remembers of a board that is as the record says."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from companion.follow.table_model import SeenTable, confirm
from vision.board.labels import Content
from vision.board.layout import open_layout
from vision.board.patches import Sampler
from vision.read.place_posterior import PlaceLook, members_of
from vision.read.profile import Profile
from vision.read.reader import BoardLook

LAYOUT = open_layout("ice-team")


def test_a_strip_that_was_miscounted_is_learnt_from_and_nothing_else_that_was_misread() -> None:
    members = members_of(LAYOUT)
    ground = np.eye(len(LAYOUT.grounds))
    names = {name: LAYOUT.grounds.index(name) for name in ("start", "plain")}
    nothing: Any = ({(): 1.0},) * len(members)
    places = {
        "start": PlaceLook(ground[names["start"]], nothing, members, 0.0),
        "a1": PlaceLook(ground[names["plain"]], nothing, members, 0.0),
        "a3": PlaceLook(ground[names["plain"]], nothing, members, 0.0),
        "village": PlaceLook(ground[LAYOUT.grounds.index("village")], nothing, members, 0.9),
    }
    true = {
        "start": Content(names["start"], ((0, 2),)),
        "a1": Content(names["plain"], ((0, 1),)),
        "a3": Content(names["plain"]),
        "village": Content(LAYOUT.grounds.index("village"), ((0, 1),)),
    }
    remembered: list[Any] = []
    counted: list[Any] = []
    table: Any = SimpleNamespace(
        layout=LAYOUT,
        strips=SimpleNamespace(confirm=lambda straight, contents: counted.append(contents)),
        confirm=lambda seen, contents: remembered.append(contents),
    )
    confirm(table, BoardLook(LAYOUT, None, places, np.zeros((4, 4, 3), np.uint8)), true)
    assert remembered == [{"a3": true["a3"]}], "a bear that was overlooked is no bare floe, and teaches none"
    assert counted[0][LAYOUT.index["start"]] == true["start"]
    assert LAYOUT.index["village"] not in counted[0], "who knows what lies over it"


def test_what_is_not_learnt_yet_is_known_at_once_though_another_lesson_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table is made anew of what was learnt; what was taught meanwhile is not lost by it."""
    heard: list[str] = []
    table = SeenTable("iglu-iglu", tmp_path, on_change=lambda: None)
    monkeypatch.setattr(
        "companion.follow.table_model.TaughtBoard",
        lambda profile: SimpleNamespace(learn=lambda shot: heard.append(shot.name)),
    )
    side = round(Sampler(table.layout).side * (table.layout.width + 1.6 * Sampler(table.layout).unit))
    profile = Profile(table.layout)
    for level in (60, 120, 180):
        profile = profile.taught(np.full((side, side, 3), level, np.uint8), {0: Content(0)})
    network: Any = SimpleNamespace()
    first, *later = profile.shots
    table._take(profile.learnt(network, [first]))
    assert heard == [shot.name for shot in later]
