"""Games that were only counted at their end, and games that the table ended before it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from companion.lab.worlds.boards import BOARDS, players, record
from companion.night.answers import Role
from companion.night.export.bgstats import plays
from companion.night.export.files import to_csv, to_json
from companion.night.games import game_view
from companion.night.statistics import Statistics
from companion.rules import game
from companion.rules.core import PlayerScore, ScoreLine, ScoreSheet
from tests.night.conftest import NINE, Table
from tests.worlds.sheets import COLOURS, SHEETS, TOTALS, kept


@pytest.fixture
def night(tmp_path: Path) -> Iterator[Table]:
    table = Table(tmp_path / "journal.sqlite")
    yield table
    table.close()


def rows(table: Table) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(to_csv(table.journal))))


def figures(table: Table) -> dict[str, Any]:
    """Return everybody's figures by name."""
    names = table.journal.people()
    return {str(names[one]): told for one, told in Statistics(table.journal, table.night).people().items()}


# --- places


@pytest.mark.parametrize(
    ("points", "places"),
    [
        ((9, 9, 4), [1, 1, 3]),
        ((9, 4, 4), [1, 2, 2]),
        ((4, 9, 4, 1), [2, 1, 2, 4]),
        ((5, 5, 5), [1, 1, 1]),
        ((1, 2, 3), [3, 2, 1]),
    ],
)
def test_who_shares_a_place_leaves_one_free(points: tuple[int, ...], places: list[int]) -> None:
    sheet = ScoreSheet(tuple(PlayerScore(n, (ScoreLine("x", p, (), {}),)) for n, p in enumerate(points)))
    assert [sheet.ranks[n] for n in range(len(points))] == places


def test_places_are_the_same_everywhere(night: Table) -> None:
    position = SHEETS["igloo-pop"]()
    position["players"] = [
        {"colour": c, "own": own, "captured": 0} for c, own in (("red", 9), ("blue", 9), ("green", 4))
    ]
    named = [{"name": n, "colour": c} for n, c in (("Ann", "red"), ("Bob", "blue"), ("Cem", "green"))]
    night.do("keep-sheet", {"position": position, "players": named})
    assert [player["place"] for player in night.match["players"]] == [1, 1, 3]
    assert [row["place"] for row in rows(night)] == ["1", "1", "3"]
    (play,) = plays(night.journal)
    assert [player["rank"] for player in play["play"]["players"]] == [1, 1, 3]
    told = Statistics(night.journal, night.night).nights()[0]["games"][0]
    assert [seat["place"] for seat in told["seats"]] == [1, 1, 3]


# --- kept by its score sheet


@pytest.mark.parametrize("game_id", list(SHEETS))
def test_a_game_that_was_only_counted_is_a_game_of_the_night(night: Table, game_id: str) -> None:
    night.do("keep-sheet", kept(game_id, "Ann", "Bob"), by=night.ann)
    match = night.match
    assert (match["over"], match["ended_by"], match["end"], match["moves"]) == (True, "sheet", None, 0)
    assert [player["score"] for player in match["players"]] == TOTALS[game_id]
    assert [player["name"] for player in match["players"]] == ["Ann", "Bob"]
    assert all(player["lines"] and player["lines"][0]["clauses"] for player in match["players"])
    assert match["ranking"] == [[colour] for colour in COLOURS[game_id]], "green is first in Ice Team: all home"
    assert match["story"] == {"chart": [TOTALS[game_id]], "best": None, "disputed": None}
    view = night.view
    assert view["log"][-1]["kind"] == "keep-sheet"
    night.restart()
    assert night.view == view == night.refolded()

    assert [(row["finished"], row["ended"], int(row["score"])) for row in rows(night)] == [
        ("yes", "sheet", total) for total in TOTALS[game_id]
    ]
    (told,) = to_json(night.journal)["nights"][0]["matches"]
    state = game(game_id).from_position(told["sheet"])
    assert [one.total for one in state.score().sheets] == TOTALS[game_id] == list(told["scores"].values())
    (play,) = plays(night.journal, lang="fr")
    assert "feuille de score" in play["play"]["comments"]
    assert [one["winner"] for one in play["play"]["players"]] == [True, False]
    assert night.night.play({}, "fr") == play
    found = figures(night)
    assert [(found[name]["played"], found[name]["won"]) for name in ("Ann", "Bob")] == [(1, 1), (1, 0)]


