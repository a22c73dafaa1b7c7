"""The API of boards, seats and boxes."""

from __future__ import annotations

from flask.testing import FlaskClient

from companion.lab.worlds.boards import players, record
from tests.web.assembly import SmallCompanion


def opened(companion: SmallCompanion, game_id: str, **more: object) -> None:
    companion.open_match(**{"game": game_id, "players": players(game_id), "setup": {}, **more})


def test_the_board_is_told_in_the_language_that_is_asked_for(guest: FlaskClient, companion: SmallCompanion) -> None:
    assert guest.get("/api/board").json == {"board": None}
    companion.open_match()
    assert guest.get("/api/board").json == {"board": None}
    companion.do("close-match")
    opened(companion, "iglu-iglu")
    board = guest.get("/api/board?lang=fr").json["board"]
    assert board["state"] == companion.night.state
    assert board["svg"].startswith("<svg")
    assert {move["text"] for move in board["moves"]} == {"draw d4 fish 1", "draw d4 fish 2", "draw d4 fish 3"}
    assert board["moves"][0]["fr"] == "poisson 1"


def test_disputes_by_places_and_by_words(guest: FlaskClient, companion: SmallCompanion) -> None:
    opened(companion, "ice-team")
    companion.moves("first green")
    by_places = guest.get("/api/board/dispute?path=start,a3&lang=fr").json["rulings"]
    assert {one["move"] for one in by_places} == {"walk start a3", "leap start a3", "swim start a3"}
    assert all(one["cited"] for one in by_places)
    by_words = guest.get("/api/board/dispute?move=walk start village").json["rulings"]
    assert by_words[0]["legal"] is False
    for query in ("", "?move=nonsense", "?path=" + "x" * 30, "?move=" + "x" * 90):
        assert guest.get(f"/api/board/dispute{query}").status_code == 400


def test_a_seat_is_taken_once(
    guest: FlaskClient, player: FlaskClient, host: FlaskClient, companion: SmallCompanion
) -> None:
    opened(companion, "iglu-iglu")
    assert guest.post("/api/seat", json={"colour": "red"}).status_code == 403
    assert player.post("/api/seat", json={"colour": "violet"}).status_code == 400
    assert player.post("/api/seat", json={"colour": "red"}).json["me"]["colour"] == "red"
    assert player.get("/api/board").json["board"]["seat"] == "red"
    # The host may give a seat over; then it is no longer on the phone it was on.
    assert host.post("/api/seat", json={"colour": "red"}).json["me"]["colour"] == "red"
    assert player.get("/api/board").json["board"]["seat"] is None
    taken = player.post("/api/seat", json={"colour": "red"})
    assert (taken.status_code, taken.json["error"]["code"]) == (409, "seat-taken")
    assert host.post("/api/seat", json={"colour": None}).json["me"]["colour"] is None
    assert player.post("/api/seat", json={"colour": "red"}).status_code == 200


def test_a_new_game_gives_all_seats_back(player: FlaskClient, host: FlaskClient, companion: SmallCompanion) -> None:
    """Who has taken a colour over is not seen through by the phone that had it before."""
    opened(companion, "arctic", draw=True)
    assert player.post("/api/seat", json={"colour": "p1"}).json["me"]["colour"] == "p1"
    companion.do("close-match")
    body = {"game": "arctic", "players": players("arctic"), "draw": True}
    opening = {"command": "open-match", "body": body, "state": companion.night.state, "action_id": "open-again"}
    assert host.post("/api/do", json=opening).status_code == 200
    assert player.get("/api/board").json["board"]["seat"] is None


def test_boxes_are_the_host_s(player: FlaskClient, host: FlaskClient) -> None:
    assert player.get("/api/boxes/iglu-iglu").status_code == 403
    assert player.post("/api/boxes/iglu-iglu", json={"data": None}).status_code == 403
    assert host.get("/api/boxes/arctic").status_code == 404
    form = host.get("/api/boxes/iglu-iglu").json
    tiles = form["data"]["tiles"]
    refused = host.post("/api/boxes/iglu-iglu", json={"data": {"tiles": {**tiles, "drift": 20}}})
    assert refused.status_code == 422
    assert "56" in refused.json["error"]["en"]
    assert host.post("/api/boxes/iglu-iglu", json={"data": {"tiles": tiles}}).json["own"] is True
    assert host.post("/api/boxes/iglu-iglu", json={"data": None}).json["own"] is False
    for wrong in ({"data": 3}, {}, {"data": {"x": 1}}):
        assert host.post("/api/boxes/iglu-iglu", json=wrong).status_code in {400, 422}


