"""The API of the table's vote: who may call, vote, close and decide; what every phone hears of it."""

from __future__ import annotations

from flask import Flask
from flask.testing import FlaskClient

from tests.web.assembly import SmallCompanion

OPTION = "iglu.no_repick"


def test_players_vote_watchers_do_not_and_the_host_closes(
    guest: FlaskClient, player: FlaskClient, host: FlaskClient, companion: SmallCompanion
) -> None:
    assert guest.post("/api/ballot", json={"option": OPTION}).status_code == 403
    with companion.hub.subscribe(["ballot", "notice"]) as heard:
        told = player.post("/api/ballot", json={"option": OPTION}).json
        assert (told["option"], told["votes"], told["of"], told["game"]) == (OPTION, 0, None, "iglu-iglu")
        assert told["question"]["en"] != told["question"]["fr"]
        vote = {"option": OPTION, "value": False}
        assert guest.post("/api/ballot/vote", json=vote).status_code == 403
        assert player.post("/api/ballot/vote", json=vote).json["mine"] is False
        assert guest.get("/api/ballot").json["mine"] is None
        assert "value" not in str(guest.get("/api/ballot").json["votes"])
        for path in ("close", "decide"):
            assert player.post(f"/api/ballot/{path}", json=vote).status_code == 403
        closed = host.post("/api/ballot/close", json={"option": OPTION}).json
        assert closed["option"] is None and closed["last"]["value"] is False
        topics = []
        while (event := heard.get(timeout=0)) is not None:
            topics.append(event)
    assert [event.topic for event in topics] == ["ballot", "ballot", "ballot", "notice"]
    said = topics[-1].data
    assert said["en"].startswith("The table has voted: ") and said["fr"].startswith("La table a voté")
    assert companion.votes.of("iglu-iglu") == {OPTION: False}
    assert host.get("/api/rules/iglu-iglu/options").json["options"]
    again = player.post("/api/ballot/vote", json=vote)
    assert again.status_code == 409 and again.json["error"]["code"] == "none"


def test_it_closes_when_as_many_have_voted_as_play(
    app: Flask, player: FlaskClient, host: FlaskClient, companion: SmallCompanion
) -> None:
    companion.open_match()
    assert host.post("/api/ballot", json={"option": OPTION}).json["of"] == 3
    third = app.test_client()
    third.environ_base = dict(player.environ_base)
    assert third.post("/api/join", json={"pin": companion.access.pin}).status_code == 200
    for client, value in ((host, True), (player, False), (player, True)):
        assert client.post("/api/ballot/vote", json={"option": OPTION, "value": value}).json["option"] == OPTION
    assert third.post("/api/ballot/vote", json={"option": OPTION, "value": False}).json["last"]["votes"] == [
        [True, 2],
        [False, 1],
    ]
    assert companion.votes.of("iglu-iglu") == {OPTION: True}


def test_what_makes_no_sense_is_refused(player: FlaskClient, host: FlaskClient) -> None:
    assert player.post("/api/ballot", json={"option": "chess.castling"}).status_code == 400
    assert player.post("/api/ballot", json={"option": 7}).status_code == 400
    assert player.post("/api/ballot", json={"option": OPTION}).status_code == 200
    assert player.post("/api/ballot", json={"option": "pop.none_match"}).json["error"]["code"] == "open"
    for value in (None, [], {}, "no", 0):
        answer = player.post("/api/ballot/vote", json={"option": OPTION, "value": value})
        assert answer.status_code == 400, value
    assert host.post("/api/ballot/decide", json={"option": OPTION, "value": True}).json["error"]["code"] == "none"
    assert host.post("/api/ballot/decide", json={"option": OPTION, "value": []}).status_code == 400
