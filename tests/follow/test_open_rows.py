"""Turns of Arctic that are seen on its open table: as anybody may read it, entered through a real night; and drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from companion.events.hub import Hub
from companion.follow import messages
from companion.follow.follower import CameraFollower
from companion.follow.following import FollowState
from companion.follow.open_rows import LONG_S
from companion.follow.pace import HALF_S
from companion.follow.questions import TURN, UNSEEN
from companion.night.answers import CAMERA, TABLE
from companion.night.commands.night import Night
from companion.night.log.journal import Journal
from companion.ports import BadDataError, DeviceKind
from companion.rules.arctic.components import ANIMALS
from companion.settings import Settings
from vision.camera.frame import CapturedFrame
from vision.cards import messages as card_messages
from vision.cards import tokens
from vision.cards.pile import Read

RIVER = ["fox-5-moose", "moose-4-orca", "walrus-4-puffin", "orca-5-puffin", "puffin-2-orca", "bear-1-puffin"]
SIDES = {"fox": 11, "moose": 9, "walrus": 2, "orca": 8, "puffin": 3, "bear": 6}
AFTER = ["bear-3-orca", "moose-1-fox", *RIVER[2:]]
"""The River when fox and moose were drawn from it."""
THERE = ["moose-4-orca", "walrus-4-puffin", "puffin-2-orca", "bear-1-puffin", "puffin-4-moose", "walrus-3-bear",
         "moose-4-puffin"]  # fmt: skip
"""The River when each has had a turn, and what comes into it next."""
SECOND = ["walrus-2-fox", "moose-2-bear", "orca-5-puffin"]
"""What Ann lays in her second turn."""
WIDE = 60.0


@dataclass
class Lay:
    """How the table lay when it was looked at."""

    known: bool = False

    def agreed(self, read: Sequence[Read]) -> Lay:
        assert len({one.name for one in read}) >= len(RIVER)
        return Lay(known=True)


@dataclass
class Table:
    """A night with a game of Arctic whose people enter by hand, and what is read on its table, instead of a picture."""

    folder: Path
    row: list[str] = field(default_factory=lambda: list(RIVER))
    piles: dict[int, list[str]] = field(default_factory=dict)
    sure: dict[str, float] = field(default_factory=dict)
    alike: dict[str, dict[str, float]] = field(default_factory=dict)
    covers: set[str] = field(default_factory=set)
    sides: dict[str, int] = field(default_factory=lambda: dict(SIDES))
    river: bool = True
    taught: bool = True
    looks: int = 0
    formers: list[Lay | None] = field(default_factory=list)
    time: float = 1000.0
    number: Any = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        self.journal = Journal(self.folder / "journal.sqlite")
        self.night = Night(self.journal, Hub())
        settings: Any = Settings(None)
        settings.set({"camera_settle_tenths": 3, "camera_follow": True})
        cards: Any = self
        self.follower = CameraFollower(
            self.night,
            settings,
            newest=self.newest,
            table_of=lambda game_id: pytest.fail(f"{game_id} has no board"),
            on_change=lambda: None,
            cards=cards,
            clock=lambda: self.time,
        )
        self.scene = 0

    def begin(self) -> None:
        setup: dict[str, Any] = {"packs": [1, 2], "powers": self.sides, "first": 1, "totems": ["?"] * 2}
        setup |= {"hands": [["?"] * 3] * 2, **({"river": RIVER} if self.river else {})}
        players = [{"name": "Ann", "colour": "p1"}, {"name": "Bob", "colour": "p2"}]
        self.do("open-match", {"game": "arctic", "players": players, "draw": False, "setup": setup})

    # --- the cards, as :class:`companion.follow.cards.CardTable` reads them

    def why_unknown(self, game: str) -> str:
        assert game == "arctic"
        return "" if self.taught else card_messages.NOT_TAUGHT

    def open_in(
        self, game: str, photo: Any, only: Sequence[str], former: Lay | None = None
    ) -> tuple[list[tuple[Read, ...]], Lay]:
        if not self.taught:
            raise BadDataError(card_messages.NOT_TAUGHT)
        self.looks += 1
        self.formers.append(former)
        assert {card for card in self.row if card} <= set(only)
        row = [(self.read(card, 100 + 80.0 * n, 200),) for n, card in enumerate(self.row) if card]
        fans = [
            tuple(self.read(card, 100 + 400 * seat + 20.0 * n, 450) for n, card in enumerate(pile))
            for seat, pile in self.piles.items()
        ]
        return [group for group in (*row, *fans) if group], Lay()

    def read(self, card: str, x: float, y: float) -> Read:
        corners = np.array([[x, y], [x + WIDE, y], [x + WIDE, y + 90], [x, y + 90]])
        p = self.sure.get(card, 1.0)
        names = {card: p} if p in {0.2, 1.0} else {card: p, "fox-3-orca": 1 - p}
        names = self.alike.get(card, names)
        return Read(
            card, names[card], names, {card.split("-", maxsplit=1)[0]: 1.0}, corners, gap_before=card in self.covers
        )

    # --- what happens

    def newest(self) -> CapturedFrame:
        picture = np.full((60, 80, 3), 90, np.uint8)
        picture[:, : 40 + 20 * (self.scene % 2)] = 200
        return CapturedFrame(t=self.time, number=next(self.number), source="test", kind=DeviceKind.REAL, image=picture)

    def do(self, command: str, body: dict[str, Any]) -> None:
        answer = self.night.do(command, body, by=TABLE, action_id=f"people-{next(self.number)}")
        assert answer.ok, answer

    def look(self, seconds: float = 5.0) -> tuple[FollowState, str]:
        """Let something move and then lie still so long; return how the camera says that it stands."""
        self.scene += 1
        for _ in range(round(seconds / 0.2)):
            self.time += 0.2
            self.follower.tick()
        return self.follower.now.state, self.follower.now.note

    def play(self, laid: list[str], row: list[str], seat: int = 0) -> None:
        self.piles[seat] = [*self.piles.get(seat, [])[-1:], *laid]
        self.row = list(row)

    @property
    def snapshot(self) -> Any:
        return self.night.snapshot()

    @property
    def state(self) -> Any:
        return self.snapshot.states[-1]

    @property
    def moves(self) -> list[str]:
        return list(map(str, self.snapshot.moves))


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    table = Table(tmp_path)
    yield table
    table.journal.close()


@pytest.fixture
def went(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, int]]:
    """Let the tokens be seen to have gone so, whatever the picture shows; empty: it is not seen."""
    ways: list[dict[str, int]] = []

    def read(self: Any, seen: Any, offered: Sequence[dict[str, int]], places: Any) -> tuple[int, ...]:
        whole = [{**dict.fromkeys(ANIMALS, 0), **way} for way in ways[-1:]]
        return tuple(n for n, way in enumerate(offered) if way in whole)

    monkeypatch.setattr(tokens, "spots", lambda before, after: ())
    monkeypatch.setattr(tokens.Track, "read", read)
    return ways


def test_a_turn_is_entered_when_two_looks_show_it_and_the_tokens_tell(table: Table, went: list[dict[str, int]]) -> None:
    table.begin()
    assert table.look() == (FollowState.WATCHING, messages.ROW_AGREES)
    went.append({"walrus": 1, "bear": -1})
    # The card lies there, and nothing is drawn yet; then two are taken, and the River is not full.
    table.play(["walrus-4-bear"], RIVER)
    assert table.look() == (FollowState.WATCHING, messages.ROW_PLAYING)
    table.row = ["", "", *RIVER[2:]]
    assert table.look() == (FollowState.WATCHING, messages.ROW_PLAYING)
    assert len(table.snapshot.by) == len(table.snapshot.moves)
    before = len(table.moves)
    table.row = list(AFTER)
    assert table.look(1.0)[0] in {FollowState.THINKING, FollowState.ENTERED, FollowState.WATCHING}
    assert table.look() == (FollowState.WATCHING, messages.ROW_AGREES)
    assert sorted(table.moves[before:]) == sorted(
        ["place walrus-4-bear", "tokens walrus+ bear-", "end", "draw fox-5-moose", "draw moose-4-orca",
         "river bear-3-orca", "river moose-1-fox"]
    )  # fmt: skip
    assert set(table.snapshot.by[before:]) == {CAMERA}
    assert table.state.seat == 1


def test_one_look_is_not_enough(table: Table, went: list[dict[str, int]]) -> None:
    table.begin()
    table.look()
    went.append({"walrus": 1, "bear": -1})
    table.play(["walrus-4-bear"], AFTER)
    before, looks = table.moves, table.looks
    table.scene += 1
    for _ in range(20):
        table.time += 0.2
        table.follower.tick()
        if table.looks > looks:
            break
    assert table.looks == looks + 1
    assert table.moves == before
    assert table.follower.now.state is FollowState.THINKING


def test_where_the_tokens_are_not_seen_it_is_asked_which_way_they_went(table: Table) -> None:
    table.begin()
    table.look()
    table.play(["orca-2-moose"], ["bear-3-orca", "moose-1-fox", "walrus-3-bear", "fox-1-bear", *RIVER[4:]])
    assert table.look() == (FollowState.QUESTION, messages.ASKING)
    question = table.follower.now.question
    assert question is not None
    assert len(question.candidates) == 2
    asked = question.to_json("en")
    assert [one["svg"][:4] for one in asked["candidates"]] == ["<svg"] * 2
    # The same question stays, and play does not wait for it: nothing is looked at again until something changes.
    looks = table.looks
    for _ in range(20):
        table.time += 0.2
        table.follower.tick()
    assert table.looks == looks
    right = next(n for n, one in enumerate(question.candidates) if one.state is not None and one.state.tokens[3] == 3)
    assert table.follower.answer(question.id, right, TABLE).ok
    assert (table.state.tokens[3], table.state.tokens[1], table.state.seat) == (3, 1, 1)
    assert table.look() == (FollowState.WATCHING, messages.ROW_AGREES)


def test_what_no_picture_shows_is_asked_by_its_own_short_question(table: Table, went: list[dict[str, int]]) -> None:
    table.sides["moose"] = 10
    begin_second_round(table, "moose-5-walrus")
    went.append({"orca": -1, "puffin": 1})
    # Ann has three cards where five are due, and the moose may have made one more or one fewer of it.
    table.play(SECOND, [THERE[6], THERE[0], *THERE[2:6]])
    assert table.look() == (FollowState.QUESTION, messages.ASKING)
    question = table.follower.now.question
    assert question is not None
    assert question.kind == UNSEEN
    asked = question.to_json("en")
    assert [words["en"] for words in asked["played"]][:3] == [
        "Place Walrus 2, with fox", "Place Moose 2, with bear", "Place Orca 5, with puffin"
    ]  # fmt: skip
    assert len(asked["candidates"]) == 3
    assert {one["svg"] for one in asked["candidates"]} == {""}
    plain = next(n for n, one in enumerate(question.candidates) if "value" not in " ".join(map(str, one.moves)))
    assert table.follower.answer(question.id, plain, TABLE).ok
    assert [len(zone) for zone in table.state.penalties] == [2, 0]
    assert table.look() == (FollowState.WATCHING, messages.ROW_AGREES)


def begin_second_round(table: Table, laid: str) -> None:
    """Begin a game in which each has had a turn, Ann having ``laid`` a card of five."""
    table.begin()
    main, _, companion = laid.split("-")
    first = [f"place {laid}", f"tokens {main}+ {companion}-", "draw orca-5-puffin", "river puffin-4-moose"]
    second = ["place orca-5-bear", "tokens orca+ bear-", "draw fox-5-moose", "river walrus-3-bear"]
    table.do("moves", {"moves": [*first, *second]})
    table.row, table.piles = list(THERE[:6]), {0: [laid], 1: ["orca-5-bear"]}
    assert table.look() == (FollowState.WATCHING, messages.ROW_AGREES)


def begin_gift(table: Table, went: list[dict[str, int]]) -> int:
    """Let Ann's bear be able to give Bob a Penalty card; return after how many moves her turn began."""
    table.sides["bear"] = 5
    begin_second_round(table, "bear-5-moose")
    went.append({"orca": -1, "puffin": 1})
    before = len(table.moves)
    table.play(SECOND, [THERE[6], THERE[0], *THERE[2:6]])
    assert table.look() == (FollowState.WATCHING, messages.ROW_OPEN)
    assert table.moves[before:][-2:] == ["draw walrus-4-puffin", "river moose-4-puffin"]
    assert (table.state.seat, table.state.phase) == (0, "D")
    return before


