"""The album's API: games that have come to an end, evening by evening, with their last pictures."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from companion.lab.worlds.boards import players, record
from tests.night.commands.test_score_sheet_entry import kept
from tests.web.assembly import JPEG, SmallCompanion

BOARDS = ("iglu-iglu", "arctic", "ice-team")
MOST_MOVES = 60


def opened(companion: SmallCompanion, game_id: str, **more: object) -> None:
    companion.open_match(**{"game": game_id, "players": players(game_id), "setup": {}, **more})


def played(companion: SmallCompanion, game_id: str) -> None:
    """Play a game to its end by the rules."""
    opened(companion, game_id)
    texts = record(game_id, 11)
    for n in range(0, len(texts), MOST_MOVES):
        companion.moves(*texts[n : n + MOST_MOVES])


BY_NIGHT = re.compile(r"<style>@media \(prefers-color-scheme: dark\)\{:root\{[^{}]*--paper: #[^{}]*\}\}</style>")


def by_day(text: str) -> str:
    """Return a picture without its colours at night, which each has once."""
    assert len(BY_NIGHT.findall(text)) == 1
    return BY_NIGHT.sub("", text)


def address(night: int, match: str, lang: str = "en") -> str:
    return f"/api/share/album/{night}/{match}.svg?lang={lang}"


def test_it_is_for_those_who_take_part(guest: FlaskClient, player: FlaskClient, companion: SmallCompanion) -> None:
    played(companion, "ice-team")
    told = player.get("/api/share/album").json
    path = address(told["night"], told["games"][0]["match"])
    assert player.get(path).status_code == 200
    assert [guest.get(one).status_code for one in ("/api/share/album", path)] == [403, 403]


@pytest.mark.parametrize("game_id", BOARDS)
def test_a_live_game_is_not_in_it_until_its_end(player: FlaskClient, companion: SmallCompanion, game_id: str) -> None:
    opened(companion, game_id)
    texts = record(game_id, 11)
    live = companion.night.view()["match"]["id"]
    for n in range(0, len(texts), MOST_MOVES):
        told = player.get("/api/share/album").json
        assert told["games"] == []
        assert player.get(address(told["night"], live)).status_code == 404
        companion.moves(*texts[n : n + MOST_MOVES])
    (game,) = player.get("/api/share/album").json["games"]
    match = companion.night.view()["match"]
    assert (game["match"], game["game"], game["ended"], game["drawn"]) == (live, game_id, "rules", True)
    scores = {one["colour"]: (one["name"], one["score"], one["place"]) for one in match["players"]}
    assert {one["colour"]: (one["name"], one["score"], one["place"]) for one in game["players"]} == scores
    assert [one["place"] for one in game["players"]] == [1, 2]
    drawn = player.get(address(told["night"], live, "fr"))
    assert drawn.mimetype == "image/svg+xml"
    # What is drawn is what a bystander sees of the table as it lies now.
    assert by_day(drawn.text) == companion.night.board(None, "fr")["svg"]  # type: ignore[index]


def test_nothing_hidden_is_drawn_of_a_game_that_ended_early(player: FlaskClient, companion: SmallCompanion) -> None:
    opened(companion, "arctic", draw=True)
    companion.do("deal")
    hands = [companion.night.board(colour, "en")["svg"] for colour in ("p1", "p2")]  # type: ignore[index]
    assert hands[0] != hands[1]
    companion.do("end-early")
    told = player.get("/api/share/album").json
    drawn = by_day(player.get(address(told["night"], told["games"][0]["match"])).text)
    view, seat = companion.night.board(None, "en"), companion.night.board("p1", "en")
    assert view is not None and seat is not None
    assert told["games"][0]["ended"] == "early"
    assert drawn == view["svg"] != seat["svg"]


@pytest.mark.parametrize("game_id", ("igloo-pop", *BOARDS))
def test_a_score_sheet_has_no_picture(player: FlaskClient, companion: SmallCompanion, game_id: str) -> None:
    companion.do("keep-sheet", kept(game_id, "Ann", "Bob"))
    told = player.get("/api/share/album").json
    (game,) = told["games"]
    assert (game["ended"], game["drawn"]) == ("sheet", False)
    assert player.get(address(told["night"], game["match"])).status_code == 404


def test_an_end_that_is_taken_back_is_taken_out(player: FlaskClient, companion: SmallCompanion) -> None:
    opened(companion, "ice-team")
    companion.moves(record("ice-team", 11)[0])
    companion.do("end-early")
    assert len(player.get("/api/share/album").json["games"]) == 1
    companion.do("undo", {"to": 1, "agreed": True})
    assert player.get("/api/share/album").json["games"] == []


def test_evening_by_evening_under_the_names_of_today(player: FlaskClient, companion: SmallCompanion) -> None:
    played(companion, "iglu-iglu")
    companion.do("close-match")
    companion.do("open-night")  # an evening on which nobody played is passed over
    companion.do("open-night")
    played(companion, "ice-team")
    companion.do("close-match")
    played(companion, "arctic")
    tonight = player.get("/api/share/album").json
    assert [one["game"] for one in tonight["games"]] == ["ice-team", "arctic"]
    assert tonight["later"] is None
    before = player.get(f"/api/share/album?night={tonight['earlier']}").json
    assert [one["game"] for one in before["games"]] == ["iglu-iglu"]
    assert (before["earlier"], before["later"]) == (None, tonight["night"])
    match = before["games"][0]["match"]
    assert "<svg" in player.get(address(before["night"], match)).text
    ann = next(one["id"] for one in companion.people.all() if one["name"] == "Ann")
    companion.people.change(ann, {"name": "Ada"})
    renamed = player.get(f"/api/share/album?night={before['night']}").json
    assert {one["name"] for one in renamed["games"][0]["players"]} == {"Ada", "Bob"}
    # The same night, and no game of it, under another's number.
    assert player.get(address(tonight["night"], match)).status_code == 404
    for wrong in (tonight["night"] + 1, 2**40):
        assert player.get(f"/api/share/album?night={wrong}").status_code == 404
    for wrong in ("0", "-1", "x", "²", "9" * 40):
        assert player.get(f"/api/share/album/{wrong}/{match}.svg").status_code == 404


def test_photos_are_told_to_those_who_may_see_them(
    host: FlaskClient, player: FlaskClient, companion: SmallCompanion
) -> None:
    opened(companion, "ice-team")
    companion.moves(record("ice-team", 11)[0])
    companion.camera_service.take_photo(JPEG)
    for _ in range(2):
        companion.camera_service.keep_evidence()
    companion.do("end-early")
    (photo,) = player.get("/api/share/album").json["games"][0]["photos"]
    assert player.get(f"/api/evidence/{photo}").data == JPEG
    companion.settings.set({"players_pictures": False})
    assert player.get("/api/share/album").json["games"][0]["photos"] == []
    assert host.get("/api/share/album").json["games"][0]["photos"] == [photo]


def test_a_game_in_which_nothing_was_done_is_not_in_it(player: FlaskClient, companion: SmallCompanion) -> None:
    opened(companion, "ice-team")
    companion.do("close-match")
    assert player.get("/api/share/album").json["games"] == []
    companion.open_match()
    companion.moves("start", "place red card1")
    companion.do("close-match")
    told = player.get("/api/share/album").json
    (game,) = told["games"]
    assert (game["game"], game["ended"]) == ("igloo-pop", "early")
    assert player.get(address(told["night"], game["match"])).text.startswith("<svg")
