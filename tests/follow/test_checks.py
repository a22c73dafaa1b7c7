"""Igloos that are turned over in the check: as anybody may see them, and drawn; entered through a real night."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from companion.follow import messages
from companion.follow.checks import LEFT_S
from companion.follow.following import FollowState
from companion.lab.bench.vision.checks import CheckedNight, CheckTally, follow_check
from companion.lab.bench.vision.placings import EVERY_S, PlacedNight
from companion.lab.worlds.cards.checks import drawn_check
from companion.lab.worlds.cards.photos import shoot
from companion.lab.worlds.cards.placings import DrawnRound, drawn_round
from companion.night.answers import CAMERA
from companion.rules.igloo_pop.components import CARD_TEXT
from tests.worlds.told_apart import told_apart
from vision.cards import igloos, loose, placed
from vision.cards.placed import CheckLook, NewIgloo, TurnedIgloo

COLOURS = ["red", "blue", "green"]
LONG = LEFT_S + 4
"""Seconds, more than anything is waited for."""
STOOD = ["place red card1", "place red card4", "place blue card4", "place green card6"]


@cache
def film() -> DrawnRound:
    return drawn_round(3, 1, COLOURS, count=1)


class Sight:
    """A check whose igloos stand and lie as the test says, instead of a picture."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.night = PlacedNight(folder, film(), COLOURS)
        self.upright: list[NewIgloo] = []
        self.lying: list[TurnedIgloo] = []
        self.thalers: list[tuple[str, tuple[float, float]]] = []
        self.looks = 0
        monkeypatch.setattr(loose, "loose_thalers", lambda change, known, others, width: list(self.thalers))
        monkeypatch.setattr(placed, "new_igloos", lambda bare, photo: tuple(self.upright))
        monkeypatch.setattr(placed, "igloos_in_check", self._look)
        self.night.begin()
        for index, text in enumerate(STOOD):
            _, colour, place = text.split()
            self.upright.append(NewIgloo(self.at(place, 60 * index), place, {colour: 1.0}, free=True))
        self.tap(*STOOD)

    def _look(self, bare: object, photo: object) -> CheckLook:
        self.looks += 1
        return CheckLook(tuple(self.upright), tuple(self.lying))

    def at(self, place: str, along: float = 0.0) -> tuple[float, float]:
        x, y = self.night.film.bare.corners[int(place.removeprefix("card")) - 1].mean(axis=0)
        return float(x) + along, float(y)

    def check(self) -> None:
        """Begin the check, and let the camera see all that stands there."""
        assert self.night.do("check", {}).ok
        self.wait(2 * EVERY_S)

    def lift(self, place: str, colour: str) -> None:
        self.upright.remove(next(one for one in self.upright if (one.place, one.colour) == (place, colour)))

    def lay(self, place: str, number: int, *, free: bool = True) -> TurnedIgloo:
        """Lay an igloo upturned on a card."""
        one = TurnedIgloo(self.at(place, 10.0 * number), place, number, free)
        self.lying.append(one)
        return one

    def beside(self, one: TurnedIgloo, colour: str, off: float = 40.0) -> None:
        """Lay a thaler so many pixels above an upturned igloo."""
        self.thalers.append((colour, (one.at[0], one.at[1] - off)))

    def turn(self, place: str, colour: str, number: int) -> TurnedIgloo:
        self.lift(place, colour)
        return self.lay(place, number)

    def wait(self, seconds: float = 3.0) -> list[str]:
        """Let the camera look for so long; return which numbers the record has."""
        for _ in range(round(seconds / EVERY_S)):
            self.night.show(told_apart(self.night.film.bare, (self.upright, self.lying, self.thalers)))
        return self.record

    @property
    def record(self) -> list[str]:
        return [text for text, _ in self.steps]

    @property
    def steps(self) -> list[tuple[str, bool]]:
        """Return the numbers of the record in order, and whether the camera entered them."""
        snapshot = self.night.night.snapshot()
        assert snapshot is not None
        steps = zip(snapshot.moves, snapshot.by, strict=True)
        return [(str(move).removeprefix("reveal "), by == CAMERA) for move, by in steps if move.kind == "reveal"]

    def tap(self, *moves: str) -> None:
        assert self.night.do("moves", {"moves": list(moves)}).ok

    def undo(self, count: int = 1) -> None:
        """Take back the last moves."""
        snapshot = self.night.night.snapshot()
        assert snapshot is not None
        assert self.night.do("undo", {"to": len(snapshot.moves) - count, "agreed": True}).ok


