"""What an owner enters of the boxes: checked, kept as TOML, in every match from then on, gone on request."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from companion.events.hub import Hub
from companion.lab.worlds.boards import players
from companion.night.commands.box_contents import Boxes
from companion.night.commands.night import Night
from companion.night.log.journal import Journal
from companion.rules.core import SetupError
from tests.night.conftest import Table


@pytest.fixture
def boxes(tmp_path: Path) -> Boxes:
    return Boxes(tmp_path / "boxes")


def counted(boxes: Boxes, **changes: int) -> dict[str, Any]:
    form: Any = boxes.form("iglu-iglu")
    return {"tiles": {**form["data"]["tiles"], **changes}}


def test_the_stand_in_is_marked(boxes: Boxes) -> None:
    for game_id in ("iglu-iglu", "ice-team"):
        form = boxes.form(game_id)
        assert (form["own"], form["real"]) == (False, False)
        assert boxes.setup(game_id) == {}
    with pytest.raises(KeyError):
        boxes.form("arctic")


def test_a_counted_box_is_kept_and_forgotten(boxes: Boxes, tmp_path: Path) -> None:
    boxes.keep("iglu-iglu", counted(boxes, drift=7, thaw=6))
    again = Boxes(tmp_path / "boxes").form("iglu-iglu")
    assert (again["own"], again["real"]) == (True, True)
    assert again["data"]["tiles"]["drift"] == 7
    assert tomllib.loads((tmp_path / "boxes" / "iglu-iglu.toml").read_text())["real"] is True
    boxes.forget("iglu-iglu")
    assert boxes.form("iglu-iglu")["own"] is False


@pytest.mark.parametrize(
    ("change", "says"),
    [({"drift": 9}, "56 floe tiles, not 57"), ({"bear": 5, "pack": 9}, "4 tokens"), ({"fish 3": 6, "thaw": 3}, "24")],
)
def test_what_cannot_be_a_box_is_one_sentence(boxes: Boxes, change: dict[str, int], says: str) -> None:
    with pytest.raises(SetupError, match=says) as told:
        boxes.keep("iglu-iglu", counted(boxes, **change))
    assert told.value.en != told.value.fr
    assert boxes.form("iglu-iglu")["own"] is False


def test_the_whole_box_of_ice_team_goes_through_toml(boxes: Boxes, tmp_path: Path) -> None:
    form: Any = boxes.form("ice-team")
    data = {**form["data"], "fish_tokens": {"stated": 40, "ones": 20, "twos": 12, "threes": 8}}
    data["dice"] = [["fish1"] * 5 + ["steal"], ["fish2"] * 5 + ["steal"]]
    boxes.keep("ice-team", data)
    kept: Any = boxes.form("ice-team")
    assert kept["data"] == {**data, "real_box": True}
    assert (tmp_path / "boxes" / "ice-team.toml").read_text().startswith("# This house's box")
    broken = {**data, "boards": {**data["boards"], "a": {"grid": "hex", "rows": ["fff", "fff", "fff"]}}}
    with pytest.raises(SetupError):
        boxes.keep("ice-team", broken)
    assert boxes.form("ice-team")["data"] == kept["data"]


def test_a_file_that_cannot_be_read_leaves_the_stand_in(boxes: Boxes, tmp_path: Path) -> None:
    folder = tmp_path / "boxes"
    folder.mkdir()
    for text in ("[tiles", "real = true", "[tiles]\ndrift = 3", "x" * 70_000):
        (folder / "iglu-iglu.toml").write_text(text)
        assert boxes.form("iglu-iglu")["own"] is False
        assert boxes.setup("iglu-iglu") == {}


@pytest.fixture
def night(tmp_path: Path, boxes: Boxes) -> Iterator[Night]:
    journal = Journal(tmp_path / "journal.sqlite")
    yield Night(journal, Hub(), boxes=boxes)
    journal.close()


def test_matches_are_played_with_the_owner_s_box(night: Night, boxes: Boxes) -> None:
    def opened(game_id: str, action: str) -> Any:
        body = {"game": game_id, "players": players(game_id)}
        assert night.do("open-match", body, by=Table.host, action_id=f"open-{action}").ok
        found = night.view()["match"]
        assert night.do("close-match", {}, by=Table.host, action_id=f"close-{action}").ok
        return found

    assert opened("iglu-iglu", "1")["stand_in"] is True
    boxes.keep("iglu-iglu", counted(boxes, drift=7, thaw=6))
    ice: Any = boxes.form("ice-team")
    boxes.keep("ice-team", ice["data"])
    assert opened("iglu-iglu", "2")["stand_in"] is False
    assert opened("ice-team", "3")["stand_in"] is False
    # A match that was opened keeps its box in the journal, whatever becomes of the file.
    boxes.forget("iglu-iglu")
    assert opened("iglu-iglu", "4")["stand_in"] is True