@pytest.mark.parametrize("game_id", list(SHEETS))
def test_the_next_game_after_it_begins(night: Table, game_id: str) -> None:
    night.do("keep-sheet", kept(game_id))
    night.do("next-game")
    assert (night.match["over"], night.match["game"]) == (False, game_id)


def test_names_stand_beside_the_journal_only(night: Table) -> None:
    body = kept("iglu-iglu", "Annabella", "Bob")
    body["position"]["players"][0]["name"] = "Annabella"
    night.do("keep-sheet", body)
    entry = night.journal.since(0)[-1]
    assert "Annabella" not in json.dumps(entry.body)
    person = night.journal.since(0)[-1].body["players"][0]["person"]
    night.night.name_person(person, None)
    assert "Annabella" not in json.dumps(night.view)
    assert night.match["players"][0]["score"] == 9


def test_no_total_of_the_page_is_taken(night: Table) -> None:
    body = kept("ice-team")
    body["position"]["players"][0]["total"] = 99
    night.no("bad-input", "keep-sheet", body)
    night.no("bad-input", "keep-sheet", {**kept("ice-team"), "totals": [99, 1]})


@pytest.mark.parametrize(
    ("game_id", "alter", "says"),
    [
        ("igloo-pop", lambda p: p["players"][0].update(own=11), "ten"),
        ("igloo-pop", lambda p: p["players"][0].update(captured=9), "thalers"),
        ("igloo-pop", lambda p: p["players"][1].update(cards=["2", "3/4"]), "2"),
        ("igloo-pop", lambda p: p["players"][1].update(cards=["14"]), "14"),
        ("igloo-pop", lambda p: p.update(phase="ready"), "not yet"),
        ("iglu-iglu", lambda p: p.update(trophies={"red": [{"kind": "fish", "value": 3, "count": 9}]}), "9"),
        ("iglu-iglu", lambda p: p["places"]["c3"].update(things=[]), "5"),
        ("arctic", lambda p: p["players"][0].update(pile=["fox"] * 11), "10"),
        ("arctic", lambda p: p["players"][0].update(penalty=60), "60"),
        ("arctic", lambda p: p["players"][1].update(totem="bear"), "totem"),
        ("arctic", lambda p: (p["players"][1].pop("totem"), p.update(phase="totems")), "not yet"),
        ("ice-team", lambda p: p["players"][0].update(fresh=99), "fish"),
        ("ice-team", lambda p: p["places"]["village"]["things"].pop(0), "not over"),
        ("ice-team", lambda p: p["players"].reverse() or p.update(layout="nowhere"), "layout"),
        ("igloo-pop", lambda p: p["players"].pop(), "are not those who are named"),
        ("igloo-pop", lambda p: p.update(game="chess"), "game"),
    ],
)
def test_what_no_box_holds_is_refused_in_a_sentence(night: Table, game_id: str, alter: Any, says: str) -> None:
    body = kept(game_id)
    alter(body["position"])
    answer = night.ask("keep-sheet", body)
    assert answer.problem in {"refused", "bad-input"}
    assert says in answer.message.en
    assert night.view["match"] is None
    assert answer.message.fr != answer.message.en


def test_a_blocked_team_has_lost_whatever_the_fish_say(night: Table) -> None:
    body = kept("ice-team", loser="green")
    body["position"]["places"]["village"]["things"] = [{"kind": "bear", "colour": "red", "count": 2}]
    body["position"]["places"]["start"]["things"] = [
        {"kind": "bear", "colour": c, "count": n} for c, n in (("green", 4), ("red", 2))
    ]
    night.do("keep-sheet", body)
    assert night.match["ranking"] == [["red"], ["green"]]
    night.do("correct", {"colour": "green", "points": 50, "reason": "a slip", "agreed": True})
    assert night.match["ranking"] == [["red"], ["green"]]
    assert [player["place"] for player in night.match["players"]] == [2, 1]