def test_what_nobody_sees_of_a_turn_people_enter_after_the_rest_of_it(table: Table, went: list[dict[str, int]]) -> None:
    begin_gift(table, went)
    table.do("moves", {"moves": ["give ? p2"]})
    assert [len(zone) for zone in table.state.penalties] == [1, 1]
    assert table.look() == (FollowState.WATCHING, messages.ROW_AGREES)
    assert table.state.seat == 1


def test_when_the_next_turn_is_seen_the_one_before_is_over(table: Table, went: list[dict[str, int]]) -> None:
    begin_gift(table, went)
    before = len(table.moves)
    went.append({"fox": 1, "moose": -1})
    # Bob has three cards where five are due; the last lets him draw one.
    table.play(["fox-1-bear", "walrus-1-moose", "fox-5-moose"], ["bear-2-orca", *table.row[1:]], 1)
    assert table.look() == (FollowState.WATCHING, messages.ROW_AGREES)
    assert table.moves[before : before + 2] == ["end", "place fox-1-bear"]
    assert [len(zone) for zone in table.state.penalties] == [2, 2]
    assert set(table.snapshot.by[before:]) == {CAMERA}


def test_what_was_none_of_these_is_left_to_people(table: Table) -> None:
    table.begin()
    table.look()
    table.play(["walrus-4-bear"], AFTER)
    table.look()
    question = table.follower.now.question
    assert question is not None
    assert len(question.candidates) == 3
    before = table.moves
    assert table.follower.answer(question.id, None, TABLE).ok
    assert table.look() == (FollowState.WAITING, messages.ROW_LEFT)
    assert table.moves == before
    with pytest.raises(BadDataError):
        table.follower.record_is_right(question.id)
    table.do("moves", {"moves": ["place walrus-4-bear"]})
    assert table.look() == (FollowState.WAITING, messages.ROW_BY_HAND)
    table.do("moves", {"moves": ["tokens walrus- bear+", "end", "draw fox-5-moose", "draw moose-4-orca",
                                 "river bear-3-orca", "river moose-1-fox"]})  # fmt: skip
    assert table.look() == (FollowState.WATCHING, messages.ROW_AGREES)