def test_the_whole_rulebook_in_one_language(guest: FlaskClient) -> None:
    for lang, word in (("en", "igloo"), ("fr", "igloo")):
        book = guest.get(f"/api/rules/iglu-iglu?lang={lang}").json
        assert len(book["clauses"]) > 100
        assert len(book["disputes"]) >= 20
        assert all(one["text"] and one["heading"] and one["book"] for one in book["clauses"])
        assert any(word in one["text"] for one in book["clauses"])
    assert guest.get("/api/rules/chess").status_code == 404


def test_the_house_votes_where_the_rulebook_is_silent(
    player: FlaskClient, host: FlaskClient, companion: SmallCompanion
) -> None:
    path = "/api/rules/iglu-iglu/votes"
    vote = {"option": "iglu.no_repick", "value": False}
    assert player.post(path, json=vote).status_code == 403
    told = host.post(path, json=vote).json["options"]
    assert next(one for one in told if one["name"] == "iglu.no_repick")["house"] is False
    assert player.get("/api/rules/iglu-iglu/options").json["options"][0]["house"] is False
    assert companion.votes.of("iglu-iglu") == {"iglu.no_repick": False}
    assert companion.votes.of("arctic") == {}
    for wrong in ({"option": "x", "value": 1}, {"option": "iglu.no_repick", "value": 0}, {"option": 3}, {}):
        assert host.post(path, json=wrong).status_code == 400
    assert host.post("/api/rules/arctic/votes", json=vote).status_code == 400


def test_a_position_is_scored_and_ruled_on(guest: FlaskClient, player: FlaskClient) -> None:
    players = [
        {"name": "Ann", "colour": "green", "fresh": 3, "frozen": 5},
        {"name": "Bob", "colour": "red", "fresh": 9},
    ]
    position = {"game": "ice-team", "places": {}, "players": players}
    # Who only watches may count for himself: nothing of the table is in it, and nothing is kept.
    counted = guest.post("/api/position", json={"position": position}).json
    assert [(one["total"], one["place"]) for one in counted["players"]] == [(8, 2), (9, 1)]
    told = player.post("/api/position?lang=fr", json={"position": position, "move": "walk start village"}).json
    assert [one["total"] for one in told["players"]] == [8, 9]
    assert told["ranking"] == [[1], [0]]
    assert told["ruling"]["legal"] is False
    assert told["ruling"]["cited"]
    assert "refusé" in told["svg"]
    for wrong in (
        {},
        {"position": 3},
        {"position": {"game": "chess"}},
        {"position": {}},
        {"position": {"game": "iglu-iglu", "places": {}}},
        {"position": position, "move": "fly"},
        {"position": {**position, "players": "x"}},
    ):
        answer = player.post("/api/position", json=wrong)
        assert answer.status_code == 400, wrong
        assert answer.json["error"]["en"]


def test_a_position_is_laid_from_a_beginning_and_ruled_on_by_taps(
    guest: FlaskClient, player: FlaskClient, companion: SmallCompanion
) -> None:
    """The positions of the page begin here; what is tapped is asked about like a move of a live game."""
    companion.votes.vote("ice.block_picks_up", False)
    assert guest.get("/api/position/chess").status_code == 404
    for game_id, things in (("igloo-pop", 33), ("iglu-iglu", 0), ("arctic", 120), ("ice-team", 13)):
        begun = guest.get(f"/api/position/{game_id}").json
        assert len(begun["things"]) == things
        assert all(one["id"] and one["en"] and one["fr"] for one in begun["things"])
        told = player.post("/api/position", json={"position": begun["position"]}).json
        assert told["problems"] == []
        assert told["rulings"] == []
        assert "<svg" in told["svg"]
    position = begun["position"]
    assert position["options"]["ice.block_picks_up"] is False
    position["places"]["a1"]["things"] = [{"kind": "bear", "colour": "green"}]
    position["places"]["a2"]["things"] = [{"kind": "bear", "colour": "red"}]
    told = player.post("/api/position", json={"position": position, "path": ["a1", "a3"]}).json
    assert [one["move"] for one in told["rulings"]] == ["leap a1 a3", "walk a1 a3", "swim a1 a3"]
    assert [one["legal"] for one in told["rulings"]] == [True, False, False]
    leap, walk, _ = told["rulings"]
    assert leap["cited"][0]["id"] == "ICE-1.2"
    assert walk["cited"]
    assert walk["after"] is None
    # What comes after a legal move is a position again: the floe that was left is turned up.
    after = player.post("/api/position?lang=fr", json={"position": leap["after"], "move": "floe a1 paw"}).json
    assert after["rulings"][0]["legal"] is True
    assert after["rulings"] == [{**after["ruling"], **after["rulings"][0]}]
    assert "floe a1 plain" in [one["text"] for one in after["gestures"]]
    assert after["prompt"]["fr"].endswith("a1\u00a0?")
    for wrong in ("a1", [3], ["a" * 21]):
        assert player.post("/api/position", json={"position": position, "path": wrong}).status_code == 400