@pytest.fixture
def sight(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sight]:
    sight = Sight(tmp_path, monkeypatch)
    yield sight
    sight.night.journal.close()


# --- before the check ------------------------------------------------------------------------------------------------


def test_before_the_check_nothing_reads_a_number_though_it_lies_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(photo: object) -> Iterator[tuple[object, int]]:
        pytest.fail("a number was looked for")

    drawn = drawn_check(3, 1, COLOURS, count=2)
    for module in (igloos, placed):
        monkeypatch.setattr(module, "find_stickers", find)
    night = PlacedNight(tmp_path, drawn.film, COLOURS)
    night.show(drawn.film.bare)
    night.begin()
    shot = shoot(*drawn.scene(drawn.turned[-1].t + 1), 1)
    for _ in range(4):
        night.show(shot)
    put = drawn.film.puts[0]
    assert night.do("moves", {"moves": [f"place {put.colour} {put.place}"]}).ok
    for _ in range(4):
        night.show(shot)
    # The picture that was there when the check began is from before it.
    assert night.do("check", {}).ok
    night.time += 1
    night.follower.tick()
    night.follower.tick()
    assert night.entered == [(put.place, put.colour, False)]
    with pytest.raises(pytest.fail.Exception, match="a number was looked for"):
        night.show(shot)
    night.journal.close()


def test_what_was_seen_is_forgotten_when_the_check_is_taken_back(sight: Sight) -> None:
    sight.check()
    one = sight.turn("card1", "red", 5)
    sight.wait(EVERY_S)
    looks = sight.looks
    sight.undo()
    sight.wait(LONG)
    assert sight.looks == looks
    sight.lying.remove(one)
    assert sight.night.do("check", {}).ok
    assert sight.wait(LONG) == []


# --- in the check ----------------------------------------------------------------------------------------------------


def test_a_number_is_entered_when_it_lies_still_and_two_looks_agree(sight: Sight) -> None:
    sight.check()
    assert sight.night.told == (FollowState.WATCHING, messages.CHECK_KNOWN)
    sight.turn("card1", "red", 5)
    assert sight.wait(EVERY_S) == []
    assert sight.wait() == ["card1 5"]
    assert sight.steps == [("card1 5", True)]
    # It goes on lying there, and goes into the village; nothing more comes of it.
    sight.lying[0] = replace(sight.lying[0], place=None)
    assert sight.wait(LONG) == ["card1 5"]
    assert sight.night.told == (FollowState.WATCHING, messages.CHECK_KNOWN)


def test_what_is_held_or_moves_is_not_entered(sight: Sight) -> None:
    sight.check()
    one = sight.turn("card1", "red", 5)
    sight.lying[0] = replace(one, free=False)
    assert sight.wait(LONG) == []
    for step in range(12):
        sight.lying[0] = replace(one, at=(one.at[0] + 30 * (1 - step % 2), one.at[1]))
        assert sight.wait(EVERY_S) == []
    sight.lying[0] = one
    assert sight.wait() == ["card1 5"]


def test_whose_it_is_is_told_by_who_still_stands_there_and_numbers_wait_for_their_order(sight: Sight) -> None:
    sight.check()
    sight.turn("card4", "blue", 7)
    assert sight.wait(2 * EVERY_S) == []
    # It is back in the village before the other is turned over: it was seen.
    assert sight.wait() == []
    sight.lying.clear()
    sight.turn("card4", "red", 12)
    assert sight.wait() == ["card4 12", "card4 7"]
    assert sight.night.told[0] is FollowState.WATCHING


def test_two_that_are_turned_over_at_once_are_left_to_people_until_they_say_one(sight: Sight) -> None:
    sight.check()
    sight.turn("card4", "blue", 7)
    sight.turn("card4", "red", 12)
    sight.turn("card6", "green", 3)
    assert sight.wait(LONG) == ["card6 3"]
    assert sight.night.told == (FollowState.WATCHING, messages.CHECK_UNSURE)
    sight.tap("reveal card4 12")
    assert sight.wait() == ["card6 3", "card4 12", "card4 7"]
    assert [by_camera for _, by_camera in sight.steps] == [True, False, True]


def test_two_that_are_turned_over_at_once_are_told_by_the_thalers_beside_them(sight: Sight) -> None:
    sight.check()
    red, blue = sight.turn("card4", "red", 12), sight.turn("card4", "blue", 4)
    sight.beside(red, "red")
    assert sight.wait(LONG) == []
    sight.beside(blue, "blue")
    assert sight.wait() == ["card4 12", "card4 4"]
    assert sight.night.told[0] is FollowState.WATCHING