def test_a_turn_that_people_took_back_is_asked_about(table: Table, went: list[dict[str, int]]) -> None:
    table.begin()
    table.look()
    went.append({"walrus": 1, "bear": -1})
    before = len(table.moves)
    table.play(["walrus-4-bear"], AFTER)
    table.look()
    assert len(table.moves) > before
    table.do("undo", {"to": before, "agreed": True})
    assert table.look() == (FollowState.QUESTION, messages.ASKING)
    assert len(table.moves) == before


def test_a_card_that_is_not_sure_is_asked_about(table: Table, went: list[dict[str, int]]) -> None:
    table.begin()
    table.look()
    went.append({"walrus": 1, "bear": -1})
    before = table.moves
    table.sure["bear-3-orca"] = 0.8
    table.play(["walrus-4-bear"], AFTER)
    assert table.look() == (FollowState.QUESTION, messages.ASKING)
    question = table.follower.now.question
    assert question is not None
    assert ["river bear-3-orca" in map(str, one.moves) for one in question.candidates[:2]] == [True, False]
    assert table.moves == before


def test_a_card_that_the_hand_is_known_to_hold_need_not_be_read_surely(
    table: Table, went: list[dict[str, int]]
) -> None:
    begin_second_round(table, "bear-5-moose")
    went.append({"orca": -1, "puffin": 1})
    # Ann drew the orca with five; that she had the fox with three, too, is far less likely.
    table.sure["orca-5-puffin"] = 0.9
    table.play(SECOND, [THERE[6], THERE[0], *THERE[2:6]])
    assert table.look() == (FollowState.WATCHING, messages.ROW_AGREES)
    assert "place orca-5-puffin" in table.moves


