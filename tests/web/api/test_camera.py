"""The camera over the API: calibrate, teach, follow, answer, rule by photo; on pictures of a rendered game."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from flask import Flask
from flask.testing import FlaskClient

from companion.follow.api import FollowService
from companion.lab.worlds.boards import players
from companion.lab.worlds.filmed import FISH, Filmed
from companion.night.answers import TABLE
from companion.rules.inference.turns import content
from tests.web.assembly import SmallCompanion
from tests.web.conftest import Client
from tests.worlds.spoilt import moved, spoilt
from tests.worlds.wait import LESSON_S, wait
from web.app import create_app

pytestmark = pytest.mark.learning

GAME = "iglu-iglu"
AT = f"/api/camera/table/{GAME}"


@pytest.fixture(scope="module")
def film() -> Filmed:
    return Filmed(5, 2, kept=1.0)


@pytest.fixture(scope="module")
def pictures(film: Filmed) -> list[bytes]:
    """The board after the set-up and after each of two turns."""
    return [film.picture(number) for number in range(3)]


def opened(companion: SmallCompanion, film: Filmed) -> None:
    companion.do("open-match", {"game": GAME, "players": players(GAME), "setup": {"fish": FISH}})
    companion.moves(*film.set_up)


@pytest.fixture(scope="module")
def taught(
    film: Filmed, pictures: list[bytes], tmp_path_factory: pytest.TempPathFactory, prompt_lessons: None
) -> Iterator[Path]:
    """Calibrate and teach over the API, as the host does it on the page; return what was kept of it."""
    folder = tmp_path_factory.mktemp("taught")
    companion = SmallCompanion(folder)
    opened(companion, film)
    app = create_app(companion)
    app.test_client_class = Client
    host = app.test_client()
    assert host.post(f"/host/{companion.access.host_token()}").status_code == 303
    companion.watched.take_photo(pictures[0])
    found = host.post(f"{AT}/calibrate", json={}).json
    assert found["board"]["how"] == "markers" and found["board"]["size"] == [1280, 960]
    assert 0 < found["board"]["error_place"] < 5 and not found["board"]["moved"]
    assert set(found["board"]["cells"]) == set(found["record"]) and len(found["board"]["cells"]) == 64
    told = host.post(f"{AT}/teach", json={}).json
    assert told["lessons"] == 1 and told["learning"]
    assert companion.follow_service.table_of(GAME).wait(LESSON_S)
    assert host.get(AT).json["taught"]
    companion.close()
    yield folder / "tables"


@pytest.fixture
def table(companion: SmallCompanion, film: Filmed, taught: Path, tmp_path: Path) -> SmallCompanion:
    """A house with an open game, which finds what was taught another time."""
    shutil.copytree(taught, tmp_path / "tables")
    companion.settings.set({"camera_settle_tenths": 3})
    companion.follow_service.start()
    opened(companion, film)
    return companion


def places(state: Any) -> dict[str, Any]:
    return {name: content(place) for name, place in state.position()["places"].items()}


# --- who may


def test_nothing_of_it_is_for_guests(guest: FlaskClient, player: FlaskClient) -> None:
    for path in (AT, f"{AT}/look", "/api/camera/question", "/api/camera/photos/ruled.jpg"):
        assert guest.get(path).status_code == 403
    for path in (
        "/api/camera/follow",
        f"{AT}/calibrate",
        f"{AT}/teach",
        "/api/camera/question",
        "/api/camera/photos/rule",
    ):
        assert guest.post(path, json={}).status_code == 403
    assert guest.post(f"/api/camera/photos/after?game={GAME}", data=b"x").status_code == 403
    assert player.post(f"{AT}/calibrate", json={}).status_code == 403
    assert player.post("/api/camera/follow", json={"on": True}).status_code == 403


def test_the_host_may_keep_the_answers_to_himself(
    player: FlaskClient, host: FlaskClient, companion: SmallCompanion
) -> None:
    asked = {"id": "nothing", "choice": 0}
    assert player.post("/api/camera/question", json=asked).status_code == 409
    companion.settings.set({"camera_everyone": False})
    assert player.post("/api/camera/question", json=asked).status_code == 403
    assert host.post("/api/camera/question", json=asked).json["error"]["code"] == "not-asked"
    assert not host.get("/api/state").json["camera"]["follow"]["everyone"]


def test_bad_input_is_one_sentence(host: FlaskClient, pictures: list[bytes], companion: SmallCompanion) -> None:
    assert host.get("/api/camera/table/chess").status_code == 404
    assert host.post(f"{AT}/calibrate", json={}).json["error"]["en"] == "There is no picture yet."
    for corners in ([1, 2], [[1, 2]] * 3, [[1, 2]] * 3 + [[1, "x"]], [[1, 2]] * 3 + [[1, 1e9]], "all", [[True, 2]] * 4):
        assert host.post(f"{AT}/calibrate", json={"corners": corners}).status_code == 400, corners
    companion.watched.take_photo(pictures[0])
    crossed = [[200, 200], [900, 800], [900, 200], [200, 800]]
    assert "clockwise" in host.post(f"{AT}/calibrate", json={"corners": crossed}).json["error"]["en"]
    assert host.post(f"{AT}/teach", json={}).json["error"]["fr"].startswith("Aucune partie")
    assert host.post(f"{AT}/teach", json={"places": {"z9": {"ground": "floe"}}}).status_code == 422
    assert host.post(f"{AT}/teach", json={"places": []}).status_code == 400
    assert host.get(f"{AT}/look").status_code == 422
    assert host.post("/api/camera/follow", json={"on": "yes"}).status_code == 400
    assert host.post("/api/camera/question/way", json={"id": "x", "way": "up"}).status_code == 400
    assert host.post("/api/camera/photos/between?game=arctic", data=b"x").status_code == 404
    assert host.post(f"/api/camera/photos/after?game={GAME}", data=b"no picture").status_code == 422
    ruled = host.post("/api/camera/photos/rule", json={"game": GAME, "record": True})
    assert ruled.json["error"]["en"] == "First send the photo from afterwards."
    assert host.post("/api/camera/photos/rule", json={"game": GAME, "record": 1}).status_code == 400


# --- following


def test_a_turn_that_is_seen_is_entered_or_asked_and_goes_with_a_tap(
    table: SmallCompanion, host: FlaskClient, player: FlaskClient, film: Filmed, pictures: list[bytes]
) -> None:
    begun = len(film.set_up)
    table.watched.take_photo(pictures[0])
    assert host.post("/api/camera/follow", json={"on": True}).status_code == 200
    assert wait(lambda: table.follow_service.status()["state"] == "watching", LESSON_S)
    seen = host.get(AT).json
    assert seen["followed"] and set(seen["seen"]) == set(seen["record"])
    table.watched.take_photo(pictures[1])
    wait(lambda: len(table.night.snapshot().by) > begun or table.follow_service.status()["asking"], LESSON_S)
    asked = player.get("/api/camera/question?lang=fr").json["question"]
    if asked is not None:
        assert 1 <= len(asked["candidates"]) <= 3 and all("<svg" in one["svg"] for one in asked["candidates"])
        answer = {"id": asked["id"], "choice": asked["candidates"][0]["n"]}
        assert player.post("/api/camera/question", json=answer).json["ok"]
        assert player.post("/api/camera/question", json=answer).status_code == 409
    else:
        line = table.night.view()["log"][-1]
        undo = table.night.view()["match"]["can_undo"]
        assert (line["by"], line["device"]) == ("camera", "recorded")
        assert (undo["by"], undo["to"], undo["needs_agreement"]) == ("camera", begun, False)
    assert places(table.night.snapshot().states[-1]) == places(film.states[1])
    back = {"command": "undo", "body": {"to": begun}, "action_id": "undo-by-tap", "state": table.night.state}
    assert player.post("/api/do", json=back).json["ok"] and len(table.night.snapshot().by) == begun
    # The board still shows what was taken back: the camera does not enter it again, it asks.
    wait(lambda: table.follow_service.status()["asking"] or len(table.night.snapshot().by) > begun, LESSON_S)
    assert len(table.night.snapshot().by) == begun
    again = player.get("/api/camera/question").json["question"]
    assert places(table.follow_service.open_question().candidates[0].state) == places(film.states[1])
    assert player.post("/api/camera/question", json={"id": again["id"], "choice": 0}).json["ok"]
    assert places(table.night.snapshot().states[-1]) == places(film.states[1])


def test_what_does_not_fit_is_said_and_waited_for(
    table: SmallCompanion, host: FlaskClient, film: Filmed, pictures: list[bytes]
) -> None:
    """Somebody has moved an inuit far away: no turn leads there."""
    begun = table.night.snapshot().by
    table.watched.take_photo(spoilt(film))
    host.post("/api/camera/follow", json={"on": True})
    assert wait(lambda: table.follow_service.status()["state"] in ("disagreement", "question"), LESSON_S)
    asked = host.get("/api/camera/question").json["question"]
    if asked["kind"] != "disagreement":
        assert host.post("/api/camera/question", json={"id": asked["id"], "choice": None}).json["ok"]
        asked = host.get("/api/camera/question").json["question"]
    assert asked["kind"] == "disagreement" and asked["places"] and "<svg" in asked["svg"]
    assert set(asked["places"]) & set(moved(film))
    assert table.night.snapshot().by == begun
    # What lies there is drawn, for a table that agrees to go on from it.
    assert set(asked["lies"]["places"]) >= set(moved(film)) and "<svg" in asked["lies"]["svg"]
    assert asked["lies"]["problem"] is None and asked["lies"]["turn"] in asked["lies"]["turns"]
    # First way out: the board is put right.
    assert host.post("/api/camera/question/way", json={"id": asked["id"], "way": "board"}).status_code == 200
    assert table.follow_service.status()["state"] == "waiting"
    table.watched.take_photo(pictures[0])
    assert wait(lambda: table.follow_service.status()["state"] == "watching", LESSON_S)
    assert host.get("/api/camera/question").json["question"] is None


def test_a_table_may_go_on_from_what_no_turn_leaves(
    table: SmallCompanion, host: FlaskClient, player: FlaskClient, film: Filmed
) -> None:
    table.watched.take_photo(spoilt(film))
    host.post("/api/camera/follow", json={"on": True})
    assert wait(lambda: table.follow_service.status()["state"] in ("disagreement", "question"), LESSON_S)
    asked = host.get("/api/camera/question").json["question"]
    if asked["kind"] != "disagreement":
        assert asked["lies"] is None
        assert host.post("/api/camera/question/agreed", json={"id": asked["id"]}).status_code == 409
        assert host.post("/api/camera/question", json={"id": asked["id"], "choice": None}).json["ok"]
        asked = host.get("/api/camera/question").json["question"]
    now = {"id": asked["id"], "turn": asked["lies"]["turns"][0]}
    assert player.post("/api/camera/question/agreed", json=now).status_code == 403
    assert host.post("/api/camera/question/agreed", json={**now, "turn": "purple"}).status_code == 409
    assert host.post("/api/camera/question/agreed", json={**now, "id": "gone"}).status_code == 409
    assert host.post("/api/camera/question/agreed", json=now).json["ok"]
    state = table.night.snapshot().states[-1]
    here, there = moved(film)
    was, lies = places(film.states[0]), places(state)
    assert lies[there] == was[here] and state.position()["turn"] == now["turn"]
    assert "The table agreed to go on" in table.night.view()["log"][-1]["en"]
    # Board and record are one again, and the camera follows on.
    assert wait(lambda: table.follow_service.status()["state"] == "watching", LESSON_S)
    assert host.get("/api/camera/question").json["question"] is None


# --- the referee by photo


def test_two_photos_and_photo_and_record_are_ruled_on(
    table: SmallCompanion, host: FlaskClient, film: Filmed, pictures: list[bytes]
) -> None:
    for which, picture in (("before", pictures[0]), ("after", pictures[1])):
        read = host.post(f"/api/camera/photos/{which}?game={GAME}", data=picture).json
        assert read["places"] == 64
    ruling = host.post("/api/camera/photos/rule?lang=fr", json={"game": GAME, "record": False}).json["ruling"]
    assert ruling["legal"] and ruling["turns"][0][0] == film.played[0][0] and not ruling["wrong"]
    # Bare water was never taught: it may be told, or left open.
    assert film.played[0][0].split()[1] in {*ruling["changed"], *ruling["unsure"]} and "<svg" in ruling["svg"]
    walk = next(text for text in film.played[0] if text.startswith("walk"))
    assert set(walk.split()[1:]) <= set(ruling["changed"])
    read = host.post(f"/api/camera/photos/after?game={GAME}", data=spoilt(film)).json
    assert host.get("/api/camera/photos/ruled.jpg").status_code == 404
    ruling = host.post("/api/camera/photos/rule", json={"game": GAME, "record": True}).json["ruling"]
    assert not ruling["legal"] and set(ruling["wrong"] or ruling["changed"]) & set(moved(film))
    assert ruling["en"].startswith("No legal turn")
    drawn = cv2.imdecode(np.frombuffer(host.get("/api/camera/photos/ruled.jpg").data, np.uint8), cv2.IMREAD_COLOR)
    assert drawn.shape == (960, 1280, 3)
    assert table.night.snapshot().by == (TABLE.id,) * len(film.set_up), "a ruling changes nothing"


# --- a photo for the score sheet


def test_a_score_sheet_is_read_from_a_photo_or_the_camera(
    table: SmallCompanion, player: FlaskClient, guest: FlaskClient, film: Filmed, pictures: list[bytes]
) -> None:
    true = film.states[1].position()["places"]
    assert guest.post(f"{AT}/sheet", data=pictures[1]).status_code == 403
    assert player.post("/api/camera/table/chess/sheet", data=pictures[1]).status_code == 404
    refused = player.post("/api/camera/table/ice-team/sheet", data=pictures[1])
    assert refused.status_code == 409 and refused.json["error"]["code"] == "not-taught"
    assert refused.json["error"]["fr"] != refused.json["error"]["en"]
    assert player.post(f"{AT}/sheet", data=b"no picture").json["error"]["en"].startswith("This is not a JPEG")
    assert player.post(f"{AT}/sheet").json["error"]["en"] == "There is no picture yet."
    bare = cv2.imencode(".jpg", np.full((960, 1280, 3), 120, np.uint8))[1].tobytes()
    assert player.post(f"{AT}/sheet", data=bare).json["error"]["en"] == "The board was not found in the photo."
    told = player.post(f"{AT}/sheet", data=pictures[1]).json
    assert (told["width"], told["height"], told["note"]) == (1280, 960, "")
    assert {"kind": "bear", "value": 4} in told["untaught"]["things"] and told["untaught"]["grounds"] == ["pack"]
    assert {"kind": "igloo", "colour": "red"} in told["untaught"]["things"]
    assert {"kind": "inuit", "colour": "yellow"} not in told["untaught"]["things"]
    assert set(told["places"]) == set(told["cells"]) == set(true)
    assert all(place["unsure"] or content(place) == content(true[name]) for name, place in told["places"].items())
    assert sum(place["unsure"] for place in told["places"].values()) < 16
    # A photo of a phone is not the camera's picture; what the camera sees is asked for by no picture at all.
    table.watched.take_photo(pictures[2])
    seen = player.post(f"{AT}/sheet").json["places"]
    now = film.states[2].position()["places"]
    assert all(place["unsure"] or content(place) == content(now[name]) for name, place in seen.items())


def test_what_was_taught_is_there_after_a_restart(table: SmallCompanion, tmp_path: Path) -> None:
    again = FollowService(
        tmp_path / "tables", table.night, table.settings, table.camera_service, table.cards, on_change=lambda: None
    )
    known = again.board(GAME)
    assert known["taught"] and known["lessons"] == 1 and known["board"]["cells"]["d4"]


def test_a_place_that_is_put_right_is_taught(
    table: SmallCompanion, player: FlaskClient, pictures: list[bytes], tmp_path: Path
) -> None:
    table.watched.take_photo(pictures[1])
    bear = {"ground": "floe", "things": [{"kind": "bear", "value": 4, "count": 1}]}
    told = player.post(f"{AT}/teach", json={"places": {"b2": bear}}).json
    assert told["lessons"] == 2 and told["learning"]
    seen = table.follow_service.table_of(GAME)
    assert any(str(seen.layout.things[thing]) == "bear 4" for thing in seen.most())
    # A lesson that is not learnt yet does not hold the service up when it ends.
    table.follow_service.close()
    assert (
        FollowService(
            tmp_path / "tables", table.night, table.settings, table.camera_service, table.cards, on_change=lambda: None
        ).board(GAME)["lessons"]
        == 2
    )


def test_the_document_of_the_api_knows_it(app: Flask, guest: FlaskClient) -> None:
    paths = guest.get("/api/openapi.json").json["paths"]
    assert {"/api/camera/question", "/api/camera/photos/rule"} <= set(paths)