def test_thalers_that_lie_clearly_beside_neither_tell_nothing(sight: Sight) -> None:
    sight.check()
    red, blue = sight.turn("card4", "red", 5), sight.turn("card4", "blue", 4)
    middle = ((red.at[0] + blue.at[0]) / 2, red.at[1])
    sight.thalers = [("red", (middle[0], middle[1] - 30)), ("blue", (middle[0], middle[1] + 30))]
    assert sight.wait(LONG) == []
    assert sight.night.told == (FollowState.WATCHING, messages.CHECK_UNSURE)


def test_a_thaler_beside_the_only_number_is_no_proof_while_the_other_is_in_a_hand(sight: Sight) -> None:
    sight.check()
    sight.lift("card4", "red")
    blue = sight.turn("card4", "blue", 4)
    sight.beside(blue, "red")
    sight.wait(2 * EVERY_S)
    # It was the other's thaler: that one lies down, too.
    red = sight.lay("card4", 12)
    sight.thalers.clear()
    sight.beside(blue, "blue")
    sight.beside(red, "red")
    assert sight.wait() == ["card4 12", "card4 4"]


def test_who_stood_where_is_known_from_the_placing(sight: Sight) -> None:
    sight.wait()
    sight.turn("card4", "red", 12)
    sight.check()
    assert sight.wait() == ["card4 12"]


def test_colours_that_are_unsure_alone_are_told_by_what_the_record_has_there(sight: Sight) -> None:
    for index, one in enumerate(sight.upright):
        if one.place == "card4":
            other = {"red": "blue", "blue": "red"}[one.colour]
            sight.upright[index] = replace(one, colours={one.colour: 0.95, other: 0.05})
    sight.check()
    sight.turn("card4", "red", 12)
    assert sight.wait() == ["card4 12"]


def test_a_number_that_only_a_hand_showed_is_entered_when_the_card_is_empty(sight: Sight) -> None:
    sight.check()
    sight.turn("card4", "red", 12)
    sight.wait()
    # The other is read in a hand, and put back.
    one = sight.turn("card4", "blue", 4)
    sight.lying[-1] = replace(one, free=False)
    assert sight.wait(EVERY_S) == ["card4 12"]
    sight.lying.pop()
    assert sight.wait(LONG) == ["card4 12"]
    sight.lying.clear()
    assert sight.wait(EVERY_S) == ["card4 12"]
    assert sight.wait() == ["card4 12", "card4 4"]


def test_two_numbers_that_only_hands_showed_are_left_to_people(sight: Sight) -> None:
    sight.check()
    for colour, number in (("red", 12), ("blue", 4)):
        sight.lift("card4", colour)
        sight.lay("card4", number, free=False)
    sight.wait(EVERY_S)
    sight.lying.clear()
    assert sight.wait(LONG) == []
    sight.tap("reveal card4 12")
    assert sight.wait() == ["card4 12", "card4 4"]


def test_a_number_over_a_card_may_be_anothers_whose_number_nobody_saw(sight: Sight) -> None:
    sight.check()
    sight.lift("card1", "red")
    sight.lift("card6", "green")
    sight.lay("card6", 3, free=False)
    sight.wait(EVERY_S)
    sight.lying.clear()
    assert sight.wait(LONG) == []
    sight.tap("reveal card1 5")
    assert sight.wait() == ["card1 5", "card6 3"]


def test_looks_that_tell_otherwise_make_it_doubtful(sight: Sight) -> None:
    sight.check()
    blue = next(one for one in sight.upright if one.colour == "blue")
    red = next(one for one in sight.upright if (one.place, one.colour) == ("card4", "red"))
    sight.turn("card4", "blue", 7)
    sight.wait(EVERY_S)
    sight.upright.remove(red)
    sight.upright.append(blue)
    assert sight.wait(LONG) == []
    assert sight.night.told == (FollowState.WATCHING, messages.CHECK_UNSURE)


def test_a_card_that_was_begun_is_finished_first(sight: Sight) -> None:
    sight.check()
    sight.tap("reveal card4 12")
    sight.lift("card4", "red")
    sight.turn("card1", "red", 5)
    assert sight.wait() == ["card4 12"]
    sight.turn("card4", "blue", 7)
    assert sight.wait() == ["card4 12", "card4 7", "card1 5"]