def test_of_two_cards_that_look_alike_the_lower_one_lay_there_before(table: Table, went: list[dict[str, int]]) -> None:
    begin_second_round(table, "bear-5-moose")
    went.append({"orca": -1, "puffin": 1})
    for one, other in (("bear-5-moose", "walrus-2-fox"), ("walrus-2-fox", "bear-5-moose")):
        table.alike[one] = {one: 0.8, other: 0.2}
    table.play(SECOND, [THERE[6], THERE[0], *THERE[2:6]])
    assert table.look() == (FollowState.WATCHING, messages.ROW_AGREES)
    assert "place walrus-2-fox" in table.moves


def test_a_card_in_the_middle_of_a_fan_that_is_not_sure_is_no_matter_of_what_nobody_sees(
    table: Table, went: list[dict[str, int]]
) -> None:
    begin_second_round(table, "bear-5-moose")
    went.append({"orca": -1, "puffin": 1})
    table.sure["moose-2-bear"] = 0.6
    table.play(SECOND, [THERE[6], THERE[0], *THERE[2:6]])
    assert table.look() == (FollowState.QUESTION, messages.ASKING)
    question = table.follower.now.question
    assert question is not None
    assert question.kind == TURN


def test_cards_that_may_lie_below_are_left_to_people(table: Table) -> None:
    table.begin()
    table.look()
    # Ann's visible card says five, Bob's turn goes by; then one card shows where three were laid.
    first = ["place fox-5-walrus", "tokens fox+ walrus-", "draw fox-5-moose", "river bear-3-orca"]
    table.do("moves", {"moves": first})
    second = ["place puffin-4-fox", "tokens puffin+ fox-", "draw moose-4-orca", "draw walrus-4-puffin",
              "river moose-1-fox", "river orca-2-moose"]  # fmt: skip
    table.do("moves", {"moves": second})
    table.row = ["bear-3-orca", "moose-1-fox", "orca-2-moose", *RIVER[3:]]
    table.piles = {0: ["fox-5-walrus"], 1: ["puffin-4-fox"]}
    assert table.look() == (FollowState.WATCHING, messages.ROW_AGREES)
    table.piles[0] = ["walrus-3-bear"]
    table.row[0] = "moose-3-puffin"
    assert table.look() == (FollowState.WATCHING, messages.ROW_HIDDEN)
    # A gap in the fan may hide one, too.
    table.piles[0] = ["fox-5-walrus", "walrus-1-moose", "walrus-3-bear"]
    table.covers = {"walrus-3-bear"}
    assert table.look() == (FollowState.WATCHING, messages.ROW_HIDDEN)


