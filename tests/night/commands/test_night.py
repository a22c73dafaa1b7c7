"""Commands of a night: who may, on which state, once only; undo, corrections, pause, faults, pictures."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.night.answers import Actor, Role
from companion.night.commands.handlers import COMMANDS
from companion.night.commands.night import MOST_BYTES, Night
from companion.night.export.files import to_csv, to_json
from companion.night.games import shown_games
from companion.night.log.database import StorageError
from companion.ports import BadDataError, DeviceKind, EvidencePicture
from companion.rules import games

# `table` is the Table of conftest.py; test folders are no packages, so its type cannot be named here.
Table = Any

CARDS = ("2", "3", "4", "5", "4/5", "6/7", "8/9", "3/4/5", "11/12/13")

ANN = {"name": "Ann", "colour": "red"}
BOB = {"name": "Bob", "colour": "blue"}
PICTURE = EvidencePicture("ab" * 32, ".jpg", 640, 480, "usb:0", DeviceKind.REAL, (0, 1, 2, 3))


# --- a night and its matches -------------------------------------------------------------------------------------


def test_a_night_begins_once_and_goes_on_after_a_restart(table: Table) -> None:
    first = table.view["night"]
    assert table.view["match"] is None
    assert table.view["series"] is None
    table.restart()
    assert table.view["night"] == first
    assert table.journal.last_seq == 1
    table.do("open-night")
    assert table.view["night"]["id"] != first["id"]
    second = table.view
    table.restart()
    assert table.view == second


def test_a_match_opens_with_people_and_settled_options(table: Table) -> None:
    table.open_match(options={"pop.cards_end": "last_round"})
    assert table.match["options"] == {"pop.cards_end": "last_round", "pop.none_match": "remove"}
    assert [(p["name"], p["colour"], p["own"], p["score"]) for p in table.match["players"]] == [
        ("Ann", "red", 10, 10),
        ("Bob", "blue", 10, 10),
    ]
    (entry,) = (e for e in table.journal.since(0) if e.kind == "open-match")
    assert "Ann" not in json.dumps(dict(entry.body))
    table.no("refused", "open-match", {"game": "igloo-pop", "players": [ANN, BOB]})
    table.do("close-match")
    assert table.view["match"] is None
    table.open_match([BOB, {"name": "ann ", "colour": "green"}])
    assert sorted(name for name in table.night.people().values() if name) == ["Ann", "Bob"]


def test_only_games_that_the_night_can_show_are_opened(table: Table) -> None:
    """A game may have its rules already and its page not yet; opening it must not end in a journal nobody can read."""
    seats = {"arctic": ("p1", "p2"), "ice-team": ("green", "red")}
    for name in {*games(), *shown_games()}:
        colours = seats.get(name, ("red", "blue"))
        two = [ANN | {"colour": colours[0]}, BOB | {"colour": colours[1]}]
        answer = table.ask("open-match", {"game": name, "players": two})
        assert answer.ok == (name in shown_games()), answer
        if answer.ok:
            table.do("close-match")
    table.restart()
    assert "igloo-pop" in shown_games()


def test_an_example_is_opened_only_where_it_is_offered(table: Table, toy_game: str) -> None:
    body = {"game": toy_game, "players": [ANN | {"colour": "p1"}, BOB | {"colour": "p2"}]}
    assert table.night.offered == games()
    table.no("bad-input", "open-match", body)
    table.no("bad-input", "keep-sheet", {"position": {"game": toy_game}, "players": body["players"]})
    developers = Night(table.journal, table.hub, offered=shown_games(examples=True))
    assert toy_game in developers.offered
    assert developers.do("open-match", body, by=table.host, action_id="open").ok
    table.restart()
    assert len(table.match["players"]) == 2


def test_cards_may_lie_there_at_the_set_up(table: Table) -> None:
    table.open_match(setup={"cards": ["2", "3", "4", "5", "4/5", "6/7", "8/9", "3/4/5", "11/12/13"]})
    assert (table.match["phase"], table.match["stack_left"]) == ("ready", 24)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({}, "field game"),
        ({"game": "chess", "players": [ANN, BOB]}, "field game"),
        ({"game": ["igloo-pop"], "players": [ANN, BOB]}, "field game"),
        ({"game": "igloo-pop"}, "field players"),
        ({"game": "igloo-pop", "players": [ANN, 7]}, "field players"),
        ({"game": "igloo-pop", "players": [ANN]}, "2 to 6 players"),
        ({"game": "igloo-pop", "players": [ANN, {"name": "Bob", "colour": "pink"}]}, "colour"),
        ({"game": "igloo-pop", "players": [ANN, {"name": "Bob", "colour": "red"}]}, "red"),
        ({"game": "igloo-pop", "players": [ANN, {"name": "x" * 41, "colour": "blue"}]}, "1 to 40"),
        ({"game": "igloo-pop", "players": [ANN, {"name": "Bob\u202e", "colour": "blue"}]}, "1 to 40"),
        ({"game": "igloo-pop", "players": [ANN, {"name": "x" * 641, "colour": "blue"}]}, "field players"),
        ({"game": "igloo-pop", "players": [ANN, {"name": "Bob", "colour": None}]}, "field colour"),
        ({"game": "igloo-pop", "players": [ANN, BOB], "options": {"pop.cards_end": "never"}}, "never"),
        ({"game": "igloo-pop", "players": [ANN, BOB], "options": []}, "field options"),
        ({"game": "igloo-pop", "players": [ANN, BOB], "setup": {"cards": ["99"]}}, "99"),
        ({"game": "igloo-pop", "players": [ANN, BOB], "draw": "yes"}, "field draw"),
        ({"game": "igloo-pop", "players": [ANN, BOB], "colour": "x"}, "no field colour"),
    ],
)
def test_what_cannot_be_played_is_said(table: Table, body: dict[str, Any], says: str) -> None:
    answer = table.ask("open-match", body)
    assert not answer.ok
    assert says in answer.message.en
    assert answer.message.fr != answer.message.en
    assert table.night.people() == {}
    assert table.journal.last_seq == 1


def test_a_second_ann_is_somebody_else_and_has_a_mark_wherever_names_are_shown(table: Table) -> None:
    family = "👨\u200d👩\u200d👧\u200d👦"
    table.open_match([ANN, {"name": " ANN", "colour": "blue"}, {"name": family, "colour": "green"}])
    assert [p["name"] for p in table.match["players"]] == ["Ann", "ANN (2)", family]
    assert sorted(name or "" for name in table.night.people().values()) == ["ANN (2)", "Ann", family]
    assert [line.split(",")[6] for line in to_csv(table.journal).splitlines()[1:]] == ["Ann", "ANN (2)", family]
    assert [one["name"] for one in to_json(table.journal)["nights"][0]["matches"][0]["players"]] == [
        "Ann",
        "ANN (2)",
        family,
    ]


def test_who_was_made_one_with_somebody_at_the_same_table_has_a_mark_there(table: Table) -> None:
    table.open_match([ANN, BOB])
    people = {name: person for person, name in table.night.people().items()}
    table.journal.merge_people(people["Bob"], people["Ann"])
    table.night.people_changed()
    assert [p["name"] for p in table.match["players"]] == ["Ann", "Ann (2)"]


def test_players_without_names_are_their_colours(table: Table) -> None:
    table.open_match([{"colour": "red"}, {"name": "", "colour": "blue"}])
    assert [p["name"] for p in table.match["players"]] == ["", ""]
    assert table.night.people() == {}


# --- rights ------------------------------------------------------------------------------------------------------

HOST_ONLY = ["open-match", "next-game", "close-match", "open-night"]


def test_who_only_watches_changes_nothing(table: Table) -> None:
    table.shaking()
    for command in COMMANDS:
        table.no("forbidden", command, by=table.guest)


@pytest.mark.parametrize("command", HOST_ONLY)
def test_some_things_are_the_hosts(table: Table, command: str) -> None:
    table.shaking()
    table.no("forbidden", command, by=table.ann)


def test_agreement_is_said_by_the_host(table: Table) -> None:
    table.shaking()
    table.do("fault", {"clause": "POP-2.3", "colour": "blue"}, by=table.ann)
    fault = table.match["faults"][0]["seq"]
    for command, body in (
        ("correct", {"colour": "red", "points": 1, "reason": "because"}),
        ("dismiss-fault", {"fault": fault}),
        ("undo", {"to": 3}),
    ):
        table.no("agreement", command, body, by=table.ann)
        table.no("agreement", command, body)
        table.no("forbidden", command, {**body, "agreed": True}, by=table.ann)
        table.do(command, {**body, "agreed": True})


# --- state numbers and action ids --------------------------------------------------------------------------------


def test_a_stale_phone_is_refused_with_the_reason(table: Table) -> None:
    table.shaking()
    seen = table.night.state
    table.moves("place red card1", state=seen)
    answer = table.no("stale", "moves", {"moves": ["place red card1"]}, state=seen)
    assert answer.state == table.night.state
    table.no("stale", "close-match", state=seen)
    table.moves("place red card1", state=None)


def test_while_all_play_at_once_nobody_waits_for_what_others_do(table: Table) -> None:
    table.open_match([{"colour": colour} for colour in ("red", "blue", "green")])
    table.do("deal", {"cards": {f"card{n}": card for n, card in enumerate(CARDS, start=1)}})
    ready = table.night.state
    table.moves("start")
    seen = table.night.state
    table.moves("place red card1", state=seen)
    table.moves("place blue card1", state=seen)
    standing = [(one["colour"], one["number"]) for one in table.match["cards"][0]["igloos"]]
    assert standing == [("red", None), ("blue", None)]
    # What one player does follows on what that player did; and what was seen before this round is another table.
    for moves in (["pass red"], ["pass green", "pass blue"], ["start"], [], ["pass nobody"], [3]):
        table.no("stale", "moves", {"moves": moves}, state=seen)
    table.no("stale", "moves", {"moves": ["pass green"]}, state=ready)
    table.moves("pass green", state=seen)
    table.do("undo", {"to": table.match["moves"] - 1})
    table.moves("pass green", state=seen)
    for colour in ("red", "blue"):
        table.moves(f"pass {colour}")
    table.no("stale", "moves", {"moves": ["pass green"]}, state=seen)


def test_state_numbers_never_come_back(table: Table) -> None:
    table.shaking()
    seen = {table.night.state}
    for n in range(5):
        table.moves("take red")
        table.do("undo", {"to": table.match["moves"] - 1})
        assert table.night.state not in seen, n
        seen.add(table.night.state)


def test_faults_and_pictures_make_no_phone_stale(table: Table) -> None:
    table.shaking()
    seen = table.night.state
    table.do("fault", {"clause": "POP-2.3"}, state=1)
    table.night.add_evidence(PICTURE)
    table.night.add_fault("POP-2.4", kind=DeviceKind.REAL, key="i", motion="turned", sensor=None)
    assert table.night.state == seen
    assert table.view["seq"] == table.journal.last_seq > seen
    table.moves("take red", state=seen)


def test_an_action_is_done_once_and_answered_the_same(table: Table) -> None:
    table.shaking()
    state = table.night.state
    first = table.moves("place red card1", state=state, action_id="tap")
    seq = table.journal.last_seq
    assert table.moves("place red card1", state=state, action_id="tap") == first
    table.moves("place blue card2")
    assert table.moves("place red card1", state=state, action_id="tap") == first
    assert first.ruling is not None
    assert "POP-M.3" in first.ruling.clauses
    assert first.seq == seq
    table.restart()
    assert table.moves("place red card1", state=state, action_id="tap") == first
    for n in range(40):  # until the entry has left the log that is kept in memory
        table.moves("take red", action_id=f"t{n}")
        table.moves("return red", action_id=f"r{n}")
    table.restart()
    assert table.moves("place red card1", state=state, action_id="tap") == first
    table.do("undo", {"to": 0, "agreed": True})
    table.do("close-match")
    table.do("open-night")
    table.restart()
    assert table.moves("place red card1", state=state, action_id="tap") == first
    assert sum(e.action_id == "tap" for e in table.journal.since(0)) == 1


def test_a_refusal_is_repeated_too(table: Table) -> None:
    table.shaking()
    refused = table.no("refused", "moves", {"moves": ["return red"]}, action_id="tap")
    table.moves("take red")
    assert table.ask("moves", {"moves": ["return red"]}, action_id="tap", state=refused.state) == refused


def test_an_action_id_is_for_one_action(table: Table) -> None:
    table.shaking()
    table.moves("take red", action_id="tap")
    table.no("bad-input", "moves", {"moves": ["take blue"]}, action_id="tap")
    table.restart()
    table.no("bad-input", "moves", {"moves": ["take blue"]}, action_id="tap")
    for action_id in ("", "x" * 101, "line\nbreak"):
        table.no("bad-input", "moves", {"moves": ["take blue"]}, action_id=action_id)


def test_drawn_cards_are_the_same_when_asked_again(table: Table) -> None:
    table.open_match(draw=True)
    first = table.do("deal", action_id="tap")
    cards = table.match["cards"]
    assert table.do("deal", action_id="tap", state=None) == first
    table.restart()
    assert table.do("deal", action_id="tap", state=None) == first
    assert table.match["cards"] == cards


# --- bad input ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "body"),
    [
        ("dance", {}),
        ("moves", {}),
        ("moves", {"moves": []}),
        ("moves", {"moves": "take red"}),
        ("moves", {"moves": [1]}),
        ("moves", {"moves": ["take red"] * 101}),
        ("moves", {"moves": ["jump red"]}),
        ("moves", {"moves": ["take red"], "sensor": 1}),
        ("moves", {"moves": ["take red"], "sensor": ""}),
        ("moves", {"moves": ["take red"], "why": "so"}),
        ("deal", {"cards": []}),
        ("deal", {"cards": {}}),
        ("deal", {"cards": {"card1": 4}}),
        ("deal", {"cards": {"card77": "4"}}),
        ("deal", {"cards": {"card1": "4 5"}}),
        ("undo", {}),
        ("undo", {"to": -1, "agreed": True}),
        ("undo", {"to": True, "agreed": True}),
        ("undo", {"to": 9999, "agreed": True}),
        ("undo", {"to": 1, "agreed": "yes"}),
        ("correct", {"colour": "pink", "points": 1, "reason": "r", "agreed": True}),
        ("correct", {"colour": ["red"], "points": 1, "reason": "r", "agreed": True}),
        ("correct", {"colour": "red", "points": 0, "reason": "r", "agreed": True}),
        ("correct", {"colour": "red", "points": 1.5, "reason": "r", "agreed": True}),
        ("correct", {"colour": "red", "points": 201, "reason": "r", "agreed": True}),
        ("correct", {"colour": "red", "points": 1, "reason": " \n ", "agreed": True}),
        ("correct", {"colour": "red", "points": 1, "agreed": True}),
        ("fault", {}),
        ("fault", {"clause": "POP-99.9"}),
        ("fault", {"clause": "POP-2.3", "colour": "pink"}),
        ("fault", {"clause": "POP-2.3", "note": "x" * 201}),
        ("dismiss-fault", {"fault": "x", "agreed": True}),
        ("moves", {"moves": ["\ud800"]}),
        ("moves", {"moves": ["x" * MOST_BYTES]}),
        ("correct", {"colour": "red", "points": float("nan"), "reason": "r", "agreed": True}),
    ],
)
def test_bad_input_is_refused_in_a_sentence(table: Table, command: str, body: dict[str, Any]) -> None:
    table.shaking()
    answer = table.no("bad-input", command, body)
    assert "\n" not in answer.message.en + answer.message.fr
    table.moves("take red")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS = sorted({field for command in COMMANDS.values() for field in command.fields})


def test_whatever_a_phone_sends_the_night_stays_up(table: Table) -> None:
    table.shaking()

    @given(
        st.sampled_from(sorted(COMMANDS)),
        st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=4),
        st.none() | st.integers(),
    )
    def send(command: str, body: dict[str, Any], state: int | None) -> None:
        if command not in {"close-match", "open-night", "pause"}:
            table.ask(command, body, state=state)
            json.dumps(table.night.view(), allow_nan=False)

    send()
    assert table.refolded() == table.night.view()


def test_whatever_a_match_is_opened_with_the_night_stays_up(table: Table) -> None:
    @given(st.dictionaries(st.sampled_from(["players", "options", "setup", "draw"]), JSON, max_size=4))
    def send(body: dict[str, Any]) -> None:
        answer = table.ask("open-match", {"players": [ANN, BOB], **body, "game": "igloo-pop"})
        if answer.ok:
            table.do("close-match")

    send()
    assert table.refolded() == table.night.view()


# --- moves, deals, the check -------------------------------------------------------------------------------------


def test_a_forbidden_move_is_refused_with_clause_and_sentence(table: Table) -> None:
    table.shaking()
    answer = table.no("refused", "moves", {"moves": ["take red", "take red"]})
    assert answer.ruling is not None
    assert (answer.ruling.legal, "POP-2.2" in answer.ruling.clauses) == (False, True)
    assert answer.message.en == answer.ruling.en
    assert not table.player("red")["in_hand"]
    assert answer.to_json()["ruling"]["clauses"]


def test_the_companion_draws_only_where_it_was_asked_to(table: Table) -> None:
    table.open_match()
    table.no("refused", "deal")
    table.do("deal", {"cards": {"card2": "4/5", "card1": "7"}})
    assert [c["numbers"] for c in table.match["cards"]][:3] == [[7], [4, 5], None]
    table.no("refused", "deal", {"cards": {"card3": "7"}})
    table.do("close-match")
    table.open_match(draw=True)
    table.do("deal")
    assert table.match["phase"] == "ready"
    assert len({tuple(c["numbers"]) for c in table.match["cards"]}) == 9
    table.no("refused", "deal")


def test_the_table_agrees_to_stop(table: Table) -> None:
    table.shaking()
    table.moves("place red card1", "pass blue", "take red")
    answer = table.no("refused", "check")
    assert answer.ruling is not None
    assert "POP-M.4" in answer.ruling.clauses
    table.moves("return red")
    table.do("check")
    assert table.match["phase"] == "checking"
    answer = table.no("refused", "check")
    assert answer.ruling is not None


# --- undo --------------------------------------------------------------------------------------------------------


def test_undo_of_ones_own_last_entry_is_free(table: Table) -> None:
    table.shaking()
    table.moves("place red card1", by=table.ann)
    before = table.match
    table.moves("take red", "return red", by=table.ann)
    assert table.match["can_undo"]["by"] == table.ann.id
    assert not table.match["can_undo"]["needs_agreement"]
    table.no("agreement", "undo", {"to": table.match["can_undo"]["to"]}, by=table.bob)
    table.do("undo", {"to": table.match["can_undo"]["to"]}, by=table.ann)
    assert {**table.match, "can_undo": None} == {**before, "can_undo": None}
    table.do("undo", {"to": table.match["can_undo"]["to"]}, by=table.ann)
    assert table.player("red")["own"] == 10
    undone = [(line["kind"], line["undone"]) for line in table.view["log"]]
    assert undone[-4:] == [("moves", True), ("moves", True), ("undo", False), ("undo", False)]


def test_undo_past_a_reveal_needs_the_table(table: Table) -> None:
    table.shaking()
    table.moves("place red card5", "place blue card5")
    table.do("check")
    shaken = table.match
    table.moves("reveal card5 4")
    table.moves("reveal card5 5")
    assert table.player("blue")["cards"] == [{"numbers": [4, 5], "points": 2}]
    assert table.match["can_undo"]["needs_agreement"]
    keep = shaken["moves"]
    table.no("agreement", "undo", {"to": keep})
    table.do("undo", {"to": keep, "agreed": True})
    assert {**table.match, "can_undo": None} == {**shaken, "can_undo": None}
    line = table.view["log"][-1]
    assert "agreed" in line["en"]
    assert "accord" in line["fr"]


def test_undo_past_a_draw_needs_the_table_past_an_entered_card_it_does_not(table: Table) -> None:
    table.open_match(draw=True)
    table.do("deal")
    table.no("agreement", "undo", {"to": 0})
    table.do("undo", {"to": 0, "agreed": True})
    table.do("close-match")
    table.open_match()
    table.do("deal", {"cards": {"card1": "4"}})
    table.do("undo", {"to": 0})
    assert table.match["cards"][0]["numbers"] is None
    table.no("refused", "undo", {"to": 0})


@pytest.mark.parametrize("same_hand", [True, False])
def test_cards_drawn_behind_the_last_number_go_with_it_in_one_undo(table: Table, same_hand: bool) -> None:
    table.open_match(draw=True)
    table.do("deal")
    assert table.match["can_undo"]["to"] == 0
    printed = table.match["cards"][4]["numbers"]
    others = (n for n in range(2, 14) if n not in printed)
    table.moves("start", "place red card5", "place blue card5")
    table.do("check")
    table.moves(f"reveal card5 {next(others)}")
    asked = table.match
    table.moves(f"reveal card5 {max(printed)}", by=table.ann)
    assert (table.match["phase"], table.match["can_undo"]["to"]) == ("deal", asked["moves"])
    told = table.match["can_undo"]
    table.do("deal", by=table.ann if same_hand else table.bob)
    # Whoever drew by a tap of their own goes back no further than that.
    assert table.match["can_undo"]["to"] == asked["moves"] + (0 if same_hand else 1)
    if not same_hand:
        return
    assert table.match["can_undo"] == told
    table.no("agreement", "undo", {"to": told["to"]}, by=table.ann)
    table.do("undo", {"to": told["to"], "agreed": True})
    assert {**table.match, "can_undo": None} == {**asked, "can_undo": None}
    table.moves(f"reveal card5 {next(others)}", by=table.ann)
    assert table.match["phase"] == "ready"


def test_where_the_companion_draws_nobody_chooses_cards(table: Table) -> None:
    table.open_match(draw=True)
    for command, body in (("moves", {"moves": ["deal card1 2"]}), ("deal", {"cards": {"card1": "2"}})):
        for who in (table.host, table.ann):
            answer = table.no("refused", command, body, by=who)
            assert "the companion draws" in answer.message.en
    table.do("deal", by=table.ann)
    table.moves("start")


def test_undo_of_older_entries_needs_the_table(table: Table) -> None:
    table.shaking()
    table.moves("take red")
    table.moves("take blue")
    keep = table.match["moves"] - 2
    table.no("agreement", "undo", {"to": keep})
    table.do("undo", {"to": keep, "agreed": True})
    assert not table.player("red")["in_hand"]


# --- corrections, pause, faults, pictures, people ----------------------------------------------------------------


def test_a_correction_counts_in_score_and_ranking(table: Table) -> None:
    table.shaking()
    assert table.match["ranking"] == [["red", "blue"]]
    table.do("correct", {"colour": "blue", "points": 3, "reason": "a thaler under the sofa", "agreed": True})
    table.do("correct", {"colour": "blue", "points": -1, "reason": "two, in fact", "agreed": True})
    blue = table.player("blue")
    assert (blue["score"], blue["correction"], table.player("red")["score"]) == (12, 2, 10)
    assert blue["score"] == sum(line["points"] for line in blue["lines"])
    assert "a thaler under the sofa" in blue["lines"][3]["en"]
    assert table.match["ranking"] == [["blue"], ["red"]]
    assert "12" in table.match["ranking_why"]["en"]
    line = table.view["log"][-1]
    assert line["en"] == "Score corrected for Bob (blue): -1, as the table agreed (two, in fact)."
    assert line["fr"] == "Score corrigé pour Bob (bleu)\u00a0: -1, avec l’accord de la table (two, in fact)."
    table.do("undo", {"to": 0, "agreed": True})
    assert table.player("blue")["score"] == 12
    table.restart()
    assert table.player("blue")["score"] == 12


def test_a_paused_night_waits(table: Table) -> None:
    table.shaking()
    table.do("pause", by=table.ann)
    assert table.view["night"]["paused"]
    table.restart()
    for command, body in (("moves", {"moves": ["take red"]}), ("check", {}), ("deal", {}), ("pause", {})):
        table.no("paused", command, body)
    assert table.night.live_round()
    assert not table.night.witness("i").live
    table.do("resume", by=table.bob)
    table.no("refused", "resume")
    table.moves("take red")


def test_a_live_round_is_from_the_start_to_the_check(table: Table) -> None:
    assert not table.night.live_round()
    table.open_match(setup={"cards": ["2", "3", "4", "5", "4/5", "6/7", "8/9", "3/4/5", "11/12/13"]})
    assert not table.night.live_round()
    table.moves("start")
    assert table.night.live_round()
    table.moves("place red card1", "place blue card2")
    table.do("check")
    assert table.night.live_round()
    table.moves("reveal card1 9")
    assert not table.night.live_round()
    table.moves("reveal card2 8")
    assert not table.night.live_round()
    table.do("undo", {"to": 1, "agreed": True})
    assert table.night.live_round()
    table.do("check")
    assert (table.match["phase"], table.night.live_round()) == ("ready", False), "nothing stands there to be checked"
    table.moves("start")
    table.do("close-match")
    assert not table.night.live_round()


def test_no_player_opens_the_gate_of_a_round_alone(table: Table) -> None:
    table.shaking()
    table.moves("place red card5", by=table.ann)
    for ending in (("check", {}), ("moves", {"moves": ["pass red", "pass blue"]})):
        shaking = table.match
        table.do(*ending, by=table.ann)
        assert (table.match["phase"], table.night.live_round()) == ("checking", True)
        back = {"to": table.match["can_undo"]["to"]}
        table.no("agreement", "undo", back, by=table.bob)
        table.no("agreement", "undo", back)
        # Nothing was turned over: whoever ended the round too early goes back alone, and hears nothing on the way,
        # for the gate is shut before, in the check, and after it. (What an igloo felt in between is no fault, as in a
        # pause; but the others see the check on every screen and read in the log that it was taken back.)
        assert not table.match["can_undo"]["needs_agreement"]
        table.do("undo", back, by=table.ann)
        assert {**table.match, "can_undo": None} == {**shaking, "can_undo": None}
        assert table.night.live_round()
        assert "seen" not in table.view["log"][-1]["en"], "the gate stayed shut"


def test_a_check_that_revealed_or_opened_anything_is_not_taken_back_alone(table: Table) -> None:
    table.shaking()
    table.moves("place red card5", "place blue card6", by=table.ann)
    keep = table.match["moves"]
    table.do("check", by=table.ann)
    checked = table.match["moves"]
    table.moves("reveal card5 4", by=table.ann)
    for to in (checked, keep):
        table.no("agreement", "undo", {"to": to}, by=table.ann)
    table.do("undo", {"to": keep, "agreed": True})
    table.do("check", by=table.ann)
    # One that goes back past the check reaches into what another entry did.
    table.no("agreement", "undo", {"to": keep - 1}, by=table.ann)
    table.moves("reveal card5 4", "reveal card6 6")
    table.do("deal", {"cards": {"card5": "7", "card6": "12"}})
    table.moves("start")
    keep = table.match["moves"]
    # Where no igloo stands the check is over at once, and with it the round: counts are heard from now on.
    table.do("check", by=table.ann)
    assert not table.night.live_round()
    assert table.match["can_undo"]["needs_agreement"]
    table.no("agreement", "undo", {"to": keep}, by=table.ann)


def test_the_start_of_a_round_is_not_taken_back_alone(table: Table) -> None:
    table.open_match(setup={"cards": list(CARDS)})
    table.moves("start", by=table.ann)
    table.no("agreement", "undo", {"to": 0}, by=table.ann)
    table.do("undo", {"to": 0, "agreed": True})
    assert table.match["phase"] == "ready"
    table.moves("start", "place red card1", by=table.ann)
    table.no("agreement", "undo", {"to": 1}, by=table.bob)
    table.do("undo", {"to": 1}, by=table.ann)


def test_the_log_says_when_counts_may_have_been_seen(table: Table) -> None:
    table.shaking()
    table.moves("place red card1", "place blue card2")
    keep = table.match["moves"]
    table.do("check")
    table.moves("reveal card1 9")
    table.do("undo", {"to": keep, "agreed": True})
    line = table.view["log"][-1]
    assert "may have been seen" in line["en"]
    assert "ont pu être vus" in line["fr"]
    # Back to before the round, or within it, there is nothing to say.
    table.moves("take red")
    table.do("undo", {"to": keep})
    assert "seen" not in table.view["log"][-1]["en"]
    # A round later, a round earlier: both are live, but what lay between was not.
    table.do("check")
    table.moves("reveal card1 9", "reveal card2 8", "start")
    table.do("undo", {"to": keep, "agreed": True})
    assert table.night.live_round()
    assert "may have been seen" in table.view["log"][-1]["en"]
    table.restart()
    assert table.refolded() == table.night.view()


def test_faults_are_called_and_dismissed(table: Table) -> None:
    table.shaking()
    table.do("fault", {"clause": "POP-2.3", "colour": "blue", "note": "in front of him"}, by=table.ann)
    table.do("fault", {"clause": "POP-2.9"})
    looked, other = table.match["faults"]
    assert (looked["clause"], looked["colour"], looked["note"], looked["kind"], looked["round"]) == (
        "POP-2.3",
        "blue",
        "in front of him",
        None,
        1,
    )
    answer = table.no("bad-input", "fault", {"clause": "POP-2.3", "colour": "green"})
    assert (answer.message.en, answer.message.fr) == ("Nobody here plays green.", "Personne ne joue en vert ici.")
    assert "Bob" in looked["en"]
    assert "Bob" in looked["fr"]
    assert other["en"] != other["fr"]
    table.do("dismiss-fault", {"fault": looked["seq"], "agreed": True})
    assert [f["dismissed"] for f in table.match["faults"]] == [True, False]
    table.no("refused", "dismiss-fault", {"fault": looked["seq"], "agreed": True})
    table.no("refused", "dismiss-fault", {"fault": 1, "agreed": True})


def test_a_device_is_marked_for_ever(table: Table) -> None:
    table.shaking()
    sensor = None
    seq = table.night.add_fault("POP-2.4", kind=DeviceKind.SIMULATED, key="sim", motion="turned", sensor=sensor)
    table.restart()
    (fault,) = table.match["faults"]
    assert (fault["seq"], fault["kind"], fault["motion"], fault["colour"]) == (seq, "simulated", "turned", None)
    assert table.view["log"][-1]["by"] == "igloo"
    table.do("check")
    assert table.night.add_fault("POP-2.4", kind=DeviceKind.REAL, key="i", motion="turned", sensor=None) is None


def test_a_picture_belongs_to_the_round_that_lies_there(table: Table) -> None:
    table.night.add_evidence(PICTURE)
    table.shaking()
    table.night.add_evidence(PICTURE)
    table.moves("place red card1")
    table.do("check")
    table.night.add_evidence(PICTURE)
    table.moves("reveal card1 9")
    assert table.match["round"] == 2
    table.night.add_evidence(PICTURE)
    table.moves("start")
    table.night.add_evidence(PICTURE)
    assert [e["round"] for e in table.match["evidence"]] == [1, 1, 1, 2]
    assert table.match["evidence"][0]["kind"] == "real"
    assert table.view["log"][-1]["by"] == "camera"


def test_the_sensor_is_shown_where_it_was_placed(table: Table) -> None:
    table.shaking()
    table.moves("place blue card3")
    for moves in (["take red"], ["place red card3", "place red card4"]):
        table.no("refused", "moves", {"moves": moves, "sensor": True})
    table.do("moves", {"moves": ["place red card3"], "sensor": "unit-7"})
    assert table.match["cards"][2]["igloos"] == [
        {"colour": "blue", "number": None, "sensor": False},
        {"colour": "red", "number": None, "sensor": True},
    ]
    table.no("refused", "moves", {"moves": ["place blue card1"], "sensor": "unit-7"})
    table.no("refused", "moves", {"moves": ["place blue card1"], "sensor": True})
    table.do("moves", {"moves": ["place blue card1"], "sensor": "unit-8"})
    table.do("undo", {"to": table.match["moves"] - 1})
    assert not any(i["sensor"] for i in table.match["cards"][0]["igloos"])
    table.do("check")
    table.moves("reveal card3 9", "reveal card3 8")
    table.moves("start")
    table.do("moves", {"moves": ["place red card3"], "sensor": "unit-7"})


def test_people_are_renamed_and_forgotten_while_scores_stay(table: Table) -> None:
    table.shaking()
    table.moves("place red card1")
    (ann,) = (person for person, name in table.night.people().items() if name == "Ann")
    assert table.night.name_person(ann, " Anna  Maria ")
    assert table.player("red")["name"] == "Anna Maria"
    assert "Anna Maria" in table.view["log"][-1]["en"]
    with pytest.raises(BadDataError):
        table.night.name_person(ann, "   ")
    assert table.night.name_person(ann, None)
    assert not table.night.name_person("nobody", None)
    text = json.dumps(table.view)
    assert "Ann" not in text
    assert table.player("red")["own"] == 9
    table.restart()
    assert "Ann" not in json.dumps(table.view)


# --- the disk, the hub, threads ----------------------------------------------------------------------------------


def test_on_a_full_card_nothing_is_acknowledged(table: Table) -> None:
    table.shaking()
    db = table.journal._db
    (pages,) = db.execute("PRAGMA page_count").fetchone()
    db.execute(f"PRAGMA max_page_count = {pages}")
    for n in range(500):
        before = table.night.view()
        answer = table.ask("fault", {"clause": "POP-2.3", "note": "x" * 200}, action_id=f"f{n}")
        if not answer.ok:
            break
    assert answer.problem == "storage"
    assert "full" in answer.message.en
    assert table.night.view() == before == table.refolded()
    with pytest.raises(StorageError, match="full"):
        for _ in range(100):
            table.night.add_evidence(PICTURE)
    db.execute("PRAGMA max_page_count = 100000")
    assert table.do("fault", {"clause": "POP-2.3", "note": "x" * 200}, action_id=f"f{n}").seq == table.journal.last_seq
    assert table.night.view() == table.refolded()


def test_every_change_is_published_with_its_number(table: Table) -> None:
    with table.hub.subscribe({"state"}) as stream:
        table.shaking()
        table.no("refused", "moves", {"moves": ["return red"]})
        table.night.add_evidence(PICTURE)
        last = table.journal.last_seq
        events = [stream.get(0) for _ in range(last - 1)]
        assert [event.seq for event in events] == list(range(2, last + 1))
        assert stream.get(0) is None
        assert events[-1].data == table.night.view("spectator")
        assert json.loads(events[-1].text) == table.night.view()


def test_a_view_is_made_once_and_only_for_roles(table: Table) -> None:
    assert table.night.view("player") is table.night.view(Role.HOST)
    with pytest.raises(ValueError, match="king"):
        table.night.view("king")


def test_phones_at_once(table: Table) -> None:
    """Four phones hammer: each accepted action is there once, in an order the rules allow, and nobody is lied to."""
    table.shaking()
    accepted: list[tuple[str, int]] = []
    problems: set[str | None] = set()

    def phone(colour: str, name: str) -> None:
        me = Actor(Role.PLAYER, name)
        for n in range(30):
            word = "return" if table.player(colour)["in_hand"] else "take"
            how = {"by": me, "action_id": f"{name}-{n}", "state": table.night.state if n % 3 else None}
            for _ in range(2):  # each action is sent twice, as over a bad network
                answer = table.ask("moves", {"moves": [f"{word} {colour}"]}, **how)
                accepted.extend([(f"{name}-{n}", answer.seq)] if answer.ok else [])
                problems.add(answer.problem)

    threads = [threading.Thread(target=phone, args=(c, f"{c}-{i}")) for i in range(2) for c in ("red", "blue")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    done = {
        e.action_id: e.seq for e in table.journal.since(0) if e.kind == "moves" and e.by.startswith(("red", "blue"))
    }
    assert done
    assert dict(accepted) == done
    assert len(accepted) == 2 * len(done)
    assert problems <= {None, "stale", "refused"}
    assert table.refolded() == table.night.view()


def test_rules_that_changed_do_not_lose_the_night(new_table: Callable[..., Table]) -> None:
    table = new_table()
    table.shaking()
    table.journal.append("moves", {"moves": ["take red", "take red"]}, by="x", by_role="host")
    table.journal.append("moves", {"moves": ["take blue"]}, by="x", by_role="host")
    table.journal.append("a kind of the future", {"x": 1}, by="x", by_role="host")
    table.journal.append("fault", {"clause": "POP-99", "round": 1}, by="x", by_role="host")
    table.restart()
    assert "POP-99" in table.match["faults"][0]["en"]
    assert table.match["problem"]["en"] != table.match["problem"]["fr"]
    assert table.player("red")["in_hand"]
    assert not table.player("blue")["in_hand"]
    table.no("refused", "moves", {"moves": ["take blue"]})
    table.do("close-match")
    table.open_match()
    assert table.match["problem"] is None
    table.do("close-match")


@pytest.mark.parametrize(
    "changes",
    [{"game": "ludo"}, {"options": {"pop.unheard": 1}}, {"players": [{"person": None, "colour": "pink"}] * 2}],
)
def test_a_match_of_a_newer_program_is_passed_over(table: Table, changes: dict[str, Any]) -> None:
    table.open_match()
    table.do("close-match")
    (entry,) = (e for e in table.journal.since(0) if e.kind == "open-match")
    table.journal.append("open-match", {**entry.body, **changes}, by="x", by_role="host")
    for kind in ("moves", "undo", "correct", "fault", "dismiss-fault"):
        table.journal.append(kind, {"moves": ["start"], "to": 0, "fault": 1}, by="x", by_role="host")
    table.restart()
    assert table.view["match"] is None
    assert "rules that this companion does not know" in table.view["log"][-1]["en"]
    table.no("refused", "next-game")
    table.shaking()
    assert table.refolded() == table.night.view()
