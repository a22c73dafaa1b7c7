"""Cards of Igloo Pop that the table lays: rendered circles, read by the camera, entered through a real night."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from companion.events.hub import Hub
from companion.follow import messages
from companion.follow.cards import CardTable
from companion.follow.follower import CameraFollower
from companion.follow.following import FollowState
from companion.lab.worlds.cards.photos import CardScene, ring, shoot, view
from companion.lab.worlds.cards.taught import ROUND, sheets, taught_round
from companion.night.answers import CAMERA, TABLE
from companion.night.commands.night import Night
from companion.night.games import game_view
from companion.night.games.igloo_pop.photo_deal import IglooPopPhotoDeal
from companion.night.log.journal import Journal
from companion.ports import DeviceKind
from companion.rules import game
from companion.rules.igloo_pop.components import PLACES
from companion.settings import Settings
from vision.camera.frame import CapturedFrame
from vision.cards import messages as card_messages
from vision.cards.deck import file_of

GAME = "igloo-pop"
PLAYED = taught_round(ROUND)
NAMES = PLAYED.names


@cache
def circle(names: tuple[str, ...], *, covered: bool = False) -> bytes:
    """Return a picture of cards in the circle, with an arm over the middle one of them or not."""
    camera, light = view(70, 470, 400, width=1280, tilt=(3, 8))
    scene = CardScene(PLAYED.art, tuple(card for card in ring(PLAYED.art, NAMES, 5) if card.name in names))
    if covered:
        at = shoot(scene, camera, light, 1).corners[len(names) // 2].mean(axis=0)
        arm = ((at[0] - 60, at[1] - 45), (at[0] + 60, at[1] - 45), (at[0] + 60, 960.0), (at[0] - 60, 960.0))
        scene = replace(scene, hands=(arm,))
    return shoot(scene, camera, light, 1).jpeg


@dataclass
class Table:
    """A night of Igloo Pop whose people lay the cards, a follower, and what its camera sees; time is the test's."""

    folder: Path
    shown: bytes | None = None
    time: float = 1000.0
    number: Any = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        self.journal = Journal(self.folder / "journal.sqlite")
        self.night, self.cards = Night(self.journal, Hub()), CardTable(self.folder / "tables")
        settings: Any = Settings(None)
        settings.set({"camera_settle_tenths": 3, "camera_follow": True})
        self.follower = CameraFollower(
            self.night,
            settings,
            newest=self.newest,
            table_of=lambda game_id: pytest.fail(f"{game_id} has no board"),
            on_change=lambda: None,
            cards=self.cards,
            clock=lambda: self.time,
        )
        seats = [{"name": name, "colour": colour} for name, colour in zip("ABC", PLAYED.colours, strict=True)]
        self.do("open-match", {"game": GAME, "players": seats, "draw": False})

    def teach(self) -> None:
        first = 0
        for data, names in sheets(PLAYED.art):
            self.cards.teach(GAME, data, first, len(names))
            first += len(names)

    def newest(self) -> CapturedFrame | None:
        if self.shown is None:
            return None
        return CapturedFrame(
            t=self.time, number=next(self.number), source="test", kind=DeviceKind.REAL, jpeg=self.shown
        )

    def do(self, command: str, body: dict[str, Any]) -> None:
        answer = self.night.do(command, body, by=TABLE, action_id=f"people-{next(self.number)}")
        assert answer.ok, answer

    def show(self, image: bytes) -> None:
        """Show a picture until it has been looked at as often as is wanted."""
        self.shown = image
        for _ in range(25):
            self.time += 0.2
            self.follower.tick()

    @property
    def told(self) -> tuple[FollowState, str]:
        return self.follower.now.state, self.follower.now.note

    @property
    def lying(self) -> dict[str, str]:
        snapshot = self.night.snapshot()
        assert snapshot is not None
        return {
            place: "/".join(map(str, card)) for place, card in snapshot.states[-1].cards.items() if card is not None
        }


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    table = Table(tmp_path)
    yield table
    table.journal.close()