def test_what_is_hardly_a_card_is_not_in_the_way_but_may_hide_one(table: Table, went: list[dict[str, int]]) -> None:
    table.begin()
    table.sure = {"orca-3-fox": 0.2}
    table.piles = {1: ["orca-3-fox"]}
    assert table.look() == (FollowState.WATCHING, messages.ROW_AGREES)
    went.append({"walrus": 1, "bear": -1})
    before = table.moves
    # What lies on the new card may be the one that counts.
    table.play(["walrus-4-bear", "orca-3-fox"], AFTER)
    assert table.look() == (FollowState.WATCHING, messages.ROW_PLAYING)
    assert table.moves == before
    table.piles[0] = ["walrus-4-bear"]
    table.look()
    assert "place walrus-4-bear" in table.moves


def test_what_may_be_half_a_turn_is_waited_for_and_then_asked_about(table: Table, went: list[dict[str, int]]) -> None:
    table.begin()
    table.look()
    went.append({"orca": 1, "moose": -1})
    before = table.moves
    # Who holds the orca's power may have drawn from the pile, or is yet to draw from the River.
    table.play(["orca-2-moose"], RIVER)
    assert table.look() == (FollowState.THINKING, messages.HALF)
    assert table.look(HALF_S + 2.0) == (FollowState.QUESTION, messages.ASKING)
    assert table.moves == before
    # They were.
    table.row = ["bear-3-orca", "moose-1-fox", "walrus-3-bear", "fox-1-bear", *RIVER[4:]]
    assert table.look() == (FollowState.WATCHING, messages.ROW_AGREES)
    assert "draw-pile" not in table.moves
    assert "draw puffin-2-orca" not in table.moves
    assert {"draw fox-5-moose", "draw orca-5-puffin"} <= set(table.moves)


def test_what_is_over_by_the_rules_is_entered_at_once(table: Table, went: list[dict[str, int]]) -> None:
    table.begin()
    table.look()
    went.append({"orca": 1, "moose": -1})
    before = table.moves
    # Three of four cards are drawn from the River, and it is full again: the orca's power gave the fourth.
    table.play(["orca-2-moose"], ["bear-3-orca", "moose-1-fox", "walrus-3-bear", *RIVER[3:]])
    assert table.look() == (FollowState.WATCHING, messages.ROW_AGREES)
    assert "draw-pile" in table.moves[len(before) :]
    assert table.state.seat == 1


