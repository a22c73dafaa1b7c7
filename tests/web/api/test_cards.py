"""Cards in photos over the API: who may, what is refused in one sentence, and a whole round from two photos."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient

from companion.lab.worlds.cards.taught import ROUND, RoundPhotos, laid, sheets, taught_round
from tests.web.assembly import SmallCompanion

pytestmark = pytest.mark.learning


@pytest.fixture(scope="module")
def played() -> RoundPhotos:
    return taught_round(ROUND)


def send(client: FlaskClient, path: str, data: bytes) -> Any:
    return client.post(f"/api/cards/{path}", data=data, content_type="image/jpeg")


def test_guests_see_nothing_and_only_the_host_teaches(guest: FlaskClient, player: FlaskClient) -> None:
    for path in ("igloo-pop/pile", "igloo-pop/deal", "igloo-pop/round", "igloo-pop/teach?first=0&count=3"):
        assert send(guest, path, b"x").status_code == 403
    assert guest.get("/api/cards/igloo-pop").status_code == 403
    assert guest.post("/api/cards/igloo-pop/judge", json={"cards": []}).status_code == 403
    assert send(player, "igloo-pop/teach?first=0&count=3", b"x").status_code == 403
    assert player.post("/api/cards/igloo-pop/forget", json={}).status_code == 403


@pytest.mark.parametrize(
    ("path", "data", "status"),
    [
        ("iglu-iglu/pile", b"x", 404),
        ("arctic/pile", b"", 400),
        ("arctic/pile", b"no picture", 422),
        ("arctic/teach?first=0", b"x", 400),
        ("arctic/teach?first=-1&count=2", b"x", 400),
        ("arctic/teach?first=0&count=2", b"no picture", 422),
        ("igloo-pop/round?first=../../etc", b"x", 400),
        ("arctic/round", b"x", 404),
        ("iglu-iglu/round", b"x", 404),
        ("chess/round", b"x", 404),
        ("chess/deal", b"x", 404),
        ("arctic/deal", b"x", 404),
        ("igloo-pop/deal", b"x", 409),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_sentence(host: FlaskClient, path: str, data: bytes, status: int) -> None:
    answer = send(host, path, data)
    assert answer.status_code == status
    assert answer.json["error"]["en"]
    assert answer.json["error"]["fr"]


def test_a_game_without_rounds_judges_none(host: FlaskClient) -> None:
    answer = host.post("/api/cards/arctic/judge", json={"cards": []})
    assert (answer.status_code, answer.json["error"]["code"]) == (404, "no-rounds")


def test_a_round_in_two_photos_is_taught_read_scored_and_entered(
    host: FlaskClient, companion: SmallCompanion, played: RoundPhotos
) -> None:
    assert send(host, "igloo-pop/pile", played.placed).json["error"]["en"].startswith("No cards of this game")
    first = 0
    for photo, names in sheets(played.art):
        wrong = send(host, f"igloo-pop/teach?first={first}&count={len(names) - 1}", photo)
        assert wrong.status_code == 422
        assert "different number of cards" in wrong.json["error"]["en"]
        told = send(host, f"igloo-pop/teach?first={first}&count={len(names)}", photo).json
        assert [card["card"] for card in told["cards"]] == names
        first += len(names)
    known = host.get("/api/cards/igloo-pop").json
    assert len(known["taught"]) == 33

    players = [{"name": name, "colour": colour} for name, colour in zip("ABC", played.colours, strict=True)]
    companion.do("open-match", {"game": "igloo-pop", "players": players, "draw": False})
    # The circle is read from one picture, and entered at once.
    deal = send(host, "igloo-pop/deal", laid(ROUND)).json
    assert (deal["wanted"], deal["missing"]) == (9, [])
    assert [(card["place"], card["card"], card["new"]) for card in deal["cards"]] == [
        (f"card{n}", name, True) for n, name in enumerate(played.names, 1)
    ]
    # A card that was read in two places is a question in both.
    twice = send(host, "igloo-pop/deal", laid(ROUND, (*played.names[:8], played.names[0]))).json["cards"]
    assert [card["unsure"] for card in twice] == [card["card"] == played.names[0] for card in twice]
    companion.do("deal", {"cards": {card["place"]: card["card"] for card in deal["cards"]}})
    assert send(host, "igloo-pop/deal", laid(ROUND)).json["error"]["code"] == "no-deal"
    companion.moves("start")
    placed = send(host, "igloo-pop/round", played.placed).json
    assert {card["card"] for card in placed["cards"]} == set(played.names)
    both = send(host, f"igloo-pop/round?first={placed['id']}", played.turned).json
    cards = [card["card"] for card in both["cards"]]
    seen = {(cards[one["on_card"]], one["colour"], one["number"]) for one in both["igloos"]}
    assert seen == set(played.truth)

    where = {"/".join(map(str, c["numbers"])): c["place"] for c in companion.night.view()["match"]["cards"]}
    body = [
        {
            "place": where[name],
            "card": name,
            "igloos": [
                {"colour": one["colour"], "number": one["number"]} for one in both["igloos"] if one["on_card"] == i
            ],
        }
        for i, name in enumerate(cards)
    ]
    told = host.post("/api/cards/igloo-pop/judge", json={"cards": body, "match": True}).json
    assert told["refused"] is None
    assert told["open"] == 0
    assert all(result["clauses"] for result in told["results"])
    companion.do("moves", {"moves": told["moves"]})
    view = companion.night.view()["match"]
    assert view["phase"] == "deal"
    assert [r["winner"] for r in view["results"]] == [r["winner"] for r in told["results"]]


def test_a_corrected_round_is_judged_alone_and_what_is_impossible_is_said(player: FlaskClient) -> None:
    def judged(*cards: dict[str, Any], **more: Any) -> Any:
        return player.post("/api/cards/igloo-pop/judge", json={"cards": cards, **more})

    red, blue = {"colour": "red", "number": 4}, {"colour": "blue", "number": 9}
    told = judged({"place": "card1", "card": "4/5", "igloos": [red, blue]}).json
    assert [r["winner"] for r in told["results"]] == ["red"]
    assert told["results"][0]["clauses"] == ["POP-3.1", "POP-3.5"]
    assert [p["captured"] for p in told["players"]] == [1, 0]
    half = judged({"place": "card1", "card": "4/5", "igloos": [red, {"colour": "blue", "number": None}]}).json
    assert half["open"] == 1
    assert half["results"] == []
    twice = judged({"place": "card1", "card": "4/5", "igloos": [red, {"colour": "blue", "number": 4}]}).json
    assert twice["refused"]["clauses"]
    for wrong in (
        {"place": "card0", "card": "4", "igloos": []},
        {"place": "card1", "card": 4, "igloos": []},
        {"place": "card1", "card": "4/6", "igloos": [red]},
        {"place": "card1", "card": "4", "igloos": [{"colour": "pink", "number": 4}]},
        {"place": "card1", "card": "4", "igloos": [{"colour": "red", "number": 14}]},
    ):
        assert judged(wrong).status_code == 400
    assert judged({"place": "card1", "card": "4", "igloos": [red]}, match=True).status_code == 409
    assert (
        judged({"place": "card1", "card": "4", "igloos": []}, {"place": "card2", "card": "4", "igloos": []}).status_code
        == 400
    )