@pytest.mark.learning
def test_the_circle_is_entered_when_all_of_it_lies_there_and_not_again_when_it_is_taken_back(table: Table) -> None:
    table.show(circle(tuple(NAMES)))
    assert table.told == (FollowState.TEACH, card_messages.NOT_TAUGHT)
    table.teach()
    table.show(circle(tuple(NAMES[:6])))
    assert table.told == (FollowState.WATCHING, messages.CARDS_AWAITED)
    table.show(circle(tuple(NAMES), covered=True))
    assert table.told[1] in {messages.CARDS_AWAITED, messages.CARDS_UNSURE}
    assert not table.lying, "nothing is entered of which a part is hidden"
    table.show(circle(tuple(NAMES)))
    assert table.lying == dict(zip(PLACES, NAMES, strict=True))
    snapshot = table.night.snapshot()
    assert snapshot is not None
    assert set(snapshot.by) == {CAMERA}
    assert table.told == (FollowState.WATCHING, messages.PLACES_KNOWN)
    # People take one back, then all: they know better.
    for kept in (8, 0):
        table.do("undo", {"to": kept, "agreed": True})
        table.show(circle(tuple(NAMES)))
        assert len(table.lying) == kept
    assert table.told == (FollowState.WATCHING, messages.CARDS_UNSURE)


@pytest.mark.learning
def test_cards_that_are_laid_where_others_were_won_take_their_places(table: Table) -> None:
    table.teach()
    *rest, last = NAMES
    # One of the nine was entered by hand, wherever it lay; the circle is turned as that one says.
    table.do("deal", {"cards": {"card4": last}})
    table.show(circle(tuple(NAMES)))
    assert table.lying == {"card4": last, **dict(zip((*PLACES[4:], *PLACES[:3]), rest, strict=True))}


@pytest.mark.learning
def test_a_damaged_file_is_said_and_play_goes_on_until_the_cards_are_taught_again(table: Table) -> None:
    deck = file_of(table.folder / "tables", GAME)
    deck.parent.mkdir()
    deck.write_bytes(b"no deck")
    table.show(circle(tuple(NAMES)))
    assert table.told == (FollowState.TEACH, card_messages.DECK_DAMAGED)
    # The page may be asked what is taught, and people enter what they like.
    assert table.cards.taught(GAME)["taught"] == []
    table.do("deal", {"cards": {"card1": NAMES[0]}})
    table.show(circle(tuple(NAMES)))
    assert table.told == (FollowState.TEACH, card_messages.DECK_DAMAGED)
    # What it asks for can be done, and the circle that lies there is read then.
    table.teach()
    assert deck.with_suffix(".damaged").read_bytes() == b"no deck"
    table.show(circle(tuple(NAMES)))
    assert table.lying == dict(zip(PLACES, NAMES, strict=True))


def state_of(lying: dict[str, str]) -> Any:
    """Return a game in which these cards were laid."""
    rules = game(GAME)
    state: Any = rules.start([{"name": colour, "colour": colour} for colour in ("red", "blue")])
    for place, card in lying.items():
        state = state.play(rules.parse(f"deal {place} {card}"))
    return state


def test_what_is_read_of_a_deal_is_set_beside_the_record() -> None:
    deal = game_view(GAME).cards
    assert deal is not None
    assert isinstance(deal.deal, IglooPopPhotoDeal)
    state = state_of({"card2": "4", "card3": "5/6"})
    may_lie = deal.deal.may_lie(state)
    assert len(may_lie) == 33
    others = ["2", "3", "7", "8", "9", "10", "11"]
    # The photo was taken from elsewhere: its first card is the record's fourth.
    seen = deal.deal.seen(state, [*others[:6], others[6], "4", "5/6"])
    assert seen.complete
    assert seen.places == (*PLACES[3:], *PLACES[:3])
    assert seen.laid == dict(zip((*PLACES[3:], PLACES[0]), others, strict=True))
    # Somebody moved the two: the new ones lie in the empty places, in their order.
    seen = deal.deal.seen(state, ["4", "2", "5/6", *others[1:]])
    assert seen.complete
    assert seen.laid == dict(zip(("card1", *PLACES[3:]), others, strict=True))
    # One of the record's was not read.
    seen = deal.deal.seen(state, ["4", *others])
    assert seen.missing == ("5/6",)
    assert not seen.complete
    # Eight new ones do not fit into seven places.
    seen = deal.deal.seen(state, ["4", *others, "12"])
    assert not seen.complete
    # No card lies twice: neither a new one nor one of the record's.
    for others_too in (["4", "5/6", *others[:6], others[0]], ["4", "5/6", *others, "4"]):
        seen = deal.deal.seen(state, others_too)
        assert not seen.complete
        assert not seen.more_to_come
    twice = deal.deal.seen(state_of({}), [*others, "4", "4"])
    assert (len(twice.laid), twice.wanted, twice.twice) == (9, 9, {"4"})
    assert not twice.complete
    assert deal.deal.seen(state, ["4", "5/6", *others[1:]]).more_to_come
    assert deal.deal.may_lie(state_of(dict(zip(PLACES, [*others, "4", "5/6"], strict=True)))) == []
