"""Igloo Pop from set-up to ranking, several games to 100, and a night that a state machine plays."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import event, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from companion.events.hub import Hub
from companion.night.answers import Actor, Role
from companion.night.commands.night import Night
from companion.night.export.files import nights, to_json
from companion.night.log.journal import Journal
from companion.night.log.projection import NightProjection
from companion.night.views.page import page
from companion.rules import game
from tests.worlds.sheets import kept
from tests.worlds.sizes import size

# `table` is the Table of conftest.py; test folders are no packages, so its type cannot be named here.
Table = Any

COLOURS = ("red", "yellow", "green", "blue", "violet", "black")


def test_a_whole_match_by_hand(table: Table) -> None:
    """Two rounds as figures 5 to 9 tell them, then an end by thalers, with everything a table does on the way."""
    table.open_match(options={"pop.none_match": "remove"})
    nine = {f"card{n}": c for n, c in enumerate(("2", "3", "4", "5", "4/5", "6/7", "8/9", "3/4/5", "11/12/13"), 1)}
    nine["card9"] = "12"  # entered wrongly, noticed, and entered again
    table.do("deal", {"cards": nine}, by=table.ann)
    table.do("undo", {"to": 0}, by=table.ann)
    nine["card9"] = "11/12/13"
    table.do("deal", {"cards": nine}, by=table.ann)
    table.moves("start")

    # Figure 9 with blue in the winner's part, figure 6 for red, and a placement that was a slip of the finger.
    table.moves("place blue card5", "place blue card5", "place red card5", by=table.bob)
    table.moves("place red card1", by=table.ann)
    table.do("undo", {"to": table.match["can_undo"]["to"]}, by=table.ann)
    table.moves("place red card6", by=table.ann)
    assert table.match["village_left"] == 8
    table.do("check")
    table.moves("reveal card5 5", "reveal card5 9", "reveal card5 4")
    table.do("pause")
    table.restart()
    table.do("resume")
    table.moves("reveal card6 8")
    won, lost = table.match["results"]
    assert (won["place"], won["card"], won["winner"]) == ("card5", [4, 5], "blue")
    assert won["igloos"][1] == {"colour": "blue", "number": 9, "match": False}
    assert "POP-3.6" in won["clauses"]
    assert (lost["winner"], "POP-3.3" in lost["clauses"]) == (None, True)
    assert (table.player("red")["own"], table.player("blue")["own"]) == (9, 9)
    assert table.match["results_round"] == 1
    assert [(p["score"], len(p["cards"])) for p in table.match["players"]] == [(9, 0), (11, 1)]

    # Round 2: red stakes everything and loses it; the game ends at the end of that round (POP-4.1).
    table.do("deal", {"cards": {"card5": "7/8"}})
    assert table.match["stack_left"] == 23
    table.moves("start")
    assert table.match["results"] == []
    table.moves(*["place red card1"] * 9)
    assert table.player("red")["staked"] == 9
    table.no("refused", "moves", {"moves": ["take red"]})
    table.moves("place blue card2")
    table.do("check")
    table.moves(*[f"reveal card1 {n}" for n in range(4, 13)])
    table.moves("reveal card2 3")

    match = table.match
    assert (match["phase"], match["over"], match["ended_by"]) == ("over", True, "rules")
    assert "POP-4.1" in match["end"]["clauses"]
    assert (match["ranking"], "14" in match["ranking_why"]["en"]) == ([["blue"], ["red"]], True)
    assert [(p["score"], p["own"], p["captured"]) for p in match["players"]] == [(0, 0, 0), (14, 9, 0)]
    assert table.view["series"] == {
        "game": "igloo-pop",
        "games": [{"id": match["id"], "scores": {"red": 0, "blue": 14}, "winners": ["blue"]}],
        "totals": {"red": 0, "blue": 14},
        "to": 100,
        "winner": None,
        "can_go_on": True,
    }
    table.no("refused", "moves", {"moves": ["start"]})
    table.do("correct", {"colour": "red", "points": 1, "reason": "for the sense of humour", "agreed": True})
    assert table.view["series"]["totals"] == {"red": 1, "blue": 14}
    view = table.view
    table.restart()
    assert table.view == view == table.refolded()


def play_round(table: Table, rng: Random) -> None:
    """Play a round: everybody places a little, some stop, igloos are turned over in any order."""
    if table.match["phase"] == "deal":
        table.do("deal")
    table.moves("start")
    for _ in range(rng.randint(3, 12)):
        able = [p["colour"] for p in table.match["players"] if p["own"]]
        places = [c["place"] for c in table.match["cards"] if c["numbers"]]
        if table.match["phase"] != "shaking":
            break
        table.moves(f"place {rng.choice(able)} {rng.choice(places)}")
    if table.match["phase"] == "shaking":
        table.do("check")
    numbers = rng.sample(range(2, 14), 12)
    cards = [c for c in table.match["cards"] if c["igloos"]]
    rng.shuffle(cards)
    for card in cards:
        table.moves(*[f"reveal {card['place']} {numbers.pop()}" for _ in card["igloos"]])


def thalers(table: Table) -> Counter[str]:
    """Return the thalers that the page shows, wherever they lie."""
    return Counter({p["colour"]: p["own"] + p["staked"] for p in table.match["players"]})


@pytest.mark.parametrize("players", [2, 3, 6])
@pytest.mark.parametrize("cards_end", ["immediate", "last_round"])
def test_drawn_matches_end_and_replay_without_dice(table: Table, players: int, cards_end: str) -> None:
    rng = Random(players)
    seats = [{"name": f"P{n}", "colour": colour} for n, colour in enumerate(COLOURS[:players])]
    table.open_match(seats, draw=True, options={"pop.cards_end": cards_end})
    while not table.match["over"]:
        assert all(number <= 10 for number in thalers(table).values())
        play_round(table, rng)
    (record,) = to_json(table.journal)["nights"][0]["matches"]
    rules = game(record["game"])
    state = rules.start(record["players"], record["options"], record["setup"])
    for text in record["moves"]:
        state = state.play(rules.parse(text))
    outcome = state.outcome()
    assert outcome is not None
    scores = {seats[sheet.player]["colour"]: sheet.total for sheet in state.score().sheets}
    assert scores == record["scores"] == {p["colour"]: p["score"] for p in table.match["players"]}
    assert [seats[w]["colour"] for w in outcome.winners] == table.match["ranking"][0]
    shown = [(c["numbers"], p["colour"]) for p in table.match["players"] for c in p["cards"]]
    assert len(shown) == len({tuple(numbers) for numbers, _ in shown})
    assert table.refolded() == table.night.view()


def test_several_games_to_a_hundred(table: Table) -> None:
    rng = Random(7)
    table.no("refused", "next-game")
    table.open_match([{"name": "Ann", "colour": "red"}, {"name": "Bob", "colour": "blue"}], draw=True)
    table.no("refused", "next-game")
    totals: Counter[str] = Counter()
    games = 0
    while True:
        while not table.match["over"]:
            play_round(table, rng)
        games += 1
        totals.update({p["colour"]: p["score"] for p in table.match["players"]})
        series = table.view["series"]
        assert series["totals"] == dict(totals)
        assert len(series["games"]) == games
        if max(totals.values()) >= 100:
            break
        assert series["winner"] is None
        if games == 2:
            table.restart()
        table.do("next-game")
        assert [(p["name"], p["own"]) for p in table.match["players"]] == [("Ann", 10), ("Bob", 10)]
    assert games > 2
    best = max(totals.values())
    assert series["winner"] == [c for c in ("red", "blue") if totals[c] == best]
    assert not series["can_go_on"]
    table.no("refused", "next-game")
    table.do("close-match")
    assert table.view["series"] == series
    table.no("refused", "next-game")
    assert table.refolded() == table.night.view()
    table.open_match()
    assert table.view["series"]["games"] == []


def test_an_abandoned_game_does_not_count(table: Table) -> None:
    table.shaking()
    table.do("close-match")
    assert table.view["series"] is None
    table.do("next-game")
    assert table.view["series"]["totals"] == {"red": 0, "blue": 0}
    assert table.match["phase"] == "deal"
    assert [match.over for projection in nights(table.journal) for match in projection.matches] == [False, False]


# --- a state machine plays a night -------------------------------------------------------------------------------

HOST = Actor(Role.HOST, "host")
ANN = Actor(Role.PLAYER, "ann")
WHO = st.sampled_from([HOST, ANN])


class NightMachine(RuleBasedStateMachine):
    """Commands in any order, restarts in between: the live night is always the projection of its journal."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.rng = Random(3)
        self.sent = 0
        self.last: tuple[str, dict[str, Any], Actor, int | None, Any] | None = None
        self.highest = 0
        self.open()

    def open(self) -> None:
        self.journal = Journal(Path(self.folder.name) / "journal.sqlite")
        self.night = Night(self.journal, Hub(), rng=self.rng)

    def teardown(self) -> None:
        self.journal.close()
        self.folder.cleanup()

    def ask(self, command: str, body: dict[str, Any], by: Actor = HOST, state: int | None = None) -> Any:
        self.sent += 1
        before = self.journal.last_seq
        answer = self.night.do(command, body, by=by, state=state, action_id=f"a{self.sent}")
        assert self.journal.last_seq == before + answer.ok
        assert answer.seq == self.journal.last_seq
        self.last = (command, body, by, state, answer)
        return answer

    @property
    def match(self) -> dict[str, Any] | None:
        match: dict[str, Any] | None = self.night.view()["match"]
        return match

    @initialize(players=st.integers(2, 4), draw=st.booleans(), laid=st.sampled_from([0, 9, 9, 9]))
    def begin(self, players: int, draw: bool, laid: int) -> None:
        assert self.open_match(players, draw, laid).ok
        self.start()

    def open_match(self, players: int, draw: bool, laid: int) -> Any:
        seats = [{"name": f"P{n}", "colour": colour} for n, colour in enumerate(COLOURS[:players])]
        cards = ["2", "3", "4", "5", "6", "6/7", "8/9", "3/4/5", "11/12/13"][:laid]
        body = {"game": "igloo-pop", "players": seats, "draw": draw, "setup": {"cards": cards}}
        return self.ask("open-match", body)

    @precondition(lambda self: self.match is None or self.match["over"])
    @rule(players=st.integers(2, 4), draw=st.booleans())
    def begin_again(self, players: int, draw: bool) -> None:
        paused = self.night.view()["night"]["paused"]
        assert self.open_match(players, draw, 9).ok is not paused

    @rule(data=st.data(), by=WHO)
    def move(self, data: st.DataObject, by: Actor) -> None:
        """Something that may well be legal now, as the page would offer it."""
        match = self.match
        if match is None:
            return
        colour = data.draw(st.sampled_from([p["colour"] for p in match["players"]]))
        place = data.draw(st.sampled_from([c["place"] for c in match["cards"]]))
        number = data.draw(st.integers(2, 13))
        with_igloos = [c["place"] for c in match["cards"] if c["igloos"]] or [place]
        texts = {
            "deal": [f"deal {place} {data.draw(st.sampled_from(['2', '4/5', '3/4/5', '9', '10/11']))}"],
            "ready": ["start"],
            "shaking": [f"{data.draw(st.sampled_from(['take', 'return', 'pass', 'place', 'place']))} {colour}"],
            "checking": [f"reveal {data.draw(st.sampled_from(with_igloos))} {number}"],
            "over": ["start"],
        }[match["phase"]]
        texts = [f"{text} {place}" if text.startswith("place") else text for text in texts]
        sensor = data.draw(st.booleans()) and texts[0].startswith("place")
        self.ask("moves", {"moves": texts, **({"sensor": True} if sensor else {})}, by, self.night.state)

    @precondition(lambda self: self.match is not None)
    @rule(by=WHO)
    def deal(self, by: Actor) -> None:
        match = self.match
        assert match is not None
        answer = self.ask("deal", {}, by)
        wanted = match["draw"] and match["phase"] == "deal" and not self.night.view()["night"]["paused"]
        assert answer.ok == wanted

    @rule(by=WHO)
    def check(self, by: Actor) -> None:
        self.ask("check", {}, by)

    @precondition(lambda self: self.match is not None and self.match["phase"] == "ready")
    @rule()
    def start(self) -> None:
        ready = self.match is not None and self.match["phase"] == "ready"
        assert self.ask("moves", {"moves": ["start"]}).ok is (ready and not self.night.view()["night"]["paused"])

    @precondition(lambda self: self.match is not None and self.match["phase"] == "shaking")
    @rule(data=st.data())
    def stake_everything(self, data: st.DataObject) -> None:
        match = self.match
        assert match is not None
        colour = data.draw(st.sampled_from([p["colour"] for p in match["players"]]))
        place = data.draw(st.sampled_from([c["place"] for c in match["cards"] if c["numbers"]]))
        for _ in range(10):
            self.ask("moves", {"moves": [f"place {colour} {place}"]})
        if data.draw(st.booleans()):
            self.ask("moves", {"moves": [f"return {colour}"]})
            self.ask("check", {})
            self.turn_all_over(-1)

    @precondition(lambda self: self.match is not None and self.match["phase"] == "checking")
    @rule(step=st.sampled_from([1, -1]))
    def finish_the_check(self, step: int) -> None:
        self.turn_all_over(step)

    def turn_all_over(self, step: int) -> None:
        """Turn everything over, so that rounds and games come to an end."""
        for _ in range(12):
            match = self.match
            if match is None or match["phase"] != "checking" or self.night.view()["night"]["paused"]:
                break
            begun = [c for c in match["cards"] if any(i["number"] for i in c["igloos"])]
            card = (begun or [c for c in match["cards"] if c["igloos"]])[0]
            any(self.ask("moves", {"moves": [f"reveal {card['place']} {n}"]}).ok for n in range(2, 14)[::step])

    @rule(by=WHO, names=st.booleans())
    def keep_a_sheet(self, by: Actor, names: bool) -> None:
        before = self.match
        answer = self.ask("keep-sheet", kept("igloo-pop", *(("Ann", "Bob") if names else ())), by)
        assert answer.ok == ((before is None or before["over"]) and not self.night.view()["night"]["paused"])

    @precondition(lambda self: self.match is not None)
    @rule(by=WHO)
    def take_over_a_sheet(self, by: Actor) -> None:
        match = self.match
        assert match is not None
        colours = [player["colour"] for player in match["players"]]
        position = {
            "game": "igloo-pop",
            "places": {},
            "phase": "over",
            "players": [{"colour": colour, "own": 3 + n, "captured": 0} for n, colour in enumerate(colours)],
        }
        answer = self.ask("keep-sheet", {"position": position, "into": match["id"]}, by)
        paused = self.night.view()["night"]["paused"]
        assert answer.ok == (by is HOST and not match["over"] and not paused and match["game"] == "igloo-pop")
        if answer.ok:
            after = self.match
            assert after is not None
            assert [p["score"] - p["correction"] for p in after["players"]] == [3 + n for n in range(len(colours))]

    @precondition(lambda self: self.match is not None)
    @rule(by=WHO, really=st.sampled_from([True, False]))
    def end_early(self, by: Actor, really: bool) -> None:
        match = self.match
        assert match is not None
        if really or by is ANN:
            assert self.ask("end-early", {}, by).ok == (by is HOST and not match["over"])

    @precondition(lambda self: self.match is not None and self.match["ended_by"] in {"early", "sheet"})
    @rule(by=WHO, agreed=st.booleans())
    def take_the_end_back(self, by: Actor, agreed: bool) -> None:
        match = self.match
        assert match is not None
        answer = self.ask("undo", {"to": match["moves"], "agreed": agreed}, by)
        can = match["can_undo"]
        if agreed:
            assert answer.ok == (by is HOST)
        else:
            assert answer.ok == (can["by"] == by.id and not can["needs_agreement"])
        if answer.ok and self.match is not None:
            assert (self.match["id"], self.match["players"]) == (match["id"], match["players"]) or match[
                "ended_by"
            ] == "sheet"

    @precondition(lambda self: self.match is not None and self.match["moves"] > 0)
    @precondition(lambda self: self.match is not None and self.match["ended_by"] in {None, "rules"})
    @rule(data=st.data(), by=WHO, agreed=st.booleans())
    def undo(self, data: st.DataObject, by: Actor, agreed: bool) -> None:
        match = self.match
        assert match is not None
        keep = data.draw(st.integers(max(0, match["moves"] - 4), match["moves"] - 1))
        can = match["can_undo"]
        answer = self.ask("undo", {"to": keep, "agreed": agreed}, by)
        if agreed:
            assert answer.ok == (by is HOST)
        else:
            assert answer.ok == (keep >= can["to"] and can["by"] == by.id and not can["needs_agreement"])
        after = self.match
        assert after is not None
        assert after["moves"] == (keep if answer.ok else match["moves"])

    @precondition(lambda self: self.match is not None)
    @rule(points=st.integers(-3, 3), by=WHO)
    def correct(self, points: int, by: Actor) -> None:
        match = self.match
        assert match is not None
        red = match["players"][0]
        answer = self.ask("correct", {"colour": "red", "points": points, "reason": "so", "agreed": True}, by)
        assert answer.ok == (by is HOST and points != 0)
        after = self.match
        assert after is not None
        assert after["players"][0]["score"] == red["score"] + (points if answer.ok else 0)

    @rule(by=WHO, long=st.sampled_from([True, False, False, False]))
    def pause_or_resume(self, by: Actor, long: bool) -> None:
        paused = self.night.view()["night"]["paused"]
        assert self.ask("resume" if paused else "pause", {}, by).ok
        assert self.night.view()["night"]["paused"] is not paused
        if not paused and not long:
            assert self.ask("moves", {"moves": ["start"]}).problem in {"paused", "no-match"}
            assert self.ask("resume", {}, by).ok

    @rule(command=st.sampled_from(["next-game", "open-night"]))
    def go_on(self, command: str) -> None:
        over = self.match is None or self.match["over"]
        answer = self.ask(command, {})
        assert over or not answer.ok

    @rule(really=st.sampled_from([True, False, False, False, False, False]))
    def put_away(self, really: bool) -> None:
        open_one = self.match is not None
        if really or not open_one:
            assert self.ask("close-match", {}).ok is open_one

    @rule(back=st.integers(1, 5))
    def stale(self, back: int) -> None:
        answer = self.ask("pause", {}, state=self.night.state - back)
        assert answer.problem == "stale"

    @precondition(lambda self: self.last is not None)
    @rule(restart=st.booleans())
    def again(self, restart: bool) -> None:
        assert self.last is not None
        command, body, by, state, answer = self.last
        if restart and answer.ok:
            self.restart()
        seq = self.journal.last_seq
        assert self.night.do(command, body, by=by, state=state, action_id=f"a{self.sent}") == answer
        assert self.journal.last_seq == seq

    @rule()
    def restart(self) -> None:
        view = self.night.view()
        self.journal.close()
        self.open()
        assert self.night.view() == view

    @invariant()
    def live_is_the_fold(self) -> None:
        projection = NightProjection(self.journal.people())
        for entry in self.journal.since(0):
            projection.apply(entry)
        assert page(projection) == self.night.view()
        json.dumps(self.night.view(), allow_nan=False)

    @invariant()
    def state_numbers_only_grow(self) -> None:
        event(f"phase {self.match and self.match['phase']}")
        assert self.night.state >= self.highest
        self.highest = self.night.state
        match = self.match
        phase = match["phase"] if match is not None else None
        checked = match is not None and (
            match["results"] or any(i["number"] for c in match["cards"] for i in c["igloos"])
        )
        assert self.night.live_round() == (phase == "shaking" or (phase == "checking" and not checked))


TestNightMachine = pytest.mark.sized(NightMachine.TestCase)
TestNightMachine.settings = settings(max_examples=size(20, 40), stateful_step_count=50)
