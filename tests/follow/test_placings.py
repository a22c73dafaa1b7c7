"""Igloos that are put on cards: drawn, and as anybody may see them; entered through a real night, nothing wrongly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from companion.follow import messages
from companion.follow.following import FollowState
from companion.follow.placings import BY_HAND_S, LEFT_S
from companion.lab.bench.vision.placings import EVERY_S, PlacedNight
from companion.lab.worlds.cards.placings import DrawnRound, Put, Rest, drawn_round, put_on
from tests.worlds.told_apart import told_apart
from vision.cards import placed
from vision.cards.placed import NewIgloo

COLOURS = ["red", "blue", "green"]
LONG = BY_HAND_S + LEFT_S + 4
"""Seconds, more than anything is waited for."""


@cache
def film() -> DrawnRound:
    """Return a round of four igloos, two of them at once, the last beside one of these while a hand rests elsewhere."""
    drawn = drawn_round(3, 1, COLOURS, count=1)
    cards = drawn.cards
    puts = (
        Put(0.0, "card1", "red", put_on(cards[0], 10)),
        Put(10.0, "card4", "blue", put_on(cards[3], -23)),
        Put(10.0, "card6", "green", put_on(cards[5], 5, 8)),
        Put(20.0, "card4", "red", put_on(cards[3], 24)),
    )
    x, y = cards[7].at
    lamp = replace(drawn.light, exposure=drawn.light.exposure * 1.3, warmth=drawn.light.warmth + 0.15, slope=0.4)
    return replace(drawn, puts=puts, rests=(Rest(15, 30, (x, y)),), lamp_t=40.0, lamp=lamp)


@pytest.fixture
def night(tmp_path: Path) -> Iterator[PlacedNight]:
    night = PlacedNight(tmp_path, film(), COLOURS)
    yield night
    night.journal.close()


def watch(night: PlacedNight, t: float, times: int = 6) -> list[tuple[str, str]]:
    """Show what stands there at a time for so many pictures; return what the record has, all of it by the camera."""
    shot = night.film.frame(t)
    for _ in range(times):
        night.show(shot)
    assert all(by_camera for *_, by_camera in night.entered)
    return [(place, colour) for place, colour, _ in night.entered]


# --- drawn -----------------------------------------------------------------------------------------------------------


def test_igloos_are_entered_as_they_come_in_their_order_and_two_at_once(night: PlacedNight) -> None:
    night.begin()
    assert night.told == (FollowState.WATCHING, messages.PLACES_KNOWN)
    # Two more are in their players' hands, and held over their cards.
    first = [("card1", "red")]
    assert watch(night, 9.9) == first
    both = watch(night, 12.0)
    assert both[:1] == first
    assert sorted(both[1:]) == [("card4", "blue"), ("card6", "green")]
    # A hand rests on another card meanwhile.
    assert watch(night, 22.0) == [*both, ("card4", "red")]
    # It goes, a lamp is switched on, and nothing is entered that was.
    assert watch(night, 32.0) == [*both, ("card4", "red")]
    assert watch(night, 42.0) == [*both, ("card4", "red")]
    assert night.told == (FollowState.WATCHING, messages.PLACES_KNOWN)


def test_what_comes_after_a_lamp_is_switched_on_is_entered_too(night: PlacedNight) -> None:
    night.film = replace(night.film, lamp_t=-1.0)
    night.begin()
    assert sorted(watch(night, 32.0, 12)) == [("card1", "red"), ("card4", "blue"), ("card4", "red"), ("card6", "green")]


def test_nothing_is_entered_while_the_hand_that_brings_it_moves(night: PlacedNight) -> None:
    night.begin()
    for number in range(6):
        night.show(night.film.frame(9.0 + 0.15 * number, number))
    assert night.entered in ([], [("card1", "red", True)])


def test_cards_that_are_not_where_they_lay_are_no_ground_to_enter_anything(night: PlacedNight) -> None:
    night.begin()
    turned = {"card1": "card4", "card4": "card1"}
    cards = {f"card{number}": card for number, card in enumerate(night.film.cards, 1)}
    swapped = tuple(
        replace(card, name=cards[turned.get(place, place)].name, turn=card.turn + (90 if place in turned else 0))
        for place, card in cards.items()
    )
    night.film = replace(night.film, cards=swapped)
    assert set(watch(night, 12.0)) <= {("card6", "green")}


# --- as anybody may see them -----------------------------------------------------------------------------------------


class Sight:
    """What is seen on the cards, instead of a picture."""

    def __init__(self, night: PlacedNight, monkeypatch: pytest.MonkeyPatch) -> None:
        self.night = night
        self.seen: list[NewIgloo] = []
        self.looks = 0
        monkeypatch.setattr(placed, "new_igloos", self._look)
        night.begin()

    def _look(self, bare: object, photo: object) -> tuple[NewIgloo, ...]:
        self.looks += 1
        return tuple(self.seen)

    def put(self, place: str, colour: str, along: float = 0.0, **colours: float) -> NewIgloo:
        """Let an igloo stand there, ``along`` pixels from the middle of its card."""
        x, y = self.night.film.bare.corners[int(place.removeprefix("card")) - 1].mean(axis=0)
        one = NewIgloo((x + along, y), place, colours or {colour: 1.0}, free=True)
        self.seen.append(one)
        return one

    def wait(self, seconds: float = 3.0) -> list[tuple[str, str]]:
        for _ in range(round(seconds / EVERY_S)):
            self.night.show(told_apart(self.night.film.bare, self.seen))
        return self.record

    @property
    def record(self) -> list[tuple[str, str]]:
        return [(place, colour) for place, colour, _ in self.night.entered]

    def tap(self, *moves: str) -> None:
        assert self.night.do("moves", {"moves": list(moves)}).ok


@pytest.fixture
def sight(night: PlacedNight, monkeypatch: pytest.MonkeyPatch) -> Sight:
    return Sight(night, monkeypatch)


def test_one_look_is_not_enough(sight: Sight) -> None:
    sight.put("card1", "red")
    assert sight.wait(EVERY_S) == []
    sight.seen.clear()
    assert sight.wait() == []


def test_what_people_enter_is_not_entered_twice(sight: Sight) -> None:
    sight.put("card1", "red")
    assert sight.wait(EVERY_S) == []
    sight.tap("place red card1")
    assert sight.wait(LONG) == [("card1", "red")]
    # Who was quicker is not overtaken the next time, but need not enter it.
    sight.put("card2", "red")
    assert len(sight.wait(BY_HAND_S)) == 1
    sight.tap("place red card2")
    sight.put("card2", "red", 70)
    assert len(sight.wait(BY_HAND_S)) == 2
    assert sight.wait() == [("card1", "red"), ("card2", "red"), ("card2", "red")]
    assert [by_camera for *_, by_camera in sight.night.entered] == [False, False, True]


def test_a_tap_made_before_the_camera_entered_the_same_is_refused(sight: Sight) -> None:
    before = sight.night.night.state
    sight.put("card1", "red")
    assert sight.wait() == [("card1", "red")]
    answer = sight.night.do("moves", {"moves": ["place red card1"]}, before)
    assert (answer.ok, answer.problem) == (False, "stale")
    # Others play beside it, as ever.
    assert sight.night.do("moves", {"moves": ["place blue card1"]}, before).ok


def test_what_was_entered_ahead_holds_up_its_colour_and_its_card_until_it_is_seen(sight: Sight) -> None:
    sight.tap("place blue card2")
    sight.put("card4", "blue")
    sight.put("card2", "green")
    assert sight.wait(LONG) == [("card2", "blue")]
    assert sight.night.told == (FollowState.WATCHING, messages.PLACED_OTHERWISE)
    sight.put("card5", "red")
    assert sight.wait() == [("card2", "blue"), ("card5", "red")]
    # It comes, after all; or people put it right.
    one = sight.put("card2", "blue", 70)
    assert sight.wait(LONG)[2:] == [("card4", "blue"), ("card2", "green")]
    sight.seen.remove(one)
    assert sight.night.do("undo", {"to": 1, "agreed": True}).ok
    sight.put("card9", "blue")
    assert sight.wait(LONG) == [("card9", "blue")]


def test_an_igloo_that_was_nudged_is_no_other(sight: Sight) -> None:
    one = sight.put("card1", "red")
    assert sight.wait() == [("card1", "red")]
    sight.seen.remove(one)
    sight.put("card1", "red", 60)
    assert sight.wait(LONG) == [("card1", "red")]


def test_while_a_hand_hides_an_igloo_nothing_of_its_colour_is_entered(sight: Sight) -> None:
    one = sight.put("card1", "red")
    sight.wait()
    sight.seen.remove(one)
    sight.put("card3", "red")
    assert sight.wait(LONG) == [("card1", "red")]
    sight.seen.insert(0, one)
    assert sight.wait() == [("card1", "red"), ("card3", "red")]


def test_what_people_took_back_is_not_entered_again(sight: Sight) -> None:
    sight.put("card1", "red")
    assert sight.wait() == [("card1", "red")]
    assert sight.night.do("undo", {"to": 1, "agreed": True}).ok
    assert sight.wait(LONG) == []
    sight.put("card2", "blue")
    assert sight.wait() == [("card2", "blue")]
    sight.tap("place red card1")
    assert sight.wait(LONG) == [("card2", "blue"), ("card1", "red")]


@pytest.mark.parametrize(
    "doubtful",
    [
        NewIgloo((400, 300), "card1", {"red": 0.9, "violet": 0.1, "blue": 0.1}, free=True),
        NewIgloo((400, 300), "card1", {"black": 1.0}, free=True),
        NewIgloo((400, 300), "card1", {"red": 1.0}, free=False),
        NewIgloo((400, 300), None, {"red": 1.0}, free=True),
    ],
    ids=["its colour", "nobody's colour", "a hand", "its card"],
)
def test_what_is_doubtful_is_left_to_people_and_said(sight: Sight, doubtful: NewIgloo) -> None:
    sight.seen.append(doubtful)
    assert sight.wait(LONG) == []
    assert sight.night.told == (FollowState.WATCHING, messages.PLACED_UNSURE)
    if "red" in doubtful.colours:
        sight.tap("place red card1")
        assert sight.wait(LONG) == [("card1", "red")]
        assert sight.night.told == (FollowState.WATCHING, messages.PLACES_KNOWN)


def test_a_colour_that_people_told_is_known_in_what_looks_alike(sight: Sight) -> None:
    likely = {"green": 0.9, "blue": 0.1}
    seen = [
        NewIgloo((400.0 + 100 * number, 300.0), f"card{number}", likely, free=True, tone=tone)
        for number, tone in enumerate([(60.0, -40.0, 30.0), (62.0, -42.0, 27.0), (60.0, -30.0, 0.0)], 1)
    ]
    sight.seen += seen
    assert sight.wait(LONG) == []
    sight.tap("place green card1")
    assert sight.wait(LONG) == [("card1", "green"), ("card2", "green")]
    assert sight.night.told == (FollowState.WATCHING, messages.PLACED_UNSURE)
    # What looks like one that people called otherwise is of no sure colour.
    sight.tap("place blue card3")
    sight.seen.append(NewIgloo((900.0, 300.0), "card4", {"green": 1.0}, free=True, tone=(60.0, -30.0, 1.0)))
    assert len(sight.wait(LONG)) == 3


def test_a_colour_is_sure_when_the_only_other_that_it_may_be_is_known_to_look_otherwise(sight: Sight) -> None:
    blue = NewIgloo((400.0, 300.0), "card1", {"blue": 1.0}, free=True, tone=(40.0, 20.0, -55.0))
    green = NewIgloo((700.0, 300.0), "card2", {"green": 0.95, "blue": 0.05}, free=True, tone=(60.0, -40.0, 30.0))
    sight.seen.append(green)
    assert sight.wait(LONG) == []
    sight.seen.append(blue)
    assert sight.wait() == [("card1", "blue"), ("card2", "green")]
    # One that is about as likely either is not.
    sight.seen.append(replace(green, at=(900.0, 300.0), place="card3", colours={"green": 0.7, "blue": 0.3}, tone=()))
    assert len(sight.wait(LONG)) == 2


def test_the_placing_is_ended_only_where_all_that_is_recorded_is_seen(sight: Sight) -> None:
    places = [f"card{number}" for number in range(1, 10)]
    for place, colour in zip(places, COLOURS * 3, strict=True):
        sight.put(place, colour)
    assert len(sight.wait(12)) == 9
    sight.put("card2", "red", 70)
    ahead = "place blue card1"
    assert len(sight.wait()) == 10
    sight.tap(ahead)
    sight.put("card7", "green", 70)
    assert len(sight.wait(LONG)) == 11
    sight.put("card1", "blue", 70)
    assert len(sight.wait()) == 12
    sight.wait()
    assert sight.night.told == (FollowState.WATCHING, messages.CHECK_KNOWN)


def test_what_is_left_from_the_round_before_is_not_entered_in_the_next(sight: Sight) -> None:
    one = sight.put("card1", "red")
    assert sight.wait() == [("card1", "red")]
    other = sight.put("card2", "green", green=0.9, blue=0.1)
    sight.tap("pass red", "pass blue", "pass green")
    assert sight.wait() == [("card1", "red")]
    wrong = next(number for number in range(2, 14) if str(number) not in sight.night.film.names[0].split("/"))
    sight.tap(f"reveal card1 {wrong}", "start")
    sight.seen.append(replace(other, colours={"green": 1.0}, at=(other.at[0] + 300, other.at[1])))
    assert sight.wait(LONG) == [("card1", "red")]
    assert sight.night.told == (FollowState.WAITING, messages.PLACES_UNKNOWN)
    sight.seen.clear()
    sight.wait()
    sight.seen.append(one)
    assert sight.wait() == [("card1", "red"), ("card1", "red")]


def test_where_the_cards_lie_must_be_seen_before_anything_stands_there(night: PlacedNight) -> None:
    assert night.do("moves", {"moves": ["start", "place red card1"]}).ok
    shot = night.film.frame(22.0)
    for _ in range(6):
        night.show(shot)
    assert night.entered == [("card1", "red", False)]
    assert night.told == (FollowState.WAITING, messages.PLACES_UNKNOWN)


def test_a_table_that_lies_as_the_record_says_is_not_looked_at_in_every_picture(sight: Sight) -> None:
    sight.put("card1", "red")
    assert sight.wait() == [("card1", "red")]
    before = sight.looks
    assert sight.wait(LONG) == [("card1", "red")]
    assert sight.looks == before
    # What is new is entered as soon as ever; what the record has and nobody sees is looked for.
    sight.put("card2", "blue")
    assert sight.wait() == [("card1", "red"), ("card2", "blue")]
    sight.tap("place green card5")
    sight.wait(2)
    before = sight.looks
    sight.wait(2)
    assert sight.looks == before + round(2 / EVERY_S)