def test_a_card_may_be_swapped_out_of_the_river_and_laid(table: Table, went: list[dict[str, int]]) -> None:
    table.begin()
    first = ["place puffin-1-orca", "tokens puffin+ orca-", *(f"draw {card}" for card in RIVER[:5])]
    second = ["place fox-1-bear", "tokens fox+ bear-", "draw bear-1-puffin"]
    refill = ["bear-3-orca", "moose-1-fox", "orca-2-moose", "moose-3-puffin", "walrus-1-moose"]
    more = ["draw bear-3-orca", "draw moose-1-fox", "draw orca-2-moose", "draw moose-3-puffin"]
    new = ["walrus-3-bear", "fox-3-orca", "fox-2-puffin", "moose-2-bear", "orca-1-walrus"]
    table.do("moves", {"moves": [*first, *(f"river {card}" for card in refill), *second, *more,
                                 *(f"river {card}" for card in new)]})  # fmt: skip
    table.row, table.piles = ["walrus-1-moose", *new], {0: ["puffin-1-orca"], 1: ["fox-1-bear"]}
    assert table.look() == (FollowState.WATCHING, messages.ROW_AGREES)
    went.append({"fox": 1, "orca": -1})
    before = len(table.moves)
    # Ann gives the River the fox with five, takes the one with three, lays it, and draws three.
    table.play(["fox-3-orca"], ["fox-5-moose", "walrus-1-moose", "walrus-3-bear", "puffin-5-bear", "bear-2-orca",
                                "orca-4-bear"])  # fmt: skip
    assert table.look() == (FollowState.WATCHING, messages.ROW_AGREES)
    assert table.moves[before : before + 2] == ["swap fox-5-moose fox-3-orca", "place fox-3-orca"]


@pytest.mark.parametrize(
    ("seat", "laid"),
    [
        pytest.param(1, ["puffin-4-fox", "walrus-4-bear"], id="on somebody else's pile"),
        pytest.param(0, ["fox-5-walrus", "walrus-4-bear", "orca-5-puffin"], id="a card that lies in the River"),
    ],
)
def test_what_no_turn_leaves_is_said_after_a_while(table: Table, seat: int, laid: list[str]) -> None:
    table.begin()
    table.look()
    first = ["place fox-5-walrus", "tokens fox+ walrus-", "draw fox-5-moose", "river bear-3-orca"]
    second = ["place puffin-4-fox", "tokens puffin+ fox-", "draw moose-4-orca", "draw walrus-4-puffin",
              "river moose-1-fox", "river orca-2-moose"]  # fmt: skip
    table.do("moves", {"moves": [*first, *second]})
    table.row = ["bear-3-orca", "moose-1-fox", "orca-2-moose", *RIVER[3:]]
    table.piles = {0: ["fox-5-walrus"], 1: ["puffin-4-fox"]}
    table.look()
    before = table.moves
    table.piles[seat] = laid
    table.row[1] = "moose-3-puffin"
    assert table.look() == (FollowState.WATCHING, messages.ROW_PLAYING)
    table.time += LONG_S
    assert table.look() == (FollowState.WATCHING, messages.ROW_OTHERWISE)
    assert table.moves == before


def test_what_was_agreed_on_is_not_read_anew_until_nothing_explains_what_lies_there_for_long(table: Table) -> None:
    table.begin()
    table.look()
    assert table.formers == [None]
    table.piles[0] = ["fox-5-walrus", "puffin-4-fox"]
    assert table.look() == (FollowState.WATCHING, messages.ROW_PLAYING)
    table.row[1] = "moose-3-puffin"
    table.look()
    # First it is as both agreed that it lay, then as the camera alone saw it.
    assert table.formers == [None, Lay(known=True), Lay(known=False)]
    table.time += LONG_S
    assert table.look() == (FollowState.WATCHING, messages.ROW_OTHERWISE)
    assert table.formers[-1] is None


def test_the_first_river_is_entered_when_it_lies_there(table: Table) -> None:
    table.river = False
    table.begin()
    table.row = RIVER[:5]
    assert table.look() == (FollowState.WATCHING, messages.CARDS_AWAITED)
    table.row, table.sure = list(RIVER), {"fox-5-moose": 0.9}
    assert table.look() == (FollowState.WATCHING, messages.CARDS_UNSURE)
    assert table.state.river == ()
    table.sure = {}
    assert table.look() == (FollowState.WATCHING, messages.ROW_AGREES)
    assert len(table.state.river) == 6
    assert table.snapshot.by[-1] == CAMERA
    # People take it back: they know better.
    table.do("undo", {"to": len(table.moves) - 6, "agreed": True})
    table.look()
    assert table.state.river == ()


def test_nothing_is_followed_before_the_cards_were_taught_or_lie_as_recorded(table: Table) -> None:
    table.taught = False
    table.begin()
    assert table.look() == (FollowState.TEACH, card_messages.NOT_TAUGHT)
    table.taught = True
    table.row = AFTER
    table.piles = {0: ["walrus-4-bear"]}
    assert table.look() == (FollowState.WAITING, messages.ROW_UNKNOWN)