def test_who_may_keep_and_who_may_take_out(night: Table) -> None:
    night.no("forbidden", "keep-sheet", kept("arctic"), by=night.guest)
    night.do("keep-sheet", kept("arctic", "Ann", "Bob"), by=night.ann)
    way = night.match["can_undo"]
    assert (way["to"], way["needs_agreement"], way["by"]) == (0, True, night.ann.id)
    night.no("agreement", "undo", {"to": 0}, by=night.ann)
    night.no("forbidden", "undo", {"to": 0, "agreed": True}, by=night.ann)
    night.no("bad-input", "undo", {"to": 1, "agreed": True})
    night.do("undo", {"to": 0, "agreed": True})
    assert night.view["match"] is None
    assert [line["undone"] for line in night.view["log"]] == [False, True, False]
    assert rows(night) == []
    assert figures(night) == {}
    night.no("no-match", "undo", {"to": 0, "agreed": True})
    view = night.view
    night.restart()
    assert night.view == view == night.refolded()


def test_it_waits_for_an_open_game_and_for_a_pause(night: Table) -> None:
    night.shaking()
    night.no("refused", "keep-sheet", kept("arctic"))
    night.do("end-early")
    night.do("pause")
    night.no("paused", "keep-sheet", kept("arctic"))
    night.do("resume")
    night.do("keep-sheet", kept("arctic"))
    night.no("refused", "moves", {"moves": ["end"]})
    night.no("refused", "end-early")


def test_a_counted_game_belongs_to_the_series_of_its_players(night: Table) -> None:
    night.do("keep-sheet", kept("igloo-pop", "Ann", "Bob"))
    night.do("keep-sheet", kept("igloo-pop", "Ann", "Bob"))
    series = night.view["series"]
    assert (series["totals"], len(series["games"]), series["can_go_on"]) == ({"red": 28, "yellow": 22}, 2, True)
    night.do("undo", {"to": 0, "agreed": True})
    assert night.view["series"]["totals"] == {"red": 14, "yellow": 11}
    night.do("keep-sheet", kept("igloo-pop", "Ann", "Cem"))
    assert night.view["series"]["totals"] == {"red": 14, "yellow": 11}
    assert len(night.view["series"]["games"]) == 1


def test_a_series_that_is_won_is_over(night: Table) -> None:
    for _ in range(8):
        night.do("keep-sheet", kept("igloo-pop", "Ann", "Bob"))
    assert night.view["series"]["winner"] == ["red"]
    night.do("keep-sheet", kept("igloo-pop", "Ann", "Bob"))
    assert night.view["series"]["totals"] == {"red": 14, "yellow": 11}


@pytest.mark.parametrize("game_id", BOARDS)
def test_an_open_game_takes_over_the_totals_of_a_sheet(night: Table, game_id: str) -> None:
    night.do("open-match", {"game": game_id, "players": players(game_id)})
    texts = record(game_id, 11)[:60]
    night.moves(*texts)
    match = night.match
    body = {"position": SHEETS[game_id](), "into": match["id"]}
    night.no("forbidden", "keep-sheet", body, by=night.ann)
    night.no("stale", "keep-sheet", {**body, "into": "another"})
    other = next(one for one in SHEETS if one != game_id)
    night.no("refused", "keep-sheet", {**body, "position": SHEETS[other]()})
    night.do("keep-sheet", body)
    after = night.match
    assert (after["id"], after["ended_by"], after["over"]) == (match["id"], "sheet", True)
    assert [player["score"] for player in after["players"]] == TOTALS[game_id]
    assert [player["name"] for player in after["players"]] == ["Ann", "Bob"]
    assert len(after["story"]["chart"]) > 1
    assert after["story"]["chart"][-1] == TOTALS[game_id]
    night.restart()
    assert night.match == after
    night.do("undo", {"to": after["moves"], "agreed": True})
    assert {**night.match, "can_undo": None} == {**match, "can_undo": None}


def test_players_of_a_sheet_sit_as_those_of_the_open_game(night: Table) -> None:
    night.open_match([{"name": "Bob", "colour": "yellow"}, {"name": "Ann", "colour": "red"}])
    night.do("keep-sheet", {"position": SHEETS["igloo-pop"](), "into": night.match["id"]})
    assert [(p["name"], p["score"]) for p in night.match["players"]] == [("Bob", 11), ("Ann", 14)]
    assert night.match["ranking"] == [["red"], ["yellow"]]


# --- ended early


