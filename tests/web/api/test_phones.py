"""The API of phones: who has one, and the seat that comes with the name."""

from __future__ import annotations

from flask.testing import FlaskClient

from tests.web.assembly import SmallCompanion

SEATS = [{"name": "Ann", "colour": "red"}, {"name": "zoé", "colour": "blue"}, {"name": "", "colour": "green"}]


def opened(host: FlaskClient, companion: SmallCompanion) -> None:
    """Open a game as a page does."""
    body = {"game": "igloo-pop", "players": SEATS}
    message = {"command": "open-match", "body": body, "action_id": "12345678", "state": companion.night.state}
    assert host.post("/api/do", json=message).status_code == 200


def colour(client: FlaskClient) -> str | None:
    found: str | None = client.get("/api/state").json["me"]["colour"]
    return found


def test_who_joins_with_a_name_is_remembered_and_has_the_seat_of_it(
    player: FlaskClient, host: FlaskClient, guest: FlaskClient, companion: SmallCompanion
) -> None:
    assert [one["name"] for one in companion.people.all()] == ["Zoé"]
    opened(host, companion)
    assert (colour(player), colour(host), colour(guest)) == ("blue", None, None)
    # Whoever comes later, under a name that plays, has that seat at once; a seat that a phone has stays its own.
    for pin, label, seat in (("json", "Ann", "red"), ("form", "Zoé", None)):
        data = {"pin": companion.access.pin, "label": label}
        guest.post("/api/join", json=data) if pin == "json" else guest.post("/join", data=data)
        assert colour(guest) == seat
    assert colour(player) == "blue"


def test_a_phone_says_who_has_it_and_takes_it_back(
    player: FlaskClient, host: FlaskClient, guest: FlaskClient, companion: SmallCompanion
) -> None:
    opened(host, companion)
    assert guest.post("/api/me", json={"name": "Ann"}).status_code == 403
    told = host.post("/api/me", json={"name": " Ann "}).json
    assert (told["me"]["label"], told["me"]["colour"], told["me"]["role"]) == ("Ann", "red", "host")
    assert player.post("/api/me", json={"name": "Ann"}).json["me"]["colour"] is None, "the host's phone has that seat"
    assert host.post("/api/me", json={"name": ""}).json["me"] == {**told["me"], "label": "", "colour": None}
    assert player.post("/api/me", json={"name": "Ann"}).json["me"]["colour"] == "red"
    refused = player.post("/api/me", json={"name": "\u200b"})
    assert (refused.status_code, refused.json["error"]["code"]) == (400, "name")
    assert sorted(one["name"] for one in companion.people.all()) == ["Ann", "Zoé", "zoé"][:2]


def test_the_next_game_frees_seats_and_fills_them_by_name(
    player: FlaskClient, host: FlaskClient, companion: SmallCompanion
) -> None:
    opened(host, companion)
    assert player.post("/api/seat", json={"colour": "green"}).json["me"]["colour"] == "green"
    assert host.post("/api/seat", json={"colour": "red"}).json["me"]["colour"] == "red"
    companion.do("close-match")
    body = {"command": "open-match", "body": {"game": "igloo-pop", "players": SEATS}, "action_id": "87654321"}
    assert host.post("/api/do", json={**body, "state": companion.night.state}).status_code == 200
    assert (colour(player), colour(host)) == ("blue", None)