def test_boards_that_lie_otherwise_and_the_owners_box_are_laid_too(
    guest: FlaskClient, host: FlaskClient, player: FlaskClient
) -> None:
    squares = guest.get("/api/position/ice-team?layout=squares").json["position"]
    assert "p1" in squares["places"]
    assert player.post("/api/position", json={"position": squares}).json["problems"] == []
    assert guest.get("/api/position/ice-team?layout=zigzag").status_code == 400
    box = host.get("/api/boxes/ice-team").json["data"]
    box["layouts"] = {"ours": box["layouts"]["bend"]}
    assert host.post("/api/boxes/ice-team", json={"data": box}).status_code == 200
    own = guest.get("/api/position/ice-team").json["position"]
    assert own["layout"] == "ours"
    assert list(own["box"]["data"]["layouts"]) == ["ours"]
    assert player.post("/api/position", json={"position": own}).json["ok"] is True


def test_the_table_is_a_beginning_too_without_what_is_hidden(
    guest: FlaskClient, player: FlaskClient, companion: SmallCompanion
) -> None:
    assert guest.get("/api/position/arctic").json["table"] is None
    opened(companion, "arctic", draw=True)
    companion.do("deal")
    assert guest.get("/api/position/ice-team").json["table"] is None
    seen = guest.get("/api/position/arctic").json["table"]
    assert [one["hand"] for one in seen["players"]] == [["?"] * 3] * 2
    assert [one["totem"] for one in seen["players"]] == ["?"] * 2
    assert player.post("/api/position", json={"position": seen}).json["problems"] == []
    assert player.post("/api/seat", json={"colour": "p2"}).status_code == 200
    mine = player.get("/api/position/arctic").json["table"]["players"]
    assert [mine[0]["hand"], "?" in mine[1]["hand"]] == [["?"] * 3, False]


def test_what_a_laid_position_gets_wrong_is_told_in_sentences(guest: FlaskClient, player: FlaskClient) -> None:
    """Each of the three games: what cannot be is a problem, what is no position at all is refused."""
    arctic = guest.get("/api/position/arctic").json["position"]
    arctic["players"][0]["hand"] = ["fox-5-moose"]
    told = player.post("/api/position", json={"position": arctic}).json
    assert ["fox-5-moose" in one["en"] for one in told["problems"]] == [True]
    pop = guest.get("/api/position/igloo-pop").json["position"]
    pop["places"]["card1"] = pop["places"]["card2"] = {"ground": "4/5", "things": []}
    told = player.post("/api/position", json={"position": pop}).json
    assert ["4/5" in one["fr"] for one in told["problems"]] == [True]
    ice = guest.get("/api/position/ice-team").json["position"]
    bears = [{"kind": "bear", "colour": "red", "count": 1}]
    told = player.post(
        "/api/position", json={"position": {**ice, "places": {**ice["places"], "a5": {"things": bears}}}}
    )
    assert [one["clauses"] for one in told.json["problems"]] == [["ICE-1.1", "ICE-1.2", "ICE-1.3"]]
    refused = player.post("/api/position", json={"position": {**ice, "phase": "drift"}})
    assert refused.status_code == 400
    assert refused.json["error"]["fr"].startswith("La position ne dit pas")


def test_the_ways_in_which_boards_lie_are_told(guest: FlaskClient) -> None:
    assert guest.get("/api/rules/ice-team/options").json["layouts"] == ["line", "bend", "squares"]
    assert guest.get("/api/rules/arctic/options").json["layouts"] == []
    assert guest.get("/api/rules/iglu-iglu/options").json["layouts"] == []


def test_a_game_that_is_over_is_shared(
    guest: FlaskClient, player: FlaskClient, host: FlaskClient, companion: SmallCompanion
) -> None:
    opened(companion, "ice-team")
    for name in ("bgstats", "bgstats.svg", "scores.csv", "nights.json"):
        assert guest.get(f"/api/share/{name}").status_code == 403
    assert player.get("/api/share/bgstats").status_code == 404
    texts = record("ice-team", 11)
    for n in range(0, len(texts), 60):
        companion.moves(*texts[n : n + 60])
    url = player.get("/api/share/bgstats").json["url"]
    assert url.startswith("https://app.bgstatsapp.com/createPlay.html?data=%7B")
    assert b"<svg" in player.get("/api/share/bgstats.svg").data
    scores = player.get("/api/share/scores.csv")
    assert "ice-team" in scores.text
    assert "attachment" in scores.headers["Content-Disposition"]
    assert player.get("/api/share/nights.json").status_code == 403
    assert "ice-team" in host.get("/api/share/nights.json").text