def test_what_people_entered_stands_and_what_contradicts_it_is_said(sight: Sight) -> None:
    sight.check()
    sight.tap("reveal card1 6")
    sight.turn("card1", "red", 5)
    assert sight.wait(EVERY_S) == ["card1 6"]
    assert sight.night.told == (FollowState.WATCHING, messages.CHECK_KNOWN)
    assert sight.wait(LONG) == ["card1 6"]
    assert sight.night.told == (FollowState.WATCHING, messages.CHECK_OTHERWISE)
    # Others are entered meanwhile; the number that was taken by mistake can't be.
    sight.turn("card6", "green", 6)
    sight.turn("card4", "red", 12)
    sight.wait(EVERY_S * 2)
    sight.turn("card4", "blue", 7)
    assert sight.wait(LONG) == ["card1 6", "card4 12", "card4 7"]
    assert sight.night.told == (FollowState.WATCHING, messages.CHECK_OTHERWISE)
    # People put it right.
    sight.undo(3)
    sight.tap("reveal card1 5")
    assert sight.wait(LONG) == ["card1 5", "card6 6"]


def test_what_was_told_and_people_enter_otherwise_is_said(sight: Sight) -> None:
    sight.check()
    sight.turn("card4", "blue", 7)
    sight.wait()
    sight.lying.clear()
    sight.tap("reveal card4 7")
    sight.turn("card4", "red", 12)
    assert sight.wait(LONG) == ["card4 7"]
    assert sight.night.told == (FollowState.WATCHING, messages.CHECK_OTHERWISE)


def test_what_people_took_back_is_not_entered_again(sight: Sight) -> None:
    sight.check()
    sight.turn("card1", "red", 5)
    assert sight.wait() == ["card1 5"]
    sight.undo()
    assert sight.wait(LONG) == []
    assert sight.night.told == (FollowState.WATCHING, messages.CHECK_UNSURE)
    sight.turn("card6", "green", 3)
    assert sight.wait() == ["card6 3"]
    sight.tap("reveal card1 5")
    assert sight.wait(LONG) == ["card6 3", "card1 5"]
    assert sight.night.told == (FollowState.WATCHING, messages.CHECK_KNOWN)


def test_a_number_on_a_card_where_nothing_stood_is_said(sight: Sight) -> None:
    sight.check()
    sight.lay("card9", 8)
    assert sight.wait(LONG) == []
    assert sight.night.told == (FollowState.WATCHING, messages.CHECK_OTHERWISE)


def test_where_the_cards_lay_must_have_been_seen(sight: Sight) -> None:
    sight.night.follower._placings._round = None
    assert sight.night.do("check", {}).ok
    sight.turn("card1", "red", 5)
    assert sight.wait(LONG) == []
    assert sight.looks == 0
    assert sight.night.told == (FollowState.WAITING, messages.PLACES_UNKNOWN)


def test_cards_that_replace_those_that_were_won_are_entered_and_the_next_round_is_followed(sight: Sight) -> None:
    names = film().names
    sight.check()
    for place, colour in (("card4", "red"), ("card4", "blue"), ("card6", "green")):
        card = names[int(place[-1]) - 1].split("/")
        wrong = next(
            n for n in range(2, 14) if str(n) not in card and all(f" {n}" not in text for text in sight.record)
        )
        sight.turn(place, colour, wrong)
        sight.wait()
    won = next(n for n in map(int, names[0].split("/")) if all(f" {n}" not in text for text in sight.record))
    sight.turn("card1", "red", won)
    assert len(sight.wait()) == 4
    # The card goes, another comes in its place, and all igloos are back in the village.
    sight.lying.clear()
    new = next(name for name in CARD_TEXT if name not in names)
    cards = (replace(film().cards[0], name=new), *film().cards[1:])
    sight.night.circle.film = sight.night.film = replace(film(), cards=cards)
    sight.wait(LONG)
    snapshot = sight.night.night.snapshot()
    assert snapshot is not None
    assert str(snapshot.moves[-1]) == f"deal card1 {new}"
    assert snapshot.by[-1] == CAMERA
    assert sight.night.told == (FollowState.WATCHING, messages.PLACES_KNOWN)
    sight.tap("start")
    sight.upright.append(NewIgloo(sight.at("card1"), "card1", {"blue": 1.0}, free=True))
    sight.wait()
    assert sight.night.entered[-1] == ("card1", "blue", True)


# --- drawn -----------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_of_a_drawn_check_nothing_is_entered_wrongly_and_most_is_entered(tmp_path: Path) -> None:
    tally = CheckTally()
    night = CheckedNight(tmp_path, drawn_check(103, 6, COLOURS), COLOURS)
    night.place()
    follow_check(night, tally)
    night.journal.close()
    assert tally.wrong == 0, tally.notes
    assert tally.right >= 8, tally.notes