def test_a_game_that_is_ended_early_keeps_its_standing(night: Table) -> None:
    night.open_match(setup={"cards": list(NINE.values())})
    night.moves("start", "place red card1", "place blue card2")
    night.do("check")
    night.moves("reveal card1 2", "reveal card2 7")
    before = night.match
    night.no("forbidden", "end-early", by=night.ann)
    night.do("end-early")
    match = night.match
    assert (match["over"], match["ended_by"], match["phase"]) == (True, "early", "over")
    assert [player["score"] for player in match["players"]] == [player["score"] for player in before["players"]]
    assert (match["ranking"], match["players"][0]["score"]) == ([["red"], ["blue"]], 13)
    assert match["story"]["chart"][-1] == [player["score"] for player in match["players"]]
    night.no("refused", "moves", {"moves": ["start"]})
    night.no("refused", "end-early")
    assert [(row["finished"], row["ended"], row["place"]) for row in rows(night)] == [
        ("no", "early", "1"),
        ("no", "early", "2"),
    ]
    (told,) = to_json(night.journal)["nights"][0]["matches"]
    assert (told["ended"], told["finished"], told["ranking"]) == ("early", False, [["red"], ["blue"]])
    (play,) = plays(night.journal)
    assert "Ended early" in play["play"]["comments"]
    assert [one["winner"] for one in play["play"]["players"]] == [False, False]
    assert figures(night) == {}
    assert night.view["series"]["games"] == []
    view = night.view
    night.restart()
    assert night.view == view == night.refolded()

    # Nobody shook, so nothing was heard that had been hidden: who ended it goes back alone.
    assert not match["can_undo"]["needs_agreement"]
    another = type(night.host)(night.host.role, "host-b")
    night.no("agreement", "undo", {"to": match["moves"]}, by=another)
    night.do("undo", {"to": match["moves"]})
    assert (night.match["over"], night.match["ranking"], night.match["phase"]) == (
        False,
        match["ranking"],
        before["phase"],
    )
    night.do("end-early")
    night.do("close-match")
    assert [row["ended"] for row in rows(night)] == ["early", "early"]
    night.do("next-game")
    assert night.view["series"]["totals"] == {"red": 0, "blue": 0}


def test_a_match_that_was_put_away_is_one_that_ended_early(night: Table) -> None:
    night.shaking()
    night.do("close-match")
    assert [row["ended"] for row in rows(night)] == ["early", "early"]
    (play,) = plays(night.journal)
    assert "comments" in play["play"]


def test_a_game_in_which_nothing_was_done_is_not_shared(night: Table) -> None:
    night.open_match()
    night.do("end-early")
    assert plays(night.journal) == []
    assert night.night.play({}) is None
    assert [row["ended"] for row in rows(night)] == ["early", "early"]


def test_an_end_in_a_live_round_cannot_be_taken_back_alone(night: Table) -> None:
    night.shaking()
    assert night.night.live_round()
    night.do("end-early")
    assert not night.night.live_round()
    assert night.match["can_undo"]["needs_agreement"]
    night.no("agreement", "undo", {"to": 10})
    answer = night.do("undo", {"to": 10, "agreed": True})
    assert night.night.live_round()
    assert "seen" in answer.message.en
    # In a check of which nothing was turned over counts are as hidden, and an end brings them to light.
    night.moves("place red card1")
    night.do("check")
    assert night.night.live_round()
    night.do("end-early")
    assert night.match["can_undo"]["needs_agreement"]
    night.no("agreement", "undo", {"to": night.match["moves"]})


def test_nothing_hidden_is_told_of_a_game_that_ended_early(night: Table) -> None:
    night.do("open-match", {"game": "arctic", "players": players("arctic"), "draw": True})
    night.do("deal")
    for _ in range(12):
        board: Any = night.night.board("p1", "en")
        two: Any = night.night.board("p2", "en")
        moves = board["moves"] or two["moves"]
        colour = "p1" if board["moves"] else "p2"
        actor = type(night.ann)(Role.PLAYER, f"phone-{colour}", colour)
        night.moves(moves[0]["text"], by=actor)
    so_far = [player["score"] for player in night.match["players"]]
    night.do("end-early")
    match = night.match
    with night.night.standing() as projection:
        assert projection.match is not None
        true = [one.total for one in projection.match.state.score().sheets]
        seen = [one.total for one in game_view("arctic").seen(projection.match.state).score().sheets]
    assert true != seen, "the totems would tell"
    assert [player["score"] for player in match["players"]] == so_far == seen == match["story"]["chart"][-1]
